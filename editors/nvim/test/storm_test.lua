-- A server that floods, stammers and dies in the middle of a word: nothing is called
-- where Neovim forbids it, and nothing is lost.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n' })
local log = root .. '/.git/log'
require('agent_lsp').setup({
  cmd = { vim.v.progpath, '--headless', '--clean', '-n', '-l', vim.env.AGENT_NVIM_PLUGIN .. '/test/fake_server.lua' },
  cmd_env = { FAKE_LOG = log, FAKE_ROOT = root },
  restart = { delay = 10, limit = 10, max = 5, calm = 600000 },
  notify = false,
})
local buf = T.edit(root .. '/a.txt')
T.attached(buf)

T.case('a thousand reports and deltas end in the whole text', function()
  vim.cmd('Agent ask storm')
  T.shows(' 999 1000')
  T.match(T.text(T.transcript()), '\n1 2 3 4 .* 998 999 1000')
  vim.cmd('Agent ask message')
  T.wait('the message', function()
    local text = T.text(T.transcript())
    return text:find('All of it.', 1, true) and not text:find('999 1000', 1, true)
  end)
end)

T.case('events that were not pushed are fetched; none shows twice', function()
  vim.cmd('Agent ask gap')
  T.shows('Turn 1 ended')
  local text = T.text(T.transcript())
  T.match(text, 'lost 1.*lost 2.*lost 3.*pushed.*Turn 1 ended')
  local _, n = text:gsub('pushed', '')
  T.eq({ n, text:find('again', 1, true) }, { 1 })
end)

T.case('what streamed while its message was fetched is not shown beside it', function()
  vim.cmd('Agent ask late')
  T.shows('makes it fetch')
  local flushed
  vim.defer_fn(function()
    flushed = true
  end, 60)
  T.wait('the next flush', function()
    return flushed
  end)
  local _, n = T.text(T.transcript()):gsub('Late words', '')
  T.eq(n, 1)
end)

T.case('rubbish is let be', function()
  vim.cmd('Agent ask rubbish')
  T.eq(T.told('bad'), 'agent: bad ␛[31m')
end)

T.case('ends in the middle of a message are survived; a document is opened once a server', function()
  for i = 1, 3 do
    vim.cmd('Agent ask die')
    T.wait('another server', function()
      local _, n = (T.read(log) or ''):gsub('\n', '')
      return n == i + 1 and require('agent_lsp').status() == 'agent'
    end)
    T.attached(buf)
  end
  vim.cmd('Agent restart')
  vim.cmd('Agent restart')
  T.wait('another server', function()
    local _, n = T.read(log):gsub('\n', '')
    return n >= 5 and require('agent_lsp').status() == 'agent'
  end)
  T.attached(buf)
  require('agent_lsp.client').command_sync('agent.status', {}, 20000) -- behind all that was sent
  local count = {}
  for _, pid in ipairs(vim.split(vim.trim(T.read(log)), '\n')) do
    count[pid] = (count[pid] or 0) + 1
  end
  local times = vim.tbl_values(count)
  table.sort(times)
  T.eq(times, { 1, 1, 1, 1, 1 })
end)

T.case('the log has what was said, bounded, whether it is shown or not', function()
  vim.cmd('Agent log')
  T.match(T.text(0), 'line 1000', true)
  T.match(T.text(0), 'the server ended with exit code 3', true)
  for _ = 1, 2 do
    vim.cmd('Agent ask chatter')
    T.wait('the last line', function()
      return T.text(0):find('chatter 5000\n?$')
    end)
    assert(vim.api.nvim_buf_line_count(0) <= 3010, 'the log has no end')
    T.match(T.text(0), '^What the server logged')
    vim.cmd('close')
    vim.cmd('Agent log')
    assert(vim.api.nvim_buf_line_count(0) <= 2010, 'the log has no end')
    require('agent_lsp.ui').lines(0, 2, -1, {})
  end
end)

T.finish()

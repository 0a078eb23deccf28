-- A server that is killed comes back, one of it, and its session goes on; what had
-- begun is reported and not repeated.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n' })
local entries = {
  { when = '1/1', calls = { { exec = { argv = { 'sh', '-c', 'echo once >> effect; sleep 600 # second' } } } } },
  { when = '1/2', text = 'So be it.' },
  { when = '2/1', text = 'Here.' },
  { when = '3/1', text = 'Still here.' },
  { when = '4/1', text = 'As before.' },
}
local function setup(settings)
  T.setup(entries, {
    restart = { delay = 50, max = 3, limit = 100, calm = 600000 },
    cmd_env = { AGENT_LSP_STORE = 'sqlite:' .. root .. '/.git/sessions.db' },
    settings = settings,
  })
end
setup()
local buf = T.edit(root .. '/a.txt')
T.attached(buf)

-- The processes of the server that this Neovim has.
local function servers()
  local out = {}
  for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    local p = vim.api.nvim_get_proc(pid)
    if p and p.name:match('^agent') then
      out[#out + 1] = pid
    end
  end
  return out
end

local function kill()
  local list = servers()
  T.eq(#list, 1, 'one server runs')
  vim.uv.kill(list[1], 'sigkill')
  T.wait('its end', function()
    return not vim.list_contains(servers(), list[1])
  end)
end

T.case('killed in the middle of a command, the session resumes', function()
  vim.cmd('Agent ask go')
  T.wait('the effect', function()
    return T.read(root .. '/effect')
  end)
  T.wait('the call', function()
    return require('agent_lsp').status():match('Run sh')
  end)
  T.forget()
  kill()
  T.eq(T.told('agent: turn '), 'agent: turn 1: complete')
  T.told('second') -- what was interrupted is named
  T.eq(T.read(root .. '/effect'), 'once\n')
  T.shows('Turn 1 ended: complete')
  local text = T.text(T.transcript())
  T.match(text, '*interrupted*', true)
  T.match(text, 'So be it.', true)
  local _, turns = text:gsub('## Turn 1\n', '')
  T.eq(turns, 1)
end)

T.case('the buffer is attached again, to one client, and the session goes on', function()
  T.attached(buf)
  T.eq(#vim.lsp.get_clients({ name = 'agent-lsp' }), 1)
  vim.api.nvim_set_current_buf(buf)
  T.eq(T.ask('and on'), 'agent: turn 2: complete')
end)

T.case(':Agent restart twice in a row gives one server', function()
  local before = servers()[1]
  vim.cmd('Agent restart')
  vim.cmd('Agent restart')
  T.wait('another server', function()
    local list = servers()
    return #list == 1 and list[1] ~= before and #vim.lsp.get_clients({ name = 'agent-lsp' }) == 1
  end)
  T.attached(buf)
  T.eq(T.ask('still?'), 'agent: turn 3: complete')
  T.eq(#servers(), 1)
end)

T.case('setup again, with another setting, leaves one server, which is heard once', function()
  setup({ approvals = 'edits' })
  T.attached(buf)
  T.eq(T.ask('again?'), 'agent: turn 4: complete')
  T.shows('Turn 4 ended')
  require('agent_lsp.client').command_sync('agent.status', {}, 20000)
  T.eq(vim.tbl_filter(function(n)
    return vim.startswith(n, 'agent: turn ')
  end, T.notes), { 'agent: turn 4: complete' })
  local _, said = T.text(T.transcript()):gsub('As before%.', '')
  T.eq({ said, #servers(), #vim.lsp.get_clients({ name = 'agent-lsp' }) }, { 1, 1, 1 })
end)

T.case('too many crashes end in one message; restart starts it again', function()
  T.forget()
  for _ = 1, 4 do
    T.wait('a server', function()
      return #servers() == 1 and vim.lsp.get_clients({ name = 'agent-lsp' })[1]
    end)
    kill()
  end
  T.told('the server ended 4 times in a row, last with signal 9')
  vim.wait(150) -- longer than the longest pause before a start
  local _, said = table.concat(T.notes, '\n'):gsub('times in a row', '')
  T.eq({ said, #servers() }, { 1, 0 })
  T.eq({ require('agent_lsp').status() }, { 'agent: failed', 'failed' })
  T.forget()
  vim.cmd('Agent ask hello')
  T.told('the server does not run')
  vim.cmd('Agent restart')
  T.attached(buf)
end)

T.finish()

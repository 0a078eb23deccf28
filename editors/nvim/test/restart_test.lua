-- Whoever ends the server and whatever is opened meanwhile: one server is left, and
-- it is the one that the plugin talks to.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n', ['b.txt'] = 'two\n', ['c.txt'] = 'three\n' })
T.setup({ { text = 'Hello.' }, { text = 'Again.' }, { text = 'Once more.' } }, { cmd_env = { AGENT_LSP_STORE = 'sqlite:' .. root .. '/.git/sessions.db' } })
T.attached(T.edit(root .. '/a.txt'))

local function clients()
  return vim.lsp.get_clients({ name = 'agent-lsp' })
end

local function servers()
  return vim.tbl_filter(function(pid)
    local p = vim.api.nvim_get_proc(pid)
    return p and p.name:match('^agent') ~= nil
  end, vim.api.nvim_get_proc_children(vim.fn.getpid()))
end

T.case('a file that is opened while the server restarts belongs to the new one', function()
  T.eq(T.ask('hello'), 'agent: turn 1: complete')
  local old = clients()[1].id
  local seen = {}
  vim.api.nvim_create_autocmd('LspAttach', {
    callback = function(args)
      seen[args.data.client_id] = true
    end,
  })
  vim.cmd('Agent restart')
  local buf = T.edit(root .. '/b.txt')
  T.eq(T.ask('again'), 'agent: turn 2: complete') -- in the same session
  T.attached(buf)
  seen[old] = nil
  T.eq({ #vim.tbl_keys(seen), #clients(), #servers() }, { 1, 1, 1 })
end)

T.case('a server that somebody else stops, and that takes its time, ends alone', function()
  if vim.fn.has('nvim-0.11') == 0 then
    return -- to Neovim 0.10 a client that was told to stop is as good as before
  end
  local old, pid = clients()[1], servers()[1]
  vim.uv.kill(pid, 'sigstop')
  require('agent_lsp.client').call(old, 'stop')
  local buf = T.edit(root .. '/c.txt')
  T.wait('another client', function()
    local c = require('agent_lsp.client').get()
    return c and c.id ~= old.id and vim.lsp.buf_is_attached(buf, c.id)
  end)
  vim.uv.kill(pid, 'sigcont')
  T.wait('the end of the old one', function()
    return not vim.list_contains(servers(), pid)
  end)
  T.wait('that it is known', function()
    return #clients() == 1
  end)
  vim.cmd('Agent new')
  T.told('new session in')
  T.match(T.ask('once more'), 'complete')
  T.eq(#servers(), 1)
end)

T.finish()

-- Without autostart nothing runs before the first :Agent, which then knows all files
-- of the workspace folder.
local T = require('helper')

local root = T.project('p', { ['a.txt'] = 'one\n', ['b.txt'] = 'two\n' })
T.setup({ { calls = { { read = { path = 'b.txt' } } } }, { when = 'not saved', text = 'Seen.' } }, { autostart = false })
vim.cmd.cd(root)
local b = T.edit(root .. '/b.txt')
vim.api.nvim_buf_set_lines(b, 0, 1, false, { 'not saved' })
local a = T.edit(root .. '/a.txt')

T.case('nothing runs before it is asked to', function()
  vim.wait(50)
  T.eq(#vim.lsp.get_clients({ name = 'agent-lsp' }), 0)
  T.eq({ require('agent_lsp').status() }, { '', 'off' })
end)

T.case('the first prompt starts the server, in a directory that is no project, too', function()
  T.eq(T.ask('look'), 'agent: turn 1: complete')
  T.shows('Seen.')
  T.attached(a)
  T.attached(b)
  T.attached(T.edit(root .. '/new.txt'))
  T.attached(T.edit(root .. '/untyped'))
end)

T.case('what the checker could not do shows in the status', function()
  local state = require('agent_lsp.state')
  local id = vim.tbl_keys(state.sessions)[1]
  state.event(id, { kind = 'check', outcome = 'failed' })
  T.eq({ require('agent_lsp').status() }, { 'agent: unchecked', 'unchecked' })
  state.event(id, { kind = 'check', outcome = 'clean' })
  T.eq({ require('agent_lsp').status() }, { 'agent', 'idle' })
end)

T.finish()

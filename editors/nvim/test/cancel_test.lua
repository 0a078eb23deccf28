-- A cancel stops a running command at once, and the next prompt works.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n' })
T.setup({
  { when = '1/1', calls = { { exec = { argv = { 'sleep', '600' } } } } },
  { when = '2/1', text = 'Here.' },
})
T.attached(T.edit(root .. '/a.txt'))

T.case('cancel ends the turn while its command runs', function()
  vim.cmd('Agent ask wait for it')
  T.wait('the command', function()
    return vim.endswith(require('agent_lsp').status(), ' sleep 600')
  end)
  T.forget()
  vim.cmd('Agent cancel')
  T.eq(T.told('agent: turn '), 'agent: turn 1: cancelled')
  T.shows('sleep 600** *cancelled*')
end)

T.case('a cancel with nothing to cancel says so', function()
  T.forget()
  vim.cmd('Agent cancel')
  T.told('no turn is running')
end)

T.case('the next prompt works', function()
  T.eq(T.ask('and now?'), 'agent: turn 2: complete')
  T.shows('Here.')
end)

T.finish()

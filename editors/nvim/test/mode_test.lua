-- A session's mode is switched, shows in the status, and ends with a plan accepted.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n' })
T.setup({
  { when = '1/1', calls = { { plan = { text = 'Write new.txt.' } } } },
  { when = '1/2', text = 'My plan.' },
  { when = 'Carry out this plan:', calls = { { write = { path = 'new.txt', text = 'two\n' } } } },
  { when = '2/2', text = 'Done.' },
})
T.attached(T.edit(root .. '/a.txt'))

T.case('the mode is switched and shows in the status', function()
  T.forget()
  vim.cmd('Agent mode plan')
  T.told('the mode is plan')
  T.wait('the status', function()
    return require('agent_lsp').status() == 'agent [plan]'
  end)
  T.forget()
  vim.cmd('Agent mode nonesuch')
  T.told('there is no mode')
end)

T.case('a plan is shown and carried out', function()
  T.eq(T.ask('plan it'), 'agent: turn 1: complete')
  T.shows('Write new.txt.')
  T.forget()
  vim.cmd('Agent accept')
  T.told('agent: turn 2: complete')
  T.eq(T.read(root .. '/new.txt'), 'two\n')
  T.eq(require('agent_lsp').status(), 'agent [all]')
end)

T.finish()

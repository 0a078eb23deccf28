-- A program that is not there gives one clear message.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n', ['b.txt'] = 'two\n' })
require('agent_lsp').setup({ cmd = { 'no-such-agent-lsp' } })

T.case('it is said once, whatever is opened', function()
  T.edit(root .. '/a.txt')
  T.edit(root .. '/b.txt')
  T.told('cannot run "no-such-agent-lsp"')
  vim.wait(100)
  T.eq(#T.notes, 1)
  T.match(T.notes[1], 'in PATH (' .. vim.env.PATH .. ')', true)
  T.match(T.notes[1], ':help agent-lsp-install', true)
  T.no_match(T.notes[1], '\n', true)
  T.eq({ require('agent_lsp').status() }, { 'agent: missing', 'missing' })
end)

T.case('each command says it', function()
  for _, word in ipairs({ 'ask hello', 'cancel', 'check', 'undo', 'restart', 'new', 'profile', 'sessions', 'transcript', 'resume' }) do
    T.forget()
    vim.cmd('Agent ' .. word)
    T.told('cannot run')
    T.eq(#T.notes, 1, word)
  end
end)

T.case('checkhealth says it', function()
  vim.cmd('checkhealth agent_lsp')
  T.match(T.text(0), 'cannot run "no-such-agent-lsp"', true)
end)

T.case('a program that ends at once is tried a few times, then told of', function()
  T.forget()
  require('agent_lsp').setup({ cmd = { 'false' }, restart = { max = 2, delay = 10, limit = 10 } })
  vim.cmd('Agent ask hello')
  T.told('the server ended 3 times in a row, last with exit code 1')
  T.eq(#vim.lsp.get_clients({ name = 'agent-lsp' }), 0)
end)

T.case('a program that is installed meanwhile is found by the next command', function()
  local late = root .. '/.git/late'
  T.setup({ { text = 'Hi.' } }, { cmd = { late } })
  T.forget()
  vim.cmd('Agent ask hello')
  T.told('cannot run')
  vim.uv.fs_symlink(vim.env.AGENT_TEST_BINARY, late)
  T.eq(T.ask('hello'), 'agent: turn 1: complete')
  T.attached(vim.fn.bufnr(root .. '/a.txt'))
  T.attached(T.edit(root .. '/c.txt'))
end)

T.case('an option that does not exist is refused by name', function()
  local ok, err = pcall(require('agent_lsp').setup, { comand = {} })
  T.eq(ok, false)
  T.match(err, 'no option "comand"; there are autostart, cmd,', true)
  ok, err = pcall(require('agent_lsp').setup, { autostart = 1 })
  T.eq({ ok, err }, { false, 'agent_lsp.setup: autostart must be a boolean, not a number' })
end)

T.finish()

-- A Neovim that was not started from a shell: its PATH has no compiler. The checker
-- says so, with the PATH, and nothing is called clean; a setting says where it is.
local T = require('helper')

local go = vim.fn.exepath('go')
local root = T.project('p', {
  ['go.mod'] = 'module example.test/p\n\ngo 1.21\n',
  ['main.go'] = 'package main\n\nfunc main() { println(y) }\n',
  ['a.txt'] = 'one\n',
})
local bare = T.project('no-tools', { ['empty'] = '' })
local entries = { { calls = { { read = { path = 'a.txt' } } } }, { calls = { { write = { path = 'a.txt', text = 'two\n' } } } }, { text = 'Done.' } }
T.setup(entries, { cmd_env = { PATH = bare } })
local buf = T.edit(root .. '/a.txt')
T.attached(buf)

T.case('a check that cannot run names the tool and the PATH', function()
  T.forget()
  vim.cmd('Agent check')
  local said = T.told('agent: ')
  T.match(said, 'PATH is ' .. bare, true)
  T.no_match(said, 'found nothing', true)
end)

T.case('an edit stays unchecked, and the status says so', function()
  T.eq(T.ask('edit'), 'agent: turn 1: complete')
  T.match(T.shows('Turn 1 ended'), 'unchecked', true)
  T.eq({ require('agent_lsp').status() }, { 'agent: unchecked', 'unchecked' })
end)

T.case('checkhealth tells of it', function()
  vim.cmd('checkhealth agent_lsp')
  T.match(T.text(0), 'Last check of ' .. root .. ': failed', true)
  vim.cmd('bwipeout!')
end)

T.case('a setting says where the tool is', function()
  T.setup(entries, {
    cmd_env = { PATH = bare },
    settings = { trusted = true, checker = { commands = { go = { go, 'build', '-o', '/dev/null', './...' } } } },
  })
  vim.cmd('Agent restart')
  T.attached(buf)
  T.forget()
  vim.cmd('Agent check')
  T.match(T.told('agent: '), 'found 1 problem')
end)

T.finish()

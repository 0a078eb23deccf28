-- Two workspace folders: one server; what is asked is about the folder of the file.
local T = require('helper')

local function go(name, line)
  return { ['go.mod'] = ('module example.test/%s\n\ngo 1.21\n'):format(name), ['main.go'] = 'package main\n\nfunc main() {}\n' .. line }
end
local a, b = T.project('a', go('a', '')), T.project('b', go('b', 'var _ int = "b"\n'))
T.setup({
  { calls = { { read = { path = 'main.go' } } } },
  { when = 'var _ int', calls = { { write = { path = 'main.go', text = 'package main\n\nfunc main() {}\nvar _ int = "c"\n' } } } },
  { when = 'cannot use', text = 'In b.' },
  { calls = { { exec = { argv = { 'pwd' } } } } },
  { when = b, text = 'Still in b.' },
})
local in_a = T.edit(a .. '/main.go')
T.attached(in_a)
local in_b = T.edit(b .. '/main.go')
local client = T.attached(in_b)

T.case('one client has both folders', function()
  T.eq(#vim.lsp.get_clients({ name = 'agent-lsp' }), 1)
  T.eq(vim.tbl_map(function(f)
    return vim.uri_to_fname(f.uri)
  end, client.workspace_folders), { a, b })
  local r = require('agent_lsp.client').command_sync('agent.status', {}, 20000)
  T.eq(r.roots, { a, b })
end)

T.case('a prompt from the second folder edits and checks there', function()
  local other = T.read(a .. '/main.go')
  T.eq(T.ask('look'), 'agent: turn 1: complete')
  T.shows('In b.')
  T.match(T.text(in_b), '"c"', true)
  T.eq(T.read(a .. '/main.go'), other)
  local d = T.wait('the problem', function()
    return vim.diagnostic.get(in_b)[1]
  end)
  T.eq({ d.lnum, #vim.diagnostic.get(in_a) }, { 3, 0 })
end)

T.case('a check is about the folder of the file', function()
  T.forget()
  vim.api.nvim_set_current_buf(in_a)
  vim.cmd('Agent check')
  T.match(T.told('agent: '), 'found nothing')
  T.forget()
  vim.api.nvim_set_current_buf(in_b)
  vim.cmd('Agent check')
  T.match(T.told('agent: '), 'found 1 problem')
end)

T.case('the first folder is taken away and gone for the server; the other one goes on', function()
  vim.lsp.buf.remove_workspace_folder(a)
  T.wait('one root', function()
    local r = require('agent_lsp.client').command_sync('agent.status', {}, 20000)
    return r and vim.deep_equal(r.roots, { b })
  end)
  vim.api.nvim_set_current_buf(in_b)
  T.eq(T.ask('and now?'), 'agent: turn 2: complete')
  T.shows('Still in b.')
  T.eq(#vim.lsp.get_clients({ name = 'agent-lsp' }), 1)
end)

T.finish()

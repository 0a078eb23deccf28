-- What a command wrote shows in buffers without unsaved changes at once; others keep
-- what was typed and say that there is a conflict.
local T = require('helper')

local root = T.project('p', { ['clean.txt'] = 'one\ntwo\nthree\n', ['dirty.txt'] = 'one\n', ['closed.txt'] = 'one\n' })
for _, argv in ipairs({ { 'init', '-q' }, { 'add', '.' }, { '-c', 'user.name=t', '-c', 'user.email=t@example.test', 'commit', '-q', '-m', 't' } }) do
  T.eq(vim.system(vim.list_extend({ 'git' }, argv), { cwd = root }):wait().code, 0, table.concat(argv, ' '))
end
T.setup({
  { when = '1/1', calls = { { exec = { argv = { 'sh', '-c', 'sed -i s/three/THREE/ clean.txt; echo disk > dirty.txt' } } } } },
  { when = '1/2', text = 'Done.' },
  { when = '2/1', calls = { { read = { path = 'closed.txt' } }, { read = { path = 'dirty.txt' } } } },
  { when = '2/2', calls = { { write = { path = 'closed.txt', text = 'two\n' } }, { write = { path = 'dirty.txt', text = 'agent\n' } } } },
  { when = '2/3', text = 'Done.' },
  { when = '3/1', calls = { { read = { path = 'untyped' } } } },
  { when = '3/2', calls = { { patch = { path = 'untyped', diff = '@@\n-one\n+ONE\n mine\n' } } } },
  { when = '3/3', text = 'Done.' },
  { when = '4/1', calls = { { git = { argv = { 'checkout', '--', 'clean.txt', 'dirty.txt' } } } } },
  { when = '4/2', text = 'Done.' },
})
local untyped = T.edit(T.write(root .. '/untyped', 'one\n'))
vim.api.nvim_buf_set_lines(untyped, -1, -1, false, { 'mine' })
local clean = T.edit(root .. '/clean.txt')
vim.api.nvim_buf_set_lines(clean, 0, 1, false, { 'ONE' })
vim.cmd('silent write')
vim.api.nvim_win_set_cursor(0, { 2, 1 })
local dirty = T.edit(root .. '/dirty.txt')
vim.api.nvim_buf_set_lines(dirty, 0, 1, false, { 'mine' })
T.attached(dirty)
for _, auto in ipairs({ true, false }) do
  T.case(('a command writes files that are open, autoread %s'):format(auto and 'on' or 'off'), function()
    vim.o.autoread = auto
    if auto then
      T.eq(T.ask('go'), 'agent: turn 1: complete')
      T.told('dirty.txt changed on the disk while you have unsaved changes')
    else
      T.write(root .. '/clean.txt', 'ONE\ntwo\nthree again, by another hand\n')
      require('agent_lsp.disk').refresh(root)
    end
    T.eq(T.text(clean), auto and 'ONE\ntwo\nTHREE' or 'ONE\ntwo\nthree again, by another hand')
    T.eq({ T.text(dirty), vim.bo[dirty].modified, T.read(root .. '/dirty.txt') }, { 'mine', true, 'disk\n' })
  end)
end

T.case('cursor and undo survive', function()
  vim.api.nvim_set_current_buf(clean)
  T.eq(vim.api.nvim_win_get_cursor(0), { 2, 1 })
  vim.cmd('silent undo')
  T.eq(T.text(clean), 'ONE\ntwo\nTHREE')
  vim.cmd('silent undo | silent undo')
  T.eq(T.text(clean), 'one\ntwo\nthree')
end)

T.case('an edit of a file in conflict is refused, a closed file is written and not loaded', function()
  vim.api.nvim_set_current_buf(dirty)
  T.eq(T.ask('again'), 'agent: turn 2: complete')
  T.eq({ T.text(dirty), T.read(root .. '/dirty.txt') }, { 'mine', 'disk\n' })
  T.shows('has changes in the editor that are not saved, and the file on the disk was changed since as well')
  T.eq({ T.read(root .. '/closed.txt'), vim.fn.bufnr(root .. '/closed.txt') }, { 'two\n', -1 })
end)

T.case('a file without a file type is known to the server all the same', function()
  T.eq({ vim.bo[untyped].filetype, vim.bo[untyped].modified }, { '', true })
  vim.api.nvim_set_current_buf(clean)
  T.eq(T.ask('more'), 'agent: turn 3: complete')
  T.eq({ T.text(untyped), T.read(root .. '/untyped') }, { 'ONE\nmine', 'ONE\nmine\n' })
end)

T.case('git puts back what it has: a clean buffer follows, one with changes keeps them', function()
  vim.api.nvim_set_current_buf(clean)
  vim.cmd('silent write')
  T.eq(T.ask('back'), 'agent: turn 4: complete')
  T.eq({ T.text(clean), T.read(root .. '/clean.txt') }, { 'one\ntwo\nthree', 'one\ntwo\nthree\n' })
  T.eq({ T.text(dirty), vim.bo[dirty].modified, T.read(root .. '/dirty.txt') }, { 'mine', true, 'one\n' })
end)

T.finish()

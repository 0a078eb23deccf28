-- workspace/applyEdit by the plugin: exact bytes, no yes that is none, nothing half.
local T = require('helper')
local edit = require('agent_lsp.edit')
require('agent_lsp.disk').setup()
local root = T.project('p', {})

local function open(name, text)
  local buf = T.edit(T.write(root .. '/' .. name, text))
  vim.lsp.util.buf_versions[buf] = 3
  return buf, vim.uri_from_bufnr(buf)
end

local function change(uri, version, l1, c1, l2, c2, text)
  return {
    textDocument = { uri = uri, version = version },
    edits = { { range = { start = { line = l1, character = c1 }, ['end'] = { line = l2, character = c2 } }, newText = text } },
  }
end

local function apply(changes, label, encoding)
  return edit.apply({ label = label, edit = { documentChanges = changes } }, encoding or 'utf-16')
end

local function refused(r, why)
  T.eq(r.applied, false)
  T.match(r.failureReason, why, true)
end

for _, x in ipairs({
  { 'plain', 'a\nb\n', { 1, 0, 1, 1, 'c' }, 'a\nc\n' },
  { 'at the end', 'a\nb\n', { 2, 0, 2, 0, 'c\n' }, 'a\nb\nc\n' },
  { 'at the end, with an empty line', 'a\né😀\n', { 2, 0, 2, 0, 'c\n\n' }, 'a\né😀\nc\n\n' },
  { 'at the end in UTF-8', 'a\né😀\n', { 2, 0, 2, 0, 'c\n' }, 'a\né😀\nc\n', 'utf-8' },
  { 'an empty line at the end', 'a\n', { 1, 0, 1, 0, '\n' }, 'a\n\n' },
  { 'the last line away', 'a\nb\n', { 1, 0, 2, 0, '' }, 'a\n' },
  { 'the end of the last line away', 'a\nb\n', { 1, 1, 2, 0, '' }, 'a\nb' },
  { 'the last line for one without an end', 'a\nb\n', { 1, 0, 2, 0, 'B' }, 'a\nB' },
  { 'the whole text', 'a\nb\n', { 0, 0, 2, 0, 'x\ny\n' }, 'x\ny\n' },
  { 'the whole text for one without an end', 'a\nb\n', { 0, 0, 2, 0, 'x\ny' }, 'x\ny' },
  { 'the whole text away', 'a\nb\n', { 0, 0, 2, 0, '' }, '' },
  { 'no final newline, the whole text', 'a\nb', { 0, 0, 1, 1, 'x\ny' }, 'x\ny' },
  { 'no final newline, the whole text for one with an end', 'a\nb', { 0, 0, 2, 0, 'x\ny\n' }, 'x\ny\n' },
  { 'no final newline, and the range goes on behind the end', 'a\nb', { 1, 1, 2, 0, '' }, 'a\nb' },
  { 'a last line without an end behind the end', 'a\nb\n', { 2, 0, 2, 0, 'c' }, 'a\nb\nc' },
  { 'no final newline, and an insert behind the end', 'a\nb', { 2, 0, 2, 0, 'c\n' }, 'a\nbc\n' },
  { 'no final newline, and none after', 'a\nb', { 0, 0, 0, 1, 'A' }, 'A\nb' },
  { 'no final newline, one after', 'a\nb', { 1, 1, 1, 1, '\nc\n' }, 'a\nb\nc\n' },
  { 'no final newline, a line more', 'a\nb', { 1, 1, 1, 1, '\nc' }, 'a\nb\nc' },
  { 'CRLF', 'a\r\nb\r\n', { 0, 1, 0, 1, '!\r\nx' }, 'a!\r\nx\r\nb\r\n' },
  { 'a byte order mark', '\239\187\191a\n', { 0, 1, 0, 1, '!' }, '\239\187\191a!\n' },
  { 'UTF-16 behind an emoji', 'x := "😀é" + y\n', { 0, 13, 0, 14, 'z' }, 'x := "😀é" + z\n' },
  { 'UTF-8 behind an emoji', 'x := "😀é" + y\n', { 0, 16, 0, 17, 'z' }, 'x := "😀é" + z\n', 'utf-8' },
  { 'an empty file', '', { 0, 0, 1, 0, 'a\n' }, 'a\n' },
}) do
  T.case('bytes after an edit: ' .. x[1], function()
    local name = x[1]:gsub('%W', '_') .. '.txt'
    local buf, uri = open(name, x[2])
    local e = x[3]
    T.eq(apply({ change(uri, 3, e[1], e[2], e[3], e[4], e[5]) }, 'turn', x[5]), { applied = true })
    T.eq(T.read(root .. '/' .. name), x[4])
    T.eq({ vim.bo[buf].modified, vim.bo[buf].fixendofline, vim.o.eventignore }, { false, true, '' })
    -- The buffer shows the lines of the file: none more, and an end where there is one.
    T.eq({ T.text(buf):gsub('\n$', '%0<blank>'), vim.bo[buf].endofline or x[4] == '' }, { (x[4]:gsub('^\239\187\191', ''):gsub('\r', ''):gsub('\n$', ''):gsub('\n$', '%0<blank>')), vim.endswith(x[4], '\n') or x[4] == '' })
  end)
end

T.case('a version that is not the current one is refused and nothing changes', function()
  local buf, uri = open('v.txt', 'a\n')
  for _, version in ipairs({ 2, 4, 0 }) do
    refused(apply({ change(uri, version, 0, 0, 0, 1, 'b') }), 'v.txt changed since')
  end
  T.eq(T.text(buf), 'a')
  T.eq(apply({ change(uri, nil, 0, 0, 0, 1, 'b') }), { applied = true })
end)

T.case('when one part cannot be done no part is', function()
  local one, uri1 = open('one.txt', 'a\n')
  local _, uri2 = open('two.txt', 'a\n')
  refused(apply({ change(uri1, 3, 0, 0, 0, 1, 'b'), change(uri2, 2, 0, 0, 0, 1, 'b') }), 'two.txt changed since')
  T.eq({ T.text(one), T.read(root .. '/one.txt') }, { 'a', 'a\n' })
  refused(apply({ change(uri1, 3, 0, 0, 0, 1, 'b'), { kind = 'rename', oldUri = uri1, newUri = uri2 } }), '"rename" is not supported')
end)

T.case('read-only and closed files are refused', function()
  local buf, uri = open('ro.txt', 'a\n')
  vim.bo[buf].readonly = true
  refused(apply({ change(uri, 3, 0, 0, 0, 1, 'b') }), 'is open read-only')
  T.write(root .. '/closed.txt', 'a\n')
  refused(apply({ change(vim.uri_from_fname(root .. '/closed.txt'), nil, 0, 0, 0, 1, 'b') }), 'is not open')
end)

T.case('a file that changed on the disk is read again, not written over', function()
  local buf, uri = open('disk.txt', 'a\n')
  T.write(root .. '/disk.txt', 'longer\n')
  refused(apply({ change(uri, 3, 0, 0, 0, 1, 'b') }), 'was read again')
  T.eq(T.text(buf), 'longer')
end)

T.case('files are made only where nothing is, with the folders above', function()
  local uri = vim.uri_from_fname(root .. '/sub/dir/new.txt')
  local create = { kind = 'create', uri = uri, options = { overwrite = false, ignoreIfExists = false } }
  T.eq(apply({ create, change(uri, nil, 0, 0, 1, 0, 'new\n') }), { applied = true })
  T.eq({ T.read(root .. '/sub/dir/new.txt'), vim.fn.bufnr(root .. '/sub/dir/new.txt') }, { 'new\n', -1 })
  refused(apply({ create, change(uri, nil, 0, 0, 1, 0, 'newer\n') }), 'exists already')
  T.eq(T.read(root .. '/sub/dir/new.txt'), 'new\n')
end)

T.case('a delete takes the buffer along, but not one with changes', function()
  local buf, uri = open('gone.txt', 'a\n')
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, { 'mine' })
  refused(apply({ { kind = 'delete', uri = uri } }), 'has changes in the editor')
  T.eq(T.read(root .. '/gone.txt'), 'a\n')
  vim.cmd('silent write')
  T.eq(apply({ { kind = 'delete', uri = uri } }), { applied = true })
  T.eq({ T.read(root .. '/gone.txt'), vim.fn.bufloaded(buf) }, { nil, 0 })
  refused(apply({ { kind = 'delete', uri = uri } }), 'was deleted already')
end)

T.case('edits of one turn are one undo block; a person or another turn begins a new one', function()
  local buf, uri = open('undo.txt', 'a\n')
  local function put(text, label)
    local last = #vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]
    T.eq(apply({ change(uri, nil, 0, 0, 0, last, text) }, label), { applied = true })
  end
  put('b', 'turn 1')
  put('c', 'turn 1')
  vim.api.nvim_buf_set_lines(buf, 0, 1, false, { 'mine' })
  put('d', 'turn 1')
  put('e', 'turn 2')
  put('f', 'turn 2')
  local steps = {}
  for _ = 1, 4 do
    vim.cmd('silent undo')
    steps[#steps + 1] = T.text(buf)
  end
  T.eq(steps, { 'd', 'mine', 'c', 'a' })
end)

T.case('turns with the same words are two undo blocks', function()
  local state = require('agent_lsp.state')
  local buf, uri = open('words.txt', 'a\n')
  for turn, text in ipairs({ 'b', 'c' }) do
    state.event('id', { kind = 'user', turn = turn, text = 'go on' })
    for _ = 1, 2 do
      T.eq(apply({ change(uri, nil, 0, 0, 0, 0, text) }, 'Agent: go on'), { applied = true })
    end
    state.event('id', { kind = 'done', turn = turn, outcome = 'complete' })
  end
  T.eq(T.text(buf), 'ccbba')
  vim.cmd('silent undo')
  T.eq(T.text(buf), 'bba')
  vim.cmd('silent undo')
  T.eq(T.text(buf), 'a')
end)

T.case('what a formatter would do on save is not done to an edit', function()
  local buf, uri = open('format.txt', 'a\n')
  local fired = {}
  local group = vim.api.nvim_create_augroup('format', {})
  vim.api.nvim_create_autocmd({ 'BufWritePre', 'BufWritePost' }, {
    group = group,
    buffer = buf,
    callback = function(args)
      fired[#fired + 1] = args.event
      if args.event == 'BufWritePre' then
        vim.api.nvim_buf_set_lines(buf, 0, -1, false, { 'formatted' })
      end
    end,
  })
  T.eq(apply({ change(uri, 3, 0, 0, 0, 1, 'b') }), { applied = true })
  T.eq({ T.read(root .. '/format.txt'), fired }, { 'b\n', { 'BufWritePost' } })
end)

T.finish()

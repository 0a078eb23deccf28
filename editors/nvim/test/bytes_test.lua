-- What the agent writes over an open buffer is on the disk byte for byte, shows in the
-- buffer, and is what the server believes: line ends, the last one above all. The tool
-- itself keeps a file's way to end, unless the end is all that changes.
local T = require('helper')

local pairs_ = {
  { 'a\nb', 'a\nB' },
  { 'a\nb', 'a\nb\n' },
  { 'a\nb', 'a\nb\nc' },
  { 'a\nb', 'x\ny' },
  { 'a\nb', '' },
  { 'a\nb\n', 'a\nB\n' },
  { 'a\nb\n', 'a\nb' },
  { 'a\nb\n', 'a\nb\nc\n' },
  { 'a\nb\n', 'a\nb\n\n' },
  { 'a\nb\n', 'a\n' },
  { 'a\nb\n', 'x\ny\n' },
  { 'a\nb\n', '' },
  { '', 'a\n' },
  { '\n', 'a\n' },
  { 'a\r\nb\r\n', 'a\r\nb\r\nc\r\n' },
  { 'a\r\nb\r\n', 'a\r\nb' },
  { '\239\187\191a\nb', '\239\187\191a\nb\n' },
}
local files, reads, writes = { ['.git/HEAD'] = 'x\n' }, {}, {}
for i, p in ipairs(pairs_) do
  local name = ('%02d.txt'):format(i)
  files[name] = p[1]
  reads[i] = { read = { path = name } }
  writes[i] = { write = { path = name, text = (p[2]:gsub('^\239\187\191', '')) } }
end
local root = T.project('p', files)
T.setup({ { calls = reads }, { calls = writes }, { text = 'Done.' } })
local buffers = {}
for i in ipairs(pairs_) do
  buffers[i] = T.edit(('%s/%02d.txt'):format(root, i))
  T.attached(buffers[i])
end

T.case('the turn ends', function()
  T.eq(T.ask('write them'), 'agent: turn 1: complete')
end)

for i, p in ipairs(pairs_) do
  T.case(('%q becomes %q'):format(p[1], p[2]):gsub('\\\n', '\\n'), function()
    T.eq({ T.read(('%s/%02d.txt'):format(root, i)), vim.bo[buffers[i]].modified }, { p[2], false })
  end)
end

T.case('no edit failed', function()
  T.no_match(T.shows('Turn 1 ended'), '*failed*', true)
end)

T.case('undo takes all of it back', function()
  T.forget()
  vim.cmd('Agent undo')
  T.told('turn 1 is undone')
  for i, p in ipairs(pairs_) do
    local was = p[1] == '' and '\n' or p[1] -- Neovim tells servers that an empty file is an empty line
    T.eq({ T.read(('%s/%02d.txt'):format(root, i)), vim.bo[buffers[i]].modified }, { was, false }, ('%q'):format(p[1]))
  end
end)

T.finish()

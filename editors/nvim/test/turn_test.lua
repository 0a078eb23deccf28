-- The main job: a prompt becomes progress, an edit of the unsaved buffer that is
-- saved, a problem at its line, a correction, a transcript; then it is undone.
local T = require('helper')

local broken = 'package main\n\n// old\nfunc main() {\n\t_, x := "😀é", y\n\tprintln(x)\n}\n'
local root = T.project('p', { ['go.mod'] = 'module example.test/p\n\ngo 1.21\n', ['main.go'] = broken, ['closed.go'] = 'package main\n\nvar _ = 1\n', ['notes.txt'] = 'one\n' })
T.setup({
  { text = 'Let me look.', calls = { { read = { path = 'main.go' } } }, stream = { 'Let me ', 'look.' } },
  { calls = { { patch = { path = 'main.go', diff = '@@\n func main() {\n-\t_, x := "😀é", y\n+\t_, x := "😀é", z\n \tprintln(x)\n' } } } },
  { when = 'undefined: z', calls = { { patch = { path = 'main.go', diff = '@@\n-\t_, x := "😀é", z\n+\t_, x := "😀é", 1\n' } } } },
  { text = 'Fixed. <img src=x onerror=alert(1)>\27[31m\226\128\174' },
  { when = '2/1', calls = { { write = { path = 'sub/new.go', text = 'package sub\n' } } } },
  { when = '2/2', text = 'Made.' },
  { when = '3/1', calls = { { read = { path = 'closed.go' } } } },
  { when = '3/2', calls = { { patch = { path = 'closed.go', diff = '@@\n-var _ = 1\n+var _ = nobody\n' } } } },
  { when = 'undefined: nobody', calls = { { exec = { argv = { 'grep', 'nobody', 'closed.go' } } } } },
  { when = 'var _ = nobody', text = 'It is there.' },
}, { settings = { approvals = 'all' } })

local notes = T.edit(root .. '/notes.txt')
vim.api.nvim_buf_set_lines(notes, -1, -1, false, { 'mine, not saved' })
local buf = T.edit(root .. '/main.go')
local client = T.attached(buf)
vim.api.nvim_buf_set_lines(buf, 2, 3, false, { '// typed, not saved' })
vim.cmd('let &g:undolevels = &g:undolevels')
local typed = T.text(buf)

local found = {}
vim.api.nvim_create_autocmd('DiagnosticChanged', {
  callback = function(args)
    if args.buf == buf then
      for _, d in ipairs(vim.diagnostic.get(buf)) do
        found[#found + 1] = ('%d:%d %s [%s]'):format(d.lnum, d.col, d.message, d.source)
      end
    end
  end,
})
local kinds = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'AgentLspStatus',
  callback = function()
    local text, kind = require('agent_lsp').status()
    kinds[kind] = text
    -- Looks at the folds as a redraw does, so that they are worked out step by step.
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      vim.api.nvim_win_call(win, function()
        vim.fn.foldclosed('$')
      end)
    end
  end,
})

T.case('a turn ends and says so', function()
  T.eq(T.ask('fix the build'), 'agent: turn 1: complete')
end)

T.case('what the agent was at showed as progress and in the statusline', function()
  T.wait('progress end', function()
    return #T.progress > 0 and T.progress[#T.progress].kind == 'end'
  end)
  T.eq(T.progress[1].kind, 'begin')
  T.eq(T.progress[1].title, 'fix the build')
  T.match(kinds.working, 'agent: ')
  T.eq({ require('agent_lsp').status() }, { 'agent', 'idle' })
end)

T.case('the edit is in the buffer and on the disk, with what was typed', function()
  local want = typed:gsub('é", y', 'é", 1')
  T.eq(T.text(buf), want)
  T.eq(T.read(root .. '/main.go'), want .. '\n')
  T.eq(vim.bo[buf].modified, false)
end)

T.case('an unrelated buffer keeps its unsaved changes', function()
  T.eq(vim.bo[notes].modified, true)
  T.eq(T.text(notes), 'one\nmine, not saved')
  T.eq(T.read(root .. '/notes.txt'), 'one\n')
end)

T.case('the problem showed at its line, and is gone', function()
  T.match(table.concat(found, '\n'), '4:19 undefined: z [agent-lsp go build]', true)
  T.wait('no diagnostics', function()
    return #vim.diagnostic.get(buf) == 0
  end)
end)

T.case('the transcript tells it all and stays inert', function()
  local text = T.shows('Turn 1 ended')
  T.match(text, '> fix the build', true)
  T.match(text, 'Let me look.', true)
  T.match(text:lower(), '**change main.go**', true)
  T.match(text, 'main.go:5:20: error: undefined: z', true)
  T.match(text, 'Fixed. <img src=x onerror=alert(1)>␛[31m<U+202E>', true)
  T.match(text, '*Turn 1 ended: complete.*', true)
  T.no_match(text, '\27', true)
  local _, n = text:gsub('Let me look%.', '')
  T.eq(n, 1)
end)

T.case('calls are folded in the transcript, words are not', function()
  local win = vim.fn.win_findbuf(T.transcript())[1]
  vim.api.nvim_win_call(win, function()
    local line = vim.fn.search('\\V\\c**change main.go**', 'nw')
    T.eq(vim.fn.foldclosed(line), line)
    T.match(vim.fn.foldtextresult(line):lower(), '^▸ change main.go %(%d+ lines%)')
    T.eq(vim.fn.foldclosed(vim.fn.search('Fixed', 'nw')), -1)
    -- Each fold holds one block and ends before the empty line.
    local at, n = 1, 0
    while at <= vim.fn.line('$') do
      local last = vim.fn.foldclosedend(at)
      if last > 0 then
        n = n + 1
        T.match(vim.fn.getline(at), '^%*')
        T.eq(vim.fn.getline(last + 1), '')
        at = last
      end
      at = at + 1
    end
    T.eq(n, 4) -- one read, two patches, what the checker said
  end)
end)

T.case('one u takes back the turn and leaves what was typed', function()
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent undo')
    T.eq(T.text(buf), typed)
    vim.cmd('silent redo')
  end)
  T.match(T.text(buf), 'é", 1', true)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent update')
  end)
end)

T.case(':Agent undo reverts the turn in buffer and file', function()
  T.forget()
  vim.api.nvim_set_current_buf(buf)
  vim.cmd('Agent undo')
  T.told('turn 1 is undone in main.go')
  T.eq(T.text(buf), typed)
  T.eq(T.read(root .. '/main.go'), typed .. '\n')
end)

T.case('a new file is made without a hidden buffer, and undo takes it away', function()
  T.eq(T.ask('make a file'), 'agent: turn 2: complete')
  T.eq(T.read(root .. '/sub/new.go'), 'package sub\n')
  T.eq(vim.fn.bufnr(root .. '/sub/new.go'), -1)
  T.forget()
  vim.cmd('Agent undo')
  T.told('is undone')
  T.eq(vim.uv.fs_stat(root .. '/sub/new.go'), nil)
end)

T.case('an edit of a file that is not open is seen by the checker and by a command', function()
  T.eq(T.ask('break it'), 'agent: turn 3: complete')
  T.shows('It is there.')
  T.eq({ T.read(root .. '/closed.go'), vim.fn.bufloaded(root .. '/closed.go') }, { 'package main\n\nvar _ = nobody\n', 0 })
  T.eq(vim.tbl_map(function(d)
    return d.message
  end, vim.diagnostic.get(vim.fn.bufnr(root .. '/closed.go'))), { 'undefined: nobody' })
end)

T.case('one client, whose documents were opened once', function()
  T.eq(#vim.lsp.get_clients({ name = 'agent-lsp' }), 1)
  T.eq(vim.lsp.get_clients({ name = 'agent-lsp' })[1].id, client.id)
end)

T.finish()

-- The agent works while the person types.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\ntwo\nthree\n' })
T.setup({
  { text = 'Hello.' },
  { text = 'Reading.', calls = { { exec = { argv = { 'true' } } }, { read = { path = 'a.txt' } } } },
  { calls = { { patch = { path = 'a.txt', diff = '@@\n-three\n+THREE\n' } } } },
  { text = 'Done.' },
})
local buf = T.edit(root .. '/a.txt')
T.attached(buf)
T.ask('hello') -- opens the transcript

local mode, at
function _G.work()
  mode = vim.fn.mode()
  T.ask('go')
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    vim.api.nvim_win_call(win, function()
      vim.fn.foldclosed('$') -- as a redraw does
    end)
  end
  at = vim.api.nvim_win_get_cursor(0)
end

local keys = vim.api.nvim_replace_termcodes('ccbefore <Cmd>lua work()<CR>after<Esc>', true, true, true)
vim.api.nvim_feedkeys(keys, 'x', false)

T.case('an edit lands beside what is being typed', function()
  T.eq({ mode, at }, { 'i', { 1, 7 } })
  T.eq(T.text(buf), 'before after\ntwo\nTHREE')
  T.eq({ vim.bo[buf].modified, T.read(root .. '/a.txt') }, { true, 'before \ntwo\nTHREE\n' })
end)

T.case('undo tells the person and the agent apart', function()
  local steps = {}
  for _ = 1, 3 do
    vim.cmd('silent undo')
    steps[#steps + 1] = T.text(buf)
  end
  T.eq(steps, { 'before \ntwo\nTHREE', 'before \ntwo\nthree', 'one\ntwo\nthree' })
end)

T.case('the transcript has its folds when typing ends', function()
  local win = T.wait('the window', function()
    return vim.fn.win_findbuf(T.transcript())[1]
  end)
  T.wait('the folds', function()
    return vim.api.nvim_win_call(win, function()
      local line = vim.fn.search('\\V\\c**change a.txt**', 'nw')
      return line > 0 and vim.fn.foldclosed(line) == line
    end)
  end)
end)

T.finish()

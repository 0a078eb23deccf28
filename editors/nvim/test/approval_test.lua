-- What needs a person's word is asked with the whole command or diff, one question
-- at a time; whatever is no clear yes is a no.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n' })
local function touch(name)
  return { exec = { argv = { 'sh', '-c', 'echo done > ' .. name .. ' # \27[31m\226\128\174' } } }
end
T.setup({
  { when = '1/1', calls = { touch('denied') } },
  { when = '1/2', calls = { touch('dismissed') } },
  { when = '1/3', calls = { touch('allowed') } },
  { when = '1/4', text = 'So be it.' },
  { when = '2/1', calls = { { read = { path = 'a.txt' } } } },
  { when = '2/2', calls = { { write = { path = 'a.txt', text = 'two\27[31m\226\128\174\n' } } } },
  { when = '2/3', calls = { touch('again') } },
  { when = '2/4', text = 'Good.' },
  { when = '3/1', calls = { touch('x1'), touch('x2') } },
  { when = '3/2', text = 'Both.' },
  { when = '4/1', calls = { touch('never') } },
  { when = '5/1', calls = { { exec = { argv = { 'touch', 'typed' } } } } },
  { when = '5/2', text = 'Typed.' },
  { when = '6/1', calls = { { exec = { argv = { 'touch', 'at last' } } } } },
  { when = '6/2', text = 'At last.' },
}, { settings = { approvals = 'ask' }, restart = { delay = 10 }, cmd_env = { AGENT_LSP_STORE = 'sqlite:' .. root .. '/.git/sessions.db' } })
local buf = T.edit(root .. '/a.txt')
T.attached(buf)

local function exists(name)
  return vim.uv.fs_stat(root .. '/' .. name) ~= nil
end

local function window()
  for _, b in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(b):match('^agent://approve/') then
      return b
    end
  end
end

T.case('denied, dismissed and allowed commands', function()
  T.answers({ 'Deny', nil, 'Allow once' })
  local answer, seen = vim.ui.select, {}
  vim.ui.select = function(items, opts, f)
    seen[#seen + 1] = T.text(window())
    answer(items, opts, f)
  end
  T.eq(T.ask('try'), 'agent: turn 1: complete')
  T.eq({ exists('denied'), exists('dismissed'), exists('allowed') }, { false, false, true })
  T.eq(#seen, 3)
  T.match(seen[1], 'echo done > denied', true)
  T.no_match(seen[1], '\27', true)
  T.eq(T.questions[1].labels, { 'Allow once', 'Allow for this session', 'Always allow', 'Deny', 'Read it first (:Agent approve asks again)' })
  T.eq(window(), nil)
  local text = T.shows('Turn 1 ended')
  T.match(text, '*denied*', true)
  T.match(text, '*denied: dismissed*', true)
  T.match(text, '*allowed once*', true)
end)

T.case('a question can be read first, and is asked again', function()
  T.answers({ 'Allow for this session', 'Read it first', 'Allow once' })
  local first = vim.ui.select
  local shown
  vim.ui.select = function(items, opts, f)
    shown = shown or { text = T.text(window()), filetype = vim.bo[window()].filetype }
    first(items, opts, f)
  end
  T.forget()
  vim.cmd('Agent ask go on')
  T.wait('second question', function()
    return #T.questions == 2
  end)
  T.match(shown.text, '-one', true)
  T.match(shown.text, '+two<U+001B>[31m<U+202E>', true)
  T.eq(vim.api.nvim_get_current_buf(), window())
  T.eq({ require('agent_lsp').status() }, { 'agent: waiting for you', 'waiting' })
  T.eq(exists('again'), false)
  vim.cmd('Agent approve')
  T.eq(T.told('agent: turn '), 'agent: turn 2: complete')
  T.eq(exists('again'), true)
  T.eq(T.read(root .. '/a.txt'), 'two\27[31m\226\128\174\n')
  T.eq(T.text(buf), 'two\27[31m\226\128\174')
end)

T.case('two calls in one answer are asked about one after the other', function()
  vim.api.nvim_set_current_buf(buf)
  T.answers({ 'Allow once', 'Allow once' })
  T.eq(T.ask('both'), 'agent: turn 3: complete')
  T.eq({ exists('x1'), exists('x2'), #T.questions }, { true, true, 2 })
end)

T.case('a cancelled turn takes its question back; a late answer does nothing', function()
  local late
  vim.ui.select = function(items, _, f)
    late = function()
      f(items[1])
    end
  end
  T.forget()
  vim.cmd('Agent ask never')
  T.wait('the question', function()
    return late
  end)
  vim.cmd('Agent cancel')
  T.eq(T.told('agent: turn '), 'agent: turn 4: cancelled')
  T.eq({ window(), require('agent_lsp.approve').open() }, { nil, 0 })
  T.shows('Turn 4 ended')
  late()
  T.eq(exists('never'), false)
end)

T.case('nothing is asked into what the person types', function()
  local mode = vim.api.nvim_get_mode
  vim.api.nvim_get_mode = function()
    return { mode = 'i', blocking = false }
  end
  T.answers({ 'Allow once' })
  T.forget()
  vim.cmd('Agent ask and this')
  T.told('waiting for your word: Run touch typed')
  T.eq({ #T.questions, window() }, { 0 })
  vim.api.nvim_exec_autocmds('ModeChanged', { pattern = 'n:i' })
  T.eq(#T.questions, 0)
  vim.api.nvim_get_mode = mode
  vim.api.nvim_exec_autocmds('ModeChanged', { pattern = 'i:n' })
  T.told('agent: turn 5: complete')
  T.eq({ #T.questions, exists('typed') }, { 1, true })
end)

T.case('a question that is open when the server dies is taken back, and what it was about is not done', function()
  local asked = 0
  vim.ui.select = function()
    asked = asked + 1
  end
  T.forget()
  vim.cmd('Agent ask once more')
  T.wait('the question', function()
    return asked == 1
  end)
  for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    vim.uv.kill(pid, 'sigkill')
  end
  T.told('agent: turn 6: complete')
  T.shows('Turn 6 ended')
  T.told('touch') -- what was interrupted is named
  T.eq({ asked, exists('at last'), window() }, { 1, false, nil })
end)

T.finish()

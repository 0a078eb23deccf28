-- A visual selection is the context of a prompt; problems of the lines are fixed.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\ntwo\nthree\nfour\n' })
T.setup({ { text = 'A.' }, { text = 'B.' }, { text = 'C.' }, { text = 'D.' } })
local buf = T.edit(root .. '/a.txt')
T.attached(buf)

local function contexts()
  local id = require('agent_lsp.transcript').session(T.transcript())
  local r = require('agent_lsp.client').command_sync('agent.transcript', { session = id }, 20000)
  local last
  for _, e in ipairs(r.events) do
    last = e.event.kind == 'user' and e.event or last
  end
  return last
end

T.case('the visual map asks about the selection', function()
  vim.ui.input = function(opts, f)
    T.eq(opts.prompt, 'Ask the agent: ')
    f('what is this?')
  end
  vim.keymap.set('x', 'ga', '<Plug>(agent-ask)', { remap = true })
  T.forget()
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.api.nvim_feedkeys('Vjga', 'mx', false)
  T.eq(T.told('agent: turn '), 'agent: turn 1: complete')
  local u = contexts()
  T.eq({ u.text, u.context }, { 'what is this?', { { path = 'a.txt', first = 2, last = 3, text = 'two\nthree\n' } } })
end)

T.case('a range is one, too', function()
  T.forget()
  vim.cmd('4,4Agent ask and this?')
  T.eq(T.told('agent: turn '), 'agent: turn 2: complete')
  T.eq(contexts().context[1].text, 'four\n')
end)

T.case('lines of a buffer that the server does not know are quoted', function()
  vim.cmd('enew')
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'loose', 'words' })
  T.forget()
  vim.cmd('1,1Agent ask and these?')
  T.told('agent: turn ')
  T.match(contexts().text, 'and these?\n\nThese lines are selected:\n````\nloose\n````', true)
  vim.cmd('bwipeout!')
end)

T.case('fix sends the problems of the line', function()
  vim.api.nvim_set_current_buf(buf)
  vim.diagnostic.set(vim.api.nvim_create_namespace('test'), buf, {
    { lnum = 1, col = 0, message = 'two is wrong', source = 'test', severity = 1 },
    { lnum = 3, col = 0, message = 'four is wrong', severity = 1 },
  })
  T.forget()
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.cmd('Agent fix')
  T.told('agent: turn ')
  T.match(contexts().text, 'Fix this problem:\n- a.txt:2: two is wrong (test)', true)
  T.forget()
  vim.cmd('3Agent fix')
  T.told('no problem in these lines')
end)

T.case('no key is mapped that was not asked for', function()
  for _, mode in ipairs({ 'n', 'x', 'i' }) do
    for _, m in ipairs(vim.api.nvim_get_keymap(mode)) do
      if tostring(m.rhs or ''):find('Agent', 1, true) then
        T.match(m.lhs, '^<Plug>')
      end
    end
  end
end)

T.finish()

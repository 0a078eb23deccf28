-- The rest of :Agent: completion, help, health, sessions, profiles, the log.
local T = require('helper')

local root = T.project('p', { ['.git/HEAD'] = 'x\n', ['a.txt'] = 'one\n' })
local script = T.write(root .. '/.git/other.yaml', 'version: 1\nentries: [{text: Other.}]\n')
T.setup({ { text = 'A.' }, { text = 'B.' } }, {
  settings = { profiles = { other = { provider = 'script', script = script } } },
  cmd_env = { AGENT_LSP_STORE = 'sqlite:' .. root .. '/.git/sessions.db' },
})
T.attached(T.edit(root .. '/a.txt'))

local function complete(line)
  return vim.fn.getcompletion(line, 'cmdline')
end

T.case('subcommands complete', function()
  T.eq(complete('Agent '), { 'accept', 'approve', 'ask', 'cancel', 'check', 'fix', 'log', 'mode', 'new', 'profile', 'restart', 'resume', 'sessions', 'transcript', 'undo' })
  T.eq(complete('Agent re'), { 'restart', 'resume' })
  T.eq(complete("'<,'>Agent f"), { 'fix' })
  T.eq(complete('Agent ask so'), {})
end)

T.case('profiles complete and are chosen', function()
  T.eq(complete('Agent profile o'), { 'other' })
  T.forget()
  T.answers({ 'other' })
  vim.cmd('Agent profile')
  T.told('new sessions use other')
  T.forget()
  vim.cmd('Agent profile nonesuch')
  T.told('nonesuch')
end)

T.case('a new session is used by the next prompt', function()
  T.forget()
  vim.cmd('Agent new my title')
  T.told('new session in')
  T.eq(T.ask('go'), 'agent: turn 1: complete')
  T.shows('Other.')
end)

T.case('sessions are listed, opened, resumed and deleted', function()
  local id = require('agent_lsp.transcript').session(T.transcript())
  T.eq(complete('Agent resume '), { id })
  vim.cmd('silent! %bwipeout!')
  T.attached(T.edit(root .. '/a.txt'))
  T.answers({ 'my title', 'Open the transcript' })
  vim.cmd('Agent sessions')
  T.match(T.text(T.transcript()), '^# Session ' .. vim.pesc(id))
  T.shows('Other.')
  T.eq(T.questions[1].labels[1], 'my title, idle, 1 turn, ' .. vim.fn.fnamemodify(root, ':~'))
  vim.cmd('wincmd p')
  T.answers({ 'my title' })
  vim.cmd('Agent resume')
  T.wait('the transcript has the focus', function()
    return require('agent_lsp.transcript').session(vim.api.nvim_get_current_buf()) == id
  end)
  T.eq(vim.api.nvim_get_option_value('buftype', {}), 'nofile')
  T.forget()
  T.answers({ 'my title', 'Delete' })
  vim.cmd('Agent sessions')
  T.told('the session is deleted')
  T.forget()
  vim.cmd('Agent sessions')
  T.told('there is no session yet')
end)

T.case('a wrong word and a wrong number are named', function()
  T.forget()
  vim.cmd('Agent dance')
  T.told('there is no :Agent dance; there are accept, approve, ask, ')
  vim.cmd('Agent undo x')
  T.told('undo takes the number of a turn, not "x"')
end)

T.case(':Agent alone offers what there is', function()
  T.forget()
  T.answers({ 'cancel' })
  T.edit(root .. '/a.txt')
  vim.cmd('Agent')
  T.told('no turn is running')
end)

T.case('checkhealth is fine', function()
  vim.cmd('checkhealth agent_lsp')
  local text = T.text(0)
  for _, words in ipairs({ 'Program: ' .. vim.env.AGENT_TEST_BINARY, 'setup() was called', 'Engine: ready', 'Core: ready', 'Store: ready', 'Workspace folder: ' .. root, 'Model profile: other' }) do
    T.match(text, words, true)
  end
  T.no_match(text, 'ERROR')
  T.no_match(text, 'WARNING')
  vim.cmd('bwipeout!')
end)

T.case('help has its tags, and each map and command is in it', function()
  local copy = T.project('copy', { ['doc/agent-lsp.txt'] = T.read(vim.env.AGENT_NVIM_PLUGIN .. '/doc/agent-lsp.txt') })
  vim.cmd('helptags ' .. vim.fn.fnameescape(copy .. '/doc'))
  vim.opt.runtimepath:append(copy)
  for _, tag in ipairs({ 'agent-lsp', ':Agent', 'agent-lsp-install', 'agent-lsp-setup', 'agent-lsp-status', 'agent-lsp-edits' }) do
    vim.cmd.help(tag)
    T.match(vim.api.nvim_buf_get_name(0), 'agent%-lsp%.txt$')
  end
  local text = T.text(0)
  for _, word in ipairs(complete('Agent ')) do
    T.match(text, 'Agent ' .. word, true)
    T.match(text, ('<Plug>(agent-%s)'):format(word), true)
    assert(vim.fn.maparg(('<Plug>(agent-%s)'):format(word), 'n') ~= '', word)
  end
  for _, line in ipairs(vim.split(text, '\n')) do
    assert(vim.fn.strdisplaywidth(line) <= 78, 'too long: ' .. line)
  end
end)

T.case('a transcript by a wrong name says so', function()
  vim.cmd('edit agent://session/nonsense')
  T.match(T.text(0), 'This is no transcript', true)
  vim.cmd('edit agent://session/00000000-0000-0000-0000-000000000001.md')
  T.wait('the reason', function()
    return T.text(0):find('cannot be read', 1, true)
  end)
end)

T.finish()

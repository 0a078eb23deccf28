-- What the tests share. Each test file runs in a Neovim of its own; its last line is
-- T.finish(), without which the run counts as failed: a question that nobody answers
-- ends "nvim -l" with exit code 0.
local T = { notes = {}, questions = {}, progress = {}, cases = 0, failures = 0 }
local dir = assert(vim.env.AGENT_TEST_DIR, 'run the tests by scripts/test-nvim.sh')

T.patience = tonumber(vim.env.AGENT_TEST_PATIENCE) or 90000 -- ms; reached only by a test that fails

function T.say(text)
  io.stdout:write(text, '\n')
end

--- The state of things for a failed wait.
local function evidence()
  local out = { 'messages: ' .. vim.inspect(T.notes), 'status: ' .. tostring(require('agent_lsp').status()) }
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf):match('^agent:') then
      out[#out + 1] = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    end
  end
  local log = io.open(vim.fn.stdpath('log') .. '/lsp.log')
  out[#out + 1] = log and log:read('a'):sub(-2000) or ''
  return table.concat(out, '\n')
end

function T.wait(what, f)
  local value
  local ok = vim.wait(T.patience, function()
    value = f()
    return value
  end, 10)
  if not ok then
    error(('waited in vain: %s\n%s'):format(what, evidence()), 2)
  end
  return value
end

function T.eq(got, want, what)
  if not vim.deep_equal(got, want) then
    error(('%s\n  got:  %s\n  want: %s'):format(what or 'not equal', vim.inspect(got), vim.inspect(want)), 2)
  end
end

function T.match(text, pattern, plain)
  if not tostring(text):find(pattern, 1, plain) then
    error(('no %q in: %s'):format(pattern, tostring(text)), 2)
  end
end

function T.no_match(text, pattern, plain)
  if tostring(text):find(pattern, 1, plain) then
    error(('%q is in: %s'):format(pattern, tostring(text)), 2)
  end
end

function T.case(name, f)
  local began = vim.uv.now()
  T.cases = T.cases + 1
  local ok, err = xpcall(f, function(e)
    return debug.traceback(e, 2)
  end)
  if ok then
    return T.say(('ok %s (%d ms)'):format(name, vim.uv.now() - began))
  end
  T.failures = T.failures + 1
  T.say('FAIL ' .. name .. '\n' .. tostring(err))
end

function T.write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local f = assert(io.open(path, 'wb'))
  f:write(text)
  f:close()
  return path
end

function T.read(path)
  local f = io.open(path, 'rb')
  if not f then
    return nil
  end
  local text = f:read('a')
  f:close()
  return text
end

--- Makes a directory with files and answers its path.
function T.project(name, files)
  local root = vim.fs.normalize(vim.uv.fs_realpath(dir)) .. '/' .. name
  vim.fn.mkdir(root, 'p')
  for path, text in pairs(files) do
    T.write(root .. '/' .. path, text)
  end
  return root
end

-- A value as YAML on one line. Keys stand without quotes, strings as in JSON.
local function yaml(v)
  if type(v) ~= 'table' then
    return vim.json.encode(v)
  elseif vim.islist(v) then
    return '[' .. table.concat(vim.tbl_map(yaml, v), ', ') .. ']'
  end
  local out = {}
  for key, value in vim.spairs(v) do
    out[#out + 1] = ('%s: %s'):format(key, yaml(value))
  end
  return '{' .. table.concat(out, ', ') .. '}'
end

--- setup() with the server under test and a script in place of a model.
function T.setup(entries, opts)
  opts = opts or {}
  local script = T.write(dir .. '/script-' .. vim.uv.hrtime() .. '.yaml', yaml({ version = 1, entries = entries }))
  local settings = vim.tbl_extend('force', { approvals = 'all', trusted = true }, opts.settings or {})
  opts.settings = settings
  require('agent_lsp').setup(vim.tbl_extend('force', {
    cmd = { assert(vim.env.AGENT_TEST_BINARY) },
    profile = { provider = 'script', script = script },
  }, opts))
end

function T.edit(path)
  vim.cmd.edit(vim.fn.fnameescape(path))
  return vim.api.nvim_get_current_buf()
end

--- Waits until a buffer is attached.
function T.attached(buf)
  return T.wait('attached', function()
    local c = vim.lsp.get_clients({ name = 'agent-lsp' })[1]
    return c and c.initialized and vim.lsp.buf_is_attached(buf, c.id) and c
  end)
end

--- Waits until a message that holds words was shown.
function T.told(words)
  return T.wait('message ' .. words, function()
    for _, n in ipairs(T.notes) do
      if n:find(words, 1, true) then
        return n
      end
    end
  end)
end

function T.forget()
  T.notes, T.questions = {}, {}
end

--- Prompts and waits for the end of the turn.
function T.ask(text)
  T.forget()
  vim.cmd('Agent ask ' .. text)
  return T.told('agent: turn ')
end

function T.text(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

--- The buffer of the one transcript that is shown.
function T.transcript()
  return T.wait('transcript', function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf):match('^agent://session/') then
        return buf
      end
    end
  end)
end

--- Waits until the transcript has words, and answers its whole text.
function T.shows(words)
  local text
  T.wait(('%q in the transcript'):format(words), function()
    text = T.text(T.transcript())
    return text:find(words, 1, true)
  end)
  return text
end

--- Answers the next questions by what their labels say; nil dismisses one.
function T.answers(list)
  local n = 0
  vim.ui.select = function(items, opts, f)
    n = n + 1
    local labels = vim.tbl_map(opts.format_item or tostring, items)
    T.questions[#T.questions + 1] = { prompt = opts.prompt, labels = labels }
    local want = list[n]
    for i, label in ipairs(labels) do
      if want and label:find(want, 1, true) then
        return f(items[i], i)
      end
    end
    f(nil)
  end
end

function T.finish()
  local messages = vim.api.nvim_exec2('messages', { output = true }).output .. table.concat(T.notes, '\n')
  if messages:find('E5560', 1, true) or messages:find('stack traceback', 1, true) then
    T.failures = T.failures + 1
    T.say('FAIL nothing raised in the background\n' .. messages)
  end
  T.say(('finished: %d %d'):format(T.cases, T.failures))
  vim.cmd('silent! %bwipeout!')
  os.exit(T.failures == 0 and 0 or 1)
end

vim.notify = function(text)
  assert(not vim.in_fast_event(), 'E5560: a message in a fast event')
  T.notes[#T.notes + 1] = text
end
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(args)
    table.insert(T.progress, (args.data.params or args.data.result).value)
  end,
})

vim.o.hidden, vim.o.swapfile, vim.o.shada = true, false, ''
vim.opt.runtimepath:prepend(assert(vim.env.AGENT_NVIM_PLUGIN))
vim.cmd('runtime plugin/agent_lsp.lua')
vim.cmd('filetype plugin on')
return T

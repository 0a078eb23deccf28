-- A language server that floods, stammers and dies when a prompt says so. Run by
-- "nvim -l"; appends a line to the file in FAKE_LOG for each document that is opened.
local session = '01a22c2a-f8b5-70f3-869a-b911f2ebcdf1'
local root = vim.env.FAKE_ROOT
local events = {}

local function send(message)
  message.jsonrpc = '2.0'
  local body = vim.json.encode(message)
  io.stdout:write(('Content-Length: %d\r\n\r\n%s'):format(#body, body))
  io.stdout:flush()
end

local function notify(method, params)
  send({ method = method, params = params })
end

local function event(e, unsent)
  events[#events + 1] = { index = #events, at = '2026-01-02T03:04:05Z', event = e }
  if not unsent then
    notify('agent/transcript', { session = session, index = #events - 1, at = '2026-01-02T03:04:05Z', event = e })
  end
end

local play = {
  storm = function()
    event({ kind = 'user', turn = 1, text = 'go' })
    event({ kind = 'ask', turn = 1, id = 1, round = 1, attempt = 1 })
    for i = 1, 1000 do
      notify('$/progress', { token = 't', value = { kind = i == 1 and 'begin' or 'report', title = 'go', message = 'at ' .. i } })
      notify('agent/delta', { session = session, turn = 1, text = i .. ' ' })
      notify('window/logMessage', { type = 3, message = 'line ' .. i })
    end
  end,
  message = function()
    event({ kind = 'message', turn = 1, text = 'All of it.', calls = {} })
  end,
  gap = function()
    for i = 1, 3 do
      event({ kind = 'note', text = 'lost ' .. i }, true)
    end
    event({ kind = 'note', text = 'pushed' })
    notify('agent/transcript', { session = session, index = 0, at = '', event = { kind = 'note', text = 'again' } })
    event({ kind = 'done', turn = 1, outcome = 'complete' })
  end,
  late = function()
    event({ kind = 'ask', turn = 1, id = 2, round = 2, attempt = 1 }, true)
    event({ kind = 'message', turn = 1, text = 'Late words.', calls = {} }, true)
    event({ kind = 'note', text = 'makes it fetch' })
    notify('agent/delta', { session = session, turn = 1, text = 'Late words.' })
  end,
  chatter = function()
    for i = 1, 5000 do
      notify('window/logMessage', { type = 3, message = 'chatter ' .. i })
    end
  end,
  rubbish = function()
    notify('agent/transcript', { session = session, index = 99 })
    notify('agent/delta', { session = session })
    notify('agent/unheard', {})
    notify('window/showMessage', { type = 1, message = 'bad \27[31m' })
  end,
  die = function()
    for _ = 1, 200 do
      notify('window/logMessage', { type = 3, message = 'about to die' })
      io.stderr:write('about to die\n')
    end
    io.stdout:write('Content-Length: 1000\r\n\r\n{"half')
    io.stdout:flush()
    os.exit(3)
  end,
}

local answers = {
  initialize = function()
    return {
      capabilities = { positionEncoding = 'utf-8', textDocumentSync = { openClose = true, change = 2 }, executeCommandProvider = { commands = { 'agent.prompt' } } },
    }
  end,
  ['workspace/executeCommand'] = function(p)
    local argument = p.arguments[1]
    if p.command == 'agent.transcript' then
      return { events = vim.list_slice(events, (argument.after or -1) + 2), head = #events - 1 }
    end
    local list = { { session = session, root = root } }
    return { session = session, turn = 1, sessions = list, undecodable = {}, state = 'idle', interrupted = {}, text = argument.text }
  end,
}

while true do
  local length
  repeat
    local line = io.stdin:read('*l')
    if not line then
      os.exit(0)
    end
    length = tonumber(line:match('^Content%-Length: (%d+)')) or length
  until vim.trim(line) == ''
  local m = vim.json.decode(io.stdin:read(length))
  if m.id and m.method then
    local result = answers[m.method] and answers[m.method](m.params) or vim.NIL
    send({ id = m.id, result = result })
    if type(result) == 'table' and result.text and play[result.text] then
      play[result.text]()
    end
  elseif m.method == 'textDocument/didOpen' then
    local f = assert(io.open(vim.env.FAKE_LOG, 'a'))
    f:write(vim.fn.getpid(), '\n')
    f:close()
  elseif m.method == 'exit' then
    os.exit(0)
  end
end

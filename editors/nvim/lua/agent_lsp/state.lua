-- What is known of sessions: a fold over the events that the server sends.
local inert = require('agent_lsp.inert')
local M = {}

---@class agent_lsp.Session
---@field root? string
---@field turn? integer the running turn
---@field doing? string
---@field waiting boolean a question to the person is open
---@field used boolean this Neovim drives it

---@type table<string, agent_lsp.Session>
M.sessions = {}
M.current = {} -- root -> the session that prompts without one go to
M.checks = {} -- session -> outcome of its last check
M.server = 'off' -- "off", "starting", "ready", "restarting", "missing" or "failed"

local told = false

--- Fires the autocommand User AgentLspStatus, once for what happens together.
function M.changed()
  if told then
    return
  end
  told = true
  vim.schedule(function()
    told = false
    vim.api.nvim_exec_autocmds('User', { pattern = 'AgentLspStatus', modeline = false })
  end)
end

---@param id string
---@param root? string
---@return agent_lsp.Session
function M.session(id, root)
  local s = M.sessions[id]
  if not s then
    s = { waiting = false, used = false }
    M.sessions[id] = s
  end
  s.root = root or s.root
  return s
end

--- Makes a session the one that its root's prompts go to.
function M.use(id, root)
  M.session(id, root).used = true
  M.current[root] = id
  M.changed()
end

function M.forget(id)
  M.sessions[id], M.checks[id] = nil, nil
  for root, current in pairs(M.current) do
    if current == id then
      M.current[root] = nil
    end
  end
end

function M.set_server(state)
  M.server = state
  if state ~= 'ready' then
    for _, s in pairs(M.sessions) do
      s.waiting = false
    end
  end
  M.changed()
end

--- Names the turns that run, for telling one turn's edits from another's.
---@return string
function M.running()
  local out = {}
  for id, s in pairs(M.sessions) do
    if s.turn then
      out[#out + 1] = ('%s/%d'):format(id, s.turn)
    end
  end
  table.sort(out)
  return table.concat(out, ' ')
end

local function words_of(value)
  if type(value) == 'table' then
    return vim.islist(value) and table.concat(vim.tbl_map(words_of, value), ' ') or vim.json.encode(value)
  end
  return value == vim.NIL and '' or tostring(value)
end

-- The arguments of a call that are not empty, by their names; nil when they are no
-- JSON object or do not fit.
local function arguments_of(e)
  local ok, args = pcall(vim.json.decode, e.arguments)
  if not ok or type(args) ~= 'table' or vim.islist(args) and #args > 0 or type(e.call) ~= 'table' then
    return nil
  end
  local out = {}
  for name, value in vim.spairs(args) do
    local words = words_of(value)
    if words ~= '' then
      out[#out + 1] = { name = name, words = words }
    end
  end
  return out
end

--- What is shown of a call: the title that the server gave it, and the arguments that
--- the title leaves out. It knows no tool: a call of an older server is named by its
--- tool and its arguments of one short line.
---@return string title
---@return string detail
function M.call_title(e)
  local title = type(e.title) == 'string' and e.title or nil
  local args, rest = arguments_of(e), {}
  if not args then
    return inert.line(title or e.name, 120), e.arguments or ''
  end
  if not title then
    local first = vim.iter(args):find(function(a)
      return #a.words <= 100 and not a.words:find('\n')
    end)
    title = first and ('%s %s'):format(e.name, first.words) or e.name
  end
  for _, a in ipairs(args) do
    if not title:find(a.words, 1, true) then
      rest[#rest + 1] = a.words:find('\n') and a.words or ('%s: %s'):format(a.name, a.words)
    end
  end
  return inert.line(title, 120), table.concat(rest, '\n')
end

--- The outcome of a check in a few words: the server's title, or one that is made from
--- an older server's event. Only "clean" says that nothing was found.
function M.check_title(e)
  if type(e.title) == 'string' then
    return inert.line(e.title, 120)
  end
  local command = type(e.command) == 'table' and #e.command > 0 and table.concat(e.command, ' ') or 'the checker'
  local n = type(e.findings) == 'table' and #e.findings or 0
  if e.outcome == 'found' then
    return inert.line(('%s found %d problem%s'):format(command, n, n == 1 and '' or 's'), 120)
  elseif e.outcome == 'clean' then
    return inert.line(command .. ' found nothing', 120)
  elseif e.outcome == 'skipped' then
    return 'not checked'
  end
  return inert.line(('unchecked: %s failed'):format(command), 120)
end

local fold = {
  user = function(s, e)
    s.turn, s.doing = e.turn, 'thinking'
  end,
  ask = function(s)
    s.doing = 'thinking'
  end,
  call = function(s, e)
    s.doing = (M.call_title(e))
  end,
  approval = function(s, e)
    s.waiting = e.state == 'asked'
  end,
  intent = function(s)
    s.waiting = false
  end,
  done = function(s)
    s.turn, s.doing, s.waiting = nil, nil, false
  end,
  mode = function(s, e)
    s.mode = e.mode
  end,
}

--- Takes an event of a session.
function M.event(id, e)
  local s = M.session(id)
  s.used = true
  if e.kind == 'check' then
    M.checks[id] = e.outcome
  end
  if fold[e.kind] then
    if e.turn and e.kind ~= 'done' then
      s.turn = e.turn
    end
    fold[e.kind](s, e)
  end
  M.changed()
end

--- What the agent is at, for a statusline: a text without percent signs, and a word
--- for it: "off", "starting", "missing", "failed", "restarting", "waiting", "working",
--- "unchecked" or "idle".
---@return string text
---@return string kind
function M.status()
  if M.server == 'off' then
    return '', 'off'
  elseif M.server ~= 'ready' then
    return 'agent: ' .. M.server, M.server
  end
  local doing, unchecked
  local mode = ''
  for id, s in pairs(M.sessions) do
    if s.waiting then
      return 'agent: waiting for you', 'waiting'
    end
    doing = doing or s.turn and (s.doing or 'working')
    unchecked = unchecked or M.checks[id] == 'failed'
    if s.mode and s.mode ~= 'ask' then
      mode = ' [' .. s.mode .. ']'
    end
  end
  if doing then
    return 'agent: ' .. inert.status(doing, 40) .. mode, 'working'
  elseif unchecked then
    return 'agent: unchecked' .. mode, 'unchecked'
  end
  return 'agent' .. mode, 'idle'
end

return M

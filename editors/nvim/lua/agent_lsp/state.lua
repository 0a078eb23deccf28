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

--- The title of a call in a few words.
function M.call_title(e)
  local c = type(e.call) == 'table' and e.call or {}
  local words = e.name
  if c.Read then
    words = 'Read ' .. c.Read.path
  elseif c.Write then
    words = 'Write ' .. c.Write.path
  elseif c.Patch then
    words = 'Patch ' .. c.Patch.path
  elseif c.Exec then
    words = 'Run ' .. table.concat(c.Exec.argv, ' ')
  elseif c.Git then
    words = 'git ' .. table.concat(c.Git.argv, ' ')
  elseif c.Browse then
    words = 'Browse ' .. c.Browse.url
  end
  return inert.line(words, 120)
end

--- The outcome of a check in a few words; only "clean" says that nothing was found.
function M.check_title(e)
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
    s.doing = M.call_title(e)
  end,
  approval = function(s, e)
    s.waiting = e.state == 'asked'
  end,
  done = function(s)
    s.turn, s.doing, s.waiting = nil, nil, false
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
  for id, s in pairs(M.sessions) do
    if s.waiting then
      return 'agent: waiting for you', 'waiting'
    end
    doing = doing or s.turn and (s.doing or 'working')
    unchecked = unchecked or M.checks[id] == 'failed'
  end
  if doing then
    return 'agent: ' .. inert.status(doing, 40), 'working'
  elseif unchecked then
    return 'agent: unchecked', 'unchecked'
  end
  return 'agent', 'idle'
end

return M

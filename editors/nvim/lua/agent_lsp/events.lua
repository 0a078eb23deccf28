-- What happens when the server tells of a session.
local client = require('agent_lsp.client')
local config = require('agent_lsp.config')
local disk = require('agent_lsp.disk')
local inert = require('agent_lsp.inert')
local state = require('agent_lsp.state')
local transcript = require('agent_lsp.transcript')
local ui = require('agent_lsp.ui')
local M = {}

local learning = false

-- Asks for the roots of sessions that another hand began, such as a code action.
local function learn(f)
  if learning then
    return
  end
  learning = true
  client.command('agent.session.list', {}, function(list)
    learning = false
    for _, s in ipairs(list.sessions) do
      state.session(s.session, s.root)
    end
    f()
  end, function()
    learning = false
  end)
end

local function refresh(id)
  local root = state.sessions[id] and state.sessions[id].root
  if root then
    return disk.refresh(root)
  end
  learn(function()
    root = state.sessions[id] and state.sessions[id].root
    if root then
      disk.refresh(root)
    end
  end)
end

local on = {}

function on.user(id)
  local s = state.session(id)
  if s.root then
    state.use(id, s.root)
  else
    learn(function()
      if s.root then
        state.use(id, s.root)
      end
    end)
  end
  if config.values.transcript.open then
    transcript.show(id)
  end
end

function on.result(id)
  refresh(id)
end

function on.error(_, e)
  ui.error(e.message)
end

function on.check(_, e)
  if e.outcome == 'failed' then
    ui.warn(state.check_title(e))
  end
end

function on.done(id, e)
  require('agent_lsp.approve').drop(id, e.turn)
  if config.values.notify then
    ui.notify(('turn %d: %s'):format(e.turn, e.outcome))
  end
end

--- Takes agent/transcript.
function M.transcript(params)
  local e = params.event
  if type(e) ~= 'table' then
    return
  end
  state.event(params.session, e)
  transcript.push(params.session, params.index, params.at, e)
  if on[e.kind] then
    on[e.kind](params.session, e)
  end
end

--- Takes up the sessions that this Neovim had in a server that ended, and calls f
--- when all of them have been.
---@param f fun()
function M.reconnected(f)
  local ids = vim.tbl_filter(function(id)
    return state.sessions[id].used
  end, vim.tbl_keys(state.sessions))
  local left = #ids
  local function one()
    left = left - 1
    if left <= 0 then
      f()
    end
  end
  if left == 0 then
    return one()
  end
  for _, id in ipairs(ids) do
    local s = state.sessions[id]
    client.command('agent.session.resume', { session = id }, function(r)
      if r.state ~= 'running' then
        s.turn, s.doing = nil, nil
      end
      for _, what in ipairs(r.interrupted or {}) do
        ui.warn(inert.line(what, 300))
      end
      transcript.sync(id)
      one()
    end, function(message)
      s.turn, s.doing = nil, nil
      ui.warn(('session %s was not taken up: %s'):format(id, message))
      for root, current in pairs(state.current) do
        if current == id then
          state.current[root] = nil
        end
      end
      one()
    end)
  end
end

return M

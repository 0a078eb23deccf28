-- Turns a session's events into Markdown, in blocks: a call's result joins its call,
-- however many others came between. What a model or a tool wrote cannot change the
-- structure around it. Does no I/O.
local inert = require('agent_lsp.inert')
local state = require('agent_lsp.state')
local M = {}

---@class agent_lsp.Block
---@field lines string[]
---@field fold boolean shown as one line until it is opened

---@class agent_lsp.Doc
---@field blocks agent_lsp.Block[]
---@field calls table<integer, agent_lsp.Block> by the index of their event
---@field stream? agent_lsp.Block what the model is saying
---@field said string the text of stream
---@field asking boolean the model is answering
---@field last integer the index of the last event; -1 before the first

---@return agent_lsp.Doc
function M.new()
  return { blocks = {}, calls = {}, said = '', asking = false, last = -1 }
end

local function longest(s, pattern)
  local n = 0
  for run in s:gmatch(pattern) do
    n = math.max(n, #run)
  end
  return n
end

local function split(s)
  return vim.split((s:gsub('\n$', '')), '\n', { plain = true })
end

-- Text in a fence that is longer than any in it.
local function fence(out, language, s)
  s = inert.text(s)
  if s == '' then
    return
  end
  local marks = ('`'):rep(math.max(3, longest(s, '`+') + 1))
  out[#out + 1] = marks .. language
  vim.list_extend(out, split(s))
  out[#out + 1] = marks
end

-- A model's Markdown; a fence that it leaves open is closed.
local function prose(s)
  local lines = split(vim.trim(inert.text(s)))
  local open
  for _, line in ipairs(lines) do
    local mark = line:match('^ ? ? ?(```+)[^`]*$') or line:match('^ ? ? ?(~~~+)')
    if mark and not open then
      open = mark
    elseif mark and mark:sub(1, 1) == open:sub(1, 1) and #mark >= #open and vim.trim(line) == mark then
      open = nil
    end
  end
  if open then
    lines[#lines + 1] = open
  end
  return lines
end

local function quote(out, s)
  for _, line in ipairs(prose(s)) do
    out[#out + 1] = line == '' and '>' or '> ' .. line
  end
end

local function escaped(s, max)
  return (inert.line(s, max):gsub('[\\`*_%[%]<>|~#&!]', '\\%0'))
end

local function block(doc, lines, fold)
  local b = { lines = lines, fold = fold or false }
  b.lines[#b.lines + 1] = ''
  doc.blocks[#doc.blocks + 1] = b
  return b
end

local function extend(b, lines)
  table.remove(b.lines) -- the empty line at its end
  vim.list_extend(b.lines, lines)
  b.lines[#b.lines + 1] = ''
end

local function clear_stream(doc)
  doc.asking = false
  if doc.stream then
    doc.stream.lines = {}
    doc.stream, doc.said = nil, ''
  end
end

local on = {}

function on.user(doc, e, at)
  local out = { ('## Turn %d'):format(e.turn), '', ('*%s*'):format(inert.line(at):sub(1, 19):gsub('T', ' ')), '' }
  quote(out, e.text)
  block(doc, out)
  for _, c in ipairs(e.context or {}) do
    local where = c.first and (' lines %d–%d'):format(c.first, c.last or c.first) or ''
    local lines = { ('*With %s%s*'):format(escaped(c.path), where) }
    fence(lines, '', c.text)
    block(doc, lines, true)
  end
end

function on.steer(doc, e)
  local out = {}
  quote(out, e.text)
  block(doc, out)
end

function on.ask(doc)
  clear_stream(doc)
  doc.asking = true
end

function on.message(doc, e)
  clear_stream(doc)
  if type(e.reasoning) == 'string' and e.reasoning ~= '' then
    local lines = { '*Reasoning*', '' }
    quote(lines, e.reasoning)
    block(doc, lines, true)
  end
  if type(e.text) == 'string' and vim.trim(e.text) ~= '' then
    block(doc, prose(e.text))
  end
  if e.refused then
    block(doc, { '*This reply held a call that does not fit; the model was asked again.*' })
  end
end

function on.call(doc, e, _, index)
  local title, detail = state.call_title(e)
  local lines = { ('**%s**'):format(escaped(title)) }
  local diff = ('\n' .. detail):find('\n@@') or ('\n' .. detail):find('\n%-%-%- ')
  fence(lines, diff and e.effect ~= 'run' and 'diff' or '', detail)
  doc.calls[index] = block(doc, lines, true)
end

function on.result(doc, e)
  local lines = {}
  if e.state ~= 'completed' then
    lines[1] = ('*%s*'):format(escaped(e.state))
  end
  if type(e.edit) == 'table' then
    fence(lines, 'diff', e.edit.diff)
    for _, edit in ipairs(type(e.more) == 'table' and e.more or {}) do
      fence(lines, 'diff', edit.diff)
    end
  end
  fence(lines, '', e.text)
  if type(e.changed) == 'table' and #e.changed > 0 then
    lines[#lines + 1] = ('Changed: %s'):format(escaped(table.concat(e.changed, ', ')))
  end
  local call = doc.calls[e.call]
  if call then
    if e.state ~= 'completed' then
      call.lines[1] = ('%s *%s*'):format(call.lines[1], escaped(e.state))
    end
    extend(call, lines)
  else
    block(doc, lines)
  end
end

local words = { allow_once = 'allowed once', allow_session = 'allowed for this session', allow_always = 'always allowed', deny = 'denied' }

function on.approval(doc, e)
  if e.state == 'asked' then
    local lines = { ('*Asked you: %s*'):format(escaped(e.title)) }
    fence(lines, '', e.detail)
    block(doc, lines, true)
  elseif words[e.decision] then
    local why = type(e.reason) == 'string' and e.reason ~= '' and ': ' .. escaped(e.reason) or ''
    block(doc, { ('*%s%s*'):format(words[e.decision], why) })
  end
end

function on.check(doc, e)
  local lines = { ('**Check:** %s'):format(escaped(state.check_title(e))), '' }
  for _, f in ipairs(e.findings or {}) do
    local place = ('%s:%d:%d:'):format(inert.line(f.path), f.line or 0, f.column or 0)
    lines[#lines + 1] = ('- %s %s'):format(place, escaped(('%s: %s'):format(f.severity or 'error', f.message), 300))
  end
  if #lines == 2 then
    lines[2] = nil
  end
  block(doc, lines)
  if type(e.text) == 'string' and e.text ~= '' then
    local full = { '*What the checker said*' }
    fence(full, '', e.text)
    block(doc, full, true)
  end
end

function on.summary(doc, e)
  local lines = { '*The conversation before this was summarised*', '' }
  quote(lines, e.text)
  block(doc, lines, true)
end

function on.done(doc, e)
  clear_stream(doc)
  block(doc, { ('*Turn %d ended: %s.*'):format(e.turn, escaped(e.outcome)) })
end

function on.error(doc, e)
  doc.asking = false
  local lines = { ('**Error** (%s)'):format(escaped(e.error)) }
  fence(lines, '', e.message)
  block(doc, lines)
end

function on.note(doc, e)
  block(doc, { ('*Note:* %s'):format(escaped(e.text)) })
end

function on.mode(doc, e)
  block(doc, { ('*The mode is %s now, and was %s*'):format(escaped(e.mode), escaped(e.before)) })
end

function on.plan(doc, e)
  local lines = { '**Plan**' }
  fence(lines, 'markdown', e.text)
  block(doc, lines)
end

--- Adds an event. One of an unknown kind, or one that was added before, changes nothing.
---@param doc agent_lsp.Doc
---@param index integer
---@param at string
---@param e table
function M.add(doc, index, at, e)
  if index <= doc.last then
    return
  end
  doc.last = index
  if on[e.kind] then
    local ok, err = pcall(on[e.kind], doc, e, at, index)
    if not ok then
      block(doc, { ('*Event %d cannot be shown: %s*'):format(index, escaped(tostring(err))) })
    end
  end
end

--- Adds what the model just said; it stands until the whole message comes.
---@param doc agent_lsp.Doc
---@param text string
function M.stream(doc, text)
  doc.said = doc.said .. text
  if not doc.stream then
    doc.stream = { lines = {}, fold = false }
    doc.blocks[#doc.blocks + 1] = doc.stream
  end
  doc.stream.lines = prose(doc.said)
  table.insert(doc.stream.lines, '')
end

return M

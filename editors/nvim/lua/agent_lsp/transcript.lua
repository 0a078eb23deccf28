-- Transcripts as buffers named agent://session/<id>.md, which stream.
local render = require('agent_lsp.render')
local ui = require('agent_lsp.ui')
local M = {}
local api = vim.api

---@class agent_lsp.View
---@field buf integer
---@field doc agent_lsp.Doc
---@field shown string[][] the lines of each block as they stand in the buffer
---@field levels? string[] the fold level of each line
---@field refolding? boolean
---@field loading boolean
---@field queue table[] events that came while loading
---@field deltas string[] what was said since the last flush
---@field timer boolean

---@type table<string, agent_lsp.View>
local views = {}
local head = 2 -- lines above the first block

---@return string
function M.name(session)
  return ('agent://session/%s.md'):format(session)
end

local function ends(buf)
  local last = api.nvim_buf_line_count(buf)
  return vim.iter(vim.fn.win_findbuf(buf)):filter(function(win)
    return api.nvim_win_get_cursor(win)[1] >= last
  end):totable()
end

-- Replaces the lines of a block that differ. What foldexpr returns must fit the
-- buffer at each change of it, so the books are kept before.
local function put(view, i, at)
  local b, old = view.doc.blocks[i], view.shown[i] or {}
  local same = 0
  while old[same + 1] and old[same + 1] == b.lines[same + 1] do
    same = same + 1
  end
  if same == #b.lines and same == #old then
    return false
  end
  view.shown[i], view.levels = vim.list_extend({}, b.lines), nil
  ui.lines(view.buf, at + same, at + #old, vim.list_slice(b.lines, same + 1))
  return true
end

-- Neovim works out no folds by expression while the person inserts, and not all of
-- them after. What was opened stays open.
local function refold(view)
  if view.refolding or ui.calm() then
    return
  end
  view.refolding = true
  ui.when_calm(function()
    view.refolding = nil
    for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
      vim.wo[win][0].foldmethod = 'expr'
    end
  end)
end

-- Brings the buffer up to the document, changing only lines that differ. Windows
-- whose cursor is at the end follow.
local function flush(view)
  if not api.nvim_buf_is_loaded(view.buf) then
    return
  end
  local follow = ends(view.buf)
  local at, changed = head, false
  for i, b in ipairs(view.doc.blocks) do
    if put(view, i, at) then
      changed = true
      if b.fold then
        refold(view)
      end
    end
    at = at + #b.lines
  end
  if not changed then
    return
  end
  local last = api.nvim_buf_line_count(view.buf)
  for _, win in ipairs(follow) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_set_cursor(win, { last, 0 })
    end
  end
end

-- The fold level of each line.
local function levels(view)
  local out = {}
  for _ = 1, head do
    out[#out + 1] = '0'
  end
  for number, s in ipairs(view.shown) do
    for i = 1, #s do
      local folded = view.doc.blocks[number].fold and #s > 2 and i < #s -- the empty line stays outside
      out[#out + 1] = not folded and '0' or i == 1 and '>1' or '1'
    end
  end
  return out
end

local function of(buf)
  for session, view in pairs(views) do
    if view.buf == buf then
      return view, session
    end
  end
end

--- The value of 'foldexpr' in transcripts.
function M.foldexpr()
  local view = of(api.nvim_get_current_buf())
  if not view then
    return '0'
  end
  view.levels = view.levels or levels(view)
  return view.levels[vim.v.lnum] or '0'
end

--- The value of 'foldtext' in transcripts.
function M.foldtext()
  local line = vim.fn.getline(vim.v.foldstart):gsub('\\(%p)', '%1'):gsub('%*+', '')
  return ('▸ %s (%d lines)'):format(line, vim.v.foldend - vim.v.foldstart)
end

local function dress(win)
  local wo = vim.wo[win][0]
  wo.foldmethod, wo.foldexpr, wo.foldtext = 'expr', "v:lua.require'agent_lsp.transcript'.foldexpr()", "v:lua.require'agent_lsp.transcript'.foldtext()"
  wo.foldlevel, wo.foldenable, wo.foldminlines = 0, true, 1
  -- Nothing that stands in the text is hidden.
  wo.conceallevel, wo.wrap, wo.linebreak, wo.list, wo.spell, wo.number, wo.relativenumber, wo.signcolumn =
    0, true, true, false, false, false, false, 'no'
end

local function load(session, view)
  local client = require('agent_lsp.client')
  view.loading = true
  local argument = { session = session }
  if view.doc.last >= 0 then
    argument.after = view.doc.last
  end
  client.command('agent.transcript', argument, function(r)
    view.loading = false
    for _, e in ipairs(r.events) do
      render.add(view.doc, e.index, e.at, e.event)
    end
    local queue = view.queue
    view.queue = {}
    for _, p in ipairs(queue) do
      render.add(view.doc, unpack(p))
    end
    if not view.doc.asking then
      view.deltas = {} -- they are in a message by now
    end
    flush(view)
  end, function(message)
    view.loading, view.queue = false, {}
    if api.nvim_buf_is_loaded(view.buf) and #view.doc.blocks == 0 then
      ui.lines(view.buf, head, -1, { '', ('*This transcript cannot be read: %s*'):format(require('agent_lsp.inert').line(message)) })
    end
  end)
end

--- Fills a buffer that was opened by its name.
---@param buf integer
---@param name string
function M.read(buf, name)
  local session = name:match('^agent://session/([%x-]+)%.md$')
  ui.scratch(buf, 'markdown')
  if not session then
    return ui.lines(buf, 0, -1, { 'This is no transcript: their names are agent://session/<id>.md' })
  end
  vim.bo[buf].bufhidden = 'hide'
  ui.lines(buf, 0, -1, { '# Session ' .. session, '' })
  local view = { buf = buf, doc = render.new(), shown = {}, queue = {}, deltas = {}, loading = false, timer = false }
  views[session] = view
  local group = api.nvim_create_augroup('agent_lsp_transcript_' .. buf, { clear = true })
  api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = buf,
    callback = function()
      dress(api.nvim_get_current_win())
    end,
  })
  api.nvim_create_autocmd({ 'BufUnload', 'BufWipeout' }, {
    group = group,
    buffer = buf,
    callback = function()
      if views[session] == view then
        views[session] = nil
      end
    end,
  })
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    dress(win)
  end
  load(session, view)
end

--- Opens a transcript in a split, or goes to the window that has it.
---@param session string
---@param focus boolean
function M.open(session, focus)
  local buf = vim.fn.bufadd(M.name(session))
  local here = api.nvim_get_current_win()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf then
      if focus then
        api.nvim_set_current_win(win)
      end
      return
    end
  end
  local split = require('agent_lsp.config').values.transcript.open or 'botright vertical split'
  vim.cmd(split)
  api.nvim_win_set_buf(0, buf)
  api.nvim_win_set_cursor(0, { api.nvim_buf_line_count(buf), 0 })
  if not focus then
    api.nvim_set_current_win(here)
  end
end

--- Shows the transcript of a turn that begins, without taking the focus.
---@param session string
function M.show(session)
  ui.when_calm(function()
    pcall(M.open, session, false)
  end)
end

--- Takes an event that was pushed.
function M.push(session, index, at, e)
  local view = views[session]
  if not view then
    return
  elseif view.loading then
    view.queue[#view.queue + 1] = { index, at, e }
    return
  elseif index > view.doc.last + 1 then
    view.queue[#view.queue + 1] = { index, at, e }
    return load(session, view) -- some are missing
  end
  render.add(view.doc, index, at, e)
  if not view.doc.asking or e.kind == 'ask' then
    view.deltas = {}
  end
  flush(view)
end

--- Takes streamed text. It is shown twenty times a second at the most.
function M.delta(session, text)
  local view = views[session]
  if not view or type(text) ~= 'string' or not (view.doc.asking or view.loading) then
    return
  end
  table.insert(view.deltas, text)
  if view.timer then
    return
  end
  view.timer = true
  vim.defer_fn(function()
    view.timer = false
    if #view.deltas > 0 and not view.loading then
      render.stream(view.doc, table.concat(view.deltas))
      view.deltas = {}
      flush(view)
    end
  end, 50)
end

--- Gets what a transcript lacks.
function M.sync(session)
  if views[session] and not views[session].loading then
    load(session, views[session])
  end
end

--- The session that a buffer shows.
---@param buf integer
---@return string?
function M.session(buf)
  local _, session = of(buf)
  return session
end

return M

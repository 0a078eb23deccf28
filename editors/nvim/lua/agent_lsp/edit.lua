-- Handles workspace/applyEdit. Unlike Neovim's own handler it refuses an edit of a
-- text that moved on, changes nothing when a part cannot be done, writes just the
-- buffers that the edit touched, and never reports an edit as applied that is not.
local disk = require('agent_lsp.disk')
local M = {}
local api = vim.api

---@class agent_lsp.Step
---@field kind 'text'|'create'|'delete'
---@field uri string
---@field buf? integer
---@field edits? lsp.TextEdit[]
---@field text? string of a file that is made
---@field touched? boolean

local blocks = {} -- buffer -> the undo block of the last edit: { turn, tick }

local function refusal(uri, why)
  return ('%s %s'):format(vim.fn.fnamemodify(vim.uri_to_fname(uri), ':~:.'), why)
end

-- The whole text of a file that is made: its edits stand in an empty document.
local function new_text(edits)
  local out = {}
  for _, e in ipairs(edits) do
    if e.range.start.line ~= 0 or e.range.start.character ~= 0 then
      return nil
    end
    out[#out + 1] = e.newText
  end
  return table.concat(out)
end

---@return string? why it cannot be done
local function plan_text(steps, change)
  local uri, version = change.textDocument.uri, change.textDocument.version
  local last = steps[#steps]
  if last and last.kind == 'create' and last.uri == uri then
    last.text = new_text(change.edits)
    return not last.text and refusal(uri, 'is new and has no text to edit') or nil
  end
  local buf = disk.buffer(uri)
  if not buf then
    return refusal(uri, 'is not open')
  elseif not vim.bo[buf].modifiable or vim.bo[buf].readonly then
    return refusal(uri, 'is open read-only')
  end
  local reason = disk.examine(buf)
  if reason == 'changed' then
    return refusal(uri, 'changed on the disk and was read again')
  elseif reason == 'conflict' then
    return refusal(uri, 'has unsaved changes and was changed on the disk too')
  elseif type(version) == 'number' and vim.lsp.util.buf_versions[buf] ~= version then
    return refusal(uri, 'changed since')
  end
  steps[#steps + 1] = { kind = 'text', uri = uri, buf = buf, edits = change.edits, touched = reason == 'touched' }
end

local function plan_create(steps, change)
  if disk.buffer(change.uri) then
    return refusal(change.uri, 'is open already')
  elseif vim.uv.fs_lstat(vim.uri_to_fname(change.uri)) then
    return refusal(change.uri, 'exists already')
  end
  steps[#steps + 1] = { kind = 'create', uri = change.uri, text = '' }
end

local function plan_delete(steps, change)
  local buf = disk.buffer(change.uri)
  local stat = vim.uv.fs_lstat(vim.uri_to_fname(change.uri))
  if not stat then
    return refusal(change.uri, 'was deleted already')
  elseif stat.type == 'directory' then
    return refusal(change.uri, 'is a directory')
  elseif buf and (vim.bo[buf].modified or disk.examine(buf) == 'changed') then
    return refusal(change.uri, 'has changes in the editor')
  end
  steps[#steps + 1] = { kind = 'delete', uri = change.uri, buf = buf }
end

---@return agent_lsp.Step[]? steps
---@return string? why
local function plan(edit)
  local changes = vim.list_extend({}, edit.documentChanges or {})
  if #changes == 0 then
    for uri, edits in pairs(edit.changes or {}) do
      changes[#changes + 1] = { textDocument = { uri = uri }, edits = edits }
    end
  end
  local steps = {}
  for _, change in ipairs(changes) do
    local why
    if change.textDocument then
      why = plan_text(steps, change)
    elseif change.kind == 'create' then
      why = plan_create(steps, change)
    elseif change.kind == 'delete' then
      why = plan_delete(steps, change)
    else
      why = ('a file operation %q is not supported'):format(tostring(change.kind))
    end
    if why then
      return nil, why
    end
  end
  return steps
end

-- Ends the undo block of a buffer, so that what follows is undone by itself.
local function break_undo(buf)
  api.nvim_buf_call(buf, function()
    vim.cmd('let &g:undolevels = &g:undolevels')
  end)
end

-- Edits of one turn are one undo block for as long as nothing comes between them.
local function undo_block(buf, turn)
  local last = blocks[buf]
  if not (last and turn and last.turn == turn and last.tick == api.nvim_buf_get_changedtick(buf)) then
    return break_undo(buf)
  end
  api.nvim_buf_call(buf, function()
    pcall(vim.cmd, 'undojoin') -- refused after an undo
  end)
end

local function width(line, encoding)
  if encoding == 'utf-8' then
    return #line
  elseif vim.fn.has('nvim-0.11') == 1 then
    return vim.str_utfindex(line, encoding)
  end
  local utf32, utf16 = vim.str_utfindex(line)
  return encoding == 'utf-16' and utf16 or utf32
end

-- Whether edits take away the end of the last line, which is no part of any line in
-- Neovim: without a word about it the file would keep its final newline.
local function opens(edits, buf)
  local count, open = api.nvim_buf_line_count(buf), false
  for _, e in ipairs(edits) do
    local start = e.range.start
    if e.range['end'].line >= count then
      if e.newText == '' then
        open = not (start.line > 0 and start.character == 0)
      else
        open = not vim.endswith(e.newText, '\n')
      end
    end
  end
  return open and vim.bo[buf].endofline
end

-- Neovim tells servers of lines, and not of whether the last one has an end.
local function tell(buf)
  local c = require('agent_lsp.client').get()
  if not (c and vim.lsp.buf_is_attached(buf, c.id)) then
    return
  end
  local ending = ({ dos = '\r\n', mac = '\r' })[vim.bo[buf].fileformat] or '\n'
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), ending)
  require('agent_lsp.client').call(c, 'notify', 'textDocument/didChange', {
    textDocument = { uri = vim.uri_from_bufnr(buf), version = vim.lsp.util.buf_versions[buf] },
    contentChanges = { { text = text .. (vim.bo[buf].endofline and ending or '') } },
  })
end

-- Gives the last line the end that the edits left it with. An empty line at the end of
-- a text without one is such an end: kept as a line, the next write would make two.
local function close(buf, open)
  local count, last = api.nvim_buf_line_count(buf), api.nvim_buf_get_lines(buf, -2, -1, false)[1]
  if open then
    vim.bo[buf].endofline = false
    vim.bo[buf].modified = true
  elseif last == '' and count > 1 and not vim.bo[buf].endofline then
    api.nvim_buf_set_lines(buf, count - 1, count, false, {})
    vim.bo[buf].endofline = true
  elseif last ~= '' or count > 1 then
    return
  end
  tell(buf) -- what Neovim tells of lines that go until none is left is wrong, too
end

-- An edit behind the last line becomes one at its end, because versions of Neovim
-- differ in how many lines they make of the former.
local function settle(edits, buf, encoding)
  local count = api.nvim_buf_line_count(buf)
  local last = api.nvim_buf_get_lines(buf, count - 1, count, false)[1]
  for _, e in ipairs(edits) do
    if e.range.start.line >= count then
      local at = { line = count - 1, character = width(last, encoding) }
      e.range = { start = at, ['end'] = vim.deepcopy(at) }
      if vim.bo[buf].endofline and vim.endswith(e.newText, '\n') then
        e.newText = '\n' .. e.newText:sub(1, -2):gsub('\r$', '')
      elseif vim.bo[buf].endofline and e.newText ~= '' then
        e.newText = '\n' .. e.newText
      end
    end
  end
end

local run = {}

function run.text(step, turn, encoding)
  local buf = step.buf --[[@as integer]]
  local eol = vim.bo[buf].fixendofline
  vim.bo[buf].fixendofline = false -- the edit says itself where the text ends
  undo_block(buf, turn)
  local open = opens(step.edits, buf)
  settle(step.edits, buf, encoding)
  local ok, err = pcall(vim.lsp.util.apply_text_edits, step.edits, buf, encoding)
  if ok then
    close(buf, open)
  end
  vim.bo[buf].fixendofline = eol
  if not ok then
    return refusal(step.uri, 'could not be edited: ' .. tostring(err))
  end
  local saved, why = disk.save(buf, step.touched or false)
  break_undo(buf)
  blocks[buf] = { turn = turn, tick = api.nvim_buf_get_changedtick(buf) }
  if not saved then
    require('agent_lsp.ui').warn(refusal(step.uri, 'was edited but not saved: ' .. tostring(why)))
  end
end

function run.create(step)
  local path = vim.uri_to_fname(step.uri)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local fd, err = vim.uv.fs_open(path, 'wx', tonumber('666', 8))
  if not fd then
    return refusal(step.uri, 'could not be made: ' .. tostring(err))
  end
  local written, why = vim.uv.fs_write(fd, step.text)
  vim.uv.fs_close(fd)
  if written ~= #step.text then
    vim.uv.fs_unlink(path)
    return refusal(step.uri, 'could not be written: ' .. tostring(why or 'the disk is full'))
  end
end

function run.delete(step)
  local ok, err = vim.uv.fs_unlink(vim.uri_to_fname(step.uri))
  if not ok then
    return refusal(step.uri, 'could not be deleted: ' .. tostring(err))
  end
  if step.buf then
    pcall(api.nvim_buf_delete, step.buf, {})
  end
end

--- The handler.
---@param params lsp.ApplyWorkspaceEditParams
---@param encoding string the client's position encoding
---@return lsp.ApplyWorkspaceEditResult
function M.apply(params, encoding)
  local ok, steps, why = pcall(plan, params.edit)
  if not ok then
    return { applied = false, failureReason = tostring(steps) }
  elseif not steps then
    return { applied = false, failureReason = why }
  end
  -- Turns with the same words have the same label.
  local turn = params.label and params.label .. ' ' .. require('agent_lsp.state').running()
  for i, step in ipairs(steps) do
    local done, failure = pcall(run[step.kind], step, turn, encoding)
    failure = not done and tostring(failure) or failure
    if failure then
      return { applied = false, failureReason = failure, failedChange = i - 1 }
    end
  end
  return { applied = true }
end

return M

-- Keeps buffers and files in step: finds out what another hand did to a file,
-- reloads what can be reloaded, and writes without ever asking a question.
local ui = require('agent_lsp.ui')
local M = {}
local api = vim.api

local told = {} -- buffer -> the conflict that was reported
local seen = {} -- buffer -> its file when it was last read or written; false if there was none

local function stat(buf)
  local s = vim.uv.fs_stat(api.nvim_buf_get_name(buf))
  return s and ('%d.%d %d %d'):format(s.mtime.sec, s.mtime.nsec, s.size, s.ino) or false
end

--- Remembers the file as the one that the buffer's text belongs to.
---@param buf integer
function M.remember(buf)
  if api.nvim_buf_is_valid(buf) then
    seen[buf] = stat(buf)
    told[buf] = nil
  end
end

--- Begins to watch what is read and written.
function M.setup()
  local group = api.nvim_create_augroup('agent_lsp_disk', { clear = true })
  api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
    group = group,
    callback = function(args)
      M.remember(args.buf)
    end,
  })
  api.nvim_create_autocmd({ 'BufNewFile', 'BufFilePost' }, {
    group = group,
    callback = function(args)
      seen[args.buf] = nil
    end,
  })
  api.nvim_create_autocmd('BufWipeout', {
    group = group,
    callback = function(args)
      seen[args.buf], told[args.buf] = nil, nil
    end,
  })
end

-- Lets Neovim look, without any question. Returns what it saw.
local function checktime(buf)
  local reason
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      reason = vim.v.fcs_reason
      vim.v.fcs_choice = reason == 'changed' and not vim.bo[buf].modified and 'reload' or ''
    end,
  })
  local tick = api.nvim_buf_get_changedtick(buf)
  pcall(vim.cmd, ('silent checktime %d'):format(buf))
  pcall(api.nvim_del_autocmd, id)
  if not reason and api.nvim_buf_get_changedtick(buf) ~= tick then
    reason = 'changed' -- 'autoread' took it without asking
  end
  return reason
end

--- Looks whether the file of a loaded buffer changed on the disk. A buffer without
--- unsaved changes is reloaded, with its undo history; another one is left alone.
---@param buf integer
---@return string? reason "changed" (and reloaded), "conflict", "deleted" or "touched"
function M.examine(buf)
  if seen[buf] == nil then
    seen[buf] = stat(buf)
  end
  local reason = checktime(buf)
  if reason == 'changed' then
    M.remember(buf)
    return 'changed'
  end
  -- Neovim tells of a change once only; the buffer's text is as old as before.
  local now = stat(buf)
  if now == seen[buf] then
    return nil
  elseif not now then
    return 'deleted'
  elseif vim.bo[buf].modified then
    return 'conflict'
  elseif reason == 'time' or reason == 'mode' then
    M.remember(buf)
    return 'touched'
  end
  pcall(api.nvim_buf_call, buf, function()
    vim.cmd('silent edit')
  end)
  M.remember(buf)
  return 'changed'
end

--- Writes a buffer if it has unsaved changes. BufWritePre does not fire: what is
--- written is the text as it is, not what a formatter would make of it.
--- A file that is not the one that the buffer was read from is not written over.
---@param buf integer
---@param touched boolean the file's time stamp is newer though its text is not
---@return boolean ok
---@return string? why
function M.save(buf, touched)
  local now = stat(buf)
  if now and seen[buf] ~= nil and now ~= seen[buf] then
    return false, 'it changed on the disk meanwhile'
  end
  local ignored, eol = vim.o.eventignore, vim.bo[buf].fixendofline
  vim.o.eventignore = ignored == '' and 'BufWritePre' or ignored .. ',BufWritePre'
  vim.bo[buf].fixendofline = false
  local ok, err = pcall(api.nvim_buf_call, buf, function()
    vim.cmd('silent lockmarks keepalt update' .. (touched and '!' or ''))
  end)
  vim.o.eventignore = ignored
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].fixendofline = eol
  end
  if not ok then
    return false, tostring(err)
  end
  return true
end

--- The loaded buffer of a file, nil when there is none.
---@param uri string
---@return integer?
function M.buffer(uri)
  local path = vim.uri_to_fname(uri)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      local name = api.nvim_buf_get_name(buf)
      if name ~= '' and (name == path or vim.uri_from_bufnr(buf) == uri) then
        return buf
      end
    end
  end
end

--- Brings the buffers below a directory up to date with what a command or the
--- server wrote. Those with unsaved changes stay as they are, and are named once.
---@param root string
function M.refresh(root)
  root = vim.fs.normalize(root) .. '/'
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      local name = vim.fs.normalize(api.nvim_buf_get_name(buf))
      if vim.startswith(name, root) then
        local reason = M.examine(buf)
        if reason == 'conflict' and told[buf] ~= name then
          told[buf] = name
          ui.warn(('%s changed on the disk while you have unsaved changes in it. Yours are kept: :w! writes them over it, :e! takes the disk\'s'):format(vim.fn.fnamemodify(name, ':~:.')))
        end
      end
    end
  end
end

return M

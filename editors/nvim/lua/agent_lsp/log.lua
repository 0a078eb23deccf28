-- What the server said, the newest thousand lines of it.
local inert = require('agent_lsp.inert')
local ui = require('agent_lsp.ui')
local M = {}

local keep = 1000
local names = { 'error', 'warn', 'info', 'log', 'debug' }
local lines = {}
local buf -- the buffer that shows them

---@param level integer a MessageType of the protocol
---@param text string
function M.add(level, text)
  local new = vim.split(('%s %-5s %s'):format(os.date('%H:%M:%S'), names[level] or '?', vim.trim(inert.text(text))), '\n', { plain = true })
  vim.list_extend(lines, new)
  if #lines > 2 * keep then
    lines = vim.list_slice(lines, #lines - keep + 1)
  end
  if buf and vim.api.nvim_buf_is_loaded(buf) then
    local at = vim.api.nvim_buf_line_count(buf)
    ui.lines(buf, at, at, new)
    if at > 3 * keep then
      ui.lines(buf, 2, at - keep, {})
    end
  end
end

--- Opens the log in a split.
function M.open()
  local path = vim.lsp.log and vim.lsp.log.get_filename and vim.lsp.log.get_filename() or vim.lsp.get_log_path()
  if not (buf and vim.api.nvim_buf_is_valid(buf)) then
    buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buf, 'agent://log')
    ui.scratch(buf, '')
  end
  local head = { ('What the server logged; its standard error output is in %s'):format(path), '' }
  ui.lines(buf, 0, -1, vim.list_extend(head, lines))
  vim.cmd('botright split')
  vim.api.nvim_win_set_buf(0, buf)
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buf), 0 })
end

return M

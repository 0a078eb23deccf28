-- What the plugin says to the person. Everything here is scheduled, so it may be
-- called from fast events, and made inert.
local inert = require('agent_lsp.inert')
local M = {}

---@param text string
---@param level? integer
function M.notify(text, level)
  vim.schedule(function()
    vim.notify('agent: ' .. inert.text(text), level or vim.log.levels.INFO, { title = 'agent-lsp' })
  end)
end

function M.warn(text)
  M.notify(text, vim.log.levels.WARN)
end

function M.error(text)
  M.notify(text, vim.log.levels.ERROR)
end

--- A list to choose from; labels are made inert and stay on one line.
---@param items any[]
---@param prompt string
---@param label fun(item: any): string
---@param choose fun(item: any) not called when the list is dismissed
function M.select(items, prompt, label, choose)
  vim.ui.select(items, {
    prompt = inert.line(prompt, 200),
    kind = 'agent_lsp',
    format_item = function(item)
      return inert.line(label(item), 200)
    end,
  }, function(item)
    if item ~= nil then
      choose(item)
    end
  end)
end

--- Whether a window or a question may come up now: not while the person types, selects
--- or is in a window for command lines.
---@return boolean
function M.calm()
  return vim.fn.getcmdwintype() == '' and vim.api.nvim_get_mode().mode:match('^nt?$') ~= nil
end

--- Calls f as soon as that may be, now if it may.
---@param f fun()
function M.when_calm(f)
  if M.calm() then
    return f()
  end
  vim.api.nvim_create_autocmd({ 'ModeChanged', 'CmdwinLeave' }, {
    callback = function(args)
      if args.event == 'ModeChanged' and not args.match:match(':nt?$') then
        return
      end
      vim.schedule(function()
        M.when_calm(f)
      end)
      return true
    end,
  })
end

--- A scratch buffer that never touches a file.
---@param buf integer
---@param filetype string
function M.scratch(buf, filetype)
  local bo = vim.bo[buf]
  bo.buftype, bo.swapfile, bo.modeline, bo.undofile, bo.undolevels = 'nofile', false, false, false, -1
  bo.buflisted, bo.modifiable = false, false
  bo.filetype = filetype
end

--- Replaces lines of a scratch buffer.
function M.lines(buf, first, last, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, first, last, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
end

return M

-- Asks the person what the model wants to know: a choice, or an answer in their own
-- words. To dismiss the question is an answer, too.
local inert = require('agent_lsp.inert')
local ui = require('agent_lsp.ui')
local M = {}

local own = 'In my own words…'

--- Handles agent/question; returns when the person has answered.
function M.ask(params)
  local thread = coroutine.running()
  local function answer(text)
    text = text and vim.trim(text) or ''
    coroutine.resume(thread, text ~= '' and { answer = text } or vim.NIL)
  end
  local prompt = inert.line(params.text, 300)
  local function freely()
    vim.ui.input({ prompt = prompt .. ' ' }, answer)
  end
  local function show()
    local options = params.options or {}
    if #options == 0 then
      return freely()
    end
    local choices = vim.list_extend({}, options)
    choices[#choices + 1] = own
    vim.ui.select(choices, {
      prompt = prompt,
      kind = 'agent_lsp_question',
      format_item = function(o)
        return inert.line(o, 200)
      end,
    }, function(choice, i)
      if i == #choices then
        return freely()
      end
      answer(choice)
    end)
  end
  if not ui.calm() then
    ui.notify('the agent asks: ' .. inert.line(params.text, 100))
  end
  vim.schedule(function()
    ui.when_calm(function()
      vim.cmd('redraw')
      local ok, err = pcall(show)
      if not ok then
        ui.error('the question could not be shown: ' .. tostring(err))
        answer(nil)
      end
    end)
  end)
  return coroutine.yield()
end

return M

-- agent-lsp for Neovim: what a configuration calls.
local M = {}

--- Takes the options (:help agent-lsp-setup) and makes the server known to Neovim.
---@param opts? table
function M.setup(opts)
  require('agent_lsp.config').set(opts)
  require('agent_lsp.client').enable()
end

--- Does setup() with the defaults if nobody did.
function M.ensure()
  if not require('agent_lsp.config').done then
    M.setup()
  end
end

--- What the agent is at, for a statusline, and a word for it. The text has no
--- percent sign. See :help agent-lsp-status.
---@return string text
---@return string kind
function M.status()
  return require('agent_lsp.state').status()
end

--- Asks the agent, as :Agent ask does.
---@param text string
function M.ask(text)
  require('agent_lsp.command').run({ args = 'ask ' .. text, range = 0 })
end

return M

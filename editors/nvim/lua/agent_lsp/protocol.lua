-- The plugin's side of the protocol: what it can do, and what it does when the server
-- asks or tells.
local ui = require('agent_lsp.ui')
local M = {}

--- What the server may expect of this client.
---@return lsp.ClientCapabilities
function M.capabilities()
  local c = vim.lsp.protocol.make_client_capabilities()
  return vim.tbl_deep_extend('force', c, {
    workspace = {
      applyEdit = true,
      workspaceEdit = { documentChanges = true, resourceOperations = { 'create', 'delete' }, failureHandling = 'abort' },
      textDocumentContent = { dynamicRegistration = false },
    },
    experimental = { agent = { transcript = true, approvals = true, questions = true } },
  })
end

--- What the server may ask and tell.
---@type table<string, lsp.Handler>
M.handlers = {
  ['workspace/applyEdit'] = function(_, params, ctx)
    local client = vim.lsp.get_client_by_id(ctx.client_id)
    return require('agent_lsp.edit').apply(params, client and client.offset_encoding or 'utf-16')
  end,
  ['agent/transcript'] = function(_, params)
    require('agent_lsp.events').transcript(params)
  end,
  ['agent/delta'] = function(_, params)
    require('agent_lsp.transcript').delta(params.session, params.text)
  end,
  ['agent/approve'] = function(_, params)
    return require('agent_lsp.approve').ask(params)
  end,
  ['agent/question'] = function(_, params)
    return require('agent_lsp.question').ask(params)
  end,
  ['workspace/textDocumentContent/refresh'] = function()
    return vim.NIL -- transcripts are kept up to date by their events
  end,
  ['window/logMessage'] = function(_, params)
    require('agent_lsp.log').add(params.type, params.message)
  end,
  ['window/showMessage'] = function(_, params)
    require('agent_lsp.log').add(params.type, params.message)
    ui.notify(params.message, ({ vim.log.levels.ERROR, vim.log.levels.WARN })[params.type])
  end,
}

return M

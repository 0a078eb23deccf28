-- Defines what must be there before setup(): the command, the <Plug> maps and the
-- transcript documents. Nothing else is loaded until it is used.
if vim.g.loaded_agent_lsp then
  return
end
vim.g.loaded_agent_lsp = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_create_user_command('Agent', function()
    vim.notify('agent-lsp needs Neovim 0.10 or later', vim.log.levels.ERROR)
  end, { nargs = '*', range = true })
  return
end

vim.api.nvim_create_user_command('Agent', function(opts)
  require('agent_lsp.command').run(opts)
end, {
  nargs = '*',
  range = true,
  desc = 'Talk to the coding agent',
  complete = function(lead, line)
    return require('agent_lsp.command').complete(lead, line)
  end,
})

for _, name in ipairs({
  'accept', 'ask', 'approve', 'cancel', 'check', 'fix', 'log', 'mode', 'new', 'profile', 'restart', 'resume', 'sessions', 'transcript', 'undo',
}) do
  vim.keymap.set('n', ('<Plug>(agent-%s)'):format(name), ('<Cmd>Agent %s<CR>'):format(name), { desc = 'Agent: ' .. name })
end
-- Not <Cmd>: leaving visual mode by ":" hands the selection over as the range.
vim.keymap.set('x', '<Plug>(agent-ask)', ':Agent ask<CR>', { silent = true, desc = 'Agent: ask about the selection' })
vim.keymap.set('x', '<Plug>(agent-fix)', ':Agent fix<CR>', { silent = true, desc = 'Agent: fix the problems in the selection' })

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('agent_lsp_documents', { clear = true }),
  pattern = 'agent://session/*',
  desc = 'Show the transcript of an agent session',
  callback = function(args)
    require('agent_lsp.transcript').read(args.buf, args.match)
  end,
})

local M = {}

---@class agent_lsp.Config
---@field cmd string[]|fun(dispatchers: table): table how to start the server
---@field cmd_env? table<string,string> environment variables that the server gets besides Neovim's own
---@field profile? string|table the model profile of new sessions, or a whole profile
---@field settings table server settings in camel case, e.g. { approvals = 'edits' }
---@field root_markers string[] names whose nearest holder is a buffer's workspace folder, by priority
---@field root_dir? fun(bufnr: integer): string? overrides root_markers
---@field autostart boolean attach to files of a workspace by itself, else at the first :Agent
---@field transcript { open: string|false } the window command for the transcript of a turn that begins
---@field notify boolean say how turns ended
---@field restart { max: integer, delay: integer, limit: integer, calm: integer } after a crash; times in ms

---@type agent_lsp.Config
local defaults = {
  cmd = { 'agent-lsp' },
  settings = {},
  root_markers = { '.agent-lsp.yaml', '.git', 'go.work', 'go.mod', 'Cargo.toml', 'package.json', 'deno.json', 'deno.jsonc', 'pyproject.toml' },
  autostart = true,
  transcript = { open = 'botright vertical split' },
  notify = true,
  restart = { max = 5, delay = 500, limit = 30000, calm = 60000 },
}

local types = {
  cmd = { table = true, ['function'] = true },
  cmd_env = { table = true },
  profile = { string = true, table = true },
  settings = { table = true },
  root_markers = { table = true },
  root_dir = { ['function'] = true },
  autostart = { boolean = true },
  transcript = { table = true },
  notify = { boolean = true },
  restart = { table = true },
}

---@type agent_lsp.Config
M.values = vim.deepcopy(defaults)
M.done = false -- setup() was called

--- Takes the person's options. Raises an error that names an option which is unknown
--- or of the wrong type.
---@param opts? table
function M.set(opts)
  opts = opts or {}
  for name, value in pairs(opts) do
    local wanted = types[name]
    if not wanted then
      local known = vim.tbl_keys(types)
      table.sort(known)
      error(('agent_lsp.setup: there is no option %q; there are %s'):format(tostring(name), table.concat(known, ', ')), 0)
    elseif not wanted[type(value)] then
      error(('agent_lsp.setup: %s must be a %s, not a %s'):format(name, table.concat(vim.tbl_keys(wanted), ' or a '), type(value)), 0)
    end
  end
  M.values = vim.tbl_deep_extend('force', vim.deepcopy(defaults), opts)
  if opts.root_markers then
    M.values.root_markers = opts.root_markers
  end
  M.done = true
end

--- The file of a buffer, nil when it shows none.
---@param bufnr integer
---@return string?
function M.file(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if name == '' or vim.bo[bufnr].buftype ~= '' or name:match('^%a[%w+.-]+://') then
    return nil
  end
  return vim.fs.normalize(name)
end

--- The workspace folder of a buffer, nil when it is in none.
---@param bufnr integer
---@return string?
function M.root(bufnr)
  local name = M.file(bufnr)
  if not name then
    return nil
  elseif M.values.root_dir then
    return M.values.root_dir(bufnr)
  end
  for _, marker in ipairs(M.values.root_markers) do
    local root = vim.fs.root(name, marker)
    if root then
      return vim.fs.normalize(root)
    end
  end
end

return M

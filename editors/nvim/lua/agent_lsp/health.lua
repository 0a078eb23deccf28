-- :checkhealth agent_lsp
local M = {}

local function server(client)
  local ok, why = client.found()
  local cmd = require('agent_lsp.config').values.cmd
  if type(cmd) ~= 'table' then
    return vim.health.info('The server is started by a function')
  elseif not ok then
    return vim.health.error('agent: ' .. why, { 'Install agent-lsp', 'Set cmd in require("agent_lsp").setup{}' })
  end
  vim.health.ok(('Program: %s'):format(vim.fn.exepath(cmd[1])))
  local r = vim.system({ cmd[1], 'version' }, { text = true, timeout = 5000, env = require('agent_lsp.config').values.cmd_env }):wait()
  if r.code == 0 then
    vim.health.ok(vim.trim(r.stdout))
  else
    vim.health.warn(('"%s version" ended with exit code %d'):format(cmd[1], r.code), vim.split(vim.trim(r.stderr or ''), '\n'))
  end
end

local function part(name, value)
  if value == 'ready' then
    vim.health.ok(name .. ': ready')
  elseif value == 'opening' or value == 'starting' then
    vim.health.info(name .. ': ' .. value)
  else
    vim.health.warn(('%s: %s'):format(name, require('agent_lsp.inert').line(value, 300)))
  end
end

local function running(client)
  local status, why = client.command_sync('agent.status', {}, 2000)
  if not status then
    return vim.health.info(('Not running: %s'):format(why or '?'))
  end
  part('Engine', status.engine)
  if status.core then
    part('Core', status.core)
    part('Store', status.store)
  end
  for _, root in ipairs(status.roots or {}) do
    vim.health.info('Workspace folder: ' .. root)
  end
  vim.health.info('Position encoding: ' .. tostring(status.positionEncoding))
  local profiles = client.command_sync('agent.profiles', {}, 2000)
  for _, p in ipairs(profiles and profiles.profiles or {}) do
    if p.selected then
      vim.health.info(('Model profile: %s (%s)'):format(p.name, p.model ~= '' and p.model or p.provider))
      if p.name == 'demo' then
        vim.health.info('The profile demo plays a built-in demonstration; docs/configuration.md says how to name a model')
      end
    end
  end
  for _, c in ipairs(status.checks or {}) do
    local say = c.outcome == 'failed' and vim.health.warn or vim.health.info
    say(('Last check of %s: %s'):format(c.root, require('agent_lsp.inert').line(c.outcome .. ' ' .. (c.text or ''), 300)))
  end
end

function M.check()
  local client = require('agent_lsp.client')
  vim.health.start('agent-lsp')
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error('Neovim 0.10 or later is needed')
  end
  if require('agent_lsp.config').done then
    vim.health.ok('setup() was called')
  else
    vim.health.warn('setup() was not called: the server is not attached before the first :Agent')
  end
  server(client)
  vim.health.start('agent-lsp: the server')
  running(client)
  vim.health.info('PATH for the server and its checkers: ' .. (vim.env.PATH or ''))
end

return M

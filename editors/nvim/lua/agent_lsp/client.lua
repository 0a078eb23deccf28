-- The one client of this Neovim: starts the server, attaches buffers, adds the
-- workspace folders, and brings the server back after a crash.
local config = require('agent_lsp.config')
local protocol = require('agent_lsp.protocol')
local state = require('agent_lsp.state')
local ui = require('agent_lsp.ui')
local M = { name = 'agent-lsp' }
local modern = vim.fn.has('nvim-0.11') == 1

local client -- the initialized client
local starting = false
local open = false -- the sessions of a server that crashed are taken up again
local roots = {} -- workspace folders in the order they came
local waiting = {} -- callbacks for the initialized client
local buffers = {} -- attached buffers -> their root
local crashes, timer, up = 0, nil, 0
local stopping = false -- an end that was asked for
local warned = false
local absent = false -- the program was not there when it was to be enabled

--- Calls a method of a client; Neovim 0.10 has them without self.
function M.call(c, method, ...)
  if modern then
    return c[method](c, ...)
  end
  return c[method](...)
end

---@return vim.lsp.Client?
function M.get()
  return client
end

local function add_folder(root)
  if not vim.list_contains(roots, root) then
    roots[#roots + 1] = root
  end
  if not client then
    return -- told when it is initialized
  end
  local uri = vim.uri_from_fname(root)
  for _, f in ipairs(client.workspace_folders or {}) do
    if f.uri == uri then
      return
    end
  end
  local folder = { uri = uri, name = root }
  client.workspace_folders = vim.list_extend(client.workspace_folders or {}, { folder })
  M.call(client, 'notify', 'workspace/didChangeWorkspaceFolders', { event = { added = { folder }, removed = {} } })
end

--- Whether the server's program is there, and what to say if not.
---@return boolean
---@return string
function M.found()
  local cmd = config.values.cmd
  if type(cmd) ~= 'table' or vim.fn.executable(cmd[1]) == 1 then
    return true, ''
  end
  return false,
    ('cannot run %q: there is no such program in PATH (%s). Install agent-lsp, or name it in require("agent_lsp").setup{ cmd = { "/path/to/agent-lsp" } }; see :help agent-lsp-install'):format(
      tostring(cmd[1]),
      vim.env.PATH or ''
    )
end

local function flush(err)
  local list
  list, waiting = waiting, {}
  for _, f in ipairs(list) do
    f(err)
  end
end

-- The workspace folder of a buffer, which may be one that a command named.
local function belongs(buf)
  local root = config.root(buf)
  local name = not root and config.file(buf)
  for _, r in ipairs(name and roots or {}) do
    if vim.startswith(name, r .. '/') then
      return r
    end
  end
  return root
end

-- Attaches every file of the workspace folders, whatever started the server: the
-- server must know the unsaved text of all of them.
local function attach_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(buf)
  end
end

local function on_init(c)
  client, starting, stopping, up = c, false, false, vim.uv.now()
  vim.schedule(function()
    for _, root in ipairs(roots) do
      add_folder(root)
    end
    attach_all()
    require('agent_lsp.events').reconnected(function()
      open = true
      state.set_server('ready')
      flush()
    end)
  end)
end

local function on_attach(_, buf)
  require('agent_lsp.disk').examine(buf)
  buffers[buf] = belongs(buf) or buffers[buf] or roots[1]
end

local start

local function restart()
  timer = nil
  local list = buffers
  buffers = {}
  local any = false
  for buf, root in pairs(list) do
    if vim.api.nvim_buf_is_loaded(buf) then
      any = start(buf, root) or any
    end
  end
  if not any and roots[1] then
    start(nil, roots[1])
  end
end

local function later(delay)
  state.set_server('restarting')
  timer = vim.defer_fn(restart, delay)
end

-- Runs scheduled after the server's end.
local function ended(code, signal, id)
  local ran = client ~= nil
  if ran and client.id ~= id then
    return -- another one took its place already
  end
  client, starting, open = nil, false, false
  require('agent_lsp.approve').drop()
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if stopping == 'restart' then
    stopping, crashes = false, 0
    return restart()
  elseif stopping or (ran and code == 0 and signal == 0) then
    stopping = false
    return state.set_server('off')
  end
  local o = config.values.restart
  if ran and vim.uv.now() - up >= o.calm then
    crashes = 0
  end
  crashes = crashes + 1
  local how = signal ~= 0 and ('signal %d'):format(signal) or ('exit code %d'):format(code)
  if crashes > o.max then
    state.set_server('failed')
    ui.error(('the server ended %d times in a row, last with %s. It is not started again before :Agent restart; :Agent log says more'):format(crashes, how))
    return flush('the server does not run')
  end
  require('agent_lsp.log').add(2, ('the server ended with %s; it is started again'):format(how))
  later(math.min(o.limit, o.delay * 2 ^ (crashes - 1)))
end

local function server_config()
  local values = config.values
  local options = vim.tbl_extend('force', values.settings, { savesEdits = true })
  options.profile = values.profile or options.profile
  return {
    name = M.name,
    cmd = values.cmd,
    cmd_env = values.cmd_env,
    init_options = options,
    capabilities = protocol.capabilities(),
    handlers = protocol.handlers,
    flags = { debounce_text_changes = 0 },
    before_init = function()
      starting = true
      if state.server ~= 'restarting' then
        state.set_server('starting')
      end
    end,
    on_init = on_init,
    on_attach = on_attach,
    on_exit = vim.schedule_wrap(ended),
    -- One server for all folders of this Neovim.
    reuse_client = function(c, wanted)
      local stopped = modern and c:is_stopped() or not modern and c.is_stopped()
      if c.name ~= M.name or stopped then
        return false
      end
      if type(wanted.root_dir) == 'string' then
        add_folder(wanted.root_dir)
      end
      return true
    end,
  }
end

--- Starts the server or attaches to it.
---@param buf? integer
---@param root string
---@return boolean
function start(buf, root)
  if timer and not timer:is_closing() then
    timer:close()
  end
  timer = nil
  local c = server_config()
  if modern and vim.lsp.config[M.name] then
    c = vim.deepcopy(vim.lsp.config[M.name])
  end
  c.root_dir = root
  add_folder(root)
  local opts = { reuse_client = c.reuse_client, bufnr = buf }
  if buf then
    return vim.lsp.start(c, opts) ~= nil
  elseif client or starting then
    return true
  elseif modern then
    opts.attach = false
    return vim.lsp.start(c, opts) ~= nil
  end
  return vim.lsp.start_client(c) ~= nil
end

--- Says once that the program is missing.
local function missing(why)
  state.set_server('missing')
  if not warned then
    warned = true
    ui.error(why)
  end
end

-- Decides for each buffer that could be attached.
local function root_dir(buf, on_dir)
  local root = belongs(buf)
  if not root then
    return
  end
  local ok, why = M.found()
  if not ok then
    return missing(why)
  end
  if not stopping and state.server ~= 'failed' and (client or state.server ~= 'restarting') then
    on_dir(root)
  end
end

--- Attaches a buffer, if it shows a file of a workspace folder and is not attached.
---@param buf integer
function M.attach(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or client and vim.lsp.buf_is_attached(buf, client.id) then
    return
  elseif config.values.autostart or client or starting then
    root_dir(buf, function(root)
      start(buf, root)
    end)
  end
end

--- Makes the server known to Neovim, and attaches it by itself if that is wanted.
function M.enable()
  warned = false
  absent = not M.found()
  require('agent_lsp.disk').setup()
  -- Neovim's own attaches by file type only, and not every file has one.
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'FileType' }, {
    group = vim.api.nvim_create_augroup('agent_lsp_attach', { clear = true }),
    callback = function(args)
      vim.schedule(function()
        if vim.api.nvim_buf_is_valid(args.buf) then
          M.attach(args.buf)
        end
      end)
    end,
  })
  if modern and not absent then
    local c = server_config()
    c.root_dir = root_dir
    vim.lsp.config(M.name, c)
    if config.values.autostart then
      vim.lsp.enable(M.name)
    end
  end
  attach_all()
end

--- The workspace folder that a command given in a buffer is about. A file that is in
--- no project is in the working directory, or in its own.
---@param buf integer
---@return string
function M.root_for(buf)
  local root = buffers[buf] or config.root(buf)
  if root then
    return root
  end
  local name, cwd = config.file(buf), vim.fs.normalize(vim.uv.cwd() or '.')
  if name then
    return vim.startswith(name, cwd .. '/') and cwd or vim.fs.dirname(name)
  end
  return #roots > 0 and not vim.list_contains(roots, cwd) and roots[1] or cwd
end

--- Calls f with nothing when the server is ready for a root, or with the reason why
--- it is not.
---@param buf integer the buffer that it is about
---@param root string
---@param f fun(err?: string)
function M.ready(buf, root, f)
  local ok, why = M.found()
  if not ok then
    state.set_server('missing')
    return f(why)
  elseif state.server == 'failed' then
    return f('the server does not run: :Agent restart starts it, :Agent log says more')
  elseif absent then
    M.enable() -- it was installed meanwhile
  end
  if not open then
    waiting[#waiting + 1] = f
  end
  if stopping then
    return -- its end starts the next one
  elseif not start(config.file(buf) and buf or nil, root) then
    waiting = {}
    return f('the server could not be started: :Agent log says more')
  end
  if open then
    f()
  end
end

--- Runs a command of the server.
---@param name string
---@param argument table
---@param f? fun(result: any) called with the result; an error is shown
---@param failed? fun(message: string) called in place of showing it
function M.command(name, argument, f, failed)
  if not client then
    return (failed or ui.error)('the server does not run')
  end
  local params = { command = name, arguments = { next(argument) and argument or vim.empty_dict() } }
  M.call(client, 'request', 'workspace/executeCommand', params, function(err, result)
    if err then
      (failed or ui.error)(err.message or tostring(err))
    elseif f then
      f(result)
    end
  end)
end

--- Runs a command and waits for it, for completion and health checks.
---@return any result nil on an error or when it took too long
---@return string? why
function M.command_sync(name, argument, timeout)
  if not client then
    return nil, 'the server does not run'
  end
  local params = { command = name, arguments = { next(argument) and argument or vim.empty_dict() } }
  local r, why = M.call(client, 'request_sync', 'workspace/executeCommand', params, timeout, 0)
  if not r then
    return nil, why or 'no answer'
  end
  return r.result, r.err and r.err.message
end

--- Ends the server and starts it again, whatever state it is in. Asking twice is
--- like asking once.
function M.restart()
  crashes = 0
  if not client then
    local ok, why = M.found()
    if not ok then
      state.set_server('missing')
      ui.error(why)
    elseif not starting then
      if absent then
        M.enable()
      end
      add_folder(roots[1] or M.root_for(vim.api.nvim_get_current_buf()))
      state.set_server('off')
      restart()
    end
  elseif stopping ~= 'restart' then
    stopping, open = 'restart', false
    state.set_server('restarting')
    vim.schedule(function() -- behind the starts that are on their way
      M.call(client, 'stop')
    end)
  end
end

return M

-- :Agent and its subcommands.
local client = require('agent_lsp.client')
local config = require('agent_lsp.config')
local inert = require('agent_lsp.inert')
local state = require('agent_lsp.state')
local transcript = require('agent_lsp.transcript')
local ui = require('agent_lsp.ui')
local M = {}

-- Where a command was given, and the session that it is about.
local function place(opts)
  local buf = vim.api.nvim_get_current_buf()
  local session = transcript.session(buf)
  local root = session and state.session(session).root or client.root_for(buf)
  local x = { buf = buf, root = root, session = session or state.current[root] }
  if opts.range > 0 then
    x.first, x.last = opts.line1, opts.line2
  end
  return x
end

-- Runs f when the server is ready for a place; else says why it is not.
local function with(x, f)
  client.ready(x.buf, x.root, function(err)
    if err then
      return ui.error(err)
    end
    f()
  end)
end

-- The selection, as a place in a document or, where the server has no such document,
-- as a quotation.
local function selection(x)
  if not x.first then
    return nil, ''
  end
  local lines = vim.api.nvim_buf_get_lines(x.buf, x.first - 1, x.last, false)
  local c = client.get()
  if c and vim.lsp.buf_is_attached(x.buf, c.id) then
    return {
      { uri = vim.uri_from_bufnr(x.buf), range = { start = { line = x.first - 1, character = 0 }, ['end'] = { line = x.last, character = 0 } } },
    }, ''
  end
  local marks = '````'
  return nil, ('\n\nThese lines are selected:\n%s\n%s\n%s'):format(marks, table.concat(lines, '\n'), marks)
end

local function started(x)
  return function(r)
    state.use(r.session, state.session(r.session).root or x.root)
  end
end

local function prompt(x, text)
  with(x, function()
    local context, quoted = selection(x)
    local argument = { text = text .. quoted, root = x.root, session = x.session, context = context }
    client.command('agent.prompt', argument, started(x))
  end)
end

local function input(label, f)
  vim.ui.input({ prompt = label }, function(text)
    if text and vim.trim(text) ~= '' then
      f(text)
    end
  end)
end

-- Sessions to choose from, the newest first.
local function pick(x, label, f)
  with(x, function()
    client.command('agent.session.list', {}, function(list)
      local items = {}
      for _, s in ipairs(list.sessions) do
        state.session(s.session, s.root)
        table.insert(items, 1, s)
      end
      for _, u in ipairs(list.undecodable) do
        items[#items + 1] = { session = u.id, error = u.error }
      end
      if #items == 0 then
        return ui.notify('there is no session yet')
      end
      ui.select(items, label, function(s)
        if s.error then
          return ('%s cannot be read: %s'):format(s.session, s.error)
        end
        local title = s.title ~= '' and s.title or '(no title)'
        return ('%s, %s, %d turn%s, %s'):format(title, s.state, s.turns, s.turns == 1 and '' or 's', vim.fn.fnamemodify(s.root, ':~'))
      end, f)
    end)
  end)
end

local function resume(id)
  client.command('agent.session.resume', { session = id }, function(r)
    local root = state.session(id).root
    if root then
      state.use(id, root)
    end
    for _, what in ipairs(r.interrupted or {}) do
      ui.warn(inert.line(what, 300))
    end
    transcript.open(id, true)
    transcript.sync(id)
  end)
end

local function delete(id)
  client.command('agent.session.delete', { session = id }, function()
    state.forget(id)
    ui.notify('the session is deleted')
  end)
end

-- The diagnostics of lines in the protocol's form.
local function problems(x)
  local first = (x.first or vim.api.nvim_win_get_cursor(0)[1]) - 1
  local last = (x.last or first + 1) - 1
  local out = {}
  for _, d in ipairs(vim.diagnostic.get(x.buf)) do
    if d.lnum <= last and (d.end_lnum or d.lnum) >= first then
      local lsp = d.user_data and d.user_data.lsp or {}
      out[#out + 1] = {
        message = d.message,
        source = d.source,
        severity = d.severity,
        code = d.code,
        range = lsp.range or {
          start = { line = d.lnum, character = d.col },
          ['end'] = { line = d.end_lnum or d.lnum, character = d.end_col or d.col },
        },
      }
    end
  end
  return out
end

local words = {}

function words.ask(x, rest)
  if rest ~= '' then
    return prompt(x, rest)
  end
  input('Ask the agent: ', function(text)
    prompt(x, text)
  end)
end

function words.fix(x)
  local list = problems(x)
  if #list == 0 then
    return ui.notify(x.first and 'there is no problem in these lines' or 'there is no problem in this line')
  end
  with(x, function()
    client.command('agent.fix', { uri = vim.uri_from_bufnr(x.buf), diagnostics = list, session = x.session }, started(x))
  end)
end

function words.cancel(x)
  with(x, function()
    client.command('agent.cancel', { session = x.session }, function(r)
      if not r.cancelled then
        ui.notify('no turn is running')
      end
    end)
  end)
end

function words.new(x, rest)
  with(x, function()
    client.command('agent.session.new', { root = x.root, title = rest ~= '' and rest or nil }, function(r)
      state.use(r.session, x.root)
      ui.notify('new session in ' .. vim.fn.fnamemodify(x.root, ':~'))
    end)
  end)
end

function words.resume(x, rest)
  if rest ~= '' then
    return with(x, function()
      resume(rest)
    end)
  end
  pick(x, 'Resume a session', function(s)
    resume(s.session)
  end)
end

function words.sessions(x)
  pick(x, 'Sessions', function(s)
    local actions = s.error and { 'Delete' } or { 'Open the transcript', 'Resume', 'Delete' }
    ui.select(actions, s.title ~= '' and s.title or s.session, tostring, function(action)
      if action == 'Resume' then
        resume(s.session)
      elseif action == 'Delete' then
        delete(s.session)
      else
        transcript.open(s.session, true)
      end
    end)
  end)
end

function words.transcript(x, rest)
  local id = rest ~= '' and rest or x.session
  if id then
    return with(x, function()
      transcript.open(id, true)
    end)
  end
  pick(x, 'Transcript of', function(s)
    transcript.open(s.session, true)
  end)
end

function words.undo(x, rest)
  local turn = tonumber(rest)
  if rest ~= '' and not turn then
    return ui.error(('undo takes the number of a turn, not %q'):format(rest))
  end
  with(x, function()
    client.command('agent.undo', { session = x.session, root = not x.session and x.root or nil, turn = turn }, function(r)
      ui.notify(('turn %d is undone in %s'):format(r.turn, table.concat(r.files, ', ')))
      if #(r.notCovered or {}) > 0 then
        ui.warn('a command changed these, which undo does not: ' .. table.concat(r.notCovered, ', '))
      end
    end)
  end)
end

local function select_profile(name)
  client.command('agent.profile.select', { profile = name }, function()
    ui.notify('new sessions use ' .. name)
  end)
end

function words.profile(x, rest)
  with(x, function()
    if rest ~= '' then
      return select_profile(rest)
    end
    client.command('agent.profiles', {}, function(r)
      ui.select(r.profiles, 'Model profile', function(p)
        return ('%s%s (%s)'):format(p.selected and '* ' or '', p.name, p.model ~= '' and p.model or p.provider)
      end, function(p)
        select_profile(p.name)
      end)
    end)
  end)
end

local modes = { 'plan', 'ask', 'edits', 'auto', 'all' }

local function switch_mode(x, mode)
  client.command('agent.mode', { session = x.session, root = not x.session and x.root or nil, mode = mode }, function(r)
    state.use(r.session, state.session(r.session).root or x.root)
    ui.notify('the mode is ' .. r.mode)
  end)
end

function words.mode(x, rest)
  with(x, function()
    if rest ~= '' then
      return switch_mode(x, rest)
    end
    ui.select(modes, 'Mode', tostring, function(mode)
      switch_mode(x, mode)
    end)
  end)
end

function words.accept(x)
  with(x, function()
    client.command('agent.plan.accept', { session = x.session, root = not x.session and x.root or nil }, started(x))
  end)
end

function words.check(x)
  with(x, function()
    client.command('agent.check', { root = x.root }, function(r)
      for _, c in ipairs(r.results) do
        local title = state.check_title(c)
        if c.outcome == 'failed' or c.outcome == 'skipped' then
          title = title .. ': ' .. inert.line(c.text, 300)
        end
        ui.notify(title, (c.outcome == 'found' or c.outcome == 'failed') and vim.log.levels.WARN or nil)
      end
    end)
  end)
end

function words.log()
  require('agent_lsp.log').open()
end

function words.approve()
  require('agent_lsp.approve').again()
end

function words.restart()
  client.restart()
end

local names = vim.tbl_keys(words)
table.sort(names)

--- Runs :Agent.
---@param opts table what nvim_create_user_command hands over
function M.run(opts)
  require('agent_lsp').ensure()
  local word, rest = opts.args:match('^%s*(%S*)%s*(.-)%s*$')
  if word == '' then
    return ui.select(names, 'Agent', tostring, function(choice)
      words[choice](place(opts), '')
    end)
  elseif not words[word] then
    return ui.error(('there is no :Agent %s; there are %s'):format(word, table.concat(names, ', ')))
  end
  words[word](place(opts), rest)
end

local function sessions()
  local list = client.command_sync('agent.session.list', {}, 500)
  return vim.tbl_map(function(s)
    return s.session
  end, list and list.sessions or {})
end

local completions = {
  mode = function()
    return modes
  end,
  resume = sessions,
  transcript = sessions,
  profile = function()
    local r = client.command_sync('agent.profiles', {}, 500)
    return vim.tbl_map(function(p)
      return p.name
    end, r and r.profiles or {})
  end,
}

--- Completes :Agent.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = line:match('Agent!?%s+(.*)$') or ''
  local word = before:match('^(%S+)%s')
  local list = names
  if word then
    list = completions[word] and completions[word]() or {}
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, list)
end

return M

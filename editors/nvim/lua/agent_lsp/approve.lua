-- Asks the person about what the agent wants to do. One question at a time, with
-- the whole command or diff in a window; whatever is no clear yes is a no.
local inert = require('agent_lsp.inert')
local ui = require('agent_lsp.ui')
local M = {}
local api = vim.api

local queue = {} -- open questions; the first one is shown
local later = 'Read it first (:Agent approve asks again)'
local labels = { allow_once = 'Allow once', allow_session = 'Allow for this session', allow_always = 'Always allow', deny = 'Deny' }

local show

local function close(q)
  if q.buf and api.nvim_buf_is_valid(q.buf) then
    local buf = q.buf
    q.buf = nil
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
end

local function answer(q, decision, reason)
  if q.answered then
    return
  end
  q.answered = true
  for i, other in ipairs(queue) do
    if other == q then
      table.remove(queue, i)
      break
    end
  end
  close(q)
  coroutine.resume(q.thread, { decision = decision, reason = reason })
  if queue[1] then
    M.soon()
  end
end

-- Shows what is asked about.
local function detail(q)
  if q.buf and api.nvim_buf_is_valid(q.buf) then
    return
  end
  local text = inert.text(q.params.detail)
  local lines = vim.split(inert.line(q.params.title) .. '\n\n' .. text, '\n', { plain = true })
  local buf = api.nvim_create_buf(false, true)
  q.buf = buf
  vim.bo[buf].bufhidden = 'wipe'
  ui.scratch(buf, text:match('^%-%-%- ') and 'diff' or '')
  ui.lines(buf, 0, -1, lines)
  pcall(api.nvim_buf_set_name, buf, ('agent://approve/%s/%d'):format(q.params.session, q.params.id))
  local ok, win = pcall(api.nvim_open_win, buf, false, { split = 'above', win = -1, height = math.min(#lines, math.floor(vim.o.lines / 3) + 1) })
  if ok then
    q.win = win
    vim.wo[win][0].conceallevel, vim.wo[win][0].wrap, vim.wo[win][0].spell = 0, true, false
    vim.wo[win][0].winfixheight = true
  end
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    once = true,
    callback = function()
      if q.buf == buf then
        q.buf = nil
        vim.schedule(function()
          answer(q, 'deny', 'dismissed')
        end)
      end
    end,
  })
end

function show()
  local q = queue[1]
  if not q or q.asking then
    return
  end
  detail(q)
  vim.cmd('redraw')
  local choices, called = {}, {}
  for i, d in ipairs(q.params.decisions) do
    if labels[d] then
      choices[#choices + 1] = d
      called[d] = inert.line(q.params.labels and q.params.labels[i] or labels[d], 100)
    end
  end
  choices[#choices + 1] = later
  q.asking = true
  local ok, err = pcall(vim.ui.select, choices, {
    prompt = inert.line(q.params.title, 200),
    kind = 'agent_lsp_approve',
    format_item = function(d)
      return called[d] or d
    end,
  }, function(choice)
    q.asking = false
    if choice == later then
      if q.win and api.nvim_win_is_valid(q.win) then
        api.nvim_set_current_win(q.win)
      end
    elseif choice then
      answer(q, choice)
    else
      answer(q, 'deny', 'dismissed')
    end
  end)
  if not ok then
    q.asking = false
    ui.error('the question could not be shown: ' .. tostring(err))
    answer(q, 'deny', 'the editor could not ask')
  end
end

--- Asks the first question, but never into what the person is typing: a key meant for
--- the text must not be an answer.
function M.soon()
  vim.schedule(function()
    local q = queue[1]
    if not q then
      return
    elseif not ui.calm() then
      ui.notify('waiting for your word: ' .. inert.line(q.params.title, 100))
    end
    ui.when_calm(show)
  end)
end

--- Handles agent/approve; returns when the person has answered.
function M.ask(params)
  local q = { params = params, thread = coroutine.running() }
  queue[#queue + 1] = q
  if #queue == 1 then
    M.soon()
  end
  return coroutine.yield()
end

--- Asks the open question again.
function M.again()
  if not queue[1] then
    return ui.notify('nothing is waiting for your word')
  end
  show()
end

--- Takes back the questions of a turn, or all of them.
---@param session? string
---@param turn? integer
function M.drop(session, turn)
  for _, q in ipairs(vim.list_extend({}, queue)) do
    if not session or q.params.session == session and q.params.turn <= turn then
      answer(q, 'deny', 'the turn is over')
    end
  end
end

---@return integer
function M.open()
  return #queue
end

return M

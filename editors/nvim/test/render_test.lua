-- What models and tools write is shown inert, and cannot break out of its place.
local T = require('helper')
local inert = require('agent_lsp.inert')
local render = require('agent_lsp.render')

T.case('controls become visible', function()
  for _, x in ipairs({
    { 'plain\ttext\nand é 😀', 'plain\ttext\nand é 😀' },
    { 'a\r\nb\rc', 'a\nb␍c' },
    { '\27]0;title\7\0', '␛]0;title␇␀' },
    { '\194\155' .. '31m', '<U+009B>31m' },
    { 'a\226\128\174b\226\129\166c\226\128\139', 'a<U+202E>b<U+2066>c<U+200B>' },
    { '\239\187\191x\243\160\129\129', '<U+FEFF>x<U+E0041>' },
    { '👩\226\128\141💻', '👩\226\128\141💻' },
  }) do
    T.eq(inert.text(x[1]), x[2])
  end
  T.eq(inert.text(nil), '')
  T.eq(inert.line('  a\n b\tc  '), 'a b c')
  T.eq(inert.line('äöüß', 3), 'äö…')
  T.eq(inert.status('100%{system("x")}'), '100％{system("x")}')
end)

local function show(events)
  local doc = render.new()
  for i, e in ipairs(events) do
    render.add(doc, i - 1, '2026-01-02T03:04:05Z', e)
  end
  local out = {}
  for _, b in ipairs(doc.blocks) do
    vim.list_extend(out, b.lines)
  end
  return table.concat(out, '\n'), doc
end

T.case('a fence that a model leaves open is closed, output stands in a longer one', function()
  local text = show({
    { kind = 'message', turn = 1, text = 'see\n```go\nx', calls = {} },
    { kind = 'call', turn = 1, id = 1, name = 'exec', arguments = '{"argv":["ls","`*x*`"]}', call = {}, title = 'Run ls `*x*`', effect = 'run' },
    { kind = 'result', turn = 1, id = 1, call = 1, state = 'completed', text = '````\n# no heading' },
  })
  T.eq(text, 'see\n```go\nx\n```\n\n**Run ls \\`\\*x\\*\\`**\n`````\n````\n# no heading\n`````\n')
end)

T.case('a result joins its call', function()
  local function call(id)
    return { kind = 'call', turn = 1, id = id, name = 'read', arguments = '{"path":"f' .. id .. '"}', call = {}, title = 'Read f' .. id, effect = 'read' }
  end
  local text = show({
    call(1),
    call(2),
    { kind = 'result', turn = 1, id = 1, call = 0, state = 'failed', text = 'first' },
    { kind = 'result', turn = 1, id = 2, call = 1, state = 'completed', text = 'second' },
  })
  T.eq(text, '**Read f1** *failed*\n*failed*\n```\nfirst\n```\n\n**Read f2**\n```\nsecond\n```\n')
end)

T.case('a call is named without knowing its tool', function()
  local state = require('agent_lsp.state')
  for _, x in ipairs({
    { 'sum', '{"path":"a.go"}', {}, 'Sum of a.go', 'Sum of a.go', '' },
    { 'sum', '{"path":"a.go","depth":2,"deep":null,"names":["b","c"],"text":"1\\n2\\n"}', {}, 'Sum of a.go', 'Sum of a.go', 'depth: 2\nnames: b c\n1\n2\n' },
    { 'exec', '{"argv":["go","test"],"cwd":"sub"}', {}, nil, 'exec go test', 'cwd: sub' },
    { 'patch', '{"diff":"@@\\n-a\\n+b\\n","path":"a.go"}', {}, nil, 'patch a.go', '@@\n-a\n+b\n' },
    { 'look', '{}', {}, nil, 'look', '' },
    { 'look', '{"path":1}', vim.NIL, nil, 'look', '{"path":1}' },
    { 'look', '{"path":1}', vim.NIL, 'Look', 'Look', '{"path":1}' },
    { 'look', '["a"]', {}, nil, 'look', '["a"]' },
    { 'look', 'no JSON', {}, nil, 'look', 'no JSON' },
  }) do
    local title, detail = state.call_title({ name = x[1], arguments = x[2], call = x[3], title = x[4] })
    T.eq({ title, detail }, { x[5], x[6] })
  end
end)

T.case('an edit that is about to be made is not shown, in its old form and in its new one', function()
  local edit = { path = 'a', before = '', after = 'h' }
  T.eq((show({ { kind = 'intent', turn = 1, id = 1, edit = edit } })), '')
  T.eq((show({ { kind = 'approval', turn = 1, id = 1, state = 'answered', decision = 'performed', edit = edit } })), '')
end)

T.case('only a clean check says that nothing was found', function()
  for outcome, words in pairs({
    found = 'go vet found 0 problems',
    clean = 'go vet found nothing',
    skipped = 'not checked',
    failed = 'unchecked: go vet failed',
    unheard = 'unchecked: go vet failed',
  }) do
    T.eq(require('agent_lsp.state').check_title({ outcome = outcome, command = { 'go', 'vet' }, findings = {} }), words)
  end
  T.eq(require('agent_lsp.state').check_title({ outcome = 'clean', command = {}, title = 'go vet: nothing new' }), 'go vet: nothing new')
end)

T.case('an event of an unknown kind, a broken one and a repeated one do no harm', function()
  local text = show({ { kind = 'sparkle' }, { kind = 'user', turn = vim.NIL } })
  T.match(text, '*Event 1 cannot be shown', true)
  local doc = render.new()
  for _ = 1, 2 do
    render.add(doc, 4, '', { kind = 'note', text = '*hi*' })
  end
  T.eq({ #doc.blocks, doc.blocks[1].lines[1] }, { 1, '*Note:* \\*hi\\*' })
end)

T.case('what streams is replaced by the message', function()
  local doc = render.new()
  render.stream(doc, 'Hel')
  render.stream(doc, 'lo\n```x')
  T.eq(doc.blocks[1].lines, { 'Hello', '```x', '```', '' })
  render.add(doc, 0, '', { kind = 'message', turn = 1, text = 'Hello.', calls = {} })
  T.eq({ doc.blocks[1].lines, doc.blocks[2].lines }, { {}, { 'Hello.', '' } })
end)

T.finish()

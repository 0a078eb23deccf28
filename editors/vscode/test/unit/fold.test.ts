import { expect, test } from 'vitest';
import type { AgentEvent, Edit, Entry } from '../../src/protocol';
import { applyDiff, sidesOf } from '../../src/transcript/diff';
import { describe, Transcript, type Block } from '../../src/transcript/fold';

const entries = (...events: AgentEvent[]): Entry[] => events.map((event, index) => ({ index, at: '', event }));
const message = (text: string | null, more = {}): AgentEvent => ({ kind: 'message', turn: 1, ask: 1, text, calls: [], ...more });
const ask: AgentEvent = { kind: 'ask', turn: 1, id: 1, round: 1, attempt: 1, profile: 'p' };
const call = (id: number, argv: string[]): AgentEvent => ({ kind: 'call', turn: 1, id, name: 'exec', arguments: JSON.stringify({ argv }), call: {}, dispatched: true, title: `Run ${argv.join(' ')}`, effect: 'run' });
const result = (id: number, at: number, more = {}): AgentEvent => ({ kind: 'result', turn: 1, id, call: at, state: 'completed', text: 'out', ...more });
const edit: Edit = { path: 'a', before: 'x', after: 'y', diff: '@@ -1 +1 @@\n-a\n+b\n' };

function show(b: Block): string {
  switch (b.type) {
    case 'prompt': return `you: ${b.text}`;
    case 'text': return `${b.live ? 'live' : 'said'}: ${b.text}`;
    case 'call': return `${b.title} [${b.state}]${b.approval ? ` (${b.approval})` : ''}${b.undone ? ' undone' : ''}`;
    case 'end': return `end: ${b.outcome}${b.edits ? ' edits' : ''}${b.undone ? ' undone' : ''}`;
    default: return b.type;
  }
}

function fold(list: Entry[]): Transcript {
  const t = new Transcript();
  list.forEach((e) => t.apply(e));
  return t;
}

test.each<[string, AgentEvent[], string[]]>([
  ['a turn', [{ kind: 'user', turn: 1, text: 'hi' }, ask, message('Hello'), { kind: 'emit', turn: 1, id: 2, text: 'Hello' }, { kind: 'done', turn: 1, outcome: 'complete' }], ['you: hi', 'said: Hello', 'end: complete']],
  ['a call and its result', [call(2, ['ls']), result(2, 0)], ['Run ls [completed]']],
  ['the first result counts', [call(2, ['ls']), result(2, 0), result(2, 0, { state: 'failed' })], ['Run ls [completed]']],
  ['a result finds its call by index', [call(0, ['a']), call(0, ['b']), result(0, 1, { state: 'failed' })], ['Run a [running]', 'Run b [failed]']],
  ['a question', [call(2, ['rm']), { kind: 'approval', turn: 1, id: 2, state: 'asked', title: 'Run rm' }], ['Run rm [waiting for you]']],
  ['a denial', [call(2, ['rm']), { kind: 'approval', turn: 1, id: 2, state: 'asked' }, { kind: 'approval', turn: 1, id: 2, state: 'answered', decision: 'deny', reason: 'no' }, result(2, 0, { state: 'rejected' })], ['Run rm [rejected] (denied: no)']],
  ['an edit that is about to be made is no answer', [call(2, ['x']), { kind: 'approval', turn: 1, id: 2, state: 'answered', decision: 'performed' }], ['Run x [running]']],
  ['an intent', [call(2, ['x']), { kind: 'intent', turn: 1, id: 2, edit }], ['Run x [running]']],
  ['an undone turn', [call(2, ['x']), result(2, 0, { edit }), { kind: 'done', turn: 1, outcome: 'complete' }, { kind: 'note', turn: 1, text: 'undone', undid: [1] }], ['Run x [completed] undone', 'end: complete edits undone', 'note']],
  ['unknown kinds are passed over', [{ kind: 'dance' } as never, message('ok')], ['said: ok']],
])('%s', (_name, events, want) => expect(fold(entries(...events)).blocks.map(show)).toEqual(want));

test('what streams becomes what is stored, in its place', () => {
  const t = fold(entries({ kind: 'user', turn: 1, text: 'hi' }, ask));
  t.delta(1, 'Hel');
  t.delta(1, 'lo');
  expect(t.blocks.map(show)).toEqual(['you: hi', 'live: Hello']);
  const key = t.blocks[1]!.key;
  t.apply({ index: 2, at: '', event: message('Hello.') });
  expect(t.blocks.map(show)).toEqual(['you: hi', 'said: Hello.']);
  expect(t.blocks[1]!.key).toBe(key);
});

test('what streamed before a call was given up goes', () => {
  const t = fold(entries(ask));
  t.delta(1, 'half');
  t.apply({ index: 1, at: '', event: { ...ask, attempt: 2 } as AgentEvent });
  expect(t.blocks).toEqual([]);
  t.delta(1, 'again');
  t.apply({ index: 2, at: '', event: { kind: 'done', turn: 1, outcome: 'cancelled' } });
  expect(t.blocks.map(show)).toEqual(['end: cancelled']);
});

test('an event that comes twice counts once', () => {
  const list = entries({ kind: 'user', turn: 1, text: 'hi' });
  const t = fold([...list, ...list]);
  expect(t.blocks.length).toBe(1);
  expect(t.next).toBe(1);
});

test.each<[string, string, string, string | undefined]>([
  ['a line', 'a\nb\nc\n', '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
  ['a new file', '', '--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+new\n', 'new\n'],
  ['a new file without an end', '', '@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n', 'new'],
  ['an end taken away', 'a\nb\n', '@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n', 'a\nb'],
  ['an end given', 'a\nb', '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n', 'a\nb\n'],
  ['no end before or after', 'a\nb', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n', 'A\nb'],
  ['an untouched open end', 'a\n1\n2\n3\n4\nb', '@@ -1,2 +1,2 @@\n-a\n+A\n 1\n', 'A\n1\n2\n3\n4\nb'],
  ['all of it gone', 'a\n', '@@ -1 +0,0 @@\n-a\n', ''],
  ['carriage returns', 'a\r\nb\r\n', '@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n', 'a\r\nc\r\n'],
  ['two places', '1\n2\n3\n4\n5\n', '@@ -1 +1 @@\n-1\n+I\n@@ -5 +5 @@\n-5\n+V\n', 'I\n2\n3\n4\nV\n'],
  ['another text', 'x\n', '@@ -1 +1 @@\n-a\n+b\n', undefined],
])('a diff is applied: %s', (_name, before, diff, after) => expect(applyDiff(before, diff)).toBe(after));

const base = 'KkhMzk5MT1XITczM4+LS11coqSxITdFRyMsvUShOLEtN4UorzUsGS2toKlRzccbrKFQoWNkqKH2YP6Ph8EolHYVKLs6Cosy8kpw8jQpNrlouQAAAAP//';
const fixed = '--- a/main.go\n+++ b/main.go\n@@ -2,6 +2,6 @@\n \n // typed, not saved\n func main() {\n-\t_, x := "😀é", y\n+\t_, x := "😀é", z\n \tprintln(x)\n }\n';

test.each<[string, AgentEvent]>([
  ['an intent', { kind: 'intent', turn: 1, id: 4, edit: { path: 'main.go', before: 'h1', after: 'h2', base } }],
  ["an older server's", { kind: 'approval', turn: 1, id: 4, state: 'answered', decision: 'performed', edit: { path: 'main.go', before: 'h1', after: 'h2', base } }],
])('the sides of an edit are the whole file where its text was kept: %s', (_name, intent) => {
  const whole = { path: 'main.go', before: 'h1', after: 'h2', diff: fixed };
  const list = entries(call(4, ['x']), intent, result(4, 0, { edit: whole }));
  const text = 'package main\n\n// typed, not saved\nfunc main() {\n\t_, x := "😀é", y\n\tprintln(x)\n}\n';
  expect(sidesOf(list, 0)).toEqual({ path: 'main.go', before: text, after: text.replace(', y', ', z'), whole: true });
});

test('without the text before they are the changed places', () => {
  const list = entries(call(4, ['x']), result(4, 0, { edit }));
  expect(sidesOf(list, 0)).toEqual({ path: 'a', before: 'a\n', after: 'b\n', whole: false });
  expect(sidesOf(list, 1)).toBeUndefined();
});

test.each<[string, string, object | null, string | undefined, string, string]>([
  ['sum', '{"path":"a.go"}', {}, 'Sum of a.go', 'Sum of a.go', ''],
  ['sum', '{"path":"a.go","depth":2,"deep":null,"names":["b","c"],"text":"1\\n2\\n"}', {}, 'Sum of a.go', 'Sum of a.go', 'depth: 2\nnames: b c\n1\n2\n'],
  ['exec', '{"argv":["go","test"],"cwd":"sub"}', {}, undefined, 'exec go test', 'cwd: sub'],
  ['look', '{}', {}, undefined, 'look', ''],
  ['look', '{"path":1}', null, undefined, 'look', '{"path":1}'],
  ['look', '{"path":1}', null, 'Look', 'Look', '{"path":1}'],
  ['look', '["a"]', {}, undefined, 'look', '["a"]'],
  ['look', 'no JSON', {}, undefined, 'look', 'no JSON'],
])('a call of %s with %s is named without knowing the tool', (name, args, typed, given, title, detail) =>
  expect(describe({ kind: 'call', turn: 1, id: 1, name, arguments: args, call: typed, dispatched: true, title: given })).toEqual({ title, detail }));

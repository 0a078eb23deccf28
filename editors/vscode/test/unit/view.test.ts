// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest';
import type { AgentEvent, Entry } from '../../src/protocol';
import { render } from '../../src/transcript/markdown';
import type { FromPanel } from '../../src/webview/messages';
import { View } from '../../src/webview/view';

const parse = (html: string) => new DOMParser().parseFromString(html, 'text/html') as unknown as Document;
let sent: FromPanel[];
let view: View;
let index = 0;

beforeEach(() => {
  document.body.innerHTML = '<main id="app"></main>';
  sent = [];
  index = 0;
  view = new View({ document, parse, send: (m) => sent.push(m), soon: (act) => act(), keep: () => undefined }, document.getElementById('app')!);
  view.receive({ type: 'reset', session: 's', title: 'A session', entries: [], pending: undefined });
});

const say = (...events: AgentEvent[]) => view.receive({ type: 'entries', entries: events.map((event): Entry => ({ index: index++, at: '', event })) });
const labels = () => [...document.querySelectorAll('article')].map((a) => a.getAttribute('aria-label'));
const press = (words: string) => [...document.querySelectorAll('button')].find((b) => b.textContent === words)!.click();

function html(text: string): string {
  const box = document.createElement('div');
  box.append(render(text, document, parse));
  return box.innerHTML;
}

test.each([
  ['**bold** `code`', '<p><strong>bold</strong> <code>code</code></p>'],
  ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
  ['a <b>b</b>', '<p>a &lt;b&gt;b&lt;/b&gt;</p>'],
  ['[x](command:evil)', '<p>[x](command:evil)</p>'],
  ['[x](JavaScript:evil)', '<p>[x](JavaScript:evil)</p>'],
  ['[x](data:text/html,y)', '<p>[x](data:text/html,y)</p>'],
  ['<https://x.test/>', '<p><a href="https://x.test/" title="https://x.test/">https://x.test/</a></p>'],
  ['![p](https://x.test/p.png)', '<p>!<a href="https://x.test/p.png" title="https://x.test/p.png">p</a></p>'],
  ['```html\n<script>x</script>\n```', '<pre><code>&lt;script&gt;x&lt;/script&gt;\n</code></pre>'],
])('Markdown %j', (from, to) => expect(html(from).trim()).toContain(to));

test('what the renderer made is rebuilt from what is allowed', () => {
  const box = document.createElement('div');
  const evil = () => parse('<p onclick="x" style="y">a<svg onload="x"><a href="javascript:x">b</a></svg><object data="x">c</object></p><a href="javascript:x">d</a>');
  box.append(render('x', document, evil));
  expect(box.innerHTML).toBe('<p>abc</p>d');
});

test('blocks have names for a screen reader and come in order', () => {
  say(
    { kind: 'user', turn: 1, text: 'fix it' }, { kind: 'message', turn: 1, ask: 1, text: 'Looking.', calls: [] },
    { kind: 'call', turn: 1, id: 2, name: 'read', arguments: '{"path":"a.go"}', call: {}, dispatched: true, title: 'Read a.go', effect: 'read' },
    { kind: 'result', turn: 1, id: 2, call: 2, state: 'completed', text: 'text' }, { kind: 'done', turn: 1, outcome: 'complete' },
  );
  expect(labels()).toEqual(['You asked: fix it', 'The agent said: Looking.', 'Read a.go, completed', 'Turn 1: Done']);
  expect(document.querySelector('[role=feed]')!.getAttribute('aria-label')).toBe('Transcript of the agent');
  expect(document.querySelector('[role=status]')!.textContent).toBe('Turn 1: Done');
});

test('a call stays unfolded when its result comes', () => {
  say({ kind: 'call', turn: 1, id: 2, name: 'read', arguments: '{"path":"a.go"}', call: {}, dispatched: true, title: 'Read a.go', effect: 'read' });
  document.querySelector('details')!.open = true;
  say({ kind: 'result', turn: 1, id: 2, call: 0, state: 'completed', text: 'text' });
  expect(document.querySelector('details')!.open).toBe(true);
  expect(document.querySelectorAll('article').length).toBe(1);
});

test('text streams into one block', () => {
  view.receive({ type: 'delta', turn: 1, text: 'Hel' });
  view.receive({ type: 'delta', turn: 1, text: 'lo' });
  say({ kind: 'message', turn: 1, ask: 1, text: 'Hello', calls: [] });
  expect(labels()).toEqual(['The agent said: Hello']);
});

test('findings, diffs, undo and cancel send what was clicked', () => {
  say(
    { kind: 'call', turn: 1, id: 2, name: 'patch', arguments: '{}', call: {}, dispatched: true, title: 'Patch a.go', effect: 'write' },
    { kind: 'check', turn: 1, root: '.', outcome: 'found', text: '', command: ['go', 'build'], findings: [{ path: 'a.go', line: 3, column: 2, severity: 'error', message: 'bad <b>' }] },
    { kind: 'result', turn: 1, id: 2, call: 0, state: 'completed', text: '', edit: { path: 'a.go', before: 'x', after: 'y', diff: '@@ -1 +1 @@\n-a\n+b\n' } },
    { kind: 'done', turn: 1, outcome: 'complete' },
  );
  press('a.go:3');
  press('Open diff');
  press('Undo this turn');
  press('Cancel');
  expect(sent).toEqual([{ type: 'open', path: 'a.go', line: 3, column: 2 }, { type: 'diff', call: 0 }, { type: 'undo', turn: 1 }, { type: 'cancel' }]);
  expect(document.querySelector('.findings li span')!.innerHTML).toBe(' bad &lt;b&gt;');
});

test('a question shows all of it, is announced, and goes when it is answered', () => {
  const q = { session: 's', turn: 1, id: 7, title: 'Run rm', detail: 'rm -rf build\n\u202Egnp' };
  view.receive({ type: 'questions', questions: [q] });
  view.receive({ type: 'questions', questions: [q] });
  expect(document.querySelectorAll('.question').length).toBe(1);
  expect(document.querySelector('.question pre')!.textContent).toBe('rm -rf build\n[U+202E]gnp\n');
  expect(document.querySelector('[role=status]')!.textContent).toBe('The agent waits for you: Run rm');
  press('Deny');
  expect(sent).toEqual([{ type: 'answer', session: 's', id: 7, decision: 'deny' }]);
  view.receive({ type: 'questions', questions: [] });
  expect(document.querySelectorAll('.question').length).toBe(0);
});

test('a question that names its answers shows them', () => {
  const labels = ['Run again with network', 'Always for `npm install` here', 'Keep offline'];
  view.receive({ type: 'questions', questions: [{ session: 's', turn: 1, id: 7, title: '`npm install` was stopped: no network', detail: 'npm install', decisions: ['allow_once', 'allow_session', 'deny'], labels }] });
  expect([...document.querySelectorAll('.question button')].map((b) => b.textContent)).toEqual(labels);
  press('Run again with network');
  expect(sent).toEqual([{ type: 'answer', session: 's', id: 7, decision: 'allow_once' }]);
});

test('another session leaves nothing of the one before', () => {
  say({ kind: 'user', turn: 1, text: 'one' });
  view.receive({ type: 'reset', session: 't', title: 'Other', entries: [{ index: 0, at: '', event: { kind: 'user', turn: 1, text: 'two' } }], pending: { turn: 1, text: 'half' } });
  expect(labels()).toEqual(['You asked: two', 'The agent said: half']);
});

test('Enter asks, Shift+Enter does not', () => {
  const input = document.querySelector('textarea')!;
  input.value = 'do it';
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', shiftKey: true }));
  expect(sent).toEqual([]);
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  expect(sent).toEqual([{ type: 'ask', text: 'do it' }]);
  expect(input.value).toBe('');
});

test("a check has the server's title, an older one its outcome", () => {
  const check = { kind: 'check', turn: 1, root: '.', outcome: 'clean', text: '', command: ['go', 'vet'], findings: [] } as const;
  say({ ...check, command: [], findings: [] }, { ...check, command: ['go', 'vet'], findings: [], title: 'go vet: nothing new' });
  expect(labels()).toEqual(['Check: the checker found nothing', 'Check: go vet: nothing new']);
});

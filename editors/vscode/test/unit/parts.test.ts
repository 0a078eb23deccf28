import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Backoff } from '../../src/backoff';
import { Sessions } from '../../src/sessions';
import { explicitSettings, serverKeys, type Settings } from '../../src/settings';
import { forMessage, oneLine, printable } from '../../src/transcript/printable';
import { readMessage } from '../../src/webview/messages';

test('a server that keeps ending is started later and later, then no more', () => {
  const b = new Backoff(250, 8000, 5, 180_000);
  expect([0, 1, 2, 3, 4, 5].map((t) => b.next(t))).toEqual([250, 500, 1000, 2000, 4000, undefined]);
});

test('ends that are long ago do not count', () => {
  const b = new Backoff(250, 8000, 1, 1000);
  expect([b.next(0), b.next(2000), b.next(2500)]).toEqual([250, 250, undefined]);
  b.reset();
  expect(b.next(2600)).toBe(250);
});

const settings = (set: Record<string, unknown>, layer = 'globalValue'): Settings => ({
  inspect: (k) => ({ defaultValue: 'd', ...(k in set && { [layer]: set[k] }) }),
  get: (k) => (k in set ? set[k] : 'd'),
});

test('only what was set is sent, nested', () => {
  expect(explicitSettings(['approvals', 'checker.off', 'checker.timeout'], settings({ 'checker.off': ['go'] }))).toEqual({ checker: { off: ['go'] } });
  expect(explicitSettings(['approvals'], settings({ approvals: 'all' }, 'workspaceValue'))).toEqual({ approvals: 'all' });
  expect(explicitSettings(['approvals'], settings({ approvals: null }))).toEqual({});
});

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

test("the extension's own settings are not the server's", () => {
  const keys = serverKeys(manifest);
  expect(keys).toContain('turn.maxRounds');
  expect(keys.some((k) => k.startsWith('server.') || k.startsWith('trace.'))).toBe(false);
});

test('a workspace can set nothing that arms the agent', () => {
  const properties: Record<string, { scope: string }> = Object.assign({}, ...manifest.contributes.configuration.map((g: { properties: object }) => g.properties));
  const open = Object.keys(properties).filter((k) => !['machine', 'application'].includes(properties[k]!.scope));
  expect(open.sort()).toEqual(['agentLsp.checker.enabled', 'agentLsp.checker.off', 'agentLsp.log.level', 'agentLsp.trace.server']);
});

test('every command has its category, and an icon and an enablement in the palette', () => {
  const hidden = manifest.contributes.menus.commandPalette.map((m: { command: string }) => m.command);
  for (const c of manifest.contributes.commands) {
    expect(c.category, c.command).toBe('Agent');
    if (!hidden.includes(c.command)) {
      expect(c.icon && c.enablement, c.command).toBeTruthy();
    }
  }
});

test.each([
  ['plain\ttext\n', 'plain\ttext\n'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007', 'link'],
  ['a\u202Eb\u2066c', 'a[U+202E]b[U+2066]c'],
  ['zero\u200Bwidth \u{E0041}tag', 'zero[U+200B]width [U+E0041]tag'],
  ['over\rwritten', 'over[U+000D]written'],
  ['win\r\nlines', 'win\nlines'],
  ['family 👩\u200D💻 stays', 'family 👩\u200D💻 stays'],
])('printable %j', (from, to) => expect(printable(from)).toBe(to));

test('one line is cut by characters', () => {
  expect(oneLine(' a\n b ', 10)).toBe('a b');
  expect(oneLine('😀😀😀😀', 3)).toBe('😀😀…');
});

test.each([
  [{ type: 'open', path: 'a', line: 1, column: 2, more: 1 }, { type: 'open', path: 'a', line: 1, column: 2 }],
  [{ type: 'open', path: 'a', line: -1, column: 2 }, undefined],
  [{ type: 'link', href: 'command:x' }, undefined],
  [{ type: 'link', href: 'https://x.test' }, { type: 'link', href: 'https://x.test' }],
  [{ type: 'ask', text: '  ' }, undefined],
  [{ type: 'answer', session: 's', id: 1, decision: 'maybe' }, undefined],
  [{ type: 'answer', session: 's', id: 1, decision: 'deny' }, { type: 'answer', session: 's', id: 1, decision: 'deny' }],
  [{ type: 'diff', call: 1.5 }, undefined],
  ['cancel', undefined],
  [null, undefined],
])('a message of the panel: %j', (m, want) => expect(readMessage(m)).toEqual(want));

test('the status names what waits, what runs, and what nobody checked', () => {
  const s = new Sessions();
  expect(s.status('s').state).toBe('off');
  s.on = true;
  const at = '2026-01-01T00:00:00Z';
  s.take('s', { index: 0, at, event: { kind: 'user', turn: 1, text: 'x' } });
  s.doing = 'Run go test';
  expect(s.status('s')).toEqual({ state: 'working', text: 'Run go test' });
  s.questions.set('s/2', { session: 's', turn: 1, id: 2, title: 'Run rm', detail: '' });
  expect(s.status('s')).toEqual({ state: 'waiting', text: 'Run rm' });
  s.questions.clear();
  s.doing = 'waiting for you: Run rm';
  expect(s.status('s').text).toBe('Run rm');
  s.take('s', { index: 1, at, event: { kind: 'check', turn: 1, root: '.', outcome: 'failed', text: 'no go', command: [], findings: [] } });
  s.take('s', { index: 2, at, event: { kind: 'done', turn: 1, outcome: 'complete' } });
  expect(s.status('s')).toEqual({ state: 'unchecked', text: 'no go' });
  expect(s.take('s', { index: 4, at, event: { kind: 'note', text: '' } })).toBe(false);
  expect(s.take('s', { index: 2, at, event: { kind: 'note', text: '' } })).toBe(true);
  expect(s.of('s').entries.length).toBe(3);
});

test('a server that is gone leaves nothing running, and names what did', () => {
  const s = new Sessions();
  s.take('s', { index: 0, at: '', event: { kind: 'user', turn: 1, text: 'x' } });
  s.delta('s', 1, 'half');
  expect(s.reset()).toEqual(['s']);
  expect([s.working, s.of('s').pending, s.reset()]).toEqual([false, undefined, []]);
});

test('a notification holds no links of a model', () => {
  expect(forMessage('Run [ok](command:evil) \u202Ex\n[b](https://x)', 99)).toBe('Run [ok] (command:evil) [U+202E]x [b] (https://x)');
});

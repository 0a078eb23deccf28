// Workspaces and the scripts that play the model in them.
import fs from 'node:fs';
import path from 'node:path';

const files = {
  'go.mod': 'module example.test/p\n\ngo 1.26\n',
  'main.go': 'package main\n\n// unsaved\nfunc main() {\n\t_, x := "😀é", y\n\tprintln(x)\n}\n',
  'other.txt': 'kept\n',
  'noeol.txt': 'a\nb',
  'closed.go': 'package main\n\nvar _ = 1\n',
};

/** What files hold before and after the agent wrote them: how texts end, above all. */
export const ends = [
  ['a\nb', 'a\nB'], ['a\nb', 'a\nb\n'], ['a\nb', 'a\nb\nc'], ['a\nb', 'x\ny'], ['a\nb', ''],
  ['a\nb\n', 'a\nB\n'], ['a\nb\n', 'a\nb'], ['a\nb\n', 'a\nb\nc\n'], ['a\nb\n', 'a\nb\n\n'], ['a\nb\n', 'a\n'], ['a\nb\n', 'x\ny\n'], ['a\nb\n', ''],
  ['', 'a'], ['', 'a\n'], ['\n', 'a\n'], ['a\r\nb\r\n', 'a\r\nb\r\nc\r\n'], ['a\r\nb\r\n', 'a\r\nb'], ['\ufeffa\nb', '\ufeffa\nb\n'],
].map(([before, after], i) => ({ name: `ends/${String(i).padStart(2, '0')}.txt`, before, after }));

export function workspace(dir, extra = {}) {
  for (const [name, text] of Object.entries({ ...files, ...extra })) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
  }
  return dir;
}

const patch = (file, ...lines) => ({ patch: { path: file, diff: ['@@', ...lines, ''].join('\n') } });
const exec = (...argv) => ({ exec: { argv } });

export const hostile = [
  'Look: <img src=x onerror="window.pwned=1"> <script>window.pwned=1</script>',
  '[run](command:workbench.action.terminal.new) [js](javascript:window.pwned=1) [ok](https://example.test/)',
  '![pic](https://example.test/track.png)',
  'ansi \u001b[31mred\u001b[0m and bidi \u202Egnp.exe\u202C end',
].join('\n\n');

const scripts = {
  fix: [
    { text: 'Let me look.', calls: [{ read: { path: 'main.go' } }] },
    { when: 'typed, not saved', calls: [patch('main.go', ' func main() {', '-\t_, x := "😀é", y', '+\t_, x := "😀é", z', ' \tprintln(x)')] },
    { when: 'undefined: z', calls: [patch('main.go', '-\t_, x := "😀é", z', '+\t_, x := "😀é", 1')] },
    { text: 'Fixed.' },
  ],
  approve: [{ calls: [exec('touch', 'effect')] }, { text: 'That is that.' }],
  sleep: [{ calls: [exec('sleep', '600')] }, { text: 'Awake.' }],
  talk: [{ when: '1/1', text: 'Hello.' }, { when: '2/1', text: 'Hello again.' }],
  create: [{ calls: [{ write: { path: 'sub/new.txt', text: 'one\ntwo' } }] }, { text: 'Made.' }],
  noeol: [{ calls: [{ read: { path: 'noeol.txt' } }] }, { calls: [patch('noeol.txt', '-b', '+B')] }, { text: 'Edited.' }],
  closed: [
    { calls: [{ read: { path: 'closed.go' } }] },
    { calls: [patch('closed.go', '-var _ = 1', '+var _ = nobody')] },
    { when: 'undefined: nobody', calls: [exec('grep', 'nobody', 'closed.go')] },
    { when: 'var _ = nobody', calls: [patch('closed.go', '-var _ = nobody', '+var _ = 1')] },
    { text: 'As before.' },
  ],
  ends: [
    { calls: ends.map(({ name }) => ({ read: { path: name } })) },
    { calls: ends.map(({ name, after }) => ({ write: { path: name, text: after.replace('\ufeff', '') } })) },
    { text: 'Done.' },
  ],
  disk: [
    { when: '1/1', calls: [exec('sh', '-c', 'sed -i s/two/TWO/ clean.txt; echo disk > dirty.txt')] },
    { when: '1/2', calls: [{ read: { path: 'dirty.txt' } }] },
    { when: '1/3', calls: [patch('dirty.txt', '-two', '+2')] },
    { when: '1/4', text: 'Done.' },
  ],
  crash: [{ when: '1/1', calls: [exec('sh', '-c', 'echo once >> crashed; sleep 600')] }, { when: '1/2', text: 'So be it.' }],
  look: [
    { when: '1/1', calls: [exec('touch', 'effect')] }, { when: '1/2', text: 'I could not.' },
    { when: '2/1', calls: [exec('touch', 'effect')] }, { when: '2/2', text: 'Now I could.' },
  ],
  // What the pictures show; the pauses let the page be seen at work.
  show: [
    { text: 'Let me look at the program first.', calls: [{ read: { path: 'main.go' } }] },
    { when: '1/2', text: 'I write the value that is **missing**:\n\n- `y` is not declared,\n- so `x` gets a number.', calls: [patch('main.go', '-\t_, x := "😀é", y', '+\t_, x := "😀é", z')] },
    { when: '1/3', text: 'The compiler is right, `z` is not declared either.', calls: [exec('go', 'version')] },
    { when: '1/4', calls: [patch('main.go', '-\t_, x := "😀é", z', '+\t_, x := "😀é", 1')] },
    { when: '1/5', stream: ['The program ', 'builds now.'], latency: '100ms' },
    { when: '2/1', calls: [exec('touch', 'effect')] },
    { when: '2/2', text: 'Then I leave it.' },
    { when: '3/1', text: hostile },
    { when: '4/1', calls: [exec('sleep', '600')] },
  ],
};

// YAML in the form of JSON, with bare keys.
function yaml(v) {
  if (Array.isArray(v)) return `[${v.map(yaml).join(', ')}]`;
  if (typeof v === 'object') return `{${Object.entries(v).map(([k, x]) => `${k}: ${yaml(x)}`).join(', ')}}`;
  return JSON.stringify(v);
}

/** Writes the scripts and answers the settings that make profiles of them. */
export function profiles(dir) {
  const out = {};
  for (const [name, entries] of Object.entries(scripts)) {
    const file = path.join(dir, name + '.yaml');
    fs.writeFileSync(file, `version: 1\nentries: ${yaml(entries)}\n`);
    out[name] = { provider: 'script', script: file };
  }
  return { 'agentLsp.profiles': out, 'agentLsp.profile': 'talk' };
}

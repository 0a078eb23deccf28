import { expect, test } from 'vitest';
import { findBinary, type Machine } from '../../src/binary';

const machine = (files: string[], more: Partial<Machine> = {}): Machine => ({
  platform: 'linux', home: '/home/me', env: { PATH: '/usr/bin:bin::/opt/bin' }, executable: (f) => files.includes(f), ...more,
});

test.each<[string, string, string[], Partial<Machine>, unknown]>([
  ['the setting wins', '/x/agent-lsp', ['/x/agent-lsp', '/ext/bin/agent-lsp', '/usr/bin/agent-lsp'], {}, { file: '/x/agent-lsp', from: 'setting' }],
  ['a tilde is the home directory', '~/go/bin/agent-lsp', ['/home/me/go/bin/agent-lsp'], {}, { file: '/home/me/go/bin/agent-lsp', from: 'setting' }],
  ['then the one that came along', '', ['/ext/bin/agent-lsp', '/usr/bin/agent-lsp'], {}, { file: '/ext/bin/agent-lsp', from: 'bundled' }],
  ['then PATH', ' ', ['/opt/bin/agent-lsp'], {}, { file: '/opt/bin/agent-lsp', from: 'PATH' }],
  ['a relative directory of PATH is passed over', '', ['bin/agent-lsp', 'agent-lsp'], {}, { problem: expect.stringContaining('not found') }],
  ['a setting that names nothing is not passed over', '/no/agent-lsp', ['/usr/bin/agent-lsp'], {}, { problem: expect.stringContaining('/no/agent-lsp') }],
  ['a relative setting could be of the workspace', 'bin/agent-lsp', ['bin/agent-lsp'], {}, { problem: expect.stringContaining('not an absolute path') }],
  ['Windows', '', ['C:\\tools\\agent-lsp.exe'], { platform: 'win32', env: { Path: 'C:\\Windows;C:\\tools' } }, { file: 'C:\\tools\\agent-lsp.exe', from: 'PATH' }],
  ['no PATH at all', '', [], { env: {} }, { problem: expect.stringContaining('agentLsp.server.path') }],
])('%s', (_name, setting, files, more, want) => {
  expect(findBinary(setting, '/ext', machine(files, more))).toEqual(want);
});

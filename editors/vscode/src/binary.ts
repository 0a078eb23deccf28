import * as path from 'node:path';

/** What a search for the server's binary needs to know of the machine. */
export interface Machine {
  platform: NodeJS.Platform;
  home: string;
  env: Record<string, string | undefined>;
  /** Says that a file can be executed. */
  executable(file: string): boolean;
}

export type Found = { file: string; from: 'setting' | 'bundled' | 'PATH' } | { file?: undefined; problem: string };

/**
 * Looks for the server: the setting, then the binary that came with the extension,
 * then PATH. A setting that names nothing is a problem and not passed over: the
 * person meant that one. The file is always absolute, so that no directory of a
 * workspace can put its own in front.
 */
export function findBinary(setting: string, extension: string, m: Machine): Found {
  const p = m.platform === 'win32' ? path.win32 : path.posix;
  const names = m.platform === 'win32' ? ['agent-lsp.exe', 'agent-lsp.cmd'] : ['agent-lsp'];
  if (setting.trim() !== '') {
    const file = p.normalize(expandHome(setting.trim(), m.home, p));
    if (!p.isAbsolute(file)) {
      return { problem: `The setting agentLsp.server.path is "${setting}", which is not an absolute path.` };
    }
    return m.executable(file)
      ? { file, from: 'setting' }
      : { problem: `The setting agentLsp.server.path names ${file}, which is not a program that can be run.` };
  }
  for (const name of names) {
    const file = p.join(extension, 'bin', name);
    if (m.executable(file)) {
      return { file, from: 'bundled' };
    }
  }
  const search = m.env['PATH'] ?? m.env['Path'] ?? '';
  for (const dir of search.split(m.platform === 'win32' ? ';' : ':')) {
    if (!p.isAbsolute(dir)) {
      continue;
    }
    for (const name of names) {
      const file = p.join(dir, name);
      if (m.executable(file)) {
        return { file, from: 'PATH' };
      }
    }
  }
  return {
    problem: 'The agent-lsp program was not found: it does not come with this extension and is not on PATH. Install it, or say where it is in the setting agentLsp.server.path.',
  };
}

function expandHome(file: string, home: string, p: path.PlatformPath): string {
  return file === '~' || file.startsWith('~/') || file.startsWith('~\\') ? p.join(home, file.slice(1)) : file;
}

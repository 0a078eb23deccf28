// Packs the extension: npm run package [-- --target linux-x64 --binary FILE] [--out DIR].
// Without a target the vsix holds no binary and installs everywhere.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const option = (name) => {
  const i = process.argv.indexOf('--' + name);
  return i < 0 ? undefined : process.argv[i + 1];
};
const { name, version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const target = option('target');
const binary = option('binary');
const out = path.resolve(option('out') ?? root, `${name}-${version}${target ? '-' + target : ''}.vsix`);
fs.mkdirSync(path.dirname(out), { recursive: true });
const bin = path.join(root, 'bin');
fs.rmSync(bin, { recursive: true, force: true });
if (binary) {
  fs.mkdirSync(bin);
  const to = path.join(bin, target.startsWith('win32') ? 'agent-lsp.exe' : 'agent-lsp');
  fs.copyFileSync(binary, to);
  fs.chmodSync(to, 0o755);
}
try {
  const vsce = path.join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
  const args = [vsce, 'package', '--no-dependencies', '--skip-license', '--out', out, ...(target ? ['--target', target] : [])];
  // The same files make the same vsix: neither the time nor its zone gets into it.
  const env = { ...process.env, SOURCE_DATE_EPOCH: '946684800', TZ: 'UTC' };
  execFileSync(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] });
} finally {
  fs.rmSync(bin, { recursive: true, force: true });
}
const size = fs.statSync(out).size;
console.log(`${out} ${(size / 1e6).toFixed(2)} MB`);
if (!binary && size > 2e6) {
  console.error('the vsix without a binary must stay below 2 MB');
  process.exit(1);
}

// Tests the extension in the real workbench, against the real server with a scripted
// model. Needs in the environment:
//   AGENT_E2E_BINARY   the server, for the tests in the extension host
//   AGENT_VSCODE_TOOLS where scripts/setup-vscode.sh installed the workbench
//   AGENT_VSIX         the packed extension, with a server in it
// and, to write the pictures of the documentation anew, AGENT_UPDATE_IMAGES=1. Its
// arguments are the parts to run, all without one.
import { homedir } from 'node:os';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { profiles, workspace } from './fixtures.mjs';
import { pageTests } from './page.mjs';
import { runInHost, startWorkbench, temp } from './workbench.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const extension = path.resolve(here, '../..');
const need = (name) => process.env[name] ?? (console.error(`${name} is not set`), process.exit(2));
const tools = need('AGENT_VSCODE_TOOLS');
const binary = need('AGENT_E2E_BINARY');
const vsix = need('AGENT_VSIX');

let passed = 0;
let failed = 0;
const started = Date.now();
const report = (part) => (name, error) => {
  if (error) {
    failed++;
    console.log(`FAIL ${part}: ${name}\n${String(error.stack ?? error).replace(/^/gm, '    ')}`);
  } else {
    passed++;
    console.log(`ok   ${part}: ${name}`);
  }
};

function common() {
  const dir = fs.realpathSync(temp('agent-e2e-'));
  fs.mkdirSync(path.join(dir, 'scripts'));
  return {
    dir,
    user: profiles(path.join(dir, 'scripts')),
    machine: { 'agentLsp.server.path': binary },
    // The checker's Go keeps its cache, or each run would build the library anew.
    env: { AGENT_LSP_STORE: `sqlite:${path.join(dir, 'sessions.db')}`, ...goEnvironment(), AGENT_E2E_BINARY: binary },
  };
}

const go = (process.env.PATH ?? '').split(':').map((d) => path.join(d, 'go')).find((f) => fs.existsSync(f)) ?? 'go';

function goEnvironment() {
  const home = homedir();
  return {
    GOCACHE: process.env.GOCACHE ?? path.join(process.env.XDG_CACHE_HOME ?? path.join(home, '.cache'), 'go-build'),
    GOPATH: process.env.GOPATH ?? path.join(home, 'go'), GOFLAGS: '', GOTOOLCHAIN: 'local', XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? path.join(home, '.cache'),
  };
}

/** Runs a suite in the extension host. */
async function inHost(part, prepare) {
  const c = common();
  const results = path.join(c.dir, 'results');
  fs.writeFileSync(results, '');
  const { workspace: at, user = {}, machine = {}, meanwhile, ...rest } = prepare(c.dir);
  const workbench = await startWorkbench({
    tools, workspace: at, user: { ...c.user, ...user }, machine: { ...c.machine, ...machine }, tests: true, ...rest,
    env: { ...c.env, AGENT_E2E_GO: go, AGENT_E2E_SUITE: part, AGENT_E2E_RESULTS: results },
  });
  const code = await runInHost(workbench, { extension, tests: path.join(here, 'host', 'index.cjs'), meanwhile });
  const say = report(part);
  const lines = fs.readFileSync(results, 'utf8').trim().split('\n').filter(Boolean).map((l) => JSON.parse(l));
  for (const l of lines) {
    l.figure ? console.log(`     ${part}: ${l.figure}`) : say(l.name, l.error);
  }
  if (code !== 0 && !lines.some((l) => l.error)) {
    say('the suite ran to its end', `exit code ${code}\n${fs.readFileSync(workbench.log, 'utf8').slice(-3000)}`);
  }
  if (process.env.AGENT_E2E_KEEP) {
    fs.cpSync(workbench.data + '/logs', process.env.AGENT_E2E_KEEP + '/' + part, { recursive: true });
  }
  await workbench.stop();
  fs.rmSync(c.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}

const parts = {
  main: () => inHost('main', (dir) => ({ workspace: workspace(path.join(dir, 'p')) })),
  folders: () =>
    inHost('folders', (dir) => {
      workspace(path.join(dir, 'a'));
      workspace(path.join(dir, 'b'));
      const file = path.join(dir, 'two.code-workspace');
      fs.writeFileSync(file, JSON.stringify({ folders: [{ path: 'a' }, { path: 'b' }] }));
      return { workspace: file };
    }),
  untrusted: () =>
    inHost('untrusted', (dir) => ({
      workspace: workspace(path.join(dir, 'p'), {
        '.vscode/settings.json': JSON.stringify({ 'agentLsp.approvals': 'all', 'agentLsp.server.path': '/bin/false', 'agentLsp.checker.enabled': false }),
      }),
      meanwhile: (page) => page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click({ timeout: 180_000 }),
      user: { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never', 'agentLsp.approvals': 'edits' },
    })),
  path: () =>
    inHost('path', (dir) => {
      const tools = path.join(dir, 'no-tools');
      fs.mkdirSync(tools);
      return { workspace: workspace(path.join(dir, 'p')), shellPath: tools };
    }),
  page: async () => {
    const c = common();
    const at = workspace(path.join(c.dir, 'p'));
    try {
      await pageTests({ tools, vsix, workspace: at, ...c, check: report('page'), images: process.env.AGENT_UPDATE_IMAGES ? path.resolve(extension, '../../docs/images') : c.dir });
    } finally {
      fs.rmSync(c.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    }
  },
};

const chosen = process.argv.slice(2);
for (const [name, run] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  try {
    await run();
  } catch (e) {
    report(name)('the part ran', e);
  }
  console.log(`     ${name}: ${((Date.now() - started) / 1000).toFixed(0)} s since the start`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

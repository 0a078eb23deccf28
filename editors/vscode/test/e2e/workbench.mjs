// The real VS Code: starts the workbench and its extension host (code-server) and
// drives it with a headless browser.
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const quiet = {
  // A browser saves after a second by default; on a desktop nothing does.
  'files.autoSave': 'off',
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'chat.disableAIFeatures': true,
  'workbench.enableExperiments': false,
  'window.commandCenter': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'editor.minimap.enabled': false,
  'security.workspace.trust.enabled': false,
};

export const temp = (prefix) => fs.mkdtempSync(path.join(os.tmpdir(), prefix));

const freePort = () =>
  new Promise((resolve) => {
    const s = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

/**
 * Starts a workbench on a folder or a .code-workspace file. machine are settings of
 * the machine, user those of the person; shellPath is the PATH of the person's shell.
 */
export async function startWorkbench({ tools, workspace, user = {}, machine = {}, env = {}, shellPath = process.env.PATH, vsix, tests = false }) {
  const home = temp('agent-vscode-');
  const data = path.join(home, 'data');
  const extensions = path.join(home, 'extensions');
  for (const [dir, settings] of [['User', { ...quiet, ...user }], ['Machine', machine]]) {
    fs.mkdirSync(path.join(data, dir), { recursive: true });
    fs.writeFileSync(path.join(data, dir, 'settings.json'), JSON.stringify(settings));
  }
  fs.mkdirSync(extensions);
  fs.writeFileSync(path.join(home, 'config.yaml'), 'auth: none\n');
  // The extension host takes its environment from a login shell.
  fs.writeFileSync(path.join(home, '.profile'), `export PATH='${shellPath}'\n`);
  const node = path.join(tools, 'run-node');
  const entry = path.join(tools, 'code-server', 'out', 'node', 'entry.js');
  const dirs = ['--config', path.join(home, 'config.yaml'), '--user-data-dir', data, '--extensions-dir', extensions];
  const environment = { ...process.env, HOME: home, SHELL: '/bin/sh', PATH: shellPath, EXTENSIONS_GALLERY: '{}', ...env };
  delete environment.XDG_CONFIG_HOME;
  delete environment.XDG_STATE_HOME;
  if (vsix) {
    execFileSync(node, [entry, ...dirs, '--install-extension', vsix], { env: environment, stdio: 'ignore' });
  }
  const port = await freePort();
  const log = path.join(home, 'workbench.log');
  const out = fs.openSync(log, 'w');
  const child = spawn(
    node,
    [entry, ...dirs, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, ...(tests ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
      '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override', workspace],
    { env: environment, stdio: ['ignore', out, out], detached: true },
  );
  const url = `http://127.0.0.1:${port}/`;
  for (let i = 0; ; i++) {
    try {
      if ((await fetch(url + 'healthz')).ok) break;
    } catch {} // not listening yet
    if (i > 600) throw new Error('the workbench did not start: ' + fs.readFileSync(log, 'utf8'));
    await new Promise((r) => setTimeout(r, 100));
  }
  return {
    port, home, data, log,
    url: `${url}?${workspace.endsWith('.code-workspace') ? 'workspace' : 'folder'}=${encodeURIComponent(workspace)}`,
    async stop() {
      const gone = new Promise((r) => child.once('exit', r));
      try {
        process.kill(-child.pid, 'SIGTERM');
      } catch {} // it is gone
      await gone;
      fs.rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  };
}

export async function startBrowser() {
  const dir = temp('agent-browser-');
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((f) => fs.existsSync(f));
  const context = await chromium.launchPersistentContext(dir, {
    executablePath, headless: true, viewport: { width: 1360, height: 850 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  return {
    context,
    page: context.pages()[0],
    async close() {
      await context.close();
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  };
}

/**
 * Runs a module that exports run() in the extension host; answers its exit code.
 * meanwhile does in the page what only a person can.
 */
export async function runInHost(workbench, { extension, tests, meanwhile, timeout = 240_000 }) {
  const browser = await startBrowser();
  try {
    let done;
    const finished = new Promise((r) => (done = r));
    await browser.context.exposeFunction('codeAutomationLog', () => undefined);
    await browser.context.exposeFunction('codeAutomationExit', (code) => done(code));
    const remote = (file) => `vscode-remote://127.0.0.1:${workbench.port}${file}`;
    const payload = [['extensionDevelopmentPath', remote(extension)], ['extensionTestsPath', remote(tests)], ['skipWelcome', 'true']];
    await browser.page.goto(workbench.url + '&payload=' + encodeURIComponent(JSON.stringify(payload)));
    const timer = setTimeout(() => done('timeout'), timeout);
    meanwhile?.(browser.page).catch((e) => done(e)); // which has gone with the page if nobody needed it
    const code = await finished;
    clearTimeout(timer);
    return code;
  } finally {
    await browser.close();
  }
}

/** Opens the palette and types; a list that was computed before an extension came is opened anew. */
export async function palette(page, text, timeout = 60_000) {
  const input = page.locator('.quick-input-widget input.input').first();
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  for (const end = Date.now() + timeout; ; ) {
    await page.keyboard.press('F1');
    try {
      await input.waitFor({ state: 'visible', timeout: 4000 });
      await input.fill('>' + text);
      await row.click({ timeout: 4000 }); // what takes the focus closes the palette
      return;
    } catch (e) {
      if (Date.now() > end) throw e;
      await page.keyboard.press('Escape');
    }
  }
}

/** The frame of the transcript's page. */
export async function transcriptFrame(page, timeout = 60_000) {
  for (const end = Date.now() + timeout; ; ) {
    for (const frame of page.frames()) {
      try {
        if (await frame.locator('#feed').count()) return frame;
      } catch {} // it went away
    }
    if (Date.now() > end) throw new Error('the transcript panel did not come');
    await page.waitForTimeout(200);
  }
}

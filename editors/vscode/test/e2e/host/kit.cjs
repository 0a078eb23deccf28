// What the suites share.
const vscode = require('vscode');
const fs = require('node:fs');
const path = require('node:path');

const root = () => vscode.workspace.workspaceFolders[0].uri.fsPath;
const extension = () => vscode.extensions.getExtension('agent-lsp.agent-lsp');
const agent = async () => (await extension().activate(), extension().exports.agent());

/** Waits for a condition; what is waited for stands in the error. */
async function until(what, condition, ms = 25_000) {
  for (const end = Date.now() + ms; ; ) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`timed out waiting for ${what}; ${await seen()}`);
    await new Promise((r) => setTimeout(r, 30));
  }
}

/** What the current session holds, for an error. */
async function seen() {
  const a = await agent();
  const list = a.current ? events(a, a.current) : [];
  return `session ${a.current}: ${list.map((e) => JSON.stringify(e).slice(0, 300)).join('\n') || 'no events'}`;
}

const events = (a, session) => a.sessions.of(session).entries.map((e) => e.event);
const ended = (a, { session, turn }) => until(`the end of turn ${turn}`, () => events(a, session).find((e) => e.kind === 'done' && e.turn === turn));
const event = (a, session, what, match) => until(`event ${what}`, () => events(a, session).find(match));

async function open(name, folder = root()) {
  const document = await vscode.workspace.openTextDocument(path.join(folder, name));
  await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  return document;
}

async function type(document, from, to) {
  const at = document.getText().indexOf(from);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
  if (at < 0 || !(await vscode.workspace.applyEdit(edit))) throw new Error(`${from} was not replaced`);
}

/** Starts a session that a script of the suite answers. */
async function session(a, script, approvals = 'edits') {
  const config = vscode.workspace.getConfiguration('agentLsp');
  if (config.get('approvals') !== approvals) {
    await config.update('approvals', approvals, vscode.ConfigurationTarget.Global);
  }
  await a.server.command('agent.profile.select', { profile: script });
  a.current = undefined;
  const id = await a.run('newSession', []);
  if (!id) throw new Error('no session was made');
  return id;
}

/** The processes that run the server of this test. */
function servers() {
  const binary = process.env.AGENT_E2E_BINARY;
  return fs.readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] === binary && fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`AGENT_E2E_RESULTS=${process.env.AGENT_E2E_RESULTS}\0`);
    } catch {
      return false; // it ended
    }
  }).map(Number);
}

const disk = (name, folder = root()) => fs.readFileSync(path.join(folder, name), 'utf8');

module.exports = { root, extension, agent, until, events, ended, event, open, type, session, servers, disk };

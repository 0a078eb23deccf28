// A folder that the person did not trust, with settings that would arm the agent, and
// then does trust, while all runs.
const vscode = require('vscode');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { root, agent, until, events, ended, open, session, servers } = require('./kit.cjs');

module.exports = {
  async 'the settings of an untrusted folder do not count'() {
    assert.equal(vscode.workspace.isTrusted, false);
    const config = vscode.workspace.getConfiguration('agentLsp');
    assert.equal(config.get('approvals'), 'edits');
    assert.equal(config.get('server.path'), process.env.AGENT_E2E_BINARY);
  },

  async 'nothing of an untrusted folder is executed'() {
    const a = await agent();
    const id = await session(a, 'look', 'edits');
    await open('main.go');
    const started = await a.run('ask', ['do it']);
    await ended(a, started);
    const result = events(a, id).find((e) => e.kind === 'result');
    assert.notEqual(result.state, 'completed');
    assert.match(result.text, /not trusted/);
    assert.equal(fs.existsSync(path.join(root(), 'effect')), false);
  },

  async 'an edit is made and stays unchecked, and the status says so'() {
    const a = await agent();
    const id = await session(a, 'noeol', 'edits');
    await ended(a, await a.run('ask', ['edit']));
    const check = events(a, id).find((e) => e.kind === 'check');
    assert.equal(check.outcome, 'skipped');
    assert.match(check.text, /not trusted/);
    assert.equal(a.sessions.status(id).state, 'unchecked');
  },

  async 'trust that is granted while it runs reaches the server: what was refused is done, in the same session'() {
    const a = await agent();
    // A folder like any other: nothing but trust says that the server must know more.
    fs.writeFileSync(path.join(root(), '.vscode', 'settings.json'), JSON.stringify({ 'agentLsp.checker.enabled': false, 'editor.tabSize': 3 }));
    await until('its settings', () => vscode.workspace.getConfiguration('editor').get('tabSize') === 3 && !a.server.restarting);
    const id = await session(a, 'look', 'all');
    await ended(a, await a.run('ask', ['do it']));
    const effect = path.join(root(), 'effect');
    assert.equal(fs.existsSync(effect), false);
    const [before] = servers();
    const { client } = a.server;
    void vscode.commands.executeCommand('workbench.trust.manage'); // where the page is clicked
    await until('trust', () => vscode.workspace.isTrusted, 60_000);
    await until('a server that knows', () => a.server.running && a.server.client !== client && servers().length === 1 && servers()[0] !== before);
    const started = await a.run('ask', ['and now?']);
    assert.deepEqual(started, { session: id, turn: 2 });
    await ended(a, started);
    assert.equal(events(a, id).findLast((e) => e.kind === 'result').state, 'completed');
    assert.equal(fs.existsSync(effect), true);
  },

  async 'the checker runs there now, unless the folder says that it shall not'() {
    const a = await agent();
    assert.equal((await a.run('check', []))[0].outcome, 'skipped');
    await vscode.workspace.getConfiguration('agentLsp').update('checker.enabled', undefined, vscode.ConfigurationTarget.Workspace);
    await until('what it finds', async () => (await a.run('check', []))[0].outcome === 'found');
    const config = vscode.workspace.getConfiguration('agentLsp');
    assert.notEqual(config.get('server.path'), '/bin/false', 'a program is never named by a folder, trusted or not');
  },
};

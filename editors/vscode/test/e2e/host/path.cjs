// A window that was not started from a shell: its PATH has no tools.
const vscode = require('vscode');
const assert = require('node:assert/strict');
const { agent, events, ended, session, until } = require('./kit.cjs');

module.exports = {
  async 'a tool that is not on PATH is named, with the PATH, and nothing is called clean'() {
    const a = await agent();
    const [result] = await a.run('check', []);
    assert.equal(result.outcome, 'failed');
    assert.match(result.text, /`go` on PATH.*PATH is .*no-tools/);
    const id = await session(a, 'noeol');
    await ended(a, await a.run('ask', ['edit']));
    assert.equal(events(a, id).find((e) => e.kind === 'check').outcome, 'failed');
    assert.equal(a.sessions.status(id).state, 'unchecked');
  },

  async 'a setting says where it is'() {
    const a = await agent();
    await vscode.workspace.getConfiguration('agentLsp').update('checker.commands', { go: [process.env.AGENT_E2E_GO, 'build', '-o', '/dev/null', './...'] }, vscode.ConfigurationTarget.Global);
    await until('the checker', async () => (await a.run('check', []))[0].outcome === 'found');
  },
};

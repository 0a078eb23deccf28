// A folder that the person did not trust, with settings that would arm the agent.
const vscode = require('vscode');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { root, agent, events, ended, open, session } = require('./kit.cjs');

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
};

// One folder, trusted, a scripted model.
const vscode = require('vscode');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { root, extension, agent, until, events, ended, event, open, type, session, servers, disk } = require('./kit.cjs');

const loaded = (name) => Object.keys(require.cache).some((f) => f.endsWith(path.join('dist', name)));
let fixed; // the turn that the first test of edits leaves for the undo

module.exports = {
  async 'activation loads the small part only, in a time that is printed'() {
    const file = path.join(extension().extensionPath, 'dist', 'extension.js');
    await extension().activate();
    assert.equal(loaded('agent.js'), false, 'the heavy part is loaded before its first use');
    const times = [];
    for (let i = 0; i < 7; i++) {
      delete require.cache[file];
      const started = performance.now();
      require(file);
      times.push(performance.now() - started);
    }
    const load = times.sort((a, b) => a - b)[3];
    const { activationMs } = extension().exports;
    fs.appendFileSync(process.env.AGENT_E2E_RESULTS, JSON.stringify({ figure: `activation: ${activationMs.toFixed(1)} ms, loading its module again: ${load.toFixed(1)} ms (median of 7)` }) + '\n');
    assert.deepEqual(servers(), [], 'no server runs before the first use');
  },

  async 'every command of the palette exists'() {
    const all = new Set(await vscode.commands.getCommands(true));
    for (const c of extension().packageJSON.contributes.commands) {
      assert.ok(all.has(c.command), c.command);
    }
  },

  async 'a prompt edits, saves, shows the problem and takes it away when it is fixed'() {
    const a = await agent();
    const main = await open('main.go');
    const other = await vscode.workspace.openTextDocument(path.join(root(), 'other.txt'));
    await type(main, '// unsaved', '// typed, not saved');
    await type(other, 'kept', 'kept and typed');
    const id = await session(a, 'fix');
    const started = await a.run('ask', ['fix the build']);
    assert.equal(started.session, id);
    const problem = await until('a diagnostic', () => vscode.languages.getDiagnostics(main.uri)[0]);
    assert.equal(problem.message, 'undefined: z');
    assert.equal(problem.source, 'agent-lsp go build');
    assert.deepEqual([problem.range.start.line, problem.range.start.character], [4, 15 + '\t'.length]);
    assert.match(disk('main.go'), /typed, not saved/, 'the edit reached the disk before the check');
    const done = await ended(a, started);
    assert.equal(done.outcome, 'complete');
    await until('no diagnostics', () => vscode.languages.getDiagnostics(main.uri).length === 0);
    assert.equal(main.isDirty, false);
    assert.match(disk('main.go'), /typed, not saved[^]*"😀é", 1/);
    assert.equal(other.isDirty, true, 'an unsaved buffer that no edit touched is left alone');
    assert.equal(disk('other.txt'), 'kept\n');
    assert.deepEqual(a.sessions.of(id).entries.map((e) => e.index), [...a.sessions.of(id).entries.keys()], 'the transcript is dense');
    fixed = started;
  },

  async 'an edit of the transcript opens in the diff editor'() {
    const a = await agent();
    const call = events(a, fixed.session).find((e) => e.kind === 'result' && e.edit).call;
    await a.panel.handle({ type: 'diff', call });
    const tab = await until('a diff', () => vscode.window.tabGroups.all.flatMap((g) => g.tabs).find((t) => t.input instanceof vscode.TabInputTextDiff));
    const side = async (uri) => (await vscode.workspace.openTextDocument(uri)).getText();
    assert.match(await side(tab.input.original), /package main[^]*"😀é", y/);
    assert.match(await side(tab.input.modified), /package main[^]*"😀é", z/);
    await vscode.window.tabGroups.close(tab);
  },

  async 'undo takes the turn back and leaves what was typed'() {
    const a = await agent();
    const main = await open('main.go');
    await type(main, '// typed, not saved', '// typed later');
    const done = await a.run('undo', []);
    assert.deepEqual(done.files, ['main.go']);
    assert.match(main.getText(), /typed later[^]*"😀é", y/);
    assert.match(disk('main.go'), /typed later[^]*"😀é", y/);
  },

  async 'a question is denied'() {
    const a = await agent();
    const id = await session(a, 'approve', 'ask');
    const started = await a.run('ask', ['do it']);
    const q = await until('a question', () => [...a.sessions.questions.values()][0]);
    assert.match(q.title + q.detail, /touch effect/);
    assert.equal(a.sessions.status(id).state, 'waiting');
    assert.equal(a.approvals.answer(id, q.id, 'deny'), true);
    assert.equal(a.approvals.answer(id, q.id, 'allow_once'), false, 'the first answer counts');
    await ended(a, started);
    assert.equal(events(a, id).find((e) => e.kind === 'result').state, 'rejected');
    assert.equal(fs.existsSync(path.join(root(), 'effect')), false);
  },

  async 'a question is allowed'() {
    const a = await agent();
    const id = await session(a, 'approve', 'ask');
    const started = await a.run('ask', ['do it']);
    const q = await until('a question', () => [...a.sessions.questions.values()][0]);
    a.approvals.answer(id, q.id, 'allow_once');
    await ended(a, started);
    assert.equal(fs.existsSync(path.join(root(), 'effect')), true);
  },

  async 'a cancelled turn ends and so does its command'() {
    const a = await agent();
    const id = await session(a, 'sleep', 'all');
    const started = await a.run('ask', ['wait']);
    await event(a, id, 'call', (e) => e.kind === 'call');
    await until('the status', () => /sleep/.test(a.sessions.status(id).text));
    await a.run('cancel', []);
    assert.equal((await ended(a, started)).outcome, 'cancelled');
    assert.equal(a.sessions.working, false);
  },

  async 'the selection goes along as context'() {
    const a = await agent();
    await session(a, 'talk');
    const document = await open('main.go');
    vscode.window.activeTextEditor.selection = new vscode.Selection(2, 0, 3, 4);
    const started = await a.run('askSelection', ['what is this?']);
    await ended(a, started);
    const [place] = events(a, started.session)[0].context;
    assert.deepEqual([place.path, place.first, place.last], ['main.go', 3, 4]);
    assert.match(place.text, /func main/);
    void document;
  },

  async 'a problem of any source is handed over to be fixed'() {
    const a = await agent();
    const id = await session(a, 'talk');
    const other = await open('main.go');
    const problems = vscode.languages.createDiagnosticCollection('other tool');
    problems.set(other.uri, [Object.assign(new vscode.Diagnostic(new vscode.Range(3, 0, 3, 4), 'this is odd'), { source: 'tool' })]);
    vscode.window.activeTextEditor.selection = new vscode.Selection(3, 1, 3, 1);
    const started = await a.run('fix', []);
    assert.equal(started.session, id);
    await ended(a, started);
    assert.match(events(a, id)[0].text, /main\.go:4: this is odd \(tool\)/);
    const actions = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', other.uri, new vscode.Range(3, 0, 3, 4));
    assert.equal(actions.filter((x) => x.title === 'Fix with agent').length, 1, 'the fix is offered once');
    problems.dispose();
  },

  async 'a new file is created and saved'() {
    const a = await agent();
    const id = await session(a, 'create');
    const started = await a.run('ask', ['make it']);
    await ended(a, started);
    assert.equal(events(a, id).find((e) => e.kind === 'result').state, 'completed');
    assert.equal(disk('sub/new.txt'), 'one\ntwo');
    assert.ok(vscode.workspace.textDocuments.every((d) => !d.uri.path.endsWith('new.txt') || !d.isDirty));
  },

  async 'a file without a final newline is edited exactly'() {
    const a = await agent();
    const document = await open('noeol.txt');
    await session(a, 'noeol');
    const started = await a.run('ask', ['edit']);
    await ended(a, started);
    assert.equal(disk('noeol.txt'), 'a\nB');
    assert.equal(document.getText(), 'a\nB');
  },

  async 'an edit of a file that is not open is seen by the checker and by a command'() {
    const a = await agent();
    const id = await session(a, 'closed', 'all');
    const done = await ended(a, await a.run('ask', ['break it, look, and mend it']));
    assert.equal(done.outcome, 'complete');
    assert.equal(disk('closed.go'), 'package main\n\nvar _ = 1\n');
    const results = events(a, id).filter((e) => e.kind === 'result');
    assert.match(results[1].text, /closed\.go:3:9.*undefined: nobody/);
    assert.match(results[2].text, /var _ = nobody/);
    assert.ok(vscode.workspace.textDocuments.every((d) => !d.isDirty || !d.uri.path.endsWith('closed.go')));
  },

  async 'every end of a text is written as it is meant, and taken back'() {
    const { ends } = await import('../fixtures.mjs');
    fs.mkdirSync(path.join(root(), 'ends'));
    const documents = [];
    for (const { name, before } of ends) {
      fs.writeFileSync(path.join(root(), name), before);
      documents.push(await vscode.workspace.openTextDocument(path.join(root(), name)));
    }
    const a = await agent();
    const id = await session(a, 'ends', 'all');
    await ended(a, await a.run('ask', ['write them']));
    assert.deepEqual(events(a, id).filter((e) => e.kind === 'result' && e.state !== 'completed'), []);
    ends.forEach(({ name, after }, i) => {
      assert.equal(disk(name), after, name);
      assert.equal(documents[i].getText(), after.replace('\ufeff', ''), name);
      assert.equal(documents[i].isDirty, false, name);
    });
    await a.run('undo', []);
    ends.forEach(({ name, before }) => assert.equal(disk(name), before, `${name}, undone`));
  },

  async 'what a command writes shows in clean documents; one with changes keeps them, and the disk its text'() {
    const a = await agent();
    for (const name of ['clean.txt', 'dirty.txt']) fs.writeFileSync(path.join(root(), name), 'one\ntwo\n');
    const clean = await open('clean.txt');
    const dirty = await open('dirty.txt');
    await type(dirty, 'one', 'mine');
    await session(a, 'disk', 'all');
    await ended(a, await a.run('ask', ['go']));
    await until('the new text', () => clean.getText() === 'one\nTWO\n');
    assert.equal(clean.isDirty, false);
    assert.match(dirty.getText(), /^mine\n(two|2)\n$/);
    assert.equal(dirty.isDirty, true);
    assert.equal(disk('dirty.txt'), 'disk\n');
    await vscode.commands.executeCommand('workbench.action.files.revert');
  },

  async 'the workspace is checked on demand'() {
    const a = await agent();
    const main = vscode.Uri.file(path.join(root(), 'main.go'));
    const [result] = await a.run('check', []);
    assert.equal(result.outcome, 'found');
    await until('the diagnostic', () => vscode.languages.getDiagnostics(main).length === 1);
  },

  ...require('./crash.cjs'),

  async 'sessions are listed, opened, resumed and deleted'() {
    const a = await agent();
    const groups = await a.tree.getChildren();
    const finished = groups.find((g) => g.label === 'Finished');
    assert.ok(finished, 'the finished ones have a group');
    const items = await a.tree.getChildren(finished);
    const item = items.find((i) => i.label === 'do it');
    assert.equal(item.contextValue, 'session.stored', 'the server that ran it was restarted');
    await a.run('openTranscript', [item]);
    assert.equal(a.current, item.info.session);
    assert.ok(a.sessions.of(a.current).entries.length > 3);
    assert.equal(a.sessions.working, false);
    assert.equal(await a.run('resumeSession', [item]), item.info.session);
    await a.run('deleteSession', [item, true]);
    const left = (await a.list()).sessions.map((s) => s.session);
    assert.equal(left.includes(item.info.session), false);
    const list = a.list;
    a.list = async () => ({ sessions: [], undecodable: [{ id: 'f00', error: 'not a record' }] });
    const [bad] = await a.tree.getChildren((await a.tree.getChildren()).find((g) => g.label === 'Unreadable'));
    assert.deepEqual([bad.label, bad.description], ['f00', 'not a record']);
    a.list = list;
  },

  async 'a failed command says so once and breaks nothing'() {
    const a = await agent();
    assert.equal(await a.run('selectProfile', ['no such profile']), undefined);
    const id = await session(a, 'talk');
    await ended(a, await a.run('ask', ['still there?']));
    assert.ok(id);
  },

  async 'a binary that is not there is named, and the next one is used again'() {
    const a = await agent();
    const config = vscode.workspace.getConfiguration('agentLsp');
    const before = config.get('server.path');
    await config.update('server.path', '/nowhere/agent-lsp', vscode.ConfigurationTarget.Global);
    await until('no server', () => servers().length === 0);
    assert.equal(await a.run('ask', ['anybody?']), undefined);
    await config.update('server.path', before, vscode.ConfigurationTarget.Global);
    await until('a setting', () => vscode.workspace.getConfiguration('agentLsp').get('server.path') === before);
    await session(a, 'talk');
    await ended(a, await a.run('ask', ['and now?']));
    assert.equal(servers().length, 1);
  },
};

// Two folders in one window.
const vscode = require('vscode');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { agent, until, events, ended, open, session, servers, disk } = require('./kit.cjs');

const folder = (i) => vscode.workspace.workspaceFolders[i].uri.fsPath;

module.exports = {
  async 'a prompt works in the folder of the active file'() {
    const a = await agent();
    await open('main.go', folder(1));
    const id = await session(a, 'create');
    const started = await a.run('ask', ['make it']);
    assert.equal(started.session, id);
    await ended(a, started);
    assert.equal(disk('sub/new.txt', folder(1)), 'one\ntwo');
    assert.equal(fs.existsSync(path.join(folder(0), 'sub')), false);
    assert.equal(servers().length, 1, 'one server serves both');
  },

  async 'the checker runs in each folder and names its files'() {
    const a = await agent();
    const results = await a.run('check', []);
    assert.deepEqual(results.map((r) => r.root), [folder(0), folder(1)]);
    for (const i of [0, 1]) {
      const uri = vscode.Uri.file(path.join(folder(i), 'main.go'));
      await until('the diagnostic', () => vscode.languages.getDiagnostics(uri).length === 1);
    }
  },

  async 'the other folder has a session of its own'() {
    const a = await agent();
    const first = a.current;
    await open('main.go', folder(0));
    const started = await a.run('ask', ['and here?']);
    assert.notEqual(started.session, first);
    await ended(a, started);
    assert.equal(a.roots.get(started.session), folder(0));
    const groups = await a.tree.getChildren();
    const items = await a.tree.getChildren(groups.find((g) => g.label === 'Finished'));
    assert.ok(items.some((i) => /· a$/.test(i.description)) && items.some((i) => /· b$/.test(i.description)), 'the list names the folders');
    assert.ok(events(a, started.session).length > 0);
  },

  async 'a folder that is added is worked in, and one that is removed is not listed'() {
    const a = await agent();
    const dir = path.join(path.dirname(folder(0)), 'c');
    fs.cpSync(folder(0), dir, { recursive: true });
    // The list is ahead of the event, with what is not confirmed yet.
    const changed = async (act) => {
      let heard = false;
      const listening = vscode.workspace.onDidChangeWorkspaceFolders(() => (heard = true));
      act();
      await until('the change of folders', () => heard);
      listening.dispose();
    };
    await changed(() => vscode.workspace.updateWorkspaceFolders(2, 0, { uri: vscode.Uri.file(dir) }));
    await open('other.txt', dir);
    const started = await a.run('ask', ['and in the new one?']);
    await ended(a, started);
    assert.equal(a.roots.get(started.session), dir);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await changed(() => vscode.workspace.updateWorkspaceFolders(2, 1));
    await until('the list', async () => (await a.list()).sessions.every((s) => s.root !== dir));
    assert.equal(servers().length, 1);
    await open('main.go', folder(0));
    await ended(a, await a.run('ask', ['still here?']));
  },

  async 'a finding\'s link opens the file of its own folder and of no other place'() {
    const a = await agent();
    await a.panel.handle({ type: 'open', path: 'main.go', line: 5, column: 3 });
    const editor = await until('the editor', () => vscode.window.activeTextEditor);
    assert.equal(editor.document.uri.fsPath, path.join(folder(0), 'main.go'));
    assert.deepEqual([editor.selection.active.line, editor.selection.active.character], [4, 2]);
    await a.panel.handle({ type: 'open', path: '../b/main.go', line: 1, column: 1 });
    assert.equal(vscode.window.activeTextEditor.document.uri.fsPath, path.join(folder(0), 'main.go'));
  },
};

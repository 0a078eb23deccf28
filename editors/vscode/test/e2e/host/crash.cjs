// The server's end, asked for or not; a part of the suite main.
const vscode = require('vscode');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { root, agent, until, events, ended, open, type, session, servers, disk } = require('./kit.cjs');

/** Notes what every client tells of documents. */
function watchDocuments(a) {
  let proto = Object.getPrototypeOf(a.server.client);
  while (!Object.hasOwn(proto, 'sendNotification')) proto = Object.getPrototypeOf(proto);
  const send = proto.sendNotification;
  const list = [];
  proto.sendNotification = function (type, params) {
    list.push({ client: this, method: typeof type === 'string' ? type : type.method, uri: params?.textDocument?.uri });
    return send.apply(this, arguments);
  };
  return { list, stop: () => (proto.sendNotification = send) };
}

/** Keeps the errors that the person would see; waiting times become short. */
function watchMessages(a) {
  const show = vscode.window.showErrorMessage;
  const { first, max } = a.server.backoff;
  Object.assign(a.server.backoff, { first: 5, max: 10 });
  const list = [];
  vscode.window.showErrorMessage = (text) => new Promise((pick) => list.push({ text, pick }));
  const stop = () => {
    vscode.window.showErrorMessage = show;
    Object.assign(a.server.backoff, { first, max });
  };
  return { list, stop };
}

module.exports = {
  async 'a server that is killed in mid-turn comes back and the session resumes'() {
    const a = await agent();
    const id = await session(a, 'crash', 'all');
    const started = await a.run('ask', ['go on']);
    await until('the command', () => fs.existsSync(path.join(root(), 'crashed')));
    const before = servers();
    assert.equal(before.length, 1);
    process.kill(before[0], 'SIGKILL');
    const done = await ended(a, started);
    assert.equal(done.outcome, 'complete');
    assert.ok(events(a, id).some((e) => e.kind === 'result' && e.state === 'interrupted'), 'the command is reported, not run again');
    assert.equal(disk('crashed'), 'once\n');
    const after = servers();
    assert.equal(after.length, 1);
    assert.notEqual(after[0], before[0]);
    assert.deepEqual(a.sessions.of(id).entries.map((e) => e.index), [...a.sessions.of(id).entries.keys()]);
  },

  async 'a server that is restarted in mid-turn, and takes its time to end, leaves the turn to the next one'() {
    const a = await agent();
    const id = await session(a, 'crash', 'all');
    const started = await a.run('ask', ['go on']);
    await until('the command', () => disk('crashed') === 'once\nonce\n');
    process.kill(servers()[0], 'SIGSTOP');
    await a.run('restart', []);
    assert.equal(servers().length, 1);
    assert.equal((await ended(a, started)).outcome, 'complete');
    assert.ok(events(a, id).some((e) => e.kind === 'result' && e.state === 'interrupted'));
    assert.equal(disk('crashed'), 'once\nonce\n');
  },

  async 'killed three times, restarted twice at once, and set anew, there is one server, and it is heard and told once'() {
    const a = await agent();
    const main = await open('main.go');
    await a.server.start();
    const told = watchDocuments(a);
    for (let i = 0; i < 3; i++) {
      const { client } = a.server;
      process.kill(servers()[0], 'SIGKILL');
      await until('another server', () => a.server.running && a.server.client !== client && servers().length === 1);
    }
    await Promise.all([a.run('restart', []), a.run('restart', [])]);
    await until('one server', () => servers().length === 1);
    const id = await session(a, 'talk', 'ask'); // changes a setting
    let heard = 0;
    const entry = a.panel.entry.bind(a.panel);
    a.panel.entry = (s, e) => {
      heard += s === id && e.event.kind === 'done' ? 1 : 0;
      entry(s, e);
    };
    await type(main, 'package main', 'package main ');
    const started = await a.run('ask', ['hello']);
    await ended(a, started);
    a.panel.entry = entry;
    assert.equal(heard, 1);
    assert.equal(servers().length, 1);
    told.stop();
    const opened = told.list.filter((t) => t.method === 'textDocument/didOpen' && t.uri === main.uri.toString());
    assert.equal(opened.length, 4, 'opened in each of three servers after a kill and one after the restarts');
    assert.equal(new Set(opened.map((t) => t.client)).size, 4, 'once in each');
    assert.equal(told.list.filter((t) => t.method === 'textDocument/didChange' && t.uri === main.uri.toString()).length, 1);
    await type(main, 'package main ', 'package main');
    await main.save();
    const all = await vscode.commands.getCommands(true);
    assert.equal(all.filter((c) => c === 'agent.prompt').length, 1);
  },

  async 'a server that ends again and again is started five times more, then one message says so, and its button starts it'() {
    const a = await agent();
    await a.run('restart', []); // ends are counted anew
    await until('a server', () => servers().length === 1);
    const messages = watchMessages(a);
    let starts = 0;
    while (messages.list.length === 0) {
      const { client } = a.server;
      process.kill(servers()[0], 'SIGKILL');
      await until('another server, or a message', () => messages.list.length > 0 || (a.server.running && a.server.client !== client && servers().length === 1));
      starts += messages.list.length === 0 ? 1 : 0;
    }
    assert.equal(starts, 5);
    assert.deepEqual(messages.list.map((m) => m.text), ["The agent's server keeps ending. Your sessions are kept."]);
    assert.deepEqual([servers(), a.server.running, a.sessions.status().state], [[], false, 'off']);
    messages.list[0].pick('Restart');
    await until('a server', () => a.server.running && servers().length === 1);
    messages.stop();
    await session(a, 'talk');
    await ended(a, await a.run('ask', ['and now?']));
  },

  async 'a program that is no server is said so, once for each command'() {
    const a = await agent();
    const config = vscode.workspace.getConfiguration('agentLsp');
    const before = config.get('server.path');
    const messages = watchMessages(a);
    await config.update('server.path', '/bin/false', vscode.ConfigurationTarget.Global);
    await until('no server', () => servers().length === 0 && !a.server.running);
    assert.equal(await a.run('ask', ['anybody?']), undefined);
    assert.deepEqual(messages.list.map((m) => m.text), ["Agent: /bin/false did not start as the agent's server: it ended before it answered"]);
    assert.deepEqual([a.server.timer, a.server.starting], [undefined, undefined], 'it is not tried again in the background');
    messages.stop();
    await config.update('server.path', before, vscode.ConfigurationTarget.Global);
    await until('a setting', () => vscode.workspace.getConfiguration('agentLsp').get('server.path') === before);
    await a.run('restart', []);
    await session(a, 'talk');
    await ended(a, await a.run('ask', ['and now?']));
    assert.equal(servers().length, 1);
  },
};

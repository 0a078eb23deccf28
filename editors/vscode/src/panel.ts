import { randomBytes } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Approvals } from './approvals';
import { openDiff } from './editdocuments';
import type { Entry } from './protocol';
import type { Sessions, Status } from './sessions';
import { readMessage, type FromPanel, type ToPanel } from './webview/messages';

/** What the panel shows and calls; the agent has it. */
export interface Host {
  readonly context: vscode.ExtensionContext;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  /** The session that is shown. */
  readonly current: string | undefined;
  /** The sessions' folders, by session, as file system paths. */
  readonly roots: ReadonlyMap<string, string>;
  readonly titles: ReadonlyMap<string, string>;
  run(command: string, args: unknown[]): Promise<unknown>;
  attempt(name: string, act: () => Promise<unknown>): Promise<unknown>;
}

/**
 * The transcript panel. The page in it is not trusted: it gets events and answers
 * with what the person clicked, and nothing it says is taken without a look.
 */
export class TranscriptPanel {
  private panel?: vscode.WebviewPanel;
  private ready = false;
  private lastStatus: Status = { state: 'off', text: '' };

  constructor(private readonly agent: Host) {}

  reveal(focus: boolean): void {
    if (this.panel) {
      if (focus || !this.panel.visible) {
        this.panel.reveal(undefined, !focus);
      }
      return;
    }
    const dist = vscode.Uri.joinPath(this.agent.context.extensionUri, 'dist');
    this.adopt(
      vscode.window.createWebviewPanel('agentLsp.transcript', 'Agent', { viewColumn: vscode.ViewColumn.Beside, preserveFocus: !focus }, {
        enableScripts: true, localResourceRoots: [dist], enableFindWidget: true,
      }),
    );
  }

  adopt(panel: vscode.WebviewPanel): void {
    this.panel?.dispose();
    this.panel = panel;
    this.ready = false;
    const uri = this.agent.context.extensionUri;
    panel.iconPath = vscode.Uri.joinPath(uri, 'media', 'agent.svg');
    panel.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(uri, 'dist')] };
    panel.onDidDispose(() => {
      if (this.panel === panel) {
        this.panel = undefined;
        this.ready = false;
      }
    });
    panel.webview.onDidReceiveMessage((m: unknown) => {
      const message = readMessage(m);
      if (message && this.panel === panel) {
        void this.handle(message);
      }
    });
    panel.webview.html = this.html(panel.webview);
  }

  /** Shows the current session from its start. */
  reset(): void {
    const id = this.agent.current;
    const known = id ? this.agent.sessions.of(id) : undefined;
    const title = (id && this.agent.titles.get(id)) || '';
    if (this.panel) {
      this.panel.title = 'Agent';
    }
    this.post({ type: 'reset', session: id, title, entries: known?.entries ?? [], pending: known?.pending });
    this.status(this.lastStatus);
  }

  entry(session: string, entry: Entry): void {
    if (session === this.agent.current) {
      this.post({ type: 'entries', entries: [entry] });
    }
  }

  delta(session: string, turn: number, text: string): void {
    if (session === this.agent.current) {
      this.post({ type: 'delta', turn, text });
    }
  }

  status(status: Status): void {
    this.lastStatus = status;
    const id = this.agent.current;
    const working = id !== undefined && this.agent.sessions.of(id).running.size > 0;
    this.post({ type: 'status', working, text: status.state === 'waiting' ? 'waiting for you' : status.text });
    this.post({ type: 'questions', questions: [...this.agent.sessions.questions.values()] });
  }

  private post(message: ToPanel): void {
    if (this.ready) {
      void this.panel?.webview.postMessage(message);
    }
  }

  private async handle(m: FromPanel): Promise<void> {
    const agent = this.agent;
    switch (m.type) {
      case 'ready':
        this.ready = true;
        this.reset();
        break;
      case 'ask':
        await agent.run('ask', [m.text, agent.current && agent.roots.get(agent.current)]);
        break;
      case 'cancel':
        await agent.run('cancel', []);
        break;
      case 'undo':
        await agent.run('undo', [m.turn]);
        break;
      case 'diff':
        await agent.attempt('open the diff', () => openDiff(agent.sessions, agent.current ?? '', m.call, this.column()));
        break;
      case 'open':
        await agent.attempt('open the file', () => this.open(m.path, m.line, m.column));
        break;
      case 'link':
        await vscode.env.openExternal(vscode.Uri.parse(m.href, true)); // asks the person
        break;
      case 'answer':
        if (agent.approvals.answer(m.session, m.id, m.decision)) {
          void vscode.commands.executeCommand('notifications.hideToasts');
        }
        break;
    }
  }

  /** Opens a file of the session's folder; no other one can be named. */
  private async open(file: string, line: number, column: number): Promise<void> {
    const root = rootOf(this.agent);
    const target = path.resolve(root, file);
    const inside = path.relative(root, target);
    if (inside.startsWith('..') || path.isAbsolute(inside)) {
      throw new Error(`${file} is not in the folder of this session`);
    }
    const at = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(target));
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at), viewColumn: this.column() });
  }

  /** Where what the panel opens goes: not over the panel. */
  private column(): vscode.ViewColumn {
    const other = vscode.window.tabGroups.all.find((g) => g.viewColumn !== this.panel?.viewColumn);
    return other?.viewColumn ?? (this.panel ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
  }

  private html(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString('base64');
    const dist = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(this.agent.context.extensionUri, 'dist', name)).toString();
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}; base-uri 'none'; form-action 'none'`;
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${dist('webview.css')}">
<title>Agent transcript</title>
</head>
<body>
<main id="app"></main>
<script nonce="${nonce}" src="${dist('webview.js')}"></script>
</body>
</html>`;
  }
}

function rootOf(a: Host): string {
  const root = a.current && a.roots.get(a.current);
  if (!root) {
    throw new Error('the folder of this session is not known');
  }
  return root;
}

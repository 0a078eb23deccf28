import * as vscode from 'vscode';
import type { Agent } from './agent';

// Only what VS Code must know from the start is here; all else is loaded at the
// first use. The import of types leaves nothing behind.

/** What the extension offers to tests and to other extensions. */
export interface Api {
  agent(): Promise<Agent>;
  /** How long the activation took, in milliseconds. */
  activationMs: number;
}

const commands = [
  'ask', 'askSelection', 'fix', 'cancel', 'newSession', 'resumeSession', 'showTranscript', 'undo', 'selectProfile', 'check', 'restart', 'showLog',
  'openTranscript', 'deleteSession', 'refreshSessions',
];

let loaded: Promise<Agent> | undefined;

export function activate(context: vscode.ExtensionContext): Api {
  const started = performance.now();
  const status = vscode.window.createStatusBarItem('agentLsp.status', vscode.StatusBarAlignment.Left, 0);
  status.name = 'Agent';
  status.text = '$(comment-discussion) Agent';
  status.tooltip = 'Agent: not started. Click to show the transcript.';
  status.command = 'agentLsp.showTranscript';
  status.show();

  const changed = new vscode.EventEmitter<vscode.TreeItem | undefined>();
  const agent = () =>
    (loaded ??= Promise.resolve().then(() => {
      const module = require('./agent.js') as typeof import('./start');
      fixes.dispose(); // the server brings its own
      return module.start(context, status, changed);
    }));

  // Until the server runs, a problem's fix is offered here.
  const fixes = vscode.languages.registerCodeActionsProvider(
    [{ scheme: 'file' }],
    {
      provideCodeActions(document, _range, { diagnostics }) {
        if (diagnostics.length === 0) {
          return [];
        }
        const action = new vscode.CodeAction('Fix with agent', vscode.CodeActionKind.QuickFix);
        action.diagnostics = [...diagnostics];
        action.command = { title: action.title, command: 'agentLsp.fix', arguments: [document.uri, diagnostics] };
        return [action];
      },
    },
    { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
  );

  context.subscriptions.push(
    status,
    changed,
    fixes,
    ...commands.map((name) => vscode.commands.registerCommand(`agentLsp.${name}`, async (...args: unknown[]) => (await agent()).run(name, args))),
    vscode.window.registerTreeDataProvider('agentLsp.sessions', {
      onDidChangeTreeData: changed.event,
      getChildren: async (item?: vscode.TreeItem) => (await agent()).tree.getChildren(item),
      getTreeItem: (item: vscode.TreeItem) => item,
    }),
    vscode.window.registerWebviewPanelSerializer('agentLsp.transcript', {
      deserializeWebviewPanel: async (panel, state: unknown) => (await agent()).revive(panel, state),
    }),
  );
  return { agent, activationMs: performance.now() - started };
}

/** Lets the server suspend what runs before the window goes. */
export async function deactivate(): Promise<void> {
  await (await loaded)?.server.stop();
}

import * as vscode from 'vscode';
import type { Sessions } from './sessions';
import { sidesOf } from './transcript/diff';

/** Gives the diff editor the two sides of an edit of the transcript. */
export class EditDocuments implements vscode.TextDocumentContentProvider {
  static readonly scheme = 'agent-lsp-edit';

  constructor(private readonly sessions: Sessions) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    const q = new URLSearchParams(uri.query);
    const sides = sidesOf(this.sessions.of(q.get('session') ?? '').entries, Number(q.get('call')));
    return sides?.[q.get('side') === 'before' ? 'before' : 'after'] ?? '';
  }
}

/** Opens an edit in the diff editor. */
export async function openDiff(sessions: Sessions, session: string, call: number, viewColumn: vscode.ViewColumn): Promise<void> {
  const sides = sidesOf(sessions.of(session).entries, call);
  if (!sides) {
    throw new Error('this edit left no diff');
  }
  const uri = (side: string) =>
    vscode.Uri.from({ scheme: EditDocuments.scheme, path: `/${sides.path}`, query: new URLSearchParams({ session, call: String(call), side }).toString() });
  const name = sides.path.split('/').pop() ?? sides.path;
  await vscode.commands.executeCommand('vscode.diff', uri('before'), uri('after'), `${name} (agent's edit${sides.whole ? '' : ', changed places'})`, { preview: true, viewColumn });
}

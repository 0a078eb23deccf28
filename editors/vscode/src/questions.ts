import * as vscode from 'vscode';
import type { Inquiry } from './protocol';
import { forMessage } from './transcript/printable';

const own = 'In my own words…';

/**
 * Asks the person what the model wants to know: a choice, or an answer in their own
 * words. Null is a question that they dismissed.
 */
export async function askPerson(q: Inquiry, token: vscode.CancellationToken): Promise<{ answer: string } | null> {
  const title = forMessage(q.text, 300);
  const options = q.options ?? [];
  if (options.length > 0) {
    const items = options.map((answer) => ({ label: forMessage(answer, 200), answer }));
    const picked = await vscode.window.showQuickPick([...items, { label: own, answer: '' }], { title: 'Agent', placeHolder: title, ignoreFocusOut: true }, token);
    if (!picked) {
      return null;
    }
    if (picked.answer) {
      return { answer: picked.answer };
    }
  }
  const said = await vscode.window.showInputBox({ title: 'Agent', prompt: title, ignoreFocusOut: true }, token);
  return said?.trim() ? { answer: said.trim() } : null;
}

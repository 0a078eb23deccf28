import * as vscode from 'vscode';
import type { Status } from './sessions';
import { oneLine } from './transcript/printable';

/** Shows what the agent is at. Text of a model cannot name an icon or a link. */
export function showStatus(item: vscode.StatusBarItem, status: Status): void {
  const text = oneLine(status.text, 60).replace(/\$\(/g, '$\u2009(');
  item.backgroundColor = undefined;
  switch (status.state) {
    case 'waiting':
      item.text = `$(bell-dot) Agent waits for you: ${text}`;
      item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
      break;
    case 'working':
      item.text = `$(loading~spin) Agent: ${text}`;
      break;
    case 'unchecked':
      item.text = '$(question) Agent: unchecked';
      break;
    default:
      item.text = '$(comment-discussion) Agent';
  }
  const says: Record<Status['state'], string> = {
    off: 'Agent: not started', idle: 'Agent: idle', working: `Agent: ${text}`, waiting: `Agent waits for you: ${text}`,
    unchecked: `Agent: nobody checked the last edits: ${oneLine(status.text, 200)}`,
  };
  item.tooltip = `${says[status.state]}. Click to show the transcript.`;
  item.accessibilityInformation = { label: says[status.state], role: 'button' };
}

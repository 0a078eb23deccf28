import type { ToPanel } from './messages';
import { View } from './view';

const vscode = acquireVsCodeApi();
const view = new View(
  {
    document,
    // A document of its own runs no script and loads nothing.
    parse: (html) => new DOMParser().parseFromString(html, 'text/html'),
    send: (m) => vscode.postMessage(m),
    soon: (act) => requestAnimationFrame(act),
    keep: (session) => vscode.setState({ session }),
  },
  document.getElementById('app')!,
);
window.addEventListener('message', (e: MessageEvent<ToPanel>) => view.receive(e.data));
vscode.postMessage({ type: 'ready' });

import type * as vscode from 'vscode';
import { Agent } from './agent';
import { commands } from './commands';

/** Puts the agent and its commands together, at the extension's first use. */
export function start(context: vscode.ExtensionContext, status: vscode.StatusBarItem, changed: vscode.EventEmitter<vscode.TreeItem | undefined>): Agent {
  return new Agent(context, status, changed, commands);
}

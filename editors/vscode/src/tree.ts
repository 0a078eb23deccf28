import * as vscode from 'vscode';
import type { SessionInfo, SessionList } from './protocol';
import { oneLine } from './transcript/printable';

/** A session in the view; the commands of the view get it as their argument. */
export class SessionItem extends vscode.TreeItem {
  constructor(readonly info: SessionInfo, folder: string | undefined) {
    super(oneLine(info.title, 80) || 'New session');
    this.id = info.session;
    this.description = [ago(info.updatedAt), folder].filter(Boolean).join(' · ');
    this.contextValue = `session.${info.state}`;
    this.iconPath = new vscode.ThemeIcon(icons[info.state]);
    this.tooltip = `${oneLine(info.title, 200)}\n${info.root}\n${info.turns} turn${info.turns === 1 ? '' : 's'}, ${info.state}, profile ${info.profile}`;
    this.command = { title: 'Show Transcript', command: 'agentLsp.openTranscript', arguments: [info.session] };
    this.accessibilityInformation = { label: `${oneLine(info.title, 80) || 'New session'}, ${info.state}` };
  }
}

const icons = { running: 'loading~spin', waiting: 'bell-dot', idle: 'comment', stored: 'archive' };

class Group extends vscode.TreeItem {
  constructor(label: string, readonly children: vscode.TreeItem[]) {
    super(label, vscode.TreeItemCollapsibleState.Expanded);
    this.id = `group.${label}`;
    this.description = String(children.length);
  }
}

/** The sessions of the window's folders: what runs, what is over, and what cannot be read. */
export class SessionTree {
  private timer?: NodeJS.Timeout;

  constructor(private readonly list: () => Promise<SessionList | undefined>, private readonly changed: vscode.EventEmitter<vscode.TreeItem | undefined>) {}

  /** Reads the list again, once for many events. */
  refresh(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.changed.fire(undefined), 150);
  }

  async getChildren(item?: vscode.TreeItem): Promise<vscode.TreeItem[]> {
    if (item) {
      return item instanceof Group ? item.children : [];
    }
    const list = await this.list();
    if (!list) {
      return [];
    }
    const folders = vscode.workspace.workspaceFolders ?? [];
    const named = (root: string) => (folders.length > 1 ? folders.find((f) => f.uri.fsPath === root)?.name : undefined);
    const items = [...list.sessions].reverse().map((s) => new SessionItem(s, named(s.root)));
    const runs = (i: SessionItem) => i.info.state === 'running' || i.info.state === 'waiting';
    const unreadable = list.undecodable.map((u) => {
      const i = new vscode.TreeItem(u.id);
      i.id = `unreadable.${u.id}`;
      i.description = oneLine(u.error, 120);
      i.tooltip = u.error;
      i.contextValue = 'unreadable';
      i.iconPath = new vscode.ThemeIcon('error', new vscode.ThemeColor('errorForeground'));
      return i;
    });
    return [new Group('Running', items.filter(runs)), new Group('Finished', items.filter((i) => !runs(i))), new Group('Unreadable', unreadable)].filter(
      (g) => g.children.length > 0,
    );
  }
}

function ago(time: string): string {
  const minutes = Math.floor((Date.now() - Date.parse(time)) / 60_000);
  if (!(minutes >= 1)) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / 1440)} d`;
}

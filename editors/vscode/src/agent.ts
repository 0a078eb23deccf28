import * as vscode from 'vscode';
import { Approvals } from './approvals';
import { EditDocuments } from './editdocuments';
import { TranscriptPanel } from './panel';
import type { Entry, SessionInfo, SessionList } from './protocol';
import { NotStarted, Server } from './server';
import { Sessions } from './sessions';
import { showStatus } from './status';
import { forMessage } from './transcript/printable';
import { SessionTree } from './tree';

/** One of the extension's commands. */
export type Command = (agent: Agent, ...args: unknown[]) => Promise<unknown>;

/**
 * The extension once it is used: it connects the server with what the person sees.
 * What the agent does, and when, is the server's matter.
 */
export class Agent {
  readonly log: vscode.LogOutputChannel;
  readonly server: Server;
  readonly sessions = new Sessions();
  readonly approvals: Approvals;
  readonly tree: SessionTree;
  readonly panel: TranscriptPanel;
  /** The session that commands without another one mean. */
  current: string | undefined;
  /** The sessions' folders, by session, as file system paths. */
  readonly roots = new Map<string, string>();
  readonly titles = new Map<string, string>();
  private readonly contexts = new Map<string, boolean>();
  private interrupted: string[] = [];
  private readonly catching = new Map<string, Promise<void>>();

  constructor(
    readonly context: vscode.ExtensionContext,
    private readonly statusItem: vscode.StatusBarItem,
    changed: vscode.EventEmitter<vscode.TreeItem | undefined>,
    private readonly commands: Record<string, Command>,
  ) {
    this.log = vscode.window.createOutputChannel('Agent', { log: true });
    context.subscriptions.push(this.log);
    this.approvals = new Approvals(this.sessions, () => this.refresh(), (session) => void this.show(session, false));
    this.tree = new SessionTree(() => this.run('listSessions', []) as Promise<SessionList | undefined>, changed);
    this.panel = new TranscriptPanel(this);
    context.subscriptions.push(vscode.workspace.registerTextDocumentContentProvider(EditDocuments.scheme, new EditDocuments(this.sessions)));
    this.server = new Server(context, this.log, {
      entry: (session, entry) => this.entry(session, entry),
      delta: (session, turn, text) => {
        this.sessions.delta(session, turn, text);
        this.panel.delta(session, turn, text);
      },
      doing: (text) => {
        this.sessions.doing = text;
        this.refresh();
      },
      approve: (q, token) => this.approvals.ask(q, token),
      started: (again) => this.started(again),
      ended: (willRestart) => {
        this.interrupted = [...new Set([...this.interrupted, ...this.sessions.reset()])];
        this.sessions.on = willRestart;
        this.approvals.drop();
        this.panel.reset();
        this.refresh();
      },
    });
    this.refresh();
  }

  /** Runs one of the extension's commands; what fails is said once. */
  run(name: string, args: unknown[]): Promise<unknown> {
    return this.attempt(name, () => this.commands[name]!(this, ...args));
  }

  async attempt(name: string, act: () => Promise<unknown>): Promise<unknown> {
    try {
      return await act();
    } catch (e) {
      if (e instanceof NotStarted) {
        return undefined; // the person was told, with the way to the setting
      }
      const text = e instanceof Error ? e.message : String(e);
      this.log.error(`${name}: ${text}`);
      const show = 'Show Log';
      void vscode.window.showErrorMessage(forMessage(`Agent: ${text}`, 500), show).then((picked) => picked && this.log.show());
      return undefined;
    }
  }

  /** Shows a session's transcript; without one the current. */
  async show(session: string | undefined, focus: boolean): Promise<void> {
    this.current = session ?? this.current;
    this.panel.reveal(focus);
    await this.load(this.current);
    this.panel.reset();
    this.refresh();
  }

  /** Takes over a panel that VS Code kept from before a reload. */
  async revive(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const session = (state as { session?: unknown } | undefined)?.session;
    this.panel.adopt(panel);
    if (typeof session === 'string') {
      this.current ??= session;
      await this.run('openTranscript', [this.current]);
    }
  }

  /** Makes a session the server's that is only stored. */
  async ensureLive(session: string): Promise<void> {
    if (!this.sessions.live.has(session)) {
      await this.server.command('agent.session.resume', { session });
      this.sessions.live.add(session);
    }
  }

  async list(): Promise<SessionList> {
    const list = await this.server.command<SessionList>('agent.session.list');
    for (const s of list.sessions) {
      this.learn(s);
    }
    return list;
  }

  /** The session that a prompt in a folder goes on with. */
  sessionOf(root: string): string | undefined {
    return this.current !== undefined && this.roots.get(this.current) === root ? this.current : undefined;
  }

  forget(session: string): void {
    this.sessions.forget(session);
    if (this.current === session) {
      this.current = undefined;
      this.panel.reset();
    }
    this.tree.refresh();
    this.refresh();
  }

  /** Reads the events that are missing. */
  async load(session: string | undefined): Promise<void> {
    if (session === undefined) {
      return;
    }
    const known = this.sessions.of(session).entries.length;
    const argument = known > 0 ? { session, after: known - 1 } : { session };
    const { events } = await this.server.command<{ events: Entry[] }>('agent.transcript', argument);
    if (!this.roots.has(session)) {
      await this.list();
    }
    // The server is asked about what runs: a transcript of a dead one has no end.
    const live = this.sessions.live.has(session);
    for (const e of events) {
      this.sessions.take(session, e);
    }
    if (!live) {
      this.sessions.of(session).running.clear();
    }
  }

  refresh(): void {
    const status = this.sessions.status(this.current);
    showStatus(this.statusItem, status);
    this.panel.status(status);
    this.setContext('working', this.sessions.working);
    this.setContext('hasSession', this.current !== undefined);
  }

  private setContext(key: string, value: boolean): void {
    if (this.contexts.get(key) !== value) {
      this.contexts.set(key, value);
      void vscode.commands.executeCommand('setContext', `agentLsp.${key}`, value);
    }
  }

  private learn(s: SessionInfo): void {
    this.roots.set(s.session, s.root);
    this.titles.set(s.session, s.title);
  }

  private entry(session: string, entry: Entry): void {
    this.sessions.live.add(session);
    if (!this.sessions.take(session, entry)) {
      this.catchUp(session);
      return;
    }
    const kind = entry.event.kind;
    if (kind === 'user') {
      this.titles.set(session, this.titles.get(session) || entry.event.text.split('\n', 1)[0]!);
      this.current ??= session;
    }
    if (kind === 'done') {
      this.sessions.doing = '';
    }
    if (kind === 'user' || kind === 'done') {
      this.tree.refresh();
    }
    this.panel.entry(session, entry);
    this.refresh();
  }

  /** Reads what came before the first event that was heard of. */
  private catchUp(session: string): void {
    if (this.catching.has(session)) {
      return;
    }
    const done = this.load(session)
      .then(() => this.panel.reset())
      .catch((e: unknown) => this.log.error(`read the transcript of ${session}: ${String(e)}`))
      .finally(() => {
        this.catching.delete(session);
        this.refresh();
      });
    this.catching.set(session, done);
  }

  private async started(again: boolean): Promise<void> {
    this.sessions.on = true;
    const resume = again ? [...new Set([...this.interrupted, ...(this.current ? [this.current] : [])])] : [];
    this.interrupted = [];
    for (const session of resume) {
      // Through a later turn of the loop: the server counts as started only then.
      void Promise.resolve()
        .then(() => this.ensureLive(session))
        .then(() => this.load(session))
        .then(() => this.panel.reset())
        .catch((e: unknown) => this.log.error(`resume ${session}: ${String(e)}`))
        .finally(() => this.refresh());
    }
    this.tree.refresh();
    this.refresh();
  }
}

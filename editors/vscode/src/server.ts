import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import {
  CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn, TransportKind,
  type LanguageClientOptions, type StaticFeature, type WorkDoneProgressBegin, type WorkDoneProgressEnd, type WorkDoneProgressReport,
} from 'vscode-languageclient/node';
import { Backoff } from './backoff';
import { findBinary } from './binary';
import { saveTouched } from './edits';
import type { Decision, Entry, Inquiry, Question } from './protocol';
import { askPerson } from './questions';
import { explicitSettings, serverKeys } from './settings';
import { forMessage } from './transcript/printable';

/** What the server tells; the methods are called in the order of the messages. */
export interface Listener {
  entry(session: string, entry: Entry): void;
  delta(session: string, turn: number, text: string): void;
  doing(text: string): void;
  approve(q: Question, token: vscode.CancellationToken): Promise<{ decision: Decision; reason?: string } | null>;
  /** A server runs; again says that one before it ended unasked. */
  started(again: boolean): Promise<void>;
  /** It ended; the server's state of sessions is lost. */
  ended(willRestart: boolean): void;
}

/** The server was not started, and the person was told why. */
export class NotStarted extends Error {}

/** Leaves it to the extension what the person is told of errors. */
class Client extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/**
 * Owns the one language client and its process: starts it at the first use and
 * again, later and later, when it ends by itself.
 */
export class Server implements vscode.Disposable {
  private client?: LanguageClient;
  private starting?: Promise<LanguageClient>;
  private restarting?: Promise<void>;
  private timer?: NodeJS.Timeout;
  private stopping = false;
  private again = false;
  private told?: Thenable<unknown>;
  private readonly backoff = new Backoff();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly listener: Listener,
  ) {
    context.subscriptions.push(
      this,
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.reconfigure()),
      vscode.workspace.onDidChangeConfiguration((e) => {
        if (e.affectsConfiguration('agentLsp.server') || e.affectsConfiguration('agentLsp.store')) {
          this.reconfigure();
        }
      }),
    );
  }

  get running(): boolean {
    return this.client !== undefined;
  }

  /** Runs a command of the server, starting it if need be. */
  async command<T>(command: string, argument: object = {}): Promise<T> {
    const client = await this.start();
    return client.sendRequest<T>('workspace/executeCommand', { command, arguments: [argument] });
  }

  /** Returns the running client; the converters of URIs and diagnostics are its. */
  start(): Promise<LanguageClient> {
    if (this.client) {
      return Promise.resolve(this.client);
    }
    clearTimeout(this.timer);
    this.starting ??= this.launch().finally(() => (this.starting = undefined));
    return this.starting;
  }

  /** Stops and starts the server. Called again meanwhile it does so once. */
  restart(): Promise<void> {
    this.backoff.reset();
    this.restarting ??= (async () => {
      await this.starting?.catch(() => undefined);
      await this.stop();
      await this.start();
    })().finally(() => (this.restarting = undefined));
    return this.restarting;
  }

  dispose(): void {
    clearTimeout(this.timer);
    void this.stop();
  }

  /** Takes what only a start can bring, if there is a server at all. */
  private reconfigure(): void {
    if (this.client || this.starting || this.timer) {
      this.again = true;
      this.restart().catch((e: unknown) => this.log.error(`restart: ${String(e)}`));
    }
  }

  /** Ends the server in order. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const client = this.client;
    if (!client) {
      return;
    }
    this.client = undefined;
    this.stopping = true;
    this.again = true;
    const child = client.serverProcess;
    try {
      await client.dispose();
    } catch (e) {
      this.log.warn(`the server did not stop in order: ${String(e)}`);
    } finally {
      await exited(child); // until then it keeps its sessions
      this.stopping = false;
    }
    this.listener.ended(false);
  }

  private async launch(): Promise<LanguageClient> {
    const file = this.find();
    const client = new Client('agentLsp', 'Agent', { command: file, transport: TransportKind.stdio }, this.options());
    client.registerFeature(experimental);
    client.onNotification('agent/transcript', (p: Entry & { session: string }) => this.listener.entry(p.session, { index: p.index, at: p.at, event: p.event }));
    client.onNotification('agent/delta', (p: { session: string; turn: number; text: string }) => this.listener.delta(p.session, p.turn, p.text));
    client.onRequest('agent/approve', (q: Question, token) => this.listener.approve(q, token));
    client.onRequest('agent/question', (q: Inquiry, token) => askPerson(q, token));
    this.log.info(`starting ${file}`);
    try {
      await client.start();
    } catch (e) {
      await client.dispose().catch(() => undefined);
      throw new Error(`${file} did not start as the agent's server: ${whyNot(e)}`);
    }
    this.client = client;
    const again = this.again;
    this.again = false;
    await this.listener.started(again).catch((e: unknown) => this.log.error(`resume: ${String(e)}`));
    return client;
  }

  private find(): string {
    const setting = vscode.workspace.getConfiguration('agentLsp').get<string>('server.path') ?? '';
    const found = findBinary(setting, this.context.extensionPath, { platform: process.platform, home: homedir(), env: process.env, executable });
    if (found.file !== undefined) {
      return found.file;
    }
    this.log.error(found.problem);
    const open = 'Open Setting';
    // One message, however many commands want the server.
    this.told ??= vscode.window.showErrorMessage(forMessage(found.problem, 500), open).then(
      (picked) => {
        this.told = undefined;
        if (picked === open) {
          void openSetting('agentLsp.server.path');
        }
      },
      () => (this.told = undefined),
    );
    throw new NotStarted(found.problem);
  }

  /** Called when the connection ended. */
  private closed(): void {
    const client = this.client;
    if (this.stopping || !client) {
      return; // asked for, or a start that failed, which its caller hears of
    }
    this.client = undefined;
    // Not from within the client's own handler.
    setImmediate(() => void client.dispose().catch(() => undefined));
    this.retry();
  }

  /** Starts the server again after a while, unless it ended too often. */
  private retry(): void {
    this.again = true;
    const wait = this.backoff.next(Date.now());
    this.listener.ended(wait !== undefined);
    if (wait === undefined) {
      this.log.error('the server ended too often and is not started again');
      this.giveUp();
      return;
    }
    this.log.warn(`the server ended unexpectedly; it is started again in ${wait} ms`);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.start().catch((e: unknown) => {
        this.log.error(String(e));
        if (!(e instanceof NotStarted)) {
          this.retry();
        }
      });
    }, wait);
  }

  private giveUp(): void {
    const restart = 'Restart';
    const log = 'Show Log';
    void vscode.window.showErrorMessage("The agent's server keeps ending. Your sessions are kept.", restart, log).then((picked) => {
      if (picked === restart) {
        void vscode.commands.executeCommand('agentLsp.restart');
      } else if (picked === log) {
        this.log.show();
      }
    });
  }

  private options(): LanguageClientOptions {
    const keys = serverKeys(this.context.extension.packageJSON);
    const settings = () => explicitSettings(keys, vscode.workspace.getConfiguration('agentLsp'));
    return {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      stdioOptions: { stdout: () => undefined, stderr: (input) => this.stderr(input) },
      // A workspace can set only what the scopes of the manifest let it: the settings
      // that reach the server are the person's. The store is opened before settings can be asked for. All others come only
      // from there: what initializationOptions say could not be changed later.
      initializationOptions: { savesEdits: true, settings: 'user', trusted: vscode.workspace.isTrusted, ...storeOf(settings()) },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.closed();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: {
        workspace: {
          configuration: async (params, token, next) => {
            const answers = await next(params, token);
            return Array.isArray(answers) ? answers.map((a: unknown, i) => (params.items[i]?.section === 'agentLsp' ? settings() : a)) : answers;
          },
          handleApplyEdit: async (params, next) => {
            const result = await next(params, new vscode.CancellationTokenSource().token);
            if ('applied' in result && result.applied) {
              await saveTouched(params.edit, vscode.Uri.parse);
            }
            return result;
          },
        },
        // The status bar item shows what the agent does, with a way to stop it.
        handleWorkDoneProgress: (_token, params, next) => this.progress(params, next),
      },
    };
  }

  /** What the server says beside the protocol; its log's lines come as messages, too. */
  private stderr(input: NodeJS.ReadableStream): void {
    createInterface({ input, crlfDelay: Infinity }).on('line', (line) => {
      if (/^time=\S+ level=(DEBUG|INFO|WARN|ERROR)\b/.test(line)) {
        this.log.trace(line);
      } else {
        this.log.error(line);
      }
    });
  }

  private progress(p: WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd, next: (token: string, p: WorkDoneProgressEnd) => void): void {
    if (p.kind === 'end') {
      next('', p);
      return;
    }
    if (p.message) {
      this.listener.doing(p.message);
    }
  }
}

/** Opens a setting of the machine, which in a remote window is the other one's. */
function openSetting(key: string): Thenable<unknown> {
  return vscode.env.remoteName === undefined
    ? vscode.commands.executeCommand('workbench.action.openSettings', key)
    : vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query: key });
}

const storeOf = (settings: Record<string, unknown>) => ('store' in settings ? { store: settings['store'] } : {});

const experimental: StaticFeature = {
  fillClientCapabilities: (c) => {
    c.experimental = { ...(c.experimental as object | undefined), agent: { transcript: true, approvals: true, questions: true } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

/** Waits for the end of a process; the client kills one that takes longer than 2 s. */
async function exited(child: ChildProcess | undefined): Promise<void> {
  if (child && child.exitCode === null && child.signalCode === null) {
    await new Promise<void>((resolve) => {
      const enough = setTimeout(resolve, 4000);
      child.once('exit', () => (clearTimeout(enough), resolve()));
    });
  }
}

/** What a client says of a server that ends at once names nothing that would help. */
function whyNot(e: unknown): string {
  const said = e instanceof Error ? e.message : String(e);
  return /EPIPE|disposed|destroyed|closed/i.test(said) ? 'it ended before it answered' : said;
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

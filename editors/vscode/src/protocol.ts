// The shapes of what the server says beyond LSP: docs/commands.md describes them.

export interface FunctionCall {
  id: string;
  name: string;
  arguments: string;
}

export interface Finding {
  path: string;
  line: number;
  column: number;
  severity: string;
  code?: string;
  message: string;
}

export interface Edit {
  path: string;
  before: string;
  after: string;
  diff?: string;
  base?: string;
}

export interface Place {
  path: string;
  first?: number;
  last?: number;
  text?: string;
}

/** What a call can do at most. */
export type Effect = 'none' | 'read' | 'write' | 'run';

export type CheckOutcome = 'found' | 'clean' | 'skipped' | 'failed';

/** What a transcript's event contains. Kinds that are not listed are kept and skipped. */
export type AgentEvent =
  | { kind: 'user'; turn: number; text: string; context?: Place[] }
  /** A prompt that waits; it stands in the transcript where its turn begins. */
  | { kind: 'queued'; turn: number; text: string; first?: boolean }
  /** Said into a turn that runs. */
  | { kind: 'steer'; turn: number; text: string }
  | { kind: 'ask'; turn: number; id: number; round: number; attempt: number; profile: string }
  | { kind: 'message'; turn: number; ask: number; text: string | null; calls: FunctionCall[]; refused?: boolean; profile?: string }
  /** Transcripts of older servers have neither title nor effect. */
  | { kind: 'call'; turn: number; id: number; name: string; arguments: string; call: object | null; dispatched: boolean; title?: string; effect?: Effect }
  /** Older servers wrote an intent as one with the decision "performed". */
  | { kind: 'approval'; turn: number; id: number; state: string; title?: string; detail?: string; decision?: string; reason?: string; edit?: Edit }
  /** An edit that is about to be made. */
  | { kind: 'intent'; turn: number; id: number; edit?: Edit }
  | { kind: 'result'; turn: number; id: number; call: number; state: string; text: string; edit?: Edit; more?: Edit[] }
  | { kind: 'check'; turn: number; root: string; outcome: CheckOutcome; text: string; command: string[]; findings: Finding[]; title?: string }
  | { kind: 'summary'; text: string }
  | { kind: 'emit'; turn: number; id: number; text: string }
  | { kind: 'done'; turn: number; outcome: string }
  | { kind: 'error'; turn?: number; error: string; message: string }
  | { kind: 'note'; turn?: number; text: string; undid?: number[] };

export interface Entry {
  index: number;
  at: string;
  event: AgentEvent;
}

export interface SessionInfo {
  session: string;
  root: string;
  title: string;
  profile: string;
  createdAt: string;
  updatedAt: string;
  turns: number;
  state: 'running' | 'waiting' | 'idle' | 'stored';
}

export interface SessionList {
  sessions: SessionInfo[];
  undecodable: { id: string; error: string }[];
}

export interface Question {
  session: string;
  turn: number;
  id: number;
  title: string;
  detail: string;
  decisions?: Decision[];
  /** What each of `decisions` is called, where that is not the usual. */
  labels?: string[];
}

/** A question of the model to the person. */
export interface Inquiry {
  session: string;
  id: number;
  text: string;
  options: string[] | null;
}

export type Decision = 'allow_once' | 'allow_session' | 'allow_always' | 'deny';

export interface ProfileInfo {
  name: string;
  provider: string;
  model: string;
  selected: boolean;
}

export interface CheckResult {
  root: string;
  outcome: CheckOutcome;
  text: string;
  findings: unknown[];
  command: string[];
  tookMs: number;
}

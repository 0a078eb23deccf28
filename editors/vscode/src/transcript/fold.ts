import type { AgentEvent, Edit, Effect, Entry, Finding, Place } from '../protocol';

/** One thing that the panel shows. A block is changed in place; version tells. */
export type Block = { key: string; version: number; turn: number } & (
  | { type: 'prompt'; text: string; places: Place[] }
  | { type: 'text'; text: string; live: boolean }
  | CallBlock
  | { type: 'check'; outcome: string; text: string; title?: string; command: string; findings: Finding[] }
  | { type: 'note'; text: string }
  | { type: 'summary'; text: string }
  | { type: 'error'; source: string; text: string }
  | { type: 'end'; outcome: string; edits: boolean; undone: boolean }
);

interface CallBlock {
  type: 'call';
  index: number;
  id: number;
  title: string;
  effect?: Effect;
  detail: string;
  state: string;
  text: string;
  edit?: Edit;
  more?: Edit[];
  approval?: string;
  undone: boolean;
}

export type Call = Block & CallBlock;

/**
 * Folds a session's events and the text that streams into blocks. Events come in
 * order of their index; equal events give equal blocks. Kinds that are not known
 * are passed over.
 */
export class Transcript {
  readonly blocks: Block[] = [];
  /** The index of the next event. */
  next = 0;
  private live?: Block & { type: 'text' };
  private said = '';
  private readonly calls = new Map<number, Call>();
  private edited = new Set<number>();

  /** Takes an event; one that was there already is passed over. */
  apply(e: Entry): void {
    if (e.index < this.next) {
      return;
    }
    this.next = e.index + 1;
    this.event(e.index, e.event);
  }

  /** Takes text that streams and is not stored yet. */
  delta(turn: number, text: string): void {
    if (!this.live) {
      this.live = { key: `live${this.next}`, version: 0, turn, type: 'text', text: '', live: true };
      this.blocks.push(this.live);
    }
    this.live.text += text;
    this.live.version++;
  }

  private event(index: number, e: AgentEvent): void {
    const base = { key: `e${index}`, version: 0 };
    switch (e.kind) {
      case 'user':
        this.blocks.push({ ...base, turn: e.turn, type: 'prompt', text: e.text, places: e.context ?? [] });
        break;
      case 'steer':
        this.blocks.push({ ...base, turn: e.turn, type: 'prompt', text: e.text, places: [] });
        break;
      case 'ask':
        this.endLive(undefined); // an attempt before it was given up
        break;
      case 'message':
        {
          const adopted = this.endLive(e.text ?? '');
          if (e.text?.trim()) {
            this.said = e.text;
            if (!adopted) {
              this.blocks.push({ ...base, turn: e.turn, type: 'text', text: e.text, live: false });
            }
          }
        }
        if (e.refused) {
          this.blocks.push({ ...base, key: base.key + 'r', turn: e.turn, type: 'note', text: 'This reply held a call that does not fit; the model was asked again.' });
        }
        break;
      case 'call':
        this.call(index, e);
        break;
      case 'approval': {
        const call = this.byId(e.id);
        if (call && e.state === 'asked') {
          call.state = 'waiting for you';
          call.version++;
        } else if (call && e.state === 'answered' && e.decision !== 'performed') {
          call.approval = decisions[e.decision ?? ''] ?? e.decision;
          if (e.reason) {
            call.approval += `: ${e.reason}`;
          }
          call.state = 'running';
          call.version++;
        }
        break;
      }
      case 'result': {
        const call = this.calls.get(e.call);
        if (call && !ended(call.state)) {
          call.state = e.state;
          call.text = e.text;
          call.edit = e.edit;
          call.more = e.more;
          call.version++;
          if (e.edit) {
            this.edited.add(e.turn);
          }
        }
        break;
      }
      case 'check':
        this.blocks.push({ ...base, turn: e.turn, type: 'check', outcome: e.outcome, text: e.text, title: e.title, command: (e.command ?? []).join(' '), findings: e.findings ?? [] });
        break;
      case 'summary':
        this.blocks.push({ ...base, turn: 0, type: 'summary', text: e.text });
        break;
      case 'emit':
        if (e.text.trim() && e.text !== this.said) {
          this.blocks.push({ ...base, turn: e.turn, type: 'text', text: e.text, live: false });
        }
        break;
      case 'done':
        this.endLive(undefined);
        this.blocks.push({ ...base, turn: e.turn, type: 'end', outcome: e.outcome, edits: this.edited.has(e.turn), undone: false });
        break;
      case 'error':
        this.blocks.push({ ...base, turn: e.turn ?? 0, type: 'error', source: e.error, text: e.message });
        break;
      case 'note':
        this.note(base, e);
        break;
    }
  }

  private note(base: { key: string; version: number }, e: AgentEvent & { kind: 'note' }): void {
    this.blocks.push({ ...base, turn: e.turn ?? 0, type: 'note', text: e.text });
    if (!e.undid?.length) {
      return;
    }
    for (const call of this.calls.values()) {
      if (call.edit && call.turn === e.turn) {
        call.undone = true;
        call.version++;
      }
    }
    for (const b of this.blocks) {
      if (b.type === 'end' && b.turn === e.turn) {
        b.undone = true;
        b.version++;
      }
    }
  }

  /** Ends what streams: with the whole text it stays and the answer is true, without one it goes. */
  private endLive(text: string | undefined): boolean {
    const live = this.live;
    if (!live) {
      return false;
    }
    this.live = undefined;
    if (text?.trim()) {
      live.text = text;
      live.live = false;
      live.version++;
      return true;
    }
    this.blocks.splice(this.blocks.indexOf(live), 1);
    return false;
  }

  private call(index: number, e: AgentEvent & { kind: 'call' }): void {
    const { title, detail } = describe(e);
    const block: Call = {
      key: `e${index}`, version: 0, turn: e.turn, type: 'call', index, id: e.id, title, effect: e.effect, detail,
      state: e.dispatched ? 'running' : 'refused', text: '', undone: false,
    };
    this.calls.set(index, block);
    this.blocks.push(block);
  }

  private byId(id: number): Call | undefined {
    return id === 0 ? undefined : [...this.calls.values()].findLast((c) => c.id === id);
  }
}

const decisions: Record<string, string> = { allow_once: 'allowed once', allow_session: 'allowed for this session', allow_always: 'always allowed', deny: 'denied' };

const ended = (state: string) => ['completed', 'failed', 'rejected', 'cancelled', 'interrupted'].includes(state);

/**
 * What is shown of a call: the title that the server gave it, and the arguments that
 * the title leaves out. It knows no tool: a call of an older server is named by its
 * tool and the first argument.
 */
export function describe(e: AgentEvent & { kind: 'call' }): { title: string; detail: string } {
  const args = e.call === null ? undefined : argumentsOf(e.arguments);
  if (!args) {
    return { title: e.title || e.name, detail: e.arguments };
  }
  const title = e.title || [e.name, ...args.slice(0, 1).map((a) => a.words)].join(' ');
  const rest = args.filter((a) => !title.includes(a.words));
  return { title, detail: rest.map((a) => (a.words.includes('\n') ? a.words : `${a.name}: ${a.words}`)).join('\n') };
}

/** The arguments that are not empty, as words; undefined when they are no JSON object. */
function argumentsOf(json: string): { name: string; words: string }[] | undefined {
  try {
    const object: unknown = JSON.parse(json);
    if (typeof object !== 'object' || object === null || Array.isArray(object)) {
      return undefined;
    }
    return Object.entries(object)
      .map(([name, value]: [string, unknown]) => ({ name, words: wordsOf(value) }))
      .filter((a) => a.words !== '');
  } catch {
    return undefined;
  }
}

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(wordsOf).join(' ');
  }
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

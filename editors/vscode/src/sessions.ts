import type { CheckOutcome, Entry, Question } from './protocol';

/** What the status bar says. */
export interface Status {
  state: 'off' | 'idle' | 'working' | 'waiting' | 'unchecked';
  text: string;
}

interface Session {
  entries: Entry[];
  /** Text that streams and is not stored yet. */
  pending?: { turn: number; text: string };
  running: Set<number>;
  check?: { outcome: CheckOutcome; text: string };
}

/**
 * What is known of the sessions that this window saw: their events, what runs, and
 * the questions that wait for the person. It is a copy of the server's word and adds
 * nothing.
 */
export class Sessions {
  private readonly known = new Map<string, Session>();
  readonly questions = new Map<string, Question>();
  /** The sessions that the running server has. */
  readonly live = new Set<string>();
  doing = '';
  on = false;

  of(id: string): Session {
    let s = this.known.get(id);
    if (!s) {
      s = { entries: [], running: new Set() };
      this.known.set(id, s);
    }
    return s;
  }

  /** Adds an event; returns false when events before it are missing. */
  take(id: string, e: Entry): boolean {
    const s = this.of(id);
    if (e.index > s.entries.length) {
      return false;
    }
    if (e.index < s.entries.length) {
      return true;
    }
    s.entries.push(e);
    const event = e.event;
    switch (event.kind) {
      case 'user':
        s.running.add(event.turn);
        s.check = undefined;
        break;
      case 'ask':
      case 'message':
        s.pending = undefined;
        break;
      case 'check':
        s.check = { outcome: event.outcome, text: event.text };
        break;
      case 'done':
        s.pending = undefined;
        s.running.delete(event.turn);
        break;
    }
    return true;
  }

  delta(id: string, turn: number, text: string): void {
    const s = this.of(id);
    s.pending = { turn, text: (s.pending?.text ?? '') + text };
  }

  forget(id: string): void {
    this.known.delete(id);
    this.live.delete(id);
  }

  /** The server is gone: nothing runs, and no question can be answered. */
  reset(): string[] {
    const running = [...this.known].filter(([, s]) => s.running.size > 0).map(([id]) => id);
    for (const s of this.known.values()) {
      s.running.clear();
      s.pending = undefined;
    }
    this.live.clear();
    this.questions.clear();
    this.doing = '';
    return running;
  }

  get working(): boolean {
    return [...this.known.values()].some((s) => s.running.size > 0);
  }

  status(current: string | undefined): Status {
    const [question] = this.questions.values();
    if (question) {
      return { state: 'waiting', text: question.title };
    }
    if (this.working) {
      // The server's words stay until the next ones, an answered question's too.
      return { state: 'working', text: this.doing.replace(/^waiting for you: /, '') || 'working' };
    }
    if (!this.on) {
      return { state: 'off', text: '' };
    }
    const check = current ? this.of(current).check : undefined;
    if (check?.outcome === 'failed' || check?.outcome === 'skipped') {
      return { state: 'unchecked', text: check.text };
    }
    return { state: 'idle', text: '' };
  }
}

export const questionKey = (session: string, id: number) => `${session}/${id}`;

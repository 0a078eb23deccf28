import type { Decision, Entry, Question } from '../protocol';

/** What the extension tells the panel. */
export type ToPanel =
  | { type: 'reset'; session: string | undefined; title: string; entries: Entry[]; pending: { turn: number; text: string } | undefined }
  | { type: 'entries'; entries: Entry[] }
  | { type: 'delta'; turn: number; text: string }
  | { type: 'questions'; questions: Question[] }
  | { type: 'status'; working: boolean; text: string };

/** What the panel tells the extension. It is checked there: see readMessage. */
export type FromPanel =
  | { type: 'ready' }
  | { type: 'ask'; text: string }
  | { type: 'cancel' }
  | { type: 'undo'; turn: number }
  | { type: 'diff'; call: number }
  | { type: 'open'; path: string; line: number; column: number }
  | { type: 'link'; href: string }
  | { type: 'answer'; session: string; id: number; decision: Decision };

const text = (v: unknown): v is string => typeof v === 'string';
const count = (v: unknown): v is number => Number.isSafeInteger(v) && (v as number) >= 0;

/** Reads a message of the panel; undefined when it has not one of the shapes. */
export function readMessage(m: unknown): FromPanel | undefined {
  if (typeof m !== 'object' || m === null) {
    return undefined;
  }
  const x = m as Record<string, unknown>;
  switch (x['type']) {
    case 'ready':
    case 'cancel':
      return { type: x['type'] };
    case 'ask':
      return text(x['text']) && x['text'].trim() !== '' ? { type: 'ask', text: x['text'] } : undefined;
    case 'undo':
      return count(x['turn']) ? { type: 'undo', turn: x['turn'] } : undefined;
    case 'diff':
      return count(x['call']) ? { type: 'diff', call: x['call'] } : undefined;
    case 'open':
      return text(x['path']) && count(x['line']) && count(x['column'])
        ? { type: 'open', path: x['path'], line: x['line'], column: x['column'] }
        : undefined;
    case 'link':
      return text(x['href']) && /^https?:\/\//i.test(x['href']) ? { type: 'link', href: x['href'] } : undefined;
    case 'answer': {
      const d = x['decision'];
      return text(x['session']) && count(x['id']) && (d === 'allow_once' || d === 'allow_session' || d === 'allow_always' || d === 'deny')
        ? { type: 'answer', session: x['session'], id: x['id'], decision: d }
        : undefined;
    }
    default:
      return undefined;
  }
}

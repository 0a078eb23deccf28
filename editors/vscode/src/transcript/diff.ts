import { inflateRawSync, constants } from 'node:zlib';
import type { Edit, Entry } from '../protocol';

/** The two sides of an edit; whole says that they are the files and not only the changed places. */
export interface Sides {
  path: string;
  before: string;
  after: string;
  whole: boolean;
}

/**
 * Returns the two sides of the edit whose result has the given call index, from a
 * session's events alone; undefined when there is no such edit.
 */
export function sidesOf(entries: Entry[], call: number): Sides | undefined {
  const result = entries.find((e) => e.event.kind === 'result' && e.event.call === call)?.event;
  if (result?.kind !== 'result' || !result.edit?.diff) {
    return undefined;
  }
  const edit = result.edit;
  const intents = entries.flatMap((e) => ((e.event.kind === 'intent' || e.event.kind === 'approval') && e.event.id === result.id ? (e.event.edit ?? []) : []));
  const base = intents.find((i) => i.after === edit.after && i.path === edit.path)?.base;
  const before = edit.before === '' ? '' : base ? inflate(base) : undefined;
  if (before !== undefined) {
    const after = applyDiff(before, edit.diff!);
    if (after !== undefined) {
      return { path: edit.path, before, after, whole: true };
    }
  }
  return { path: edit.path, ...placesOf(edit), whole: false };
}

function inflate(base: string): string | undefined {
  try {
    return inflateRawSync(Buffer.from(base, 'base64'), { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8');
  } catch {
    return undefined;
  }
}

interface Hunk {
  start: number; // 0-based line of the old text
  lines: string[]; // with their mark
}

function hunksOf(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(line);
    if (head) {
      const first = Number(head[1]);
      hunks.push({ start: head[2] === '0' ? first : first - 1, lines: [] });
    } else if (hunks.length > 0) {
      hunks[hunks.length - 1]!.lines.push(line);
    }
  }
  return hunks;
}

/** The new text of a unified diff; undefined when it does not fit. */
export function applyDiff(before: string, diff: string): string | undefined {
  const old = before.split('\n'); // the last one is what stands behind the last newline
  const out: string[] = [];
  let at = 0;
  let open: boolean | undefined; // the new text has no newline at its end
  for (const h of hunksOf(diff)) {
    if (h.start < at || h.start > old.length) {
      return undefined;
    }
    out.push(...old.slice(at, h.start));
    at = h.start;
    let mark = '';
    for (const line of h.lines) {
      if (line.startsWith('\\')) {
        open = mark !== '-' ? true : open;
        continue;
      }
      mark = line[0] ?? ' ';
      const text = line.slice(1);
      if (mark !== '+') {
        if (old[at] !== text) {
          return undefined;
        }
        at++;
      }
      if (mark !== '-') {
        out.push(text);
      }
    }
  }
  const rest = old.slice(at);
  if (rest.length === 0 && !open) {
    out.push(''); // the old text had no newline at its end, the new one has
  } else if (open && rest.length === 1 && rest[0] === '') {
    rest.pop();
  }
  return [...out, ...rest].join('\n');
}

function placesOf(edit: Edit): { before: string; after: string } {
  const side = (skip: string) =>
    hunksOf(edit.diff ?? '')
      .map((h) => h.lines.filter((l) => !l.startsWith(skip) && !l.startsWith('\\')).map((l) => l.slice(1)).join('\n') + '\n')
      .join('⋯\n');
  return { before: side('+'), after: side('-') };
}

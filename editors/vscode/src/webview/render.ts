import type { Question, Decision } from '../protocol';
import type { Block, Call } from '../transcript/fold';
import { render as markdown } from '../transcript/markdown';
import { oneLine, printable } from '../transcript/printable';
import type { FromPanel } from './messages';

/** Makes elements; every text goes in as text. */
export class Renderer {
  constructor(
    private readonly document: Document,
    private readonly parse: (html: string) => Document,
    private readonly send: (m: FromPanel) => void,
  ) {}

  /** Builds a block's article; details that were open in the one before stay so. */
  block(b: Block, before?: HTMLElement): HTMLElement {
    const article = this.element('article', `block ${b.type}`);
    article.tabIndex = 0;
    article.dataset['key'] = b.key;
    article.setAttribute('aria-label', label(b));
    const open = before?.querySelector('details')?.open ?? false;
    switch (b.type) {
      case 'prompt':
        article.append(this.text('h2', 'you', 'You'), this.text('div', 'words', b.text));
        for (const p of b.places) {
          article.append(this.place(p.path, p.first ?? 0, 0, p.first ? `${p.path}:${p.first}${p.last && p.last !== p.first ? `-${p.last}` : ''}` : p.path));
        }
        break;
      case 'text':
        article.append(this.prose(b.text));
        break;
      case 'call':
        article.append(...this.call(b, open));
        break;
      case 'check':
        article.append(...this.check(b, open));
        break;
      case 'note':
        article.append(this.text('p', 'aside', b.text));
        break;
      case 'summary':
        article.append(this.details('The conversation before this was summarised', open, this.prose(b.text)));
        break;
      case 'error':
        article.append(this.text('strong', '', `Error (${b.source}): `), this.text('span', 'words', b.text));
        break;
      case 'end':
        article.append(this.text('span', 'aside', b.undone ? `${outcome(b.outcome)}, undone` : outcome(b.outcome)));
        if (b.edits && !b.undone) {
          article.append(this.button('Undo this turn', () => this.send({ type: 'undo', turn: b.turn }), 'link'));
        }
        break;
    }
    return article;
  }

  /** Builds a question with the whole command or diff and its answers. */
  question(q: Question): HTMLElement {
    const box = this.element('div', 'question');
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', `The agent asks: ${oneLine(q.title, 200)}`);
    box.append(this.text('h2', '', q.title));
    if (q.detail) {
      const detail = this.code(q.detail);
      detail.tabIndex = 0;
      detail.setAttribute('aria-label', 'What is asked for, in full');
      box.append(detail);
    }
    const row = this.element('div', 'row');
    const answer = (decision: Decision) => () => this.send({ type: 'answer', session: q.session, id: q.id, decision });
    const usual: Record<Decision, string> = {
      allow_once: 'Allow once',
      allow_session: 'Allow for this session',
      allow_always: 'Always allow',
      deny: 'Deny',
    };
    const decisions: Decision[] = q.decisions ?? ['allow_once', 'allow_session', 'deny'];
    decisions.forEach((decision, i) => {
      const label = q.labels?.[i] ? oneLine(q.labels[i], 100) : usual[decision];
      if (label) {
        row.append(this.button(label, answer(decision), decision === 'allow_once' ? undefined : 'secondary'));
      }
    });
    box.append(row);
    return box;
  }

  private call(b: Call, open: boolean): Node[] {
    const summary = this.element('span', `title effect-${b.effect ?? 'unknown'}`);
    summary.append(this.text('span', '', b.title), this.text('span', `state ${b.state}`, b.undone ? 'undone' : b.state));
    const body = this.element('div', 'body');
    if (b.approval) {
      body.append(this.text('p', 'aside', b.approval));
    }
    if (b.edit?.diff) {
      body.append(...[b.edit, ...(b.more ?? [])].map((e) => this.code(e.diff ?? '')));
    } else if (b.detail) {
      body.append(this.code(b.detail));
    }
    if (b.text) {
      body.append(this.code(b.text));
    }
    const out: Node[] = [this.details(summary, open, body)];
    if (b.edit?.diff) {
      out.push(this.button('Open diff', () => this.send({ type: 'diff', call: b.index }), 'link', `Open the diff of ${b.edit.path}`));
    }
    return out;
  }

  private check(b: Block & { type: 'check' }, open: boolean): Node[] {
    const out: Node[] = [this.text('p', 'title', checkTitle(b))];
    if (b.findings.length > 0) {
      const list = this.element('ul', 'findings');
      for (const f of b.findings) {
        const item = this.element('li', f.severity);
        item.append(this.place(f.path, f.line, f.column, `${f.path}:${f.line}`), this.text('span', '', ` ${f.message}`));
        list.append(item);
      }
      out.push(list);
    }
    if (b.text && b.outcome !== 'clean') {
      out.push(this.details('What the checker said', open, this.code(b.text)));
    }
    return out;
  }

  private details(summary: string | Node, open: boolean, ...content: Node[]): HTMLElement {
    const d = this.document.createElement('details');
    d.open = open;
    const s = this.document.createElement('summary');
    s.append(typeof summary === 'string' ? printable(summary) : summary);
    d.append(s, ...content);
    return d;
  }

  private prose(text: string): HTMLElement {
    const box = this.element('div', 'prose');
    box.append(markdown(text, this.document, this.parse));
    for (const a of box.querySelectorAll('a')) {
      a.addEventListener('click', (e) => {
        e.preventDefault();
        this.send({ type: 'link', href: a.getAttribute('href') ?? '' });
      });
    }
    return box;
  }

  /** A diff's lines get the theme's colours; it is all text. */
  private code(text: string): HTMLElement {
    const pre = this.element('pre', 'code');
    const diff = /^(---|\+\+\+|@@|\*\*\*)/m.test(text);
    for (const line of printable(text).replace(/\n$/, '').split('\n')) {
      const kind = !diff ? '' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '';
      pre.append(this.text('span', kind, line + '\n', true));
    }
    return pre;
  }

  private place(path: string, line: number, column: number, words: string): HTMLElement {
    return this.button(words, () => this.send({ type: 'open', path, line, column }), 'link', `Open ${words}`);
  }

  private button(words: string, act: () => void, kind = '', name?: string): HTMLButtonElement {
    const b = this.document.createElement('button');
    b.type = 'button';
    b.className = kind;
    b.textContent = printable(words);
    if (name) {
      b.setAttribute('aria-label', printable(name));
    }
    b.addEventListener('click', act);
    return b;
  }

  private element(tag: string, kind: string): HTMLElement {
    const e = this.document.createElement(tag);
    e.className = kind;
    return e;
  }

  private text(tag: string, kind: string, words: string, clean = false): HTMLElement {
    const e = this.element(tag, kind);
    e.textContent = clean ? words : printable(words);
    return e;
  }
}

/** The server's title of a check; one of an older server is made from its outcome. */
export function checkTitle(b: { title?: string; outcome: string; text: string; command: string; findings: unknown[] }): string {
  if (b.title) {
    return b.title;
  }
  const what = b.command || 'the checker';
  switch (b.outcome) {
    case 'found':
      return `${what} found ${b.findings.length} problem${b.findings.length === 1 ? '' : 's'}`;
    case 'clean':
      return `${what} found nothing`;
    case 'skipped':
      return 'not checked';
    default:
      return `unchecked: ${what} failed`;
  }
}

const outcome = (o: string) => (o === 'complete' ? 'Done' : o === 'cancelled' ? 'Cancelled' : o);

/** What a screen reader says of a block. */
export function label(b: Block): string {
  switch (b.type) {
    case 'prompt':
      return `You asked: ${oneLine(b.text, 120)}`;
    case 'text':
      return `The agent said: ${oneLine(b.text, 120)}`;
    case 'call':
      return `${oneLine(b.title, 120)}, ${b.undone ? 'undone' : b.state}`;
    case 'check':
      return `Check: ${oneLine(checkTitle(b), 120)}`;
    case 'note':
      return `Note: ${oneLine(b.text, 120)}`;
    case 'summary':
      return 'Summary of the conversation';
    case 'error':
      return `Error: ${oneLine(b.text, 120)}`;
    case 'end':
      return `Turn ${b.turn}: ${outcome(b.outcome)}${b.undone ? ', undone' : ''}`;
  }
}

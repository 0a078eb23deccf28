import type { Question } from '../protocol';
import { Transcript } from '../transcript/fold';
import { oneLine } from '../transcript/printable';
import type { FromPanel, ToPanel } from './messages';
import { label, Renderer } from './render';

/** What the view needs of the page it is in. */
export interface Page {
  document: Document;
  parse(html: string): Document;
  send(m: FromPanel): void;
  /** Calls back before the next painting. */
  soon(act: () => void): void;
  keep(session: string | undefined): void;
}

/** The transcript's page: folds what comes, and keeps the elements in step. */
export class View {
  private transcript = new Transcript();
  private session: string | undefined;
  private readonly shown = new Map<string, { version: number; element: HTMLElement }>();
  private questions = new Map<string, HTMLElement>();
  private drawing = false;
  private readonly renderer: Renderer;
  private readonly parts: Record<'title' | 'feed' | 'questions' | 'status' | 'announce' | 'empty', HTMLElement>;
  private readonly cancel: HTMLButtonElement;
  private readonly input: HTMLTextAreaElement;

  constructor(private readonly page: Page, app: HTMLElement) {
    const d = page.document;
    this.renderer = new Renderer(d, page.parse, page.send);
    const make = (tag: string, id: string) => {
      const e = d.createElement(tag);
      e.id = id;
      return e;
    };
    this.parts = {
      title: make('h1', 'title'), feed: make('div', 'feed'), questions: make('section', 'questions'), status: make('span', 'status'),
      announce: make('div', 'announce'), empty: make('p', 'empty'),
    };
    const { title, feed, questions, status, announce, empty } = this.parts;
    feed.setAttribute('role', 'feed');
    feed.setAttribute('aria-label', 'Transcript of the agent');
    feed.addEventListener('keydown', (e) => this.move(e));
    questions.setAttribute('aria-label', 'Questions of the agent');
    announce.setAttribute('role', 'status');
    announce.setAttribute('aria-live', 'polite');
    empty.textContent = 'Ask the agent below, or with the command "Agent: Ask…".';
    this.cancel = d.createElement('button');
    this.cancel.type = 'button';
    this.cancel.id = 'cancel';
    this.cancel.className = 'secondary';
    this.cancel.textContent = 'Cancel';
    this.cancel.setAttribute('aria-label', 'Cancel the running turn');
    this.cancel.addEventListener('click', () => page.send({ type: 'cancel' }));
    this.input = d.createElement('textarea');
    const head = d.createElement('header');
    head.append(title, status, this.cancel);
    const foot = d.createElement('footer');
    foot.append(questions, this.form());
    app.append(head, empty, feed, foot, announce);
    this.status(false, '');
  }

  receive(m: ToPanel): void {
    switch (m.type) {
      case 'reset':
        this.reset(m);
        break;
      case 'entries':
        for (const e of m.entries) {
          this.transcript.apply(e);
          if (e.event.kind === 'done' || e.event.kind === 'check') {
            this.announce(label(this.transcript.blocks[this.transcript.blocks.length - 1]!));
          }
        }
        this.draw();
        break;
      case 'delta':
        this.transcript.delta(m.turn, m.text);
        this.draw();
        break;
      case 'questions':
        this.keepEnd(() => this.ask(m.questions));
        break;
      case 'status':
        this.status(m.working, m.text);
        break;
    }
  }

  private reset(m: ToPanel & { type: 'reset' }): void {
    if (m.session !== this.session) {
      this.parts.feed.replaceChildren();
      this.shown.clear();
    }
    this.session = m.session;
    this.page.keep(m.session);
    this.transcript = new Transcript();
    for (const e of m.entries) {
      this.transcript.apply(e);
    }
    if (m.pending) {
      this.transcript.delta(m.pending.turn, m.pending.text);
    }
    this.parts.title.textContent = oneLine(m.title, 80) || 'Agent';
    for (const s of this.shown.values()) {
      s.version = -1; // versions begin anew
    }
    this.draw();
  }

  private status(working: boolean, text: string): void {
    this.cancel.hidden = !working;
    this.parts.feed.setAttribute('aria-busy', String(working));
    this.parts.status.textContent = working ? oneLine(text, 80) : '';
  }

  /** Brings the elements in step with the blocks, at most once a painting. */
  private draw(): void {
    if (this.drawing) {
      return;
    }
    this.drawing = true;
    this.page.soon(() => {
      this.drawing = false;
      this.keepEnd(() => this.step());
    });
  }

  /** Changes the page; whoever looked at its end does so after. */
  private keepEnd(change: () => void): void {
    const root = this.page.document.documentElement;
    const atEnd = root.scrollHeight - root.scrollTop - root.clientHeight < 40;
    change();
    if (atEnd) {
      root.scrollTop = root.scrollHeight;
    }
  }

  private step(): void {
    const { feed, empty } = this.parts;
    const blocks = this.transcript.blocks;
    empty.hidden = blocks.length > 0;
    const keys = new Set(blocks.map((b) => b.key));
    for (const [key, s] of this.shown) {
      if (!keys.has(key)) {
        s.element.remove();
        this.shown.delete(key);
      }
    }
    blocks.forEach((b, i) => {
      let s = this.shown.get(b.key);
      if (!s || s.version !== b.version) {
        const element = this.renderer.block(b, s?.element);
        if (s) {
          const focused = s.element.contains(this.page.document.activeElement);
          s.element.replaceWith(element);
          if (focused) {
            element.focus();
          }
        }
        s = { version: b.version, element };
        this.shown.set(b.key, s);
      }
      if (feed.children[i] !== s.element) {
        feed.insertBefore(s.element, feed.children[i] ?? null);
      }
      s.element.setAttribute('aria-posinset', String(i + 1));
      s.element.setAttribute('aria-setsize', String(blocks.length));
    });
  }

  private ask(list: Question[]): void {
    const next = new Map<string, HTMLElement>();
    for (const q of list) {
      const key = `${q.session}/${q.id}`;
      let element = this.questions.get(key);
      if (!element) {
        element = this.renderer.question(q);
        this.announce(`The agent waits for you: ${oneLine(q.title, 200)}`);
      }
      next.set(key, element);
    }
    const focused = this.parts.questions.contains(this.page.document.activeElement);
    for (const [key, element] of this.questions) {
      if (!next.has(key)) {
        element.remove();
      }
    }
    for (const [key, element] of next) {
      if (!this.questions.has(key)) {
        this.parts.questions.append(element);
      }
    }
    this.questions = next;
    if (focused && !this.parts.questions.contains(this.page.document.activeElement)) {
      this.input.focus(); // the one that had the focus was answered
    }
  }

  private announce(words: string): void {
    this.parts.announce.textContent = words;
  }

  /** Page keys go from block to block, as in any feed. */
  private move(e: KeyboardEvent): void {
    if (e.key !== 'PageDown' && e.key !== 'PageUp') {
      return;
    }
    const at = (e.target as HTMLElement).closest('article');
    const to = e.key === 'PageDown' ? at?.nextElementSibling : at?.previousElementSibling;
    if (to) {
      e.preventDefault();
      (to as HTMLElement).focus();
    }
  }

  private form(): HTMLElement {
    const d = this.page.document;
    const form = d.createElement('form');
    const input = this.input;
    input.id = 'input';
    input.rows = 2;
    input.placeholder = 'Ask the agent (Enter sends, Shift+Enter is a new line)';
    input.setAttribute('aria-label', 'Ask the agent');
    const send = d.createElement('button');
    send.type = 'submit';
    send.textContent = 'Ask';
    const submit = () => {
      if (input.value.trim()) {
        this.page.send({ type: 'ask', text: input.value });
        input.value = '';
      }
    };
    form.addEventListener('submit', (e) => {
      e.preventDefault();
      submit();
    });
    input.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
        e.preventDefault();
        submit();
      }
    });
    form.append(input, send);
    return form;
  }
}

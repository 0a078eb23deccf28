import MarkdownIt from 'markdown-it';
import { printable } from './printable';

const md = new MarkdownIt('commonmark', { html: false, linkify: false }).enable(['table', 'strikethrough']);
md.disable('image'); // a picture's address would tell its server that this was read
md.validateLink = (href) => /^https?:\/\//i.test(href.trim());

const allowed = new Set(['P', 'EM', 'STRONG', 'CODE', 'PRE', 'UL', 'OL', 'LI', 'BLOCKQUOTE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'HR', 'BR', 'A', 'TABLE', 'THEAD', 'TBODY', 'TR', 'TH', 'TD', 'S', 'DEL']);

/**
 * Renders Markdown of a model as nodes. HTML in it is text. The renderer is not
 * trusted alone: of what it made, only the elements and the attribute that are
 * listed here are rebuilt, so that nothing in it can run or load anything.
 */
export function render(text: string, document: Document, parse: (html: string) => Document): DocumentFragment {
  const out = document.createDocumentFragment();
  const source = parse(md.render(printable(text)));
  copy(source.body, out, document);
  return out;
}

function copy(from: Node, to: Node, document: Document): void {
  for (const child of Array.from(from.childNodes)) {
    if (child.nodeType === 3) {
      to.appendChild(document.createTextNode(child.textContent ?? ''));
      continue;
    }
    if (child.nodeType !== 1) {
      continue;
    }
    const element = child as Element;
    if (!allowed.has(element.tagName.toUpperCase())) {
      to.appendChild(document.createTextNode(element.textContent ?? ''));
      continue;
    }
    const made = document.createElement(element.tagName.toLowerCase());
    if (made.tagName === 'A') {
      const href = element.getAttribute('href') ?? '';
      if (!/^https?:\/\//i.test(href)) {
        copy(element, to, document);
        continue;
      }
      made.setAttribute('href', href);
      made.setAttribute('title', href);
    }
    if (made.tagName === 'OL' && /^\d+$/.test(element.getAttribute('start') ?? '')) {
      made.setAttribute('start', element.getAttribute('start')!);
    }
    copy(element, made, document);
    to.appendChild(made);
  }
}

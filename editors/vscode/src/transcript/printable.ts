// eslint-disable-next-line no-control-regex
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])/g;
// Controls other than tab and newline, and the characters that reorder or hide text.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/**
 * Makes text of a model or a program safe to look at: terminal escapes go, and
 * characters that would hide or reorder what stands there are shown by their
 * number.
 */
export function printable(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(escapes, '')
    .replace(hidden, (c) => `[U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`);
}

/** A text on one line of at most max characters. */
export function oneLine(text: string, max: number): string {
  const chars = [...printable(text).split(/\s+/).filter(Boolean).join(' ')];
  return chars.length > max ? chars.slice(0, max - 1).join('') + '…' : chars.join('');
}

/**
 * A text for a notification. VS Code makes links of [words](command:…) in those, so
 * text of a model must not contain any.
 */
export function forMessage(text: string, max: number): string {
  return oneLine(text, max).replace(/\](?=\()/g, '] ');
}

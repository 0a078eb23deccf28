import * as vscode from 'vscode';
import type { Decision, Question } from './protocol';
import { questionKey, type Sessions } from './sessions';
import { forMessage } from './transcript/printable';

type Answer = { decision: Decision; reason?: string } | null;

const usual: Record<Decision, string> = {
  allow_once: 'Allow Once',
  allow_session: 'Allow for This Session',
  allow_always: 'Always Allow',
  deny: 'Deny',
};

/** What the person may choose from, and what it is called. */
function choicesOf(q: Question): [string, Decision][] {
  const decisions: Decision[] = q.decisions ?? ['allow_once', 'allow_session', 'deny'];
  return decisions.filter((d) => usual[d] !== undefined).map((d, i) => [q.labels?.[i] ? forMessage(q.labels[i], 100) : usual[d], d]);
}

const details = 'Show Details';

/**
 * Asks the person what the agent may do: by a notification, which blocks nothing,
 * and in the transcript, with the whole command or diff. The first answer counts. A
 * notification that is closed is no answer: the question stays in the transcript.
 */
export class Approvals {
  private readonly waiting = new Map<string, (a: Answer) => void>();

  constructor(
    private readonly sessions: Sessions,
    private readonly changed: () => void,
    private readonly show: (session: string) => void,
  ) {}

  ask(q: Question, token: vscode.CancellationToken): Promise<Answer> {
    const key = questionKey(q.session, q.id);
    return new Promise<Answer>((resolve) => {
      const cancelled = token.onCancellationRequested(() => settle(null));
      const settle = (a: Answer) => {
        if (this.waiting.get(key) !== settle) {
          return;
        }
        cancelled.dispose();
        this.waiting.delete(key);
        this.sessions.questions.delete(key);
        this.changed();
        resolve(a);
      };
      this.waiting.set(key, settle);
      this.sessions.questions.set(key, q);
      this.changed();
      void this.notify(key, q);
    });
  }

  /** Takes an answer; false when the question is not open any more. */
  answer(session: string, id: number, decision: Decision): boolean {
    const settle = this.waiting.get(questionKey(session, id));
    settle?.({ decision });
    return settle !== undefined;
  }

  /** Ends all questions without an answer: nobody is there to hear it. */
  drop(): void {
    for (const settle of [...this.waiting.values()]) {
      settle(null);
    }
  }

  private async notify(key: string, q: Question): Promise<void> {
    const first = q.detail.split('\n', 1)[0] ?? '';
    const message = forMessage(`Agent: ${q.title}${first && !q.title.includes(first) ? ` — ${first}` : ''}`, 200);
    const choices = choicesOf(q);
    const picked = await vscode.window.showWarningMessage(message, ...choices.map(([c]) => c), details);
    if (picked === details) {
      this.show(q.session);
      return;
    }
    const decision = choices.find(([c]) => c === picked)?.[1];
    if (decision && this.waiting.has(key) && !this.answer(q.session, q.id, decision)) {
      void vscode.window.showInformationMessage('Agent: this question was answered already.');
    }
  }
}

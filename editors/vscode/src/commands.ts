import * as vscode from 'vscode';
import type { Agent, Command } from './agent';
import type { CheckResult, ProfileInfo } from './protocol';
import { SessionItem } from './tree';
import { forMessage, oneLine } from './transcript/printable';

interface Started {
  session: string;
  turn: number;
}

/** The extension's commands by their name behind "agentLsp.". */
export const commands: Record<string, Command> = {
  ask: async (agent, text, root) => ask(agent, typeof text === 'string' ? text : undefined, root),
  askSelection,
  fix,
  cancel: async (agent) => {
    const session = agent.current;
    await agent.server.command('agent.cancel', session && agent.sessions.of(session).running.size > 0 ? { session } : {});
  },
  newSession: async (agent) => {
    const folder = await pickFolder();
    if (!folder) {
      return;
    }
    const { session } = await agent.server.command<Started>('agent.session.new', { root: folder.uri.fsPath });
    agent.roots.set(session, folder.uri.fsPath);
    agent.sessions.live.add(session);
    await agent.show(session, true);
    agent.tree.refresh();
    return session;
  },
  resumeSession,
  showTranscript: (agent) => agent.show(undefined, true),
  openTranscript: (agent, target) => agent.show(sessionOf(target) ?? agent.current, true),
  deleteSession,
  refreshSessions: async (agent) => agent.tree.refresh(),
  listSessions: (agent) => agent.list(),
  undo,
  selectProfile,
  check,
  restart: (agent) => agent.server.restart(),
  showLog: async (agent) => agent.log.show(),
};

/** Starts a turn and shows it. */
async function prompt(agent: Agent, folder: vscode.WorkspaceFolder, text: string, context?: object[]): Promise<Started> {
  const root = folder.uri.fsPath;
  const session = agent.sessionOf(root);
  if (session) {
    await agent.ensureLive(session);
  }
  const started = await agent.server.command<Started>('agent.prompt', { text, root, ...(session && { session }), ...(context && { context }) });
  return follow(agent, root, started);
}

async function follow(agent: Agent, root: string, started: Started): Promise<Started> {
  agent.roots.set(started.session, root);
  agent.sessions.live.add(started.session);
  await agent.show(started.session, false);
  return started;
}

async function ask(agent: Agent, given?: string, root?: unknown): Promise<Started | undefined> {
  const folder = vscode.workspace.workspaceFolders?.find((f) => f.uri.fsPath === root) ?? (await pickFolder());
  if (!folder) {
    return;
  }
  const text = given ?? (await vscode.window.showInputBox({ title: `Ask the Agent (${folder.name})`, prompt: 'What is to be done?', placeHolder: 'e.g. fix the build', ignoreFocusOut: true }));
  return text?.trim() ? prompt(agent, folder, text) : undefined;
}

async function askSelection(agent: Agent, given?: unknown): Promise<Started | undefined> {
  const editor = vscode.window.activeTextEditor;
  const folder = editor && vscode.workspace.getWorkspaceFolder(editor.document.uri);
  if (!editor || !folder) {
    throw new Error('select lines of a file that is in a folder of this window');
  }
  const range = new vscode.Range(editor.selection.start, editor.selection.end); // before the input takes the focus
  const lines = range.isSingleLine ? `line ${range.start.line + 1}` : `lines ${range.start.line + 1}–${range.end.line + 1}`;
  const text = typeof given === 'string' ? given : await vscode.window.showInputBox({ title: `Ask About ${lines} of ${vscode.workspace.asRelativePath(editor.document.uri, false)}`, prompt: 'What about the selected lines?', ignoreFocusOut: true });
  if (!text?.trim()) {
    return;
  }
  const client = await agent.server.start();
  return prompt(agent, folder, text, [
    { uri: client.code2ProtocolConverter.asUri(editor.document.uri), range: client.code2ProtocolConverter.asRange(range) },
  ]);
}

async function fix(agent: Agent, uri?: unknown, given?: unknown): Promise<Started | undefined> {
  const editor = vscode.window.activeTextEditor;
  const target = uri instanceof vscode.Uri ? uri : editor?.document.uri;
  const folder = target && vscode.workspace.getWorkspaceFolder(target);
  if (!target || !folder) {
    throw new Error('put the cursor on a problem of a file that is in a folder of this window');
  }
  const problems = Array.isArray(given) ? (given as vscode.Diagnostic[]) : await pickProblems(target, editor);
  if (!problems?.length) {
    return;
  }
  const client = await agent.server.start();
  const convert = client.code2ProtocolConverter;
  const session = agent.sessionOf(folder.uri.fsPath);
  if (session) {
    await agent.ensureLive(session);
  }
  const started = await agent.server.command<Started>('agent.fix', {
    uri: convert.asUri(target), diagnostics: await convert.asDiagnostics(problems), ...(session && { session }),
  });
  return follow(agent, folder.uri.fsPath, started);
}

/** The problems at the cursor, else on its line, else what the person picks. */
async function pickProblems(uri: vscode.Uri, editor: vscode.TextEditor | undefined): Promise<vscode.Diagnostic[] | undefined> {
  const all = vscode.languages.getDiagnostics(uri);
  if (all.length === 0) {
    void vscode.window.showInformationMessage('Agent: this file has no problems.');
    return;
  }
  const at = editor?.document.uri.toString() === uri.toString() ? editor.selection.active : undefined;
  const here = at ? all.filter((d) => d.range.contains(at)) : [];
  const line = at ? all.filter((d) => d.range.start.line <= at.line && at.line <= d.range.end.line) : [];
  if (here.length > 0 || line.length > 0) {
    return here.length > 0 ? here : line;
  }
  if (all.length === 1) {
    return all;
  }
  const picked = await vscode.window.showQuickPick(
    all.map((d) => ({ label: oneLine(d.message, 100), description: `line ${d.range.start.line + 1}`, problem: d })),
    { title: 'Fix Which Problem?' },
  );
  return picked && [picked.problem];
}

async function resumeSession(agent: Agent, target: unknown): Promise<string | undefined> {
  let session = sessionOf(target);
  if (!session) {
    const list = await agent.list();
    const picked = await vscode.window.showQuickPick(
      [...list.sessions].reverse().map((s) => ({ label: oneLine(s.title, 80) || 'New session', description: s.state, detail: s.root, session: s.session })),
      { title: 'Resume Session', placeHolder: list.sessions.length ? 'A session of this window\'s folders' : 'There is no session yet', matchOnDetail: true },
    );
    session = picked?.session;
  }
  if (!session) {
    return;
  }
  agent.sessions.live.delete(session);
  await agent.ensureLive(session);
  await agent.show(session, true);
  agent.tree.refresh();
  return session;
}

async function deleteSession(agent: Agent, target: unknown, sure: unknown): Promise<void> {
  const session = sessionOf(target);
  if (!session) {
    return;
  }
  const name = forMessage(agent.titles.get(session) ?? session, 60);
  const yes = 'Delete';
  if (sure !== true && (await vscode.window.showWarningMessage(`Delete the session "${name}" and its transcript? Undo of its edits goes with it.`, { modal: true }, yes)) !== yes) {
    return;
  }
  await agent.server.command('agent.session.delete', { session });
  agent.forget(session);
}

async function undo(agent: Agent, turn?: unknown): Promise<unknown> {
  if (!agent.current) {
    throw new Error('there is no session whose edits could be undone');
  }
  await agent.ensureLive(agent.current);
  const done = await agent.server.command<{ turn: number; files: string[]; notCovered: string[] }>('agent.undo', {
    session: agent.current, ...(typeof turn === 'number' && { turn }),
  });
  const rest = done.notCovered.length > 0 ? ` Changed by commands and not undone: ${done.notCovered.join(', ')}.` : '';
  void vscode.window.showInformationMessage(forMessage(`Agent: turn ${done.turn} undone in ${done.files.join(', ')}.${rest}`, 500));
  return done;
}

async function selectProfile(agent: Agent, given?: unknown): Promise<void> {
  let profile = typeof given === 'string' ? given : undefined;
  if (!profile) {
    const { profiles } = await agent.server.command<{ profiles: ProfileInfo[] }>('agent.profiles');
    const picked = await vscode.window.showQuickPick(
      profiles.map((p) => ({ label: p.name, description: [p.provider, p.model].filter(Boolean).join(' '), detail: p.selected ? 'in use for new sessions' : undefined })),
      { title: 'Model Profile for New Sessions' },
    );
    profile = picked?.label;
  }
  if (profile) {
    await agent.server.command('agent.profile.select', { profile });
  }
}

async function check(agent: Agent): Promise<CheckResult[]> {
  const { results } = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: 'Agent: checking the workspace' }, () =>
    agent.server.command<{ results: CheckResult[] }>('agent.check'),
  );
  const say = (r: CheckResult) => {
    const what = r.command.join(' ') || 'the checker';
    switch (r.outcome) {
      case 'found': return `${what} found ${r.findings.length} problem${r.findings.length === 1 ? '' : 's'}`;
      case 'clean': return `${what} found nothing`;
      case 'skipped': return `not checked: ${oneLine(r.text, 160)}`;
      default: return `unchecked, ${what} failed: ${oneLine(r.text, 160)}`;
    }
  };
  const message = forMessage(`Agent: ${results.map(say).join('; ') || 'there is nothing to check'}.`, 1000);
  const open = 'Show Problems';
  const shown = results.every((r) => r.outcome === 'clean')
    ? vscode.window.showInformationMessage(message)
    : vscode.window.showWarningMessage(message, ...(results.some((r) => r.outcome === 'found') ? [open] : []));
  void shown.then((picked) => picked && vscode.commands.executeCommand('workbench.actions.view.problems'));
  return results;
}

/** The folder of the active file, the only one, or the one that the person picks. */
async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const active = vscode.window.activeTextEditor?.document.uri;
  const folder = (active && vscode.workspace.getWorkspaceFolder(active)) ?? (folders.length === 1 ? folders[0] : undefined);
  if (folder) {
    return folder;
  }
  if (folders.length === 0) {
    throw new Error('open a folder first: the agent works in one');
  }
  return vscode.window.showWorkspaceFolderPick({ placeHolder: 'In which folder is the agent to work?' });
}

function sessionOf(target: unknown): string | undefined {
  return target instanceof SessionItem ? target.info.session : typeof target === 'string' ? target : undefined;
}

import * as vscode from 'vscode';
import type { WorkspaceEdit } from 'vscode-languageclient/node';

/**
 * Saves the documents that an applied edit touched, so that what reads the disk
 * next, a checker or a command, sees the edit. Documents that the edit did not touch
 * keep their unsaved changes.
 */
export async function saveTouched(edit: WorkspaceEdit, asUri: (uri: string) => vscode.Uri): Promise<void> {
  const touched = new Set<string>();
  for (const change of edit.documentChanges ?? []) {
    if ('textDocument' in change) {
      touched.add(asUri(change.textDocument.uri).toString());
    } else if (change.kind === 'create') {
      touched.add(asUri(change.uri).toString());
    }
  }
  for (const uri of Object.keys(edit.changes ?? {})) {
    touched.add(asUri(uri).toString());
  }
  const dirty = vscode.workspace.textDocuments.filter((d) => d.isDirty && !d.isUntitled && touched.has(d.uri.toString()));
  await Promise.all(dirty.map((d) => d.save()));
}

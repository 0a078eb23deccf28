/** One setting as VS Code's inspect tells it; undefined members were not set. */
export interface Inspected {
  defaultValue?: unknown;
  [layer: string]: unknown;
}

/** The part of vscode.WorkspaceConfiguration that is needed. */
export interface Settings {
  inspect(key: string): Inspected | undefined;
  get(key: string): unknown;
}

const layers = ['globalValue', 'workspaceValue', 'workspaceFolderValue'];

/**
 * Collects the settings that the person really set, nested as the server reads
 * them. Defaults stay out: they would win over the person's own configuration file,
 * which is a lower layer than the editor's settings.
 */
export function explicitSettings(keys: string[], settings: Settings): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const key of keys) {
    const seen = settings.inspect(key);
    if (seen === undefined || !layers.some((l) => seen[l] !== undefined)) {
      continue;
    }
    const value = settings.get(key);
    if (value === undefined || value === null) {
      continue;
    }
    const path = key.split('.');
    let at = out;
    for (const name of path.slice(0, -1)) {
      at = (at[name] ??= {}) as Record<string, unknown>;
    }
    at[path[path.length - 1]!] = value;
  }
  return out;
}

/** The keys below agentLsp that are the server's, from the extension's manifest. */
export function serverKeys(manifest: unknown): string[] {
  const groups = (manifest as { contributes: { configuration: { properties: object }[] } }).contributes.configuration;
  return groups
    .flatMap((g) => Object.keys(g.properties))
    .map((k) => k.slice('agentLsp.'.length))
    .filter((k) => !k.startsWith('server.') && !k.startsWith('trace.'));
}

// Writes the settings of the server into the manifest, from the schema that the
// server generates of its own configuration. With --check it only compares.
import fs from 'node:fs';

const here = (name) => new URL(name, import.meta.url);
const schema = JSON.parse(fs.readFileSync(here('../../../config/schema.client.json'), 'utf8'));

// A repository must not be able to arm the agent against its owner: what a
// workspace's settings may set is no more than what its .agent-lsp.yaml may, and the
// rest is the person's own. What names programs or places belongs to the machine.
const ofWorkspace = new Set(['checker.enabled', 'checker.off', 'log.level']);
const ofMachine = new Set(['store', 'exec.timeout', 'exec.output', 'exec.keepEnv', 'checker.commands', 'checker.roots', 'checker.timeout']);
const notSettings = new Set(['savesEdits', 'trusted', 'settings']); // the extension says these

export function settings() {
  const out = {};
  const walk = (prefix, properties, about) => {
    for (const [name, s] of Object.entries(properties)) {
      const key = prefix + name;
      if (notSettings.has(key)) continue;
      if (s.type === 'object' && s.properties) {
        walk(key + '.', s.properties, s.description ?? '');
        continue;
      }
      const { description = '', ...rest } = s;
      if (key === 'profiles') rest.default = {}; // the demonstration needs no mention
      if (rest.type === 'array') rest.default ??= [];
      if (rest.type === 'object') rest.default ??= {};
      if (rest.type === 'string') rest.default ??= '';
      if (key === 'prelude') rest.editPresentation = 'multilineText';
      out['agentLsp.' + key] = {
        ...rest,
        scope: ofWorkspace.has(key) ? 'window' : ofMachine.has(key) ? 'machine' : 'application',
        markdownDescription: [description, about].filter(Boolean).join(' ').replace(/</g, '&lt;'),
      };
    }
  };
  walk('', schema.properties, '');
  return out;
}

export const restricted = () => Object.keys(settings()).filter((k) => !ofWorkspace.has(k.slice('agentLsp.'.length)));

const path = here('../package.json');
const manifest = JSON.parse(fs.readFileSync(path, 'utf8'));
const before = JSON.stringify(manifest, null, 2) + '\n';
const group = manifest.contributes.configuration.find((g) => g.title === 'Agent');
group.properties = settings();
manifest.capabilities.untrustedWorkspaces.restrictedConfigurations = ['agentLsp.server.path', ...restricted()];
const after = JSON.stringify(manifest, null, 2) + '\n';
if (process.argv.includes('--check')) {
  if (before !== after) {
    console.error('package.json does not match config/schema.client.json: run npm run settings');
    process.exit(1);
  }
} else if (before !== after) {
  fs.writeFileSync(path, after);
}

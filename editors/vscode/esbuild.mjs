// Bundles the extension: extension.js is what VS Code loads, small enough to cost
// nothing at its start; agent.js is loaded at the first use; webview.js runs in the
// transcript panel.
import fs from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';

const watch = process.argv.includes('--watch');
const common = { bundle: true, minify: !watch, sourcemap: watch ? 'inline' : false, logLevel: 'warning', legalComments: 'none' };
const node = { ...common, platform: 'node', format: 'cjs', target: 'node20', external: ['vscode', './agent.js'] };
const builds = [
  { ...node, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js' },
  { ...node, entryPoints: ['src/start.ts'], outfile: 'dist/agent.js' },
  { ...common, platform: 'browser', format: 'iife', target: 'chrome120', entryPoints: ['src/webview/main.ts'], outfile: 'dist/webview.js' },
  { ...common, entryPoints: ['src/webview/style.css'], outfile: 'dist/webview.css' },
];
if (watch) {
  await Promise.all(builds.map(async (b) => (await esbuild.context(b)).watch()));
} else {
  const made = await Promise.all(builds.map((b) => esbuild.build({ ...b, metafile: true })));
  fs.writeFileSync('dist/NOTICES.txt', notices(made.flatMap((m) => Object.keys(m.metafile.inputs))));
}

/** The licences of the packages that went into the bundles. */
function notices(inputs) {
  const packages = new Set(inputs.map((f) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(f)?.[1]).filter(Boolean));
  return [...packages].sort().map((dir) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
    const file = fs.readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
    return `${name} ${version} (${license})\n\n${file ? fs.readFileSync(path.join(dir, file), 'utf8').trim() : ''}\n`;
  }).join('\n----\n\n');
}

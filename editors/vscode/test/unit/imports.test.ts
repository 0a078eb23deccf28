import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** The modules that a source names, imports of types included. */
function imports(file: string): string[] {
  const text = readFileSync(path.join(src, file), 'utf8');
  return [...text.matchAll(/(?:from|import\(|import) ?'(\.[^']*)'/g)]
    .map((m) => path.relative(src, path.resolve(src, path.dirname(file), `${m[1]}.ts`)))
    .filter((f) => existsSync(path.join(src, f)));
}

/** Circles of modules that import each other, each by the way back to its start. */
function circles(graph: Map<string, string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: string[]) => {
    if (way.includes(file)) {
      found.push([...way.slice(way.indexOf(file)), file].join(' → '));
    } else if (!done.has(file)) {
      for (const next of graph.get(file) ?? []) {
        visit(next, [...way, file]);
      }
      done.add(file);
    }
  };
  [...graph.keys()].forEach((f) => visit(f, []));
  return found;
}

test('no module imports itself by way of others', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts'));
  const graph = new Map(files.map((f) => [f, imports(f)]));
  expect(graph.get('start.ts')).toEqual(['agent.ts', 'commands.ts']);
  expect(graph.get('extension.ts')).toContain('start.ts');
  expect(circles(graph)).toEqual([]);
  expect(circles(new Map([['a', ['b']], ['b', ['c', 'b']], ['c', ['a']]]))).toEqual(['a → b → c → a', 'b → b']);
});

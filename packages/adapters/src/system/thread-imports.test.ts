import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const STORING = new URL('../../../engine/src/storing.ts', import.meta.url);
/** Each thread loads what it imports for itself, at every start. */
const THREADS = {
  '../sqlite/ledger/writer-thread.ts': ['better-sqlite3'],
  '../sqlite/ledger/reader-thread.ts': ['better-sqlite3'],
  '../sqlite/search-index/index-thread.ts': ['better-sqlite3'],
  '../postgres/search-index/index-thread.ts': ['pg'],
  '../bullmq/locks-thread.ts': [],
};

test.each(Object.entries(THREADS))('%s loads nothing that it could do without', (script, packages) => {
  expect(packagesOf(new URL(script, import.meta.url))).toEqual(packages);
});

/** Packages that a file brings with it. Of the engine a thread takes what '@slowwave/engine/storing' has. */
function packagesOf(file: URL): string[] {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (at: URL): void => {
    if (seen.has(at.href)) return;
    seen.add(at.href);
    for (const name of importsOf(readFileSync(at, 'utf8'))) {
      if (name.startsWith('.')) visit(new URL(name, at));
      else if (name === '@slowwave/engine/storing') visit(STORING);
      else if (!name.startsWith('node:')) packages.add(name);
    }
  };
  visit(file);
  return [...packages].sort();
}

/** What is loaded at once: neither types nor what is imported when it is needed. */
const importsOf = (text: string): string[] =>
  [...text.matchAll(/^(?:import|export) (?!type )(?:[^;']*? from )?'([^']+)';/gm)].map(([, name = '']) => name);

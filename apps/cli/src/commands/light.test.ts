import { readFileSync } from 'node:fs';
import { SLOTS } from '@slowwave/engine/cells';
import { expect, it } from 'vitest';
import { cellCommands } from './cells.ts';

/** What takes a third of the time of a command to load, and few commands need. */
const HEAVY = ['engine/src/index.ts', 'adapters/src/assemble/index.ts', 'adapters/src/cells/index.ts'];
const PACKAGES = new URL('../../../../packages/', import.meta.url);

it.each(['./index.ts', '../run.ts'])('%s loads nothing that only some commands need', (file) => {
  const loaded = loadedWith(new URL(file, import.meta.url));
  expect(loaded).toContain(new URL('engine/src/storing.ts', PACKAGES).href);
  expect(HEAVY.filter((path) => loaded.has(new URL(path, PACKAGES).href))).toEqual([]);
});

it('the slots in the description of a move are all there are', () => {
  expect(cellCommands.find(({ name }) => name === 'cells move')?.about).toContain(`0 to ${SLOTS - 1};`);
});

/** Our files that a file brings with it; neither types nor what is imported when it is needed. */
function loadedWith(file: URL, seen = new Set<string>()): ReadonlySet<string> {
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )(?:[^;']*? from )?'([^']+)';/gm);
  for (const [, name = ''] of imports) {
    const at = fileOf(name, file);
    if (at === null || seen.has(at.href)) continue;
    seen.add(at.href);
    loadedWith(at, seen);
  }
  return seen;
}

/** null: of somebody else. */
function fileOf(name: string, importer: URL): URL | null {
  if (name.startsWith('.')) return new URL(name, importer);
  const [, ours, path = ''] = /^@slowwave\/([^/]+)(\/.+)?$/.exec(name) ?? [];
  if (ours === undefined) return null;
  const { exports } = JSON.parse(readFileSync(new URL(`${ours}/package.json`, PACKAGES), 'utf8'));
  return new URL(exports[`.${path}`], new URL(`${ours}/`, PACKAGES));
}

import { readFileSync } from 'node:fs';
import { SLOTS } from '@slowwave/engine/cells';
import { expect, it } from 'vitest';
import { moveToCellCommand } from './cells.ts';

/** What takes a third of the time of a command to load, and few commands need. */
const HEAVY = ['@slowwave/engine', '@slowwave/adapters/assemble', '@slowwave/adapters/cells', '@slowwave/standalone'];

it('all commands are known without what only some of them need', () => {
  const loaded = loadedWith(new URL('./index.ts', import.meta.url));
  expect(loaded.size).toBeGreaterThan(40);
  expect(HEAVY.filter((name) => loaded.has(name))).toEqual([]);
});

it('the slots in the description of a move are all there are', () => {
  expect(moveToCellCommand.about).toContain(`0 to ${SLOTS - 1};`);
});

/** Packages that a file brings with it, and its files do; neither types nor what is imported when it is needed. */
function loadedWith(file: URL, seen = new Set<string>()): ReadonlySet<string> {
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )(?:[^;']*? from )?'([^']+)';/gm);
  for (const [, name = ''] of imports) {
    const at = name.startsWith('.') ? new URL(name, file) : null;
    if (seen.has(at?.href ?? name)) continue;
    seen.add(at?.href ?? name);
    if (at !== null) loadedWith(at, seen);
  }
  return seen;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, ownerKeyOf } from '@slowwave/engine';
import { directoryBook } from '@slowwave/engine/cells';
import { apiAt } from '../api.ts';
import type { Counts } from '../fleet/quiet.ts';
import type { Seen } from './life.ts';
import type { Stage } from './stage.ts';

/** What all cells have together, against what was acknowledged. */
export interface Accounts {
  /** Batches that all cells have: those of owners that left a cell count as removed there. */
  readonly accepted: number;
  readonly gap: number;
  readonly parked: number;
  /** Everything that is not as it should be. */
  readonly misses: readonly string[];
  readonly cells: readonly { readonly cell: string; readonly owners: number; readonly batches: number }[];
}

type CellCounts = Counts & { readonly erased: number };

/** The rows of owners that left are removed in the background, and count until they are. */
const REMOVED_WITHIN_MS = 180_000;
const LOOK_EVERY_MS = 500;

async function countsOfCells({ cells, apiKey }: Stage): Promise<ReadonlyMap<string, CellCounts>> {
  const found = cells.map(async ({ name, url }) => {
    const { batches } = await apiAt(url, apiKey).get<{ batches: CellCounts }>('/v1/stats');
    return [name, batches] as const;
  });
  return new Map(await Promise.all(found));
}

async function untilRemoved(stage: Stage, expected: number): Promise<ReadonlyMap<string, CellCounts>> {
  for (const deadline = Date.now() + REMOVED_WITHIN_MS; ; await sleep(LOOK_EVERY_MS)) {
    const counts = await countsOfCells(stage);
    const left = [...counts.values()].reduce((sum, { accepted, erased }) => sum + accepted - erased, 0);
    if (left === expected || Date.now() > deadline) return counts;
  }
}

/** Reads every cell itself, and every owner through a router. */
export async function accountsOf(stage: Stage, seen: Seen): Promise<Accounts> {
  const countsOf = await untilRemoved(stage, seen.posts);
  const book = directoryBook();
  book.apply(await stage.directory.changes(0));
  const misses: string[] = [];
  const placesOf = new Map<string, string[]>();
  const cells: { cell: string; owners: number; batches: number }[] = [];
  let [accepted, gap, parked] = [0, 0, 0];
  for (const { name, url } of stage.cells) {
    const api = apiAt(url, stage.apiKey);
    const counts = countsOf.get(name);
    if (counts === undefined) continue;
    const owners = await api.all<{ id: string }>('/v1/cell/owners');
    for (const { id } of owners) placesOf.set(id, [...(placesOf.get(id) ?? []), name]);
    const batches = counts.accepted - counts.erased;
    cells.push({ cell: name, owners: owners.length, batches });
    [accepted, gap, parked] = [accepted + batches, gap + Math.abs(counts.gap), parked + counts.parked];
  }
  for (const [id, places] of placesOf) {
    const key = ownerKeyOf(systemTools, { tenant: DEFAULT_TENANT, owner: { kind: 'user', id } });
    const expected = book.cellOf(key);
    if (places.length !== 1 || places[0] !== expected) {
      misses.push(`${id} is in ${places.join(' and ')}; the directory says ${expected}`);
    }
  }
  misses.push(...(await missesOfOwners(stage, seen)));
  return { accepted, gap, parked, misses, cells };
}

/** What owners remember that they did not say once, or do not remember. */
async function missesOfOwners(stage: Stage, seen: Seen): Promise<readonly string[]> {
  const misses: string[] = [];
  const router = apiAt(stage.routers[0]?.url ?? '', stage.apiKey);
  for (const [user, said] of seen.said) {
    const memories = await router.all<{ memory: string }>(`/v1/memories?user_id=${encodeURIComponent(user)}`);
    const kept = memories.map(({ memory }) => memory).sort();
    const lost = said.filter((text) => !kept.includes(text));
    const doubled = kept.filter((text, i) => kept[i + 1] === text);
    if (lost.length > 0) misses.push(`${user} lost ${lost.length}: ${lost[0]}`);
    if (doubled.length > 0) misses.push(`${user} has ${doubled.length} twice: ${doubled[0]}`);
  }
  return misses;
}

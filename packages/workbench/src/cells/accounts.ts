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

/** Reads every cell itself, and every owner through a router. */
export async function accountsOf(stage: Stage, seen: Seen): Promise<Accounts> {
  const book = directoryBook();
  book.apply(await stage.directory.changes(0));
  const misses: string[] = [];
  const placesOf = new Map<string, string[]>();
  const cells: { cell: string; owners: number; batches: number }[] = [];
  let [accepted, gap, parked] = [0, 0, 0];
  for (const { name, url } of stage.cells) {
    const api = apiAt(url, stage.apiKey);
    const counts = (await api.get<{ batches: Counts & { erased: number } }>('/v1/stats')).batches;
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
  const router = apiAt(stage.routers[0]?.url ?? '', stage.apiKey);
  for (const [user, said] of seen.said) {
    const memories = await router.all<{ memory: string }>(`/v1/memories?user_id=${encodeURIComponent(user)}`);
    const kept = memories.map(({ memory }) => memory).sort();
    const lost = said.filter((text) => !kept.includes(text));
    const doubled = kept.filter((text, i) => kept[i + 1] === text);
    if (lost.length > 0) misses.push(`${user} lost ${lost.length}: ${lost[0]}`);
    if (doubled.length > 0) misses.push(`${user} has ${doubled.length} twice: ${doubled[0]}`);
  }
  return { accepted, gap, parked, misses, cells };
}

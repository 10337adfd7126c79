import type { LaneId, Mark, MemoryChange, SaidId, SaidIdStore, TenantId } from '@slowwave/engine';
import { saidIds } from '@slowwave/engine/storing';
import { lookup, read, storeOf } from './access.ts';
import { isStanding } from './page.ts';
import { all, run, type Script } from './script.ts';

export const saidIdStore = storeOf<SaidIdStore>('saidIds', {
  of: read(function* (tenant: TenantId, memoryId: string) {
    const rows = yield* all<IdRow>(SELECT_IDS, { tenant, memoryId });
    return rows.map(({ kind, id, first, last, beyond }) => ({ kind, id, first, last, indexed: beyond === null }));
  }),
  beyondIndex: lookup(function* (lane: LaneId, ids: readonly Pick<SaidId, 'kind' | 'id'>[]) {
    const found: (Pick<SaidId, 'kind' | 'id'> & { readonly memoryId: string })[] = [];
    for (const [kind, some] of Map.groupBy(ids, (one) => one.kind)) {
      const rows = yield* all<IdRow>(SELECT_BEYOND, { lane, kind, ids: some.map(({ id }) => id) });
      found.push(...rows.map(({ memory_id: memoryId, id }) => ({ kind, id, memoryId })));
    }
    return found;
  }),
});

const SELECT_IDS = `
  SELECT i.* FROM memories m JOIN memory_ids i ON i.memory_id = m.id
  WHERE m.id = @memoryId AND m.tenant = @tenant AND ${isStanding('m.lane')}`;

const SELECT_BEYOND = 'SELECT memory_id, id FROM memory_ids WHERE beyond = @lane AND kind = @kind AND id IN :ids';

interface IdRow {
  readonly memory_id: string;
  readonly kind: SaidId['kind'];
  readonly id: string;
  readonly first: number;
  readonly last: number;
  readonly beyond: string | null;
}

/** Those that are new, or were said earlier, later or less often than was known. */
export function writtenIds(change: MemoryChange): readonly IdRow[] {
  const before = new Set(idsBefore(change).map((row) => JSON.stringify(row)));
  return rowsOf(change, change.memory.timeline).filter((row) => !before.has(JSON.stringify(row)));
}

/** Under which nothing counts any more. */
export function takeIds(changes: readonly MemoryChange[]): readonly Script<unknown>[] {
  const rows = changes.flatMap((change) => {
    const kept = new Set(saidIds(change.memory).map(nameOf));
    const taken = idsBefore(change).filter((row) => !kept.has(nameOf(row)));
    return taken.map(({ memory_id, kind, id }) => ({ memory_id, kind, id }));
  });
  return rows.length === 0 ? [] : [run(TAKE_IDS, { rows })];
}

const TAKE_IDS = `
  DELETE FROM memory_ids
  WHERE (memory_id, kind, id) IN (SELECT value ->> 'memory_id', value ->> 'kind', value ->> 'id' FROM :rows AS r)`;

const nameOf = ({ kind, id }: Pick<SaidId, 'kind' | 'id'>): string => `${kind} ${id}`;

/** The rows that are stored: they follow from what was said until the revision that the change expects. */
const idsBefore = (change: MemoryChange): readonly IdRow[] =>
  rowsOf(
    change,
    change.memory.timeline.filter(({ revision }) => revision <= change.expectedRevision),
  );

const rowsOf = ({ memory: { id: memory_id, lane } }: MemoryChange, timeline: readonly Mark[]): readonly IdRow[] =>
  saidIds({ timeline }).map(({ indexed, ...said }) => ({ memory_id, ...said, beyond: indexed ? null : lane }));

export const REPLACE_ID = `ON CONFLICT (memory_id, kind, id) DO UPDATE SET
  first = excluded.first, last = excluded.last, beyond = excluded.beyond`;

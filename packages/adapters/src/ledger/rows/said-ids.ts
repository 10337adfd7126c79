import type { Mark, MemoryChange, SaidId, TenantId } from '@slowwave/engine';
import { saidIds } from '@slowwave/engine/storing';
import { run, type Script } from '../script.ts';

export interface IdRow {
  readonly memory_id: string;
  readonly tenant: TenantId;
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

const rowsOf = ({ memory: { id, tenant, lane } }: MemoryChange, timeline: readonly Mark[]): readonly IdRow[] =>
  saidIds({ timeline }).map(({ indexed, ...said }) => ({
    memory_id: id,
    tenant,
    ...said,
    beyond: indexed ? null : lane,
  }));

export const REPLACE_ID = `ON CONFLICT (memory_id, kind, id) DO UPDATE SET
  first = excluded.first, last = excluded.last, beyond = excluded.beyond`;

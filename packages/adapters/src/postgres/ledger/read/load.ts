import type { Memory } from '@slowwave/engine';
import { type MemoryRow, memoryFrom, SELECT_MEMORIES, type VersionRow } from '../../../ledger/rows/memory.ts';
import type { Params, Sql } from '../sql.ts';

/** The columns of a version, all null for a memory without any. */
type Versioned = MemoryRow & (VersionRow | { readonly [Name in keyof VersionRow]: null });

/**
 * Memories with all their versions, in the order of `order` (columns of `found`). One statement, so that both are of
 * one moment.
 */
export async function loadMemories(
  sql: Sql,
  { condition, limit = '', order }: { condition: string; limit?: string; order: string },
  params: Params,
): Promise<readonly Memory[]> {
  const text = `
    WITH found AS (${SELECT_MEMORIES} ${condition} ${limit})
    SELECT found.*, v.* FROM found LEFT JOIN versions v ON v.memory_id = found.id ORDER BY ${order}, v.number`;
  const rows = await sql.all<Versioned>(text, params);
  return [...Map.groupBy(rows, (row) => row.id).values()].flatMap(memoryOf);
}

function memoryOf(rows: readonly Versioned[]): Memory[] {
  const [memory] = rows;
  if (memory === undefined) return [];
  return [
    memoryFrom(
      memory,
      rows.filter((row) => row.memory_id !== null),
    ),
  ];
}

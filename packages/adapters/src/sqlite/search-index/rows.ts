import type { Head } from './heads.ts';
import { HeadReader } from './heads.ts';
import { type KeptPoint, type PackedRow, packRow, pointsIn } from './packed-row.ts';
import { termKey } from './record.ts';
import { BLOCK_SLOTS, blockOf, type Place, SLOTS } from './tables.ts';

/** A row of a table of points. */
export interface StoredRow extends PackedRow {
  readonly row: number;
  readonly heads: Buffer;
  readonly shown: Buffer;
  readonly records: Buffer;
}

/** What a version of a memory is called. */
interface Name {
  readonly memoryId: string;
  readonly version: number;
}

/** Where the slot of a point stands in `names`, and which it is; null: it has none, and this is where it would stand. */
export interface Named {
  readonly row: number;
  readonly slot: number | null;
}

/** By the hash of a name, and from there on to the first that has it; `headOf` reads what one is called. */
export function namedIn(
  { sql, tables: { names } }: Place,
  owner: number,
  { name, headOf }: { name: Name; headOf: (slot: number) => Name | null },
): Named {
  const hash = hashOf(name);
  for (let next = 0; next < SLOTS; next += 1) {
    const row = owner * SLOTS + ((hash + next) % SLOTS);
    const slot = sql.get<{ slot: number }>(`SELECT slot FROM ${names} WHERE row = @row`, { row })?.slot ?? null;
    if (slot === null) return { row, slot };
    const head = headOf(slot);
    if (head?.memoryId === name.memoryId && head.version === name.version) return { row, slot };
  }
  throw new Error('an owner has as many names as there may be');
}

/** Of a name: 24 bits. */
export const hashOf = ({ memoryId, version }: Name): number => termKey(`${memoryId}/${version}`).low % SLOTS;

/** The head of a point, wherever it is; null: nowhere. */
export function headIn({ sql, tables }: Place, row: number): Head | null {
  for (const [table, at] of [
    [tables.loose, row],
    [tables.blocks, blockOf(row)],
  ] as const) {
    const found = sql.get<Pick<StoredRow, 'heads' | 'change'>>(`SELECT change, heads FROM ${table} WHERE row = @at`, {
      at,
    });
    const reader = new HeadReader(found?.heads ?? NONE, { first: at % SLOTS, change: found?.change ?? 0 });
    while (reader.next()) if (reader.slot === row % SLOTS) return reader.head;
  }
  return null;
}

const NONE = new Uint8Array();

/** The points of the block that begins in a row as they are now, by their slots. */
export function pointsOfBlock({ sql, tables }: Place, first: number): Map<number, KeptPoint> {
  const columns = 'row, change, heads, shown, records';
  const rows = [
    ...sql.all<StoredRow>(`SELECT ${columns} FROM ${tables.blocks} WHERE row = @first`, { first }),
    ...sql.all<StoredRow>(`SELECT ${columns} FROM ${tables.loose} WHERE row BETWEEN @first AND @last`, {
      first,
      last: first + BLOCK_SLOTS - 1,
    }),
  ];
  // What is loose is newer than what its block has of it.
  return new Map(
    rows.flatMap(({ row, ...packed }) => pointsIn(packed, row % SLOTS).map((point) => [point.head.slot, point])),
  );
}

export function putRow({ sql }: Place, table: string, { row, points }: { row: number; points: readonly KeptPoint[] }) {
  const { change, heads, shown, records } = packRow(points, row % SLOTS);
  sql.run(`INSERT OR REPLACE INTO ${table} (row, change, heads, shown, records) VALUES (?, ?, ?, ?, ?)`, [
    ...[row, change],
    ...([heads, shown, records] as Buffer[]),
  ]);
}

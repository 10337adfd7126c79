import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { OWNER_NAMED, ownerKey } from './format.ts';
import { bytesOf, type OwnerRow, type OwnerTable, tableOf } from './owner-table.ts';

export interface OwnerCache {
  /** The owner's points as the current snapshot has them; null: there are none. Call it inside a transaction. */
  tableOf(of: Owned): OwnerTable | null;
  drop(of: Owned): void;
}

type Owned = Pick<IndexQuery, 'tenant' | 'owner' | 'lane' | 'shelf'>;

/**
 * Owners of which it is remembered that they were asked about. Who comes once among thousands is not kept: its bytes would
 * push out those of others, and be thrown away when they are old, for which the thread would stand still.
 */
const ASKED_MAX = 256;

/**
 * Keeps owners from their second question on, those that were asked about last, up to so many bytes. Before a table is
 * used its count of changes is compared with the file's, so that the writes of other threads and processes are seen.
 */
export function ownerCache(sql: Sql, { bytes }: { bytes: number }): OwnerCache {
  const tables = new Map<string, OwnerTable>(); // least recently used first
  const asked = new Set<string>(); // the same
  let total = 0;
  let schema: number | null = null;

  // An index that was built anew has taken over: its owners have numbers of their own.
  const forgetReplaced = (): void => {
    const current = sql.get<{ schema_version: number }>(SCHEMA_VERSION)?.schema_version ?? null;
    if (current !== schema) for (const name of [...tables.keys()]) forget(name);
    schema = current;
  };
  const forget = (name: string): void => {
    const table = tables.get(name);
    if (table !== undefined) total -= bytesOf(table);
    tables.delete(name);
  };
  const wasAsked = (name: string): boolean => {
    const before = asked.delete(name);
    asked.add(name);
    for (const oldest of asked) if (asked.size > ASKED_MAX) asked.delete(oldest);
    return before;
  };
  const keep = (name: string, table: OwnerTable): void => {
    if (!wasAsked(name)) return;
    tables.set(name, table);
    total += bytesOf(table);
    for (const oldest of tables.keys()) {
      if (total <= bytes) return;
      forget(oldest);
    }
  };

  return {
    drop: (of) => forget(nameOf(of)),
    tableOf: (of) => {
      forgetReplaced();
      const name = nameOf(of);
      const owner = sql.get<OwnerRow>(SELECT_OWNER, ownerKey(of));
      const known = tables.get(name) ?? null;
      forget(name);
      if (owner === null) return null;
      const fits = known?.owner.number === owner.number;
      const table = fits && known.owner.changes === owner.changes ? known : tableOf(sql, owner, fits ? known : null);
      keep(name, table);
      return table;
    },
  };
}

const nameOf = (of: Owned): string => JSON.stringify(ownerKey(of));

const SELECT_OWNER = `SELECT number, changes, slots FROM owners WHERE ${OWNER_NAMED}`;

const SCHEMA_VERSION = 'SELECT schema_version FROM pragma_schema_version';

import type { Compaction } from '@slowwave/engine';
import { ERASING } from '../../ledger/erasures.ts';
import type { Transactions } from './access.ts';
import { isLockTimeout, isRefusal } from './errors.ts';
import type { Sql } from './sql.ts';

/**
 * Above this, with its indexes, a table is not rewritten at once: nobody else can use it meanwhile, and it has to be over
 * well within the limit of a statement.
 */
const REWRITE_MAX_BYTES = 64 * 2 ** 20;
/** While a rewrite waits for others, everybody after them waits for it. */
const PATIENCE_MS = 1_000;

/** Every table of the ledger that names an owner or holds what it said. */
const TABLES_OF_LEDGER = [
  ...new Set([
    ...ERASING.flatMap(({ deletes }) => deletes.map(([table]) => table)),
    'lanes',
    'erasures',
    'replays',
    'api_keys',
    'topics',
    'trail',
  ]),
];

/** Rewrites tables that rows were deleted from, so that none of them is left in a page; then the log may go on. */
export async function compactDatabase({ read }: Transactions, tables = TABLES_OF_LEDGER): Promise<Compaction> {
  return read(async (sql) => {
    await sql.run(`SET lock_timeout = ${PATIENCE_MS}`);
    try {
      const tooLarge: string[] = [];
      for (const table of tables) if (!(await rewrite(sql, table))) tooLarge.push(table);
      await checkpoint(sql);
      return { done: true, remains: [...tooLarge.map(leftIn), LOG] };
    } catch (error) {
      if (isLockTimeout(error)) return { done: false, remains: [] };
      throw error;
    } finally {
      await sql.run('RESET lock_timeout');
    }
  });
}

async function rewrite(sql: Sql, table: string): Promise<boolean> {
  const size = await sql.get<{ bytes: number }>('SELECT pg_total_relation_size(@table::regclass) AS bytes', { table });
  if ((size?.bytes ?? 0) > REWRITE_MAX_BYTES) return false;
  await sql.run(`VACUUM (FULL) ${table}`);
  return true;
}

/** Only some users may; for the others the server does it by itself within minutes. */
async function checkpoint(sql: Sql): Promise<void> {
  await sql.run('CHECKPOINT').catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}

const leftIn = (table: string): string =>
  `PostgreSQL: free space inside the pages of ${table}, until it is overwritten or rewritten with VACUUM (FULL)`;

const LOG =
  'PostgreSQL: segments of the write-ahead log until the server has overwritten or removed them, archived ones, and replicas';

import '../../ledger/stores.ts';
import { scriptNamed } from '../../ledger/script.ts';
import type { ThreadCall, ThreadHost } from '../../system/thread-host.ts';
import { compactFile, sameFile } from '../file.ts';
import { append, type PackedAppend, unpacked } from './append.ts';
import { asLedgerError } from './errors.ts';
import { groupCommit, type Handler } from './group-commit.ts';
import { BUSY_TIMEOUT_MS, runScript, type Sql } from './sql.ts';

/** Answers what the writer is asked, on its connection. */
export function writerOf(sql: Sql, path: string): ThreadHost {
  const writer = groupCommit(sql, handlerOf, { requireFile: sameFile(path) });
  return {
    close: writer.close,
    receive: (call) => {
      if (call.method === COMMITTED) return call.answer(writer.committed());
      return call.method === COMPACT ? compact(sql, call) : writer.receive(call);
    },
  };
}

function handlerOf(name: string): Handler | undefined {
  if (name === APPEND) return (sql, input) => append(sql, unpacked(input as PackedAppend));
  const script = scriptNamed(name);
  return script && ((sql, input) => runScript(sql, script(input as never)));
}

/** Messages are taken one by one and groups end before the next: no transaction is open here. */
function compact(sql: Sql, call: ThreadCall): void {
  try {
    call.answer(compactFile(sql, { busyMs: BUSY_TIMEOUT_MS }));
  } catch (error) {
    call.fail(asLedgerError(error));
  }
}

/** What the writer thread is started with. */
export interface WriterInit {
  readonly path: string;
  /** The id of the ledger, if the file is new. */
  readonly newLedgerId: string;
}

/** The call that asks how much was committed; answered at once, it touches no row. */
export const COMMITTED = 'committed';

export interface Committed {
  /** Transactions that were committed. */
  readonly commits: number;
  /** Calls that were answered by them. */
  readonly calls: number;
}

/** The call that rewrites the file; it runs between two transactions, and answers with a Compaction. */
export const COMPACT = 'compact';

/** The call that stores a batch. */
export const APPEND = 'append';

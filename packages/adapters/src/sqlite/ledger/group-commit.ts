import type { ThreadCall, ThreadHost } from '../../system/index.ts';
import { asLedgerError, unavailable } from './errors.ts';
import { beginToWrite, type Sql } from './sql.ts';
import type { Committed } from './writer-protocol.ts';

/** So many calls share a commit at most, … */
const GROUP_CALLS_MAX = 256;
/** … or as many as fit in this time: other processes wait for the write lock, and every caller waits for the end. */
const GROUP_MS_MAX = 4;

export type Handler = (sql: Sql, input: unknown) => unknown;

export interface GroupCommit extends ThreadHost {
  committed(): Committed;
}

/**
 * Runs all calls that have arrived in one transaction, each in a savepoint of its own, and answers them once it is
 * committed: one fsync for the group. A call that throws takes back its own rows only.
 */
export function groupCommit(sql: Sql, handlerOf: (method: string) => Handler | undefined): GroupCommit {
  const queue: ThreadCall[] = [];
  let scheduled = false;
  let committed: Committed = { commits: 0, calls: 0 };

  const commitOne = (): void => {
    const calls = runGroup(sql, queue, handlerOf);
    if (calls > 0) committed = { commits: committed.commits + 1, calls: committed.calls + calls };
  };
  const drain = (): void => {
    scheduled = false;
    commitOne();
    if (queue.length > 0) schedule();
  };
  // After the messages that are here already: they join the group.
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(drain);
  };

  return {
    committed: () => committed,
    receive: (call) => {
      queue.push(call);
      schedule();
    },
    close: () => {
      while (queue.length > 0) commitOne();
      sql.db.close();
    },
  };
}

/** What a call that was run will be told once the group is committed. */
interface Ran {
  readonly call: ThreadCall;
  tell(): void;
}

/** Takes a group off the queue, commits it, answers it. Returns how many calls were committed. */
function runGroup(sql: Sql, queue: ThreadCall[], handlerOf: (method: string) => Handler | undefined): number {
  const group: Ran[] = [];
  try {
    beginToWrite(sql);
  } catch (error) {
    // Everything that waited here has waited the busy timeout out.
    failAll(queue.splice(0), error);
    return 0;
  }
  try {
    fillGroup(sql, queue, (call) => group.push(runCall(sql, call, handlerOf(call.method))));
    sql.run('COMMIT');
  } catch (error) {
    if (sql.db.inTransaction) sql.run('ROLLBACK');
    failAll(
      group.map(({ call }) => call),
      error,
    );
    return 0;
  }
  for (const { tell } of group) tell();
  return group.length;
}

function fillGroup(sql: Sql, queue: ThreadCall[], run: (call: ThreadCall) => void): void {
  const end = performance.now() + GROUP_MS_MAX;
  for (let calls = 0; calls < GROUP_CALLS_MAX && performance.now() < end; calls += 1) {
    const call = queue.shift();
    if (call === undefined) return;
    run(call);
    // A full disk can end the whole transaction, not only the call: what ran before is lost with it.
    if (!sql.db.inTransaction) throw new Error('the transaction was ended by the database');
  }
}

function runCall(sql: Sql, call: ThreadCall, handler: Handler | undefined): Ran {
  if (handler === undefined) {
    return { call, tell: () => call.fail(new Error(`the ledger has no write named ${call.method}`)) };
  }
  sql.run('SAVEPOINT one_call');
  try {
    const value = handler(sql, call.args[0]);
    sql.run('RELEASE one_call');
    return { call, tell: () => call.answer(value) };
  } catch (error) {
    if (sql.db.inTransaction) {
      sql.run('ROLLBACK TO one_call');
      sql.run('RELEASE one_call');
    }
    return { call, tell: () => call.fail(asLedgerError(error)) };
  }
}

/** The group was not committed: every member may try again. */
function failAll(calls: readonly ThreadCall[], cause: unknown): void {
  const message = cause instanceof Error ? cause.message : String(cause);
  for (const call of calls) call.fail(unavailable(`the ledger could not commit: ${message}; try again`, cause));
}

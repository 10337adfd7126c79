import { EngineError } from '@slowwave/engine/storing';
import { scriptNamed } from '../../ledger/script.ts';
import type { ThreadCall, ThreadHost } from '../../system/thread-host.ts';
import { asLedgerError, compactFile, sameFile, unavailable } from '../file.ts';
import { append, type PackedAppend, unpacked } from './append.ts';
import { BUSY_TIMEOUT_MS, beginToWrite, closeWritten, runScript, type Sql } from './sql.ts';

import '../../ledger/stores.ts';

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

/** So many calls share a commit at most, … */
export const GROUP_CALLS_MAX = 256;
/** … or as many as fit in this time: other processes wait for the write lock, and every caller waits for the end. */
const GROUP_MS = 4;
/** A group may take as long as the disk took for the one before, so that it waits for half of its time at most; up to this. */
const GROUP_MS_MAX = 16;

export type Handler = (sql: Sql, input: unknown) => unknown;

interface GroupOptions {
  /** Throws where what is written is lost, since the file is gone. */
  readonly requireFile?: () => void;
  /** How long the first group may take. */
  readonly groupMs?: number;
}

interface GroupCommit extends ThreadHost {
  committed(): Committed;
}

/**
 * Runs all calls that have arrived in one transaction and answers them once it is committed: one fsync for the group.
 * When a call throws, the group is run again with a savepoint for each, and the call takes back its own rows only. Not
 * from the beginning: inside a savepoint SQLite copies every page before it changes, which costs more than the change.
 */
export function groupCommit(
  sql: Sql,
  handlerOf: (method: string) => Handler | undefined,
  { requireFile = () => {}, groupMs = GROUP_MS }: GroupOptions = {},
): GroupCommit {
  const queue: ThreadCall[] = [];
  let scheduled = false;
  let committed: Committed = { commits: 0, calls: 0 };
  const pace: Pace = { ms: groupMs };

  const commitOne = (): void => {
    const calls = runGroup({ sql, queue, pace, requireFile }, handlerOf);
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
      closeWritten(sql);
    },
  };
}

/** A call that was run, and how it is answered once the group is committed. */
interface Ran {
  readonly call: ThreadCall;
  answer(): void;
}

/** How long the next group may take until it is committed, in ms. */
interface Pace {
  ms: number;
}

interface Work {
  readonly sql: Sql;
  readonly queue: ThreadCall[];
  readonly pace: Pace;
  readonly requireFile: () => void;
}

/** Runs one call; null when it threw and its rows are still there. */
type Run = (call: ThreadCall) => Ran | null;

/** Takes a group off the queue, commits it, answers it. Returns how many calls were committed. */
function runGroup(work: Work, handlerOf: (method: string) => Handler | undefined): number {
  const together = tryGroup(work, (call) => runTogether(work.sql, call, handlerOf(call.method)));
  if (together !== null) return together;
  return tryGroup(work, (call) => runApart(work.sql, call, handlerOf(call.method))) ?? 0;
}

/** The same; null when a call threw: then nothing has happened, and the group is still on the queue. */
function tryGroup(work: Work, run: Run): number | null {
  const { sql, queue, pace } = work;
  const group: Ran[] = [];
  try {
    beginToWrite(sql);
  } catch (error) {
    // Everything that waited here has waited the busy timeout out.
    failAll(queue.splice(0), error);
    return 0;
  }
  try {
    const all = fillGroup(work, { group, run });
    if (!all) return takeBack(sql);
    const from = performance.now();
    sql.run('COMMIT');
    // After the commit, before anybody is answered: what was committed to a file that is gone was not.
    work.requireFile();
    pace.ms = Math.min(Math.max(GROUP_MS, performance.now() - from), GROUP_MS_MAX);
  } catch (error) {
    takeBack(sql);
    failAll(queue.splice(0, group.length), error);
    return 0;
  }
  queue.splice(0, group.length);
  for (const { answer } of group) answer();
  return group.length;
}

/** A full disk may have ended the transaction already. */
function takeBack(sql: Sql): null {
  if (sql.db.inTransaction) sql.run('ROLLBACK');
  return null;
}

/** Runs calls of the queue and leaves them there. False when one threw and its rows are still there. */
function fillGroup({ sql, queue, pace }: Work, { group, run }: { group: Ran[]; run: Run }): boolean {
  const end = performance.now() + pace.ms;
  for (const call of queue.slice(0, GROUP_CALLS_MAX)) {
    if (performance.now() > end) break;
    const ran = run(call);
    if (ran === null) return false;
    group.push(ran);
    // A full disk can end the whole transaction, not only the call: what ran before is lost with it.
    if (!sql.db.inTransaction) throw new Error('the transaction was ended by the database');
  }
  return true;
}

function runTogether(sql: Sql, call: ThreadCall, handler: Handler | undefined): Ran | null {
  if (handler === undefined) return unknown(call);
  try {
    const value = handler(sql, call.args[0]);
    return { call, answer: () => call.answer(value) };
  } catch {
    return null; // it is run again, and says then what is wrong
  }
}

function runApart(sql: Sql, call: ThreadCall, handler: Handler | undefined): Ran {
  if (handler === undefined) return unknown(call);
  sql.run('SAVEPOINT one_call');
  try {
    const value = handler(sql, call.args[0]);
    sql.run('RELEASE one_call');
    return { call, answer: () => call.answer(value) };
  } catch (error) {
    if (sql.db.inTransaction) {
      sql.run('ROLLBACK TO one_call');
      sql.run('RELEASE one_call');
    }
    return { call, answer: () => call.fail(asLedgerError(error)) };
  }
}

const unknown = (call: ThreadCall): Ran => ({
  call,
  answer: () => call.fail(new Error(`the ledger has no write named ${call.method}`)),
});

/** The group was not committed: every member may try again. */
function failAll(calls: readonly ThreadCall[], cause: unknown): void {
  const message = cause instanceof Error ? cause.message : String(cause);
  const again = unavailable(`the ledger could not commit: ${message}; retry`, cause);
  for (const call of calls) call.fail(cause instanceof EngineError ? cause : again);
}

import { EngineError } from '@slowwave/engine/storing';
import { type Script, together } from '../../ledger/script.ts';
import type { Transactions } from './access.ts';
import { runScript } from './script.ts';

/** Reads that share a transaction: each waits for all of them. */
const TOGETHER_MAX = 16;

interface Waiting {
  /** The script from its beginning. */
  begin(): Script<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Reads of few rows that are asked in the same turn of the event loop go to the server in one piece, as one transaction: what several
 * lanes of a worker ask at once, and what its sweeps ask each second. Each statement sees what was committed before it, as it does alone;
 * snapshots see the moment at which the first of their statements runs, when all of them are asked.
 */
export function sharedReads(read: Transactions['read']): <T>(begin: () => Script<T>) => Promise<T> {
  let waiting: Waiting[] = [];
  const send = (): void => {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += TOGETHER_MAX) void readTogether(read, all.slice(at, at + TOGETHER_MAX));
  };
  return <T>(begin: () => Script<T>) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (waiting.length === 0) setImmediate(send);
    waiting.push({ begin, resolve: resolve as Waiting['resolve'], reject });
    return promise;
  };
}

/** Where one of several fails each is read alone, so that it fails nobody else; a server that is away, it is for all of them. */
async function readTogether(read: Transactions['read'], group: readonly Waiting[]): Promise<void> {
  try {
    const found = await read((sql) => runScript(sql, together(...group.map(({ begin }) => begin()))));
    for (const [i, { resolve }] of group.entries()) resolve(found[i]);
  } catch (error) {
    const isForAll = group.length === 1 || (error instanceof EngineError && error.code === 'ledger_unavailable');
    if (isForAll) for (const { reject } of group) reject(error);
    else await Promise.all(group.map((one) => readTogether(read, [one])));
  }
}

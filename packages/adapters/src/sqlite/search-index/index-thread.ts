import { hostThread, methodHost, type ThreadHost } from '../../system/thread-host.ts';
import { closeWritten, connectToWrite, type Sql } from '../ledger/sql.ts';
import { asIndexError, prepareFile } from './format.ts';
import type { IndexThreadInit } from './protocol.ts';
import { indexReader } from './reader.ts';
import { throwAwayDiscarded } from './tables.ts';
import { indexBuilder, indexWriter } from './writer.ts';

/** A thread of the index: one writes, one reads, so that a search never waits for a disk; one builds a new one. */
hostThread<IndexThreadInit>((init) => orIndexError(init.path, () => setUp(init)));

/**
 * As small as pages can be: blocks have from some hundred bytes to 24,000, and what is left of the last page of each stays empty. Those
 * after the first are full, whatever their size.
 */
const PAGE_BYTES = 512;

/** Both make sure of the file, whoever comes first: neither waits for the other to start. */
function setUp(init: IndexThreadInit): ThreadHost {
  const { role, path, space } = init;
  const sql = connectToWrite(path, PAGE_BYTES);
  prepareFile(sql, space);
  if (role === 'reader') sql.db.pragma('query_only = ON');
  if (role === 'writer') throwAwayDiscarded(sql);
  return host(path, methodsOf(sql, init), () => (role === 'reader' ? sql.db.close() : closeWritten(sql)));
}

function methodsOf(sql: Sql, init: IndexThreadInit): Methods {
  if (init.role === 'reader') return { ...indexReader(sql, init) };
  return init.role === 'writer' ? { ...indexWriter(sql, init.space) } : { ...indexBuilder(sql, init.space) };
}

type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

function host(path: string, methods: Methods, close: () => void): ThreadHost {
  const running = new Set<Promise<unknown>>();
  const guarded = Object.entries(methods).map(([name, method]) => {
    const run = (...args: never[]): Promise<unknown> => {
      const done = orIndexError(path, () => method(...args)).finally(() => running.delete(done));
      running.add(done);
      return done;
    };
    return [name, run] as const;
  });
  return methodHost(Object.fromEntries(guarded), async () => {
    await Promise.allSettled(running);
    close();
  });
}

async function orIndexError<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asIndexError(error, path);
  }
}

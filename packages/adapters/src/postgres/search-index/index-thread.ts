import { hostThread, methodHost, notify } from '../../system/thread-host.ts';
import { connectIndex, type IndexDatabase } from './methods.ts';
import type { CacheOptions } from './search.ts';

export interface IndexThreadInit {
  readonly database: IndexDatabase;
  readonly cache: CacheOptions;
}

/** What is to be logged, where the log is. */
export interface ThreadNotice {
  readonly facts: object;
  readonly message: string;
}

/** The thread of an index in PostgreSQL. */
hostThread<IndexThreadInit>(async ({ database, cache }) => {
  const log = { warn: (facts: object, message: string) => notify({ facts, message } satisfies ThreadNotice) };
  const { close, ...methods } = await connectIndex(database, cache, log);
  return methodHost({ ...methods }, close);
});

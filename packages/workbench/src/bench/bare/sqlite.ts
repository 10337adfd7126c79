import { Worker } from 'node:worker_threads';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import { systemTools } from '@slowwave/adapters/system';
import type { BareWriter, Posted } from './rows.ts';

/** A call to the writer's thread, and its answer. */
export interface Call {
  readonly number: number;
  readonly posted: Posted;
}
export interface Answer {
  readonly number: number;
  readonly id: string;
}

/** The ledger's tables in a file, and one thread that writes to them. */
export async function openBareSqlite(path: string): Promise<BareWriter> {
  await (await openSqliteLedger({ path, tools: systemTools })).close();
  const thread = new Worker(new URL('./sqlite-thread.ts', import.meta.url), { workerData: path });
  const waiting = new Map<number, (id: string) => void>();
  let gathered: Call[] = [];
  let last = 0;
  const post = (): void => {
    thread.postMessage(gathered);
    gathered = [];
  };
  thread.on('message', (answers: readonly Answer[]) => {
    for (const { number, id } of answers) {
      waiting.get(number)?.(id);
      waiting.delete(number);
    }
  });
  return {
    append: (posted) =>
      new Promise((resolve) => {
        last += 1;
        waiting.set(last, resolve);
        if (gathered.length === 0) setImmediate(post);
        gathered.push({ number: last, posted });
      }),
  };
}

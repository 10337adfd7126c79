import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '@slowwave/engine/storing';
import { heldBy, holdFile } from './hold-file.ts';
import { earlierNameOf, IN_PROCESS, namesOf, type QueueServer } from './queue-names.ts';

export interface Lock {
  close(): Promise<void>;
}

const LOCK_FILE = 'standalone.lock';
/** Beside the lock: which queue its holder works from. */
const QUEUE_FILE = 'standalone.queue';

/** Claims a data folder for this process; throws when another living process has it. A crash leaves nothing locked. */
export async function lockFolder(folder: string, queue: QueueServer = null): Promise<Lock> {
  await mkdir(folder, { recursive: true });
  const held = holdFile(join(folder, LOCK_FILE));
  if ('close' in held) {
    await writeFile(join(folder, QUEUE_FILE), (await namesOf(queue)).join('\n'));
    return { close: async () => held.close() };
  }
  throw new EngineError(
    `the data folder ${folder} is in use by process ${held.heldBy}: stop that one, or choose another folder with ` +
      'SLOWWAVE_DATA_DIR (--data-dir). Several processes share a folder only as ingest, worker, search and console on ' +
      'one Redis; see docs/operations.md',
    { code: 'ledger_unavailable', retryable: true },
  );
}

/**
 * Refuses to work on a folder beside a process that works it from another queue: both would take the same lanes, and pay for
 * each turn twice.
 */
export async function requireSameQueue(folder: string, queue: string): Promise<void> {
  const lock = join(folder, LOCK_FILE);
  const holder = heldBy(lock);
  if (holder === null) return;
  const theirs = (await readFile(join(folder, QUEUE_FILE), 'utf8').catch(() => IN_PROCESS)).split('\n');
  const ours = [...(await namesOf(queue)), earlierNameOf(queue)];
  if (ours.some((name) => theirs.includes(name))) return;
  const where = theirs.includes(IN_PROCESS) ? 'a queue of its own, in that process' : 'a queue on another server';
  throw new EngineError(
    `the data folder ${folder} is worked by process ${holder}, which has ${where}: two queues on one ledger would work every ` +
      'turn twice. Stop that process, start it with the REDIS_URL of this one, or choose another folder with SLOWWAVE_DATA_DIR',
    { code: 'ledger_unavailable', retryable: false },
  );
}

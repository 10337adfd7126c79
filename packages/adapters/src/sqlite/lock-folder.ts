import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '@slowwave/engine/storing';
import { holdFile } from './hold-file.ts';

export interface Lock {
  close(): Promise<void>;
}

const LOCK_FILE = 'standalone.lock';

/** Claims a data folder for this process; throws when another living process has it. A crash leaves nothing locked. */
export async function lockFolder(folder: string): Promise<Lock> {
  await mkdir(folder, { recursive: true });
  const held = holdFile(join(folder, LOCK_FILE));
  if ('close' in held) return { close: async () => held.close() };
  throw new EngineError(
    `the data folder ${folder} is in use by process ${held.heldBy}: stop that one, or choose another folder with ` +
      'SLOWWAVE_DATA_DIR (--data-dir). Several processes share a folder only as ingest, worker, search and console on ' +
      'one Redis; see docs/operations.md',
    { code: 'ledger_unavailable', retryable: true },
  );
}

import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { tracked } from '../output.ts';
import { requireLedger } from '../stores.ts';

export const backupCommand: Command = {
  name: 'backup',
  usage: '<folder>',
  on: 'stores',
  summary: 'Copy the ledger as it is now into a new folder, while servers run.',
  about: `The backup contains every batch acknowledged before it began. A SQLite ledger is copied by
SQLite itself, a PostgreSQL ledger by pg_dump. Index and queue need no backup, because they are
rebuilt from the ledger. Segments of sleeping owners are copied from a folder, but not from a bucket.
The folder contains what users said: keep it private.`,
  run: async ({ config, out, cancel, given }) => {
    const folder = resolve(given.words[0] ?? '');
    await requireLedger(config);
    const { backUp } = await import('@slowwave/adapters/backup');
    const manifest = await tracked(out, { title: 'backup', unit: 'bytes' }, ({ update }) =>
      backUp(config, folder, { cancel, onBytes: update }),
    );
    const { batches, memories } = manifest.counts;
    const missing = manifest.segments.store === 'folder' ? manifest.segments.sleeping - manifest.segments.copied : 0;
    const text = `Copied ${batches} batches and ${memories} memories to ${folder}.${saidOfSegments(manifest.segments)}`;
    return { value: { folder, manifest }, text, exit: missing > 0 ? EXIT.findings : EXIT.done };
  },
};

interface Segments {
  readonly sleeping: number;
  readonly copied: number;
  readonly store: 'folder' | 'bucket' | 'unknown';
}

function saidOfSegments({ sleeping, copied, store }: Segments): string {
  if (sleeping === 0) return '';
  if (store === 'bucket')
    return ` ${sleeping} owners sleep in the bucket of SLOWWAVE_COLD_STORE, which the backup does not contain: back up the bucket now.`;
  if (store === 'unknown')
    return ` The backup lacks the segments of ${sleeping} sleeping owners: set SLOWWAVE_COLD_DAYS and SLOWWAVE_COLD_STORE as for the servers.`;
  return copied === sleeping
    ? ` The backup includes the segments of ${sleeping} sleeping owners.`
    : ` Of ${sleeping} sleeping owners, ${sleeping - copied} have no segment: run slowwave doctor.`;
}

export const restoreCommand: Command = {
  name: 'restore',
  usage: '<folder>',
  on: 'stores',
  summary: 'Replace the ledger with a backup. Stop every server first.',
  about: `The backup is checked first. The restored ledger gets a new id, so that an index with later
data is not trusted: index and queue are rebuilt when servers start.`,
  options: {
    force: { value: null, about: 'Replace an existing ledger; its data is lost.' },
  },
  run: async ({ config, out, cancel, given }) => {
    const folder = resolve(given.words[0] ?? '');
    const { restore } = await import('@slowwave/adapters/backup');
    const { manifest, ledgerId, missing } = await tracked(out, { title: 'check', unit: 'bytes' }, ({ update }) =>
      restore(config, folder, { force: given.flag('force'), cancel, onBytes: update }),
    );
    const { batches, memories } = manifest.counts;
    return {
      value: { ledger_id: ledgerId, manifest, missing_segments: missing },
      text:
        `Restored ${batches} batches and ${memories} memories of ${manifest.taken_at}. Start the servers: they rebuild ` +
        `index and queue. Then run slowwave doctor to check the result.${lacking(missing)}`,
      exit: missing.length > 0 ? EXIT.findings : EXIT.done,
    };
  },
};

const SHOWN = 10;

const lacking = (missing: readonly string[]): string =>
  missing.length === 0
    ? ''
    : `\n${missing.length} sleeping owners have no segment in SLOWWAVE_COLD_STORE; restore these objects, or erase their ` +
      `owners: ${missing.slice(0, SHOWN).join(', ')}${missing.length > SHOWN ? ' …' : ''}`;

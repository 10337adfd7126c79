import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import { tracked } from '../output.ts';
import { requireLedger } from '../stores.ts';

export const backupCommand: Command = {
  name: 'backup',
  usage: '<folder>',
  on: 'stores',
  summary: 'Copy the ledger as it is now into a new folder, while servers run.',
  about: `The backup contains every batch acknowledged before it began. A SQLite ledger is copied by
SQLite itself, a PostgreSQL ledger by pg_dump. Index and queue need no backup, because they are
rebuilt from the ledger. The folder contains what users said: keep it private.`,
  run: async ({ config, out, cancel, given }) => {
    const folder = resolve(given.words[0] ?? '');
    await requireLedger(config);
    const { backUp } = await import('@slowwave/adapters/backup');
    const manifest = await tracked(out, { title: 'backup', unit: 'bytes' }, ({ update }) =>
      backUp(config, folder, { cancel, onBytes: update }),
    );
    const { batches, memories } = manifest.counts;
    return { value: { folder, manifest }, text: `Copied ${batches} batches and ${memories} memories to ${folder}.` };
  },
};

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
    const { manifest, ledgerId } = await tracked(out, { title: 'check', unit: 'bytes' }, ({ update }) =>
      restore(config, folder, { force: given.flag('force'), cancel, onBytes: update }),
    );
    const { batches, memories } = manifest.counts;
    return {
      value: { ledger_id: ledgerId, manifest },
      text:
        `Restored ${batches} batches and ${memories} memories of ${manifest.taken_at}. Start the servers: they rebuild ` +
        'index and queue. Then run slowwave doctor to check the result.',
    };
  },
};

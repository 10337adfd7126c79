import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { requireLedger } from '../stores.ts';

export const backupCommand: Command = {
  name: 'backup',
  usage: '<folder>',
  words: [1, 1],
  on: 'stores',
  summary: 'Copy the ledger as it is now into a new folder, while servers run.',
  about: `Everything that was acknowledged before it began is in it. A SQLite ledger is copied by
SQLite itself, one on PostgreSQL dumped by pg_dump. Index and queue need no backup: they are
made from the ledger. The folder holds what users said: nobody else may read it.`,
  options: {},
  run: async ({ config, out, cancel, given }) => {
    const folder = resolve(given.words[0] ?? '');
    await requireLedger(config);
    const { backUp } = await import('@slowwave/adapters/backup');
    const progress = out.progress({ title: 'backup', unit: 'bytes' });
    try {
      const manifest = await backUp(config, folder, { cancel, onBytes: progress.update });
      progress.stop();
      const { batches, memories } = manifest.counts;
      out.answer({ folder, manifest }, `${batches} batches and ${memories} memories are in ${folder}.`);
      return EXIT.done;
    } finally {
      progress.stop();
    }
  },
};

export const restoreCommand: Command = {
  name: 'restore',
  usage: '<folder>',
  words: [1, 1],
  on: 'stores',
  summary: 'Put a backup in the place of the ledger. Every server has to be stopped.',
  about: `The backup is checked first. The ledger gets a new id, so that whatever an index holds of
later times is not believed: index and queue are made anew when servers start.`,
  options: {
    force: { value: null, about: 'Replace the ledger that is there; it is gone then.' },
  },
  run: async ({ config, out, cancel, given }) => {
    const folder = resolve(given.words[0] ?? '');
    const { restore } = await import('@slowwave/adapters/backup');
    const progress = out.progress({ title: 'check', unit: 'bytes' });
    try {
      const how = { force: given.flag('force'), cancel, onBytes: progress.update };
      const { manifest, ledgerId } = await restore(config, folder, how);
      progress.stop();
      const { batches, memories } = manifest.counts;
      out.answer(
        { ledger_id: ledgerId, manifest },
        `${batches} batches and ${memories} memories of ${manifest.taken_at} are back. Start the servers: they make ` +
          'index and queue from them. slowwave doctor tells when all is well.',
      );
      return EXIT.done;
    } finally {
      progress.stop();
    }
  },
};

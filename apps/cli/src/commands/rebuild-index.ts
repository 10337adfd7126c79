import { rebuildOwnIndex } from '@slowwave/adapters/assemble';
import type { RebuildProgress } from '@slowwave/engine';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { Progress } from '../output/progress.ts';
import { withStores } from '../stores.ts';

export const rebuildIndexCommand: Command = {
  name: 'rebuild index',
  usage: '',
  words: [0, 0],
  on: 'stores',
  summary: 'Build the index anew from the ledger, beside the one in use.',
  about: `Works on the stores that the settings name, while servers run: searches use the old
index until the new one is complete. Stopped anywhere and started again, it goes on.

After a change of the embedding model run it with the new settings, then restart all
servers with them.`,
  options: {
    'keep-old': { value: null, about: 'Qdrant: do not delete the collection that was used before.' },
  },
  run: ({ config, out, cancel, given }) =>
    withStores(config, async ({ ledger, embedder, log }) => {
      const began = performance.now();
      const progress = out.progress({ title: 'rebuild index', unit: 'memories' });
      try {
        const total = await ledger.audit.memories();
        const how = { cancel, onProgress: shown(progress, total), keepOld: given.flag('keep-old') };
        const { memories, points, resumed } = await rebuildOwnIndex(config, { ledger, embedder, log }, how);
        progress.stop();
        const ms = Math.round(performance.now() - began);
        const went = resumed ? ' It went on where an earlier try had stopped.' : '';
        out.answer(
          { memories, points, resumed, ms },
          `The index is built anew: ${memories} memories in ${(ms / 1_000).toFixed(1)} s.${went}`,
        );
        return EXIT.done;
      } finally {
        progress.stop();
      }
    }),
};

/** Memories that come meanwhile may be more than there were. */
const shown =
  (progress: Progress, total: number) =>
  ({ pass, memories }: RebuildProgress): void =>
    progress.update(memories, Math.max(total, memories), pass === 'all' ? '' : pass);

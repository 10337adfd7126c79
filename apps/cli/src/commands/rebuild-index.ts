import type { Finding, RebuildProgress, Rebuilt } from '@slowwave/engine';
import type { Call, Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { Progress } from '../output/progress.ts';
import { type Stores, withStores } from '../stores.ts';

export const rebuildIndexCommand: Command = {
  name: 'rebuild index',
  usage: '',
  words: [0, 0],
  on: 'stores',
  summary: 'Rebuild the index from the ledger, next to the one in use.',
  about: `Works on the stores that the settings name, while servers run: searches use the old
index until the new one is complete. Stopped anywhere and started again, it goes on.
In the end it is compared with the ledger; it ends with 3 if they differ.

After a change of the embedding model run it with the new settings, then restart all
servers with them.`,
  options: {
    'no-verify': { value: null, about: 'Do not compare the new index with the ledger at the end.' },
    'keep-old': { value: null, about: 'Qdrant: do not delete the collection that was used before.' },
  },
  run: (call) =>
    withStores(call.config, async (stores) => {
      const began = performance.now();
      const { memories, points, byWords, resumed } = await rebuild(call, stores);
      const findings = call.given.flag('no-verify') ? [] : await verify(call, stores);
      const ms = Math.round(performance.now() - began);
      const went = resumed ? ' It went on where an earlier try had stopped.' : '';
      const text = `The index is built anew: ${memories} memories in ${(ms / 1_000).toFixed(1)} s.${went}`;
      const left = byWords > 0 ? `\n${LEFT.replace('N', String(byWords))}` : '';
      const differs = findings.map(({ what }) => `\nIt differs from the ledger: ${what}. Run it again.`).join('');
      call.out.answer({ memories, points, by_words: byWords, resumed, ms, findings }, text + left + differs);
      return findings.length === 0 ? EXIT.done : EXIT.findings;
    }),
};

const LEFT =
  'N owners are found by their words for now: the embedding model failed on some of their texts. A running worker embeds them.';

async function rebuild({ config, out, cancel, given }: Call, { ledger, embedder, log }: Stores): Promise<Rebuilt> {
  const { rebuildOwnIndex } = await import('@slowwave/adapters/assemble');
  const progress = out.progress({ title: 'rebuild index', unit: 'memories' });
  try {
    const total = await ledger.audit.memories();
    const how = { cancel, onProgress: shown(progress, total), keepOld: given.flag('keep-old') };
    return await rebuildOwnIndex(config, { ledger, embedder, log }, how);
  } finally {
    progress.stop();
  }
}

/** What is different between the new index and the ledger. */
async function verify({ out, cancel }: Call, stores: Stores): Promise<readonly Finding[]> {
  const progress = out.progress({ title: 'verify', unit: 'points' });
  const onProgress = (_check: string, done: number, total: number): void => progress.update(done, total);
  try {
    const { examine } = await import('@slowwave/engine');
    const how = { depth: 'full', only: ['index'], cancel, onProgress } as const;
    return (await examine({ ...stores, index: await stores.index() }, how)).findings;
  } finally {
    progress.stop();
  }
}

/** Memories that come meanwhile may be more than there were. */
const shown =
  (progress: Progress, total: number) =>
  ({ pass, memories }: RebuildProgress): void =>
    progress.update(memories, Math.max(total, memories), pass === 'all' ? '' : pass);

import type { OpenEmbedder } from '@slowwave/adapters/assemble';
import type { Command } from '../command.ts';
import { type Output, tracked } from '../output.ts';
import { quietLog } from '../stores.ts';

const MEGABYTE = 1_000_000;

export const loadEmbedderCommand: Command = {
  name: 'load embedder',
  on: 'stores',
  summary: 'Download and load the embedding model that runs in the process.',
  about: `For SLOWWAVE_EMBEDDING_MODEL=local. The model is downloaded to the data folder, where servers find
it, and tried once. If the command is stopped, run it again to continue. Servers do the same at startup.`,
  run: async ({ config, out }) => {
    const { localModel } = config;
    if (localModel === null) {
      const note = 'the configured embedding model does not run in the process, so there is nothing to load';
      return { value: { fingerprint: null, note }, text: note };
    }
    const { observe, openEmbedder } = await import('@slowwave/adapters/assemble');
    const log = await quietLog(config);
    const observer = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
    const embedder = await openEmbedder(config, log, { meter: observer.meter, models: null });
    try {
      await embedderLoaded(out, embedder.ready);
      const { fingerprint, dimensions } = embedder.documents;
      return { value: { fingerprint, dimensions }, text: `${fingerprint} is loaded and answers.` };
    } finally {
      await embedder.close();
    }
  },
};

/** Waits until the embedder can be asked, and shows how far its download is. */
export const embedderLoaded = (out: Output, ready: OpenEmbedder['ready']): Promise<void> =>
  tracked(out, { title: 'download the embedding model', unit: 'MB' }, ({ update }) =>
    ready((done, total) => update(Math.floor(done / MEGABYTE), Math.ceil(total / MEGABYTE))),
  );

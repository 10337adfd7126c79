import type { LocalThreadInit, LocalThreadMethods } from '@slowwave/adapters/local';
import { hostThread, methodHost } from '@slowwave/adapters/thread-host';
import { loadModel } from './model.ts';

/** A sentence-embedding model in a thread of its own: one call computes for as long as it takes. */
hostThread<LocalThreadInit>(async (init) => {
  const model = await loadModel(init);
  const methods: LocalThreadMethods = { embed: (texts) => model.embed(texts) };
  return methodHost({ ...methods }, () => model.close());
});

import { describeIndexBuild } from './index-build-suite.ts';
import { createMemoryBuild } from './memory-build.ts';
import { createMemoryIndex, emptyIndex } from './memory-index.ts';

describeIndexBuild('in memory', async () => {
  const state = emptyIndex();
  const build = createMemoryBuild(state);
  return { index: createMemoryIndex(state), openBuild: async () => build, close: async () => {} };
});

import { createMemoryIndex } from './memory-index.ts';
import { describeSearchIndex } from './search-index-suite.ts';

describeSearchIndex('in memory', async () => ({ index: createMemoryIndex(), close: async () => {} }));

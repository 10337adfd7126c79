import { beforeAll, describe } from 'vitest';
import { describeErasedAndBack, type ErasedAndBackStores } from './testing/erased-and-back.ts';
import { createMemoryIndex, createMemoryLedger, fixedTools } from './testing/index.ts';

describe('erased and back at once, in memory', () => {
  let stores: ErasedAndBackStores;

  beforeAll(() => {
    stores = { ledger: createMemoryLedger({ tools: fixedTools() }), index: createMemoryIndex() };
  });

  describeErasedAndBack(() => stores);
});

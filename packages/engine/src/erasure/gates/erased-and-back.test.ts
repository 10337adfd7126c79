import {
  createMemoryIndex,
  createMemoryLedger,
  describeErasedAndBack,
  type ErasedAndBackStores,
  fixedTools,
} from '@slowwave/engine-testing';
import { beforeAll, describe } from 'vitest';

describe('erased and back at once, in memory', () => {
  let stores: ErasedAndBackStores;

  beforeAll(() => {
    stores = { ledger: createMemoryLedger({ tools: fixedTools() }), index: createMemoryIndex() };
  });

  describeErasedAndBack(() => stores);
});

import type { GraphStore } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';

/** A ledger that keeps no graph yet: nothing waits, and nothing can be kept. */
export function noGraph(): GraphStore {
  const refuse = async (): Promise<never> => {
    throw new EngineError('this ledger keeps no graph yet', { code: 'internal', retryable: false });
  };
  const nothing = { results: [], nextCursor: null };
  return {
    claim: async () => ({ kind: 'none' }),
    storeAnswer: refuse,
    apply: refuse,
    fail: refuse,
    release: refuse,
    due: async () => [],
    study: async () => null,
    request: async () => null,
    counts: async () => ({ pending: 0, parked: 0 }),
    write: refuse,
    writtenAfter: async () => 0,
    entities: async () => [],
    named: async () => [],
    self: async () => null,
    listEntities: async () => nothing,
    relation: async () => null,
    around: async () => [],
    listRelations: async () => nothing,
    statements: async () => [],
    proposals: async () => [],
    untold: async () => [],
    untoldOf: async () => [],
    told: async () => {},
    refill: async () => 0,
    every: async () => [],
  };
}

import {
  blankedBy,
  type Credited,
  creditChanges,
  isRetracting,
  type LaneId,
  laneOfReceipts,
  liveVersion,
  type MemoryChange,
  type Notice,
  type Receipt,
  type ReceiptStore,
  retractionNotice,
  type TenantId,
} from '@slowwave/engine';
import { pageOf } from './memory-ledger-page.ts';
import { putAgain, type State } from './memory-ledger-state.ts';

export function memoryReceipts(state: State): ReceiptStore {
  const { receipts, credits, lanes, memories } = state;
  const stands = (lane: LaneId): boolean => lanes.get(lane)?.erasure === null;
  const find = (tenant: TenantId, id: string): Receipt | null => {
    const receipt = receipts.get(id);
    return receipt?.tenant === tenant && stands(receipt.lane) ? receipt : null;
  };
  const isLive = (id: string): boolean => {
    const memory = memories.get(id);
    return memory !== undefined && liveVersion(memory) !== null;
  };
  return {
    append: async (given) => {
      const lane = laneOfReceipts(given);
      if (lane === null || !stands(lane)) return;
      for (const receipt of given.filter(({ id }) => !receipts.has(id))) {
        const whole = { ...receipt, outcome: null };
        receipts.set(receipt.id, memoriesIn(receipt).every(isLive) ? whole : { ...whole, ...BLANK });
      }
    },
    get: async (tenant, id) => find(tenant, id),
    ofMemory: async (tenant, memoryId, page) => {
      const lane = memories.get(memoryId)?.lane;
      const rows = [...receipts.values()].filter(
        (one) => one.lane === lane && find(tenant, one.id) !== null && memoriesIn(one).includes(memoryId),
      );
      return pageOf(rows, ({ at, id }) => ({ order: at, id }), page);
    },
    judge: async (tenant, id, { outcome, now }) => {
      const before = find(tenant, id);
      if (before === null || before.outcome === outcome) return before;
      const after = { ...before, outcome };
      receipts.set(id, after);
      for (const change of creditChanges(before, after).filter(({ memoryId }) => memories.has(memoryId))) {
        const key = `${change.memoryId} ${change.version}`;
        const { good, bad } = credits.get(key) ?? { good: 0, bad: 0 };
        credits.set(key, { ...change, good: good + change.good, bad: bad + change.bad, at: now });
        const memory = memories.get(change.memoryId);
        if (memory !== undefined) putAgain(state, memory);
      }
      return after;
    },
    credits: async (ids) => creditsOf(state, ids),
    drop: async (before, limit) => {
      const old = [...receipts.values()].filter(({ at }) => at < before).slice(0, limit);
      for (const { id } of old) receipts.delete(id);
      return old.length;
    },
  };
}

export const creditsOf = ({ credits }: State, memoryIds: readonly string[]): readonly Credited[] =>
  [...credits.values()].filter(({ memoryId }) => memoryIds.includes(memoryId));

const memoriesIn = ({ told }: Pick<Receipt, 'told'>): readonly string[] =>
  told.flatMap((one) => (one.kind === 'memory' ? [one.id] : []));

const BLANK = { question: null, filters: null } as const;

export function blankQuestions({ receipts }: State, changes: readonly MemoryChange[]): void {
  for (const [lane, memoryIds] of blankedBy(changes)) {
    for (const [id, receipt] of receipts) {
      const told = memoryIds === null || memoriesIn(receipt).some((one) => memoryIds.includes(one));
      if (receipt.lane === lane && told) receipts.set(id, { ...receipt, ...BLANK });
    }
  }
}

/** Of receipts that told what no longer holds. */
export function retractionsOf({ receipts }: State, change: MemoryChange): readonly Notice[] {
  if (!isRetracting(change)) return [];
  const newest = [...receipts.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const told = newest.flatMap(({ id, told: all }) =>
    all.flatMap((one) =>
      one.kind === 'memory' && one.id === change.memory.id ? [{ receipt: id, version: one.version }] : [],
    ),
  );
  return retractionNotice(change, told);
}

/** Receipts of a lane that is being erased. */
export function takeReceipts({ receipts }: State, lane: LaneId, limit: number): number {
  const gone = [...receipts.values()].filter((one) => one.lane === lane).slice(0, limit);
  for (const { id } of gone) receipts.delete(id);
  return gone.length;
}

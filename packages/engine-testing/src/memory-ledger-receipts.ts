import {
  blankedBy,
  type Credited,
  creditChanges,
  type FoldedRelation,
  isRetracting,
  type LaneId,
  LOOKED_FOR_MAX,
  laneOfReceipts,
  liveVersion,
  type MemoryChange,
  type Notice,
  type Owner,
  type Receipt,
  type ReceiptStore,
  relationNotice,
  retractionNotice,
  type TenantId,
} from '@slowwave/engine';
import { pageOf } from './memory-ledger-page.ts';
import { putAgain, type State } from './memory-ledger-state.ts';
import { notifyWebhooks } from './memory-ledger-webhooks.ts';

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
  const isSaid = (id: string): boolean => state.graph.relations.get(id)?.counts === true;
  return {
    append: async (given) => {
      const lane = laneOfReceipts(given);
      if (lane === null || !stands(lane)) return;
      for (const receipt of given.filter(({ id }) => !receipts.has(id))) {
        const whole = { ...receipt, outcome: null };
        const stands = memoriesIn(receipt).every(isLive) && relationsIn(receipt).every(isSaid);
        receipts.set(receipt.id, stands ? whole : { ...whole, ...BLANK });
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
    asked: async (limit) =>
      [...receipts.values()]
        .filter(({ lane, question }) => question !== null && stands(lane))
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit),
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
        const sleep = state.sleeps.get(before.lane);
        if (sleep !== undefined)
          state.sleeps.set(before.lane, { ...sleep, nextAt: Math.min(sleep.nextAt ?? now, now) });
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

const relationsIn = ({ told }: Pick<Receipt, 'told'>): readonly string[] =>
  told.flatMap((one) => (one.kind === 'relation' ? [one.id] : []));

const BLANK = { question: null, filters: null } as const;

export function blankQuestions(state: State, changes: readonly MemoryChange[]): void {
  for (const [lane, memoryIds] of blankedBy(changes)) blankAnyOf(state, lane, memoryIds);
}

/** null: all questions of the lane. */
function blankAnyOf({ receipts }: State, lane: LaneId, ids: readonly string[] | null): void {
  for (const [id, receipt] of receipts) {
    const told = ids === null || receipt.told.some((one) => ids.includes(one.id));
    if (receipt.lane === lane && told) receipts.set(id, { ...receipt, ...BLANK });
  }
}

/** Relations that are no longer so, in the questions of answers that told them and to webhooks. */
export function withdrawRelations(
  state: State,
  of: { readonly tenant: TenantId; readonly lane: LaneId; readonly owner: Owner },
  lost: readonly FoldedRelation[],
): void {
  const gone = lost.filter(({ counts }) => !counts).map(({ id }) => id);
  if (gone.length > 0) blankAnyOf(state, of.lane, gone.length > LOOKED_FOR_MAX ? null : gone);
  const newest = newestOf(state);
  const tellers = (id: string): string[] =>
    newest.filter((receipt) => relationsIn(receipt).includes(id)).map((receipt) => receipt.id);
  notifyWebhooks(
    state,
    of.tenant,
    lost.flatMap((relation) => relationNotice(relation, of, tellers(relation.id))),
  );
}

const newestOf = ({ receipts }: State): readonly Receipt[] =>
  [...receipts.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));

/** Of receipts that told what no longer holds. */
export function retractionsOf(state: State, change: MemoryChange): readonly Notice[] {
  if (!isRetracting(change)) return [];
  const told = newestOf(state).flatMap(({ id, told: all }) =>
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

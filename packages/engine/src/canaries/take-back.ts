import { addSpent, type Canary, NOTHING_SPENT, type Spent } from '../ports/ledger/canaries.ts';
import { type Ledger, slicesOf } from '../ports/ledger/ledger.ts';
import { type Decision, livesTouchedBy, takeBack, takenBack, type UndoDeps } from '../undo/undo.ts';
import type { LaneId } from '../words.ts';

/** Consolidations that are undone in one transaction. */
const SLICE = 20;

/**
 * Undoes what a canary has done in a lane that is held, newest first, and lets the same batches wait again at their old
 * positions: slice by slice, each in one transaction, so that another worker goes on wherever this one stopped. What people
 * wrote or approved stays. false: retention has removed what would be needed, and the lane stays as it is.
 */
export async function takeBackLane(deps: UndoDeps, canary: Canary, lane: LaneId): Promise<boolean> {
  const { ledger, tools } = deps;
  if (!(await isWhole(deps, canary, lane))) return false;
  for (;;) {
    const { consolidations, parked } = await ledger.canaries.work(canary.id, lane, SLICE);
    if (parked.length > 0) await ledger.canaries.replay(canary.id, lane, { batchIds: parked, now: tools.now() });
    if (consolidations.length === 0) return true;
    const ids = consolidations.map(({ id }) => id);
    if (!(await takeBackSlice(deps, canary, { lane, ids }))) return false;
  }
}

/** Whether every batch that would be undone can be consolidated again. */
async function isWhole({ ledger }: UndoDeps, { id, tenant }: Canary, lane: LaneId): Promise<boolean> {
  const { consolidations, parked } = await ledger.canaries.work(id, lane, ALL);
  const batchIds = [...parked, ...consolidations.flatMap((one) => one.batchIds)];
  return (await ledger.retention.withoutMessages(tenant, batchIds)).length === 0;
}

/** More than a lane consolidates while a canary runs. */
const ALL = 100_000;

interface Slice {
  readonly lane: LaneId;
  /** Newest first. */
  readonly ids: readonly string[];
}

async function takeBackSlice(deps: UndoDeps, canary: Canary, slice: Slice): Promise<boolean> {
  const { ledger } = deps;
  const expected = await spentOn(ledger, slice.ids);
  const undos: Ledger['undos'] = {
    ...ledger.undos,
    write: (_, undoing) => ledger.canaries.takeBack(canary.id, undoing, expected),
  };
  const writing = { ...deps, ledger: { ...ledger, undos } };
  const result = await takeBack(writing, { tenant: canary.tenant, dryRun: false }, () => decide(ledger, canary, slice));
  // Others are changing the same memories, or the lane is being erased: it is looked at again.
  if (result.kind === 'conflict' || result.kind === 'not_found') throw new Error(`lane ${slice.lane} has changed`);
  return result.kind === 'done';
}

async function decide(ledger: Ledger, { id, tenant }: Canary, { lane, ids }: Slice): Promise<Decision> {
  const owner = (await ledger.lanes.get(lane))?.owner;
  if (owner === undefined) throw new Error(`lane ${lane} is gone`);
  const earlier = await ledger.undos.ofLane(lane);
  const lives = await livesTouchedBy(ledger, tenant, ids);
  const undone = new Set(ids);
  return {
    lane,
    earlier,
    owner,
    what: { kindOfUndo: 'undo', consolidations: ids, undos: [], to: null },
    lives: takenBack(
      lives,
      ({ consolidationId, actor }) => actor === 'consolidation' && undone.has(consolidationId ?? ''),
    ),
    statements: 0,
    dependents: [],
    keepsReviews: true,
    actor: 'undo',
    reason: `canary ${id} was undone`,
  };
}

/** What consolidations have asked of models, in the tenant's prices. Stored answers that were taken again cost nothing. */
export async function spentOn(ledger: Ledger, ids: readonly string[]): Promise<Spent> {
  let spent = NOTHING_SPENT;
  for (const id of ids) {
    const plan = await ledger.thoughts.plan(id);
    if (plan === null) continue;
    const { calls, promptTokens, completionTokens } = plan.usage;
    spent = addSpent(spent, { calls, tokens: promptTokens + completionTokens, cost: plan.cost });
  }
  return spent;
}

interface UndoEstimate {
  readonly owners: number;
  readonly consolidations: number;
  readonly batches: number;
  readonly expected: Spent;
}

/** Owners that are looked at for an estimate; of more it is worked out from these. */
const SAMPLE = 200;

/** What an undo would do, going by what its consolidations have cost the first time. */
export async function estimateUndo(ledger: Ledger, { id }: Canary): Promise<UndoEstimate> {
  const lanes = await lanesTouched(ledger, id);
  const sample = lanes.slice(0, SAMPLE);
  let found: UndoEstimate = { owners: 0, consolidations: 0, batches: 0, expected: NOTHING_SPENT };
  for (const lane of sample) found = added(found, await estimateLane(ledger, id, lane));
  const times = sample.length === 0 ? 1 : lanes.length / sample.length;
  const scaled = (n: number): number => Math.round(n * times);
  const { calls, tokens, cost } = found.expected;
  return {
    owners: scaled(found.owners),
    consolidations: scaled(found.consolidations),
    batches: scaled(found.batches),
    expected: { calls: scaled(calls), tokens: scaled(tokens), cost: cost === null ? null : cost * times },
  };
}

async function lanesTouched(ledger: Ledger, canary: string): Promise<readonly LaneId[]> {
  const lanes: LaneId[] = [];
  const read = (after: LaneId | null, limit: number) => ledger.canaries.touched(canary, { after, limit });
  for await (const slice of slicesOf(read)) lanes.push(...slice);
  return lanes;
}

const added = (a: UndoEstimate, b: UndoEstimate): UndoEstimate => ({
  owners: a.owners + b.owners,
  consolidations: a.consolidations + b.consolidations,
  batches: a.batches + b.batches,
  expected: addSpent(a.expected, b.expected),
});

/** The same of one lane. */
export async function estimateLane(ledger: Ledger, canary: string, lane: LaneId): Promise<UndoEstimate> {
  const { consolidations, parked } = await ledger.canaries.work(canary, lane, ALL);
  const batches = parked.length + consolidations.flatMap(({ batchIds }) => batchIds).length;
  return {
    owners: batches > 0 ? 1 : 0,
    consolidations: consolidations.length,
    batches,
    expected: await spentOn(
      ledger,
      consolidations.map(({ id }) => id),
    ),
  };
}

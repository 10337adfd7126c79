import type { LaneId, Ledger, Nudge, Tools } from '@slowwave/engine';

/** Parked batches of one lane replayed at a time; more than any lane should ever have. */
const BATCHES_MAX = 1_000;

/** The parked batches of one lane wait again. */
export const replayLane =
  ({ ledger, tools, nudge }: { ledger: Ledger; tools: Tools; nudge(nudges: readonly Nudge[]): Promise<void> }) =>
  async (id: LaneId): Promise<number> => {
    const lane = await ledger.lanes.get(id);
    if (lane === null) return 0;
    const parked = await ledger.batches.parked(lane.tenant, { lane: id }, BATCHES_MAX);
    const ids = parked.map((batch) => batch.id);
    const { replayed, nudges } = await ledger.batches.replay(lane.tenant, ids, tools.now());
    await nudge(nudges);
    return replayed.length;
  };

import { type LaneId, type ReplayDeps, startReplay } from '@slowwave/engine';

/** The parked batches of one lane wait again, by a replay as any other. */
export const replayLane =
  (deps: ReplayDeps) =>
  async (id: LaneId): Promise<number> => {
    const lane = await deps.ledger.lanes.get(id);
    if (lane === null) return 0;
    const filter = { states: ['parked'], lane: id } as const;
    const { matched } = await deps.ledger.replays.match(lane.tenant, filter, 0);
    if (matched > 0) await startReplay(deps, { tenant: lane.tenant, filter, changes: null, key: null });
    return matched;
  };

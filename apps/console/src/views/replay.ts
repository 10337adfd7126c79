import type { ReplayView } from '@slowwave/contracts';
import {
  type Batch,
  failureView,
  isoOf,
  isoOrNull,
  type JsonObject,
  type Ledger,
  type Replay,
  scopeView,
} from '@slowwave/engine';

export const replaySummary = (replay: Replay) => ({
  id: replay.id,
  state: replay.state,
  filter: filterView(replay),
  matched: replay.matched,
  created_at: isoOf(replay.createdAt),
  finished_at: isoOrNull(replay.finishedAt),
});

/** A replay with what has become of its batches so far. */
export async function replayProgress({ ledger }: { ledger: Ledger }, replay: Replay): Promise<ReplayView> {
  const {
    pending = 0,
    consolidating = 0,
    consolidated = 0,
    empty = 0,
    parked = 0,
    undone = 0,
  } = await ledger.replays.states(replay.id);
  const waiting = pending + consolidating;
  return {
    ...replaySummary(replay),
    replayed: waiting + consolidated + empty + parked + undone,
    waiting,
    consolidated: consolidated + empty,
    parked,
    waiting_for: waiting === 0 ? null : await waitingFor(ledger, replay),
  };
}

/** Batches looked at for what they wait for: of the oldest, those that are through stand first. */
const LOOKED_AT_MAX = 1_000;

async function waitingFor(ledger: Ledger, replay: Replay) {
  const batches = await ledger.replays.batches(replay.id, LOOKED_AT_MAX);
  const held = batches.find(({ state, failure }) => state === 'consolidating' && failure !== null);
  return failureView(held?.failure ?? null);
}

export const rehearsalView = ({ matched, batches }: { matched: number; batches: readonly Batch[] }) => ({
  dry_run: true as const,
  matched,
  sample: batches.map((batch) => ({
    id: batch.id,
    ...scopeView(batch.scope),
    state: batch.state,
    error: failureView(batch.failure),
    accepted_at: isoOf(batch.acceptedAt),
  })),
});

function filterView({ filter }: Replay): JsonObject {
  const { states, ids, lane, userId, errorCode, since, until } = filter;
  return {
    state: states.join(', '),
    ...(ids !== undefined && { batch_ids: [...ids] }),
    ...(lane !== undefined && { lane }),
    ...(userId !== undefined && { user_id: userId }),
    ...(errorCode !== undefined && { error_code: errorCode }),
    ...(since !== undefined && { since: isoOf(since) }),
    ...(until !== undefined && { until: isoOf(until) }),
  };
}

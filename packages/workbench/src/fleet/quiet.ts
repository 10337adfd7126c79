import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, ServerError } from '../api.ts';

/** Batches by state, as GET /v1/stats counts them. */
export type Counts = Readonly<
  Record<'accepted' | 'pending' | 'consolidating' | 'consolidated' | 'parked' | 'gap', number>
>;

const LOOK_AGAIN_MS = 250;

export const countsOf = async (api: Api): Promise<Counts> => (await api.get<{ batches: Counts }>('/v1/stats')).batches;

interface Looking {
  readonly withinMs: number;
  readonly everyMs?: number;
  readonly onCounts?: (counts: Counts) => void;
}

/** Waits until no batch is under way. */
export async function untilQuiet(
  api: Api,
  { withinMs, everyMs = LOOK_AGAIN_MS, onCounts = () => {} }: Looking,
): Promise<void> {
  for (const deadline = Date.now() + withinMs; ; await sleep(everyMs)) {
    const counts = await countsOf(api);
    onCounts(counts);
    if (counts.pending + counts.consolidating === 0) return;
    if (Date.now() > deadline) {
      throw new ServerError(`batches are still under way after ${withinMs / 1_000} s: ${JSON.stringify(counts)}`);
    }
  }
}

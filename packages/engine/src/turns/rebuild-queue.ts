import type { EngineDeps } from '../deps.ts';
import type { Nudge, Schedule } from '../ports/schedule.ts';
import type { LaneId } from '../words.ts';
import { missingTurns } from './sweep.ts';

export interface QueueRebuilt {
  /** Lanes with work, due now or later. */
  readonly lanes: number;
  /** Turns of theirs that the queue did not have. */
  readonly scheduled: number;
}

/** Small enough to be asked for and told in one go. */
const LANES_PER_PAGE = 500;

/**
 * Tells the queue every turn that the ledger knows of, due or not. Whatever it has already stays as it is, so that this
 * may run at any time and again. Workers do the same with lanes that are due; this does not wait for that.
 */
export async function rebuildQueue(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  schedule: Schedule,
  onProgress: (rebuilt: QueueRebuilt) => void = () => {},
): Promise<QueueRebuilt> {
  let rebuilt: QueueRebuilt = { lanes: 0, scheduled: 0 };
  for (let after: LaneId | null = null; ; ) {
    const nudges: readonly Nudge[] = await deps.ledger.lanes.withWork(after, LANES_PER_PAGE);
    const missing = await missingTurns(deps, schedule, nudges);
    await schedule.nudge(missing);
    rebuilt = { lanes: rebuilt.lanes + nudges.length, scheduled: rebuilt.scheduled + missing.length };
    onProgress(rebuilt);
    if (nudges.length < LANES_PER_PAGE) return rebuilt;
    after = nudges.at(-1)?.lane ?? null;
  }
}

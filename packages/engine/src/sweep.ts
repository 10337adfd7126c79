import type { EngineDeps } from './deps.ts';
import type { Ledger } from './ports/ledger/ledger.ts';
import type { Nudge, Schedule } from './ports/schedule.ts';
import type { Cancellation } from './ports/tools.ts';
import { project } from './steps/project.ts';

/** Lanes looked at in one pass; the rest comes with the next, a second later. */
const LANES_MAX = 1_000;
/** Memories told to the index in one go: small enough that a stop never waits long. */
const OUTBOX_MAX = 100;

/**
 * Finds due lanes the queue does not know of: after a nudge that was lost, a queue that was wiped, or a job that ended
 * without its lane moving on. Selects from the ledger alone. Answers with how many turns it scheduled.
 */
export async function sweepLanes(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  schedule: Schedule,
): Promise<number> {
  const missing = await missingTurns(ledger, schedule, await ledger.lanes.due(tools.now(), LANES_MAX));
  await schedule.nudge(missing);
  return missing.length;
}

/** The turns that the queue has no job for, in the generation under which it hears of them. */
export async function missingTurns(ledger: Ledger, schedule: Schedule, nudges: readonly Nudge[]): Promise<Nudge[]> {
  const missing: Nudge[] = [];
  for (const known of nudges) {
    const state = await schedule.stateOf(known);
    // A kept job of the same name would make the queue ignore a new one: only another generation is heard.
    const nudge = state === 'finished' ? await ledger.lanes.raise(known) : state === 'absent' ? known : null;
    if (nudge !== null) missing.push(nudge);
  }
  return missing;
}

/** Tells the index what it missed, oldest first. Answers with how many changes it told. */
export async function sweepOutbox(
  deps: Pick<EngineDeps, 'ledger' | 'index' | 'embedder' | 'tools' | 'meter'>,
  cancel: Cancellation,
): Promise<number> {
  const entries = await deps.ledger.outbox.pending(OUTBOX_MAX);
  await project(deps, entries, cancel);
  return entries.length;
}

import type { Replay } from '../ports/ledger/replays.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { BatchState } from '../words.ts';
import type { ReplayDeps } from './start.ts';

/** Batches that wait again in one transaction: a few ten milliseconds, so that others can write in between. */
const SLICE = 250;
/** How often it is looked whether the batches of a replay are through. */
const LOOK_AGAIN_MS = 2_000;

/** What a worker does with a live replay that is due. */
export async function workLive(deps: ReplayDeps, replay: Replay, cancel: Cancellation): Promise<void> {
  if (replay.state === 'preparing') {
    while (!cancel.aborted && (await putBack(deps, replay.id)));
  }
  await lookWhether(deps, replay.id);
}

/** One slice of its parked batches waits again. Answers whether there is more. */
export async function putBack({ ledger, tools, log, nudge }: ReplayDeps, id: string): Promise<boolean> {
  const { replayed, nudges, more } = await ledger.replays.advance(id, { limit: SLICE, now: tools.now() });
  if (replayed.length > 0) log.info({ replay: id, batches: replayed.length, more }, 'parked batches wait again');
  nudge(nudges).catch((error: unknown) => {
    log.warn({ error: String(error), turns: nudges.length }, 'replayed turns were not scheduled; the sweep will do it');
  });
  return more;
}

/** Whether it is done: none of its batches waits any more, or is worked on. */
async function lookWhether({ ledger, tools, log }: ReplayDeps, id: string): Promise<void> {
  const states = await ledger.replays.states(id);
  const now = tools.now();
  if (isOpen(states)) {
    await ledger.replays.move(id, { from: 'running', to: 'running', dueAt: now + LOOK_AGAIN_MS });
  } else if (await ledger.replays.move(id, { from: 'running', to: 'done', dueAt: null, finishedAt: now })) {
    log.info({ replay: id, batches: states }, 'a replay is done');
  }
}

const isOpen = ({ pending = 0, consolidating = 0 }: Readonly<Partial<Record<BatchState, number>>>): boolean =>
  pending + consolidating > 0;

import type { Replay } from '../ports/ledger/replays.ts';
import type { Cancellation } from '../ports/tools.ts';
import { workLive } from './live.ts';
import { LEASE_MS } from './start.ts';
import { type WhatIfDeps, workWhatIf } from './what-if.ts';

/**
 * Goes on with every replay that is due, one after the other; each belongs to one worker at a time. All of their work can
 * be done again: what a worker that died has left half done, the next one ends. Answers with how many there were.
 */
export async function sweepReplays(deps: WhatIfDeps, cancel: Cancellation): Promise<number> {
  const { ledger, tools, log } = deps;
  for (let count = 0; ; count += 1) {
    const now = tools.now();
    const replay: Replay | null = cancel.aborted ? null : await ledger.replays.take(now, now + LEASE_MS);
    if (replay === null) return count;
    const work = replay.kind === 'live' ? workLive : workWhatIf;
    await work(deps, replay, cancel).catch((error: unknown) => {
      if (!cancel.aborted)
        log.warn(
          { replay: replay.id, error: String(error) },
          'a replay stands still; it is gone on with in some seconds',
        );
    });
  }
}

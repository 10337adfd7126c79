import type { Nudge } from '@slowwave/engine';
import type { IngestDeps } from './deps.ts';

/** Tells the queue, without waiting: an acknowledgement never depends on it, and the sweep finds what it missed. */
export function scheduleTurns(deps: IngestDeps, nudges: readonly Nudge[]): void {
  deps.nudge(nudges).catch((err: unknown) => {
    deps.log.warn(
      { err, lanes: nudges.map(({ lane }) => lane) },
      'turns were not scheduled; the sweep will schedule them',
    );
  });
}

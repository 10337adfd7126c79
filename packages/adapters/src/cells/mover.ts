import { setTimeout as sleep } from 'node:timers/promises';
import { CARRY_LEASE_MS, type CarryDeps, carryHandover, carryMove } from '@slowwave/engine/cells';

interface MoverOptions extends CarryDeps {
  /** Owners that are moved at a time. */
  readonly concurrency: number;
  /** How often the directory is asked for work while there is none. */
  readonly idleMs: number;
}

export interface Mover {
  /** Stops taking work, and resolves when what was taken has come to rest. */
  close(): Promise<void>;
}

/**
 * Carries moves of owners and handovers of slots that are due. Any number of movers share the work by leases in the directory; what
 * one that is killed has taken is taken up by another when its lease is over.
 */
export function startMover(options: MoverOptions): Mover {
  const stopping = new AbortController();
  const running = Promise.all([
    loop(options, stopping.signal, () => moveSome(options, stopping.signal)),
    loop(options, stopping.signal, () => handOverSome(options, stopping.signal)),
  ]);
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Works until there is nothing to do, waits, and looks again. */
async function loop({ idleMs, log }: MoverOptions, stop: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  while (!stop.aborted) {
    const found = await work().catch((error: unknown) => {
      log.warn({ err: error }, 'could not read moves from the directory of cells');
      return false;
    });
    if (!found) await sleep(idleMs, undefined, { signal: stop }).catch(() => {});
  }
}

/** Each of a few carriers takes the next move when it is done with one, so that no slow one holds up the others. */
async function moveSome(options: MoverOptions, stop: AbortSignal): Promise<boolean> {
  const { directory, tools, concurrency } = options;
  let found = false;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (!stop.aborted) {
        const [move] = await directory.takeMoves({ now: tools.now(), leaseMs: CARRY_LEASE_MS, limit: 1 });
        if (move === undefined) return;
        found = true;
        await carryMove(options, move, stop);
      }
    }),
  );
  return found;
}

/** One after the other: each moves owners, which is where the work is. */
async function handOverSome(options: MoverOptions, stop: AbortSignal): Promise<boolean> {
  const { directory, tools } = options;
  const claim = { now: tools.now(), leaseMs: CARRY_LEASE_MS, limit: 1 };
  const [handover] = await directory.takeHandovers(claim);
  if (handover === undefined) return false;
  await carryHandover(options, handover, stop);
  return true;
}

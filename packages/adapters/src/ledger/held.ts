import type { Held, LaneId, Millis, SettledCall, StoredAnswer } from '@slowwave/engine';
import { first, inOne, run, type Script } from './script.ts';
import { keeping } from './thoughts.ts';
import { lockLane } from './turn.ts';
import { settle } from './usage.ts';

/**
 * Work on a lane apart from its turns, a study or a night: whoever claims it next fences it, by the epoch in the row that its kind has of
 * each lane. Whatever changes it holds the lock of the lane. `standing` finds a row while @consolidationId of @lane is held under @epoch.
 */
export function holding(table: 'graph_turns' | 'sleeps', standing: string) {
  const takeLane = `
    INSERT INTO ${table} (lane, epoch, held, held_until) VALUES (@lane, @epoch, @held, @until)
    ON CONFLICT (lane) DO UPDATE SET epoch = excluded.epoch, held = excluded.held, held_until = excluded.held_until`;

  /** Under the next epoch, which it answers. */
  function* hold(lane: LaneId, { held, until }: Holding, before: { readonly epoch: number } | null): Script<number> {
    const epoch = (before?.epoch ?? 0) + 1;
    yield* run(takeLane, { lane, epoch, held, until });
    return epoch;
  }

  /** Whether nobody claimed it since. */
  function* holds({ lane, consolidationId, epoch }: Held): Script<boolean> {
    return (yield* first(standing, { lane, consolidationId, epoch })) !== null;
  }

  /** The same, and nobody claims it before the transaction ends. */
  function* keeps(work: Held): Script<boolean> {
    yield* lockLane(work.lane);
    return yield* holds(work);
  }

  /** Keeps an answer among those of its consolidation. */
  function* storeAnswer(work: Held, answer: StoredAnswer, call: SettledCall | null = null) {
    if (!(yield* keeps(work))) {
      if (call !== null) yield* settle(call);
      return { kind: 'fenced' as const };
    }
    yield* inOne(...keeping(work, answer, call));
    return { kind: 'stored' as const };
  }

  return { hold, holds, keeps, storeAnswer };
}

interface Holding {
  /** The consolidation that it is of. */
  readonly held: string;
  readonly until: Millis;
}

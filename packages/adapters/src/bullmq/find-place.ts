import type { Millis, TurnName } from '@slowwave/engine';
import type { Job } from 'bullmq';
import { roundOf, type TurnOrder } from './order/turn-order.ts';
import type { Turn } from './turns.ts';

/** What becomes of a turn that a worker has taken. */
export type Place =
  | { readonly kind: 'begins' }
  /** Its lane is due later than its job thought. */
  | { readonly kind: 'waits'; readonly until: Millis };

export interface Line {
  readonly order: TurnOrder;
  /** When the lane is due, as the ledger says. */
  readonly dueAt: (turn: TurnName) => Promise<Millis>;
}

const BEGINS: Place = { kind: 'begins' };

/** A turn that stood in line begins, and its round with it. One without a round is taken only where no live turn waits. */
export async function findPlace(job: Job, turn: Turn, { order, dueAt }: Line): Promise<Place> {
  const place = roundOf(job.priority);
  if (place !== null) {
    await order.begin(place.priority, place.round);
    return BEGINS;
  }
  const until = await dueAt(turn);
  return until > Date.now() ? { kind: 'waits', until } : BEGINS;
}

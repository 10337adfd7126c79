import type { Millis, TurnName } from '@slowwave/engine';
import type { Job, Queue } from 'bullmq';
import { jobPriority, roundOf, type TurnOrder, UNPLACED } from './order/turn-order.ts';
import type { Turn } from './turns.ts';

/** What becomes of a turn that a worker has taken. */
export type Place =
  | { readonly kind: 'begins' }
  /** Its lane is due later than its job thought. */
  | { readonly kind: 'waits'; readonly until: Millis }
  /** Others are due before it. */
  | { readonly kind: 'stands_in_line'; readonly priority: number };

export interface Line {
  readonly queue: Queue;
  readonly order: TurnOrder;
  /** When the lane is due, as the ledger says. */
  readonly dueAt: (turn: TurnName) => Promise<Millis>;
}

const BEGINS: Place = { kind: 'begins' };

/**
 * A turn that stood in line begins, and its round with it. One that waited for a time begins when nobody waits, and
 * finds its place when somebody does: thousands of lanes that come due in one moment would else go before everybody.
 */
export async function findPlace(job: Job, turn: Turn, { queue, order, dueAt }: Line): Promise<Place> {
  const place = roundOf(job.priority);
  if (place !== null) {
    await order.begin(place.priority, place.round);
    return BEGINS;
  }
  if (job.priority !== UNPLACED || (await isEmpty(queue))) return BEGINS;
  const until = await dueAt(turn);
  if (until > Date.now()) return { kind: 'waits', until };
  const round = await order.next(turn.priority, turn.tenant, 1);
  return { kind: 'stands_in_line', priority: jobPriority(turn.priority, round) };
}

/** Asks for one job rather than for how many there are: PostgreSQL would count them all. */
async function isEmpty(queue: Queue): Promise<boolean> {
  return (await queue.getPrioritized(0, 0)).length === 0;
}

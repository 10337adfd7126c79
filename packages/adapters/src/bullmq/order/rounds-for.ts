import type { Nudge } from '@slowwave/engine';
import { FRONT, jobPriority, type TurnOrder, UNPLACED } from './turn-order.ts';

type Due = Pick<Nudge, 'tenant' | 'priority' | 'dueAt'>;

/** The priorities of jobs for these turns, in their order. A turn that is not due yet finds its place when it is. */
export async function roundsFor(order: TurnOrder, nudges: readonly Due[], now: number): Promise<readonly number[]> {
  const groups = Map.groupBy(
    nudges.filter(({ dueAt }) => dueAt <= now),
    ({ tenant, priority }) => `${priority} ${tenant}`,
  );
  const priorities = new Map<Due, number>();
  await Promise.all([...groups.values()].map((group) => place(order, group, priorities)));
  return nudges.map((nudge) => priorities.get(nudge) ?? UNPLACED);
}

async function place(order: TurnOrder, group: readonly Due[], priorities: Map<Due, number>): Promise<void> {
  const [{ priority, tenant } = NOBODY] = group;
  // Without an order turns go as they come: it must never be the reason that one does not go at all.
  const first = await order.next(priority, tenant, group.length).catch(() => null);
  for (const [i, nudge] of group.entries()) {
    priorities.set(nudge, first === null ? FRONT : jobPriority(priority, first + i));
  }
}

const NOBODY = { priority: 'live', tenant: '' } as const;

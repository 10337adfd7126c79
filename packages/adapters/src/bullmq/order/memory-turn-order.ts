import type { Priority } from '@slowwave/engine';
import { BEFORE_FIRST, FAR_AHEAD, LAST_ROUND, type TurnOrder } from './turn-order.ts';

/** The order of turns of a queue that only this process uses. */
export function memoryTurnOrder(): TurnOrder {
  const lines: Record<Priority, Line> = { live: newLine(), backfill: newLine() };
  return {
    next: async (priority, tenant, count) => {
      const last = lastOf(lines[priority], tenant);
      if (last + count > LAST_ROUND) lines[priority] = newLine();
      const from = last + count > LAST_ROUND ? BEFORE_FIRST : last;
      lines[priority].lasts.set(tenant, from + count);
      return from + 1;
    },
    begin: async (priority, round) => {
      const line = lines[priority];
      if (round - line.round <= FAR_AHEAD) line.round = Math.max(line.round, round);
    },
  };
}

interface Line {
  /** The latest that began. */
  round: number;
  /** The last round of each tenant. */
  readonly lasts: Map<string, number>;
}

const newLine = (): Line => ({ round: BEFORE_FIRST, lasts: new Map() });

function lastOf({ round, lasts }: Line, tenant: string): number {
  const last = lasts.get(tenant) ?? round;
  return last < round || last - round > FAR_AHEAD ? round : last;
}

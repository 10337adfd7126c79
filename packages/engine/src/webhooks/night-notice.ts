import type { Act } from '../plan.ts';
import type { Night, NightWaits } from '../ports/ledger/nights.ts';
import type { Notice } from '../ports/ledger/webhooks.ts';
import { isoOf } from '../text/dates.ts';
import type { Millis } from '../words.ts';

/** What somebody reads in a minute; the whole night is at GET /v1/nights/{id}. */
const ACTS_NAMED = 50;

interface NightNews {
  readonly acts: readonly Act[];
  /** How many memories it changes. */
  readonly memories: number;
  /** null: it is applied. */
  readonly why: NightWaits | null;
  readonly at: Millis;
}

/** What a night did, or would do if somebody applied it. It knows no apps: a webhook of one app is not told. */
export function nightNotice(
  { consolidationId: id, lane, scope }: Pick<Night, 'consolidationId' | 'lane' | 'scope'>,
  { acts, memories, why, at }: NightNews,
): Notice {
  const type = why === null ? 'night.applied' : 'night.waits';
  const eventId = `evt_${id}_${why === null ? 'applied' : 'waits'}`;
  const named = acts.slice(0, ACTS_NAMED);
  const left = acts.length - named.length;
  const data = {
    night_id: id,
    ...(why !== null && { why }),
    memories,
    acts: named.map(toldAct),
    acts_left_out: left,
    text: [...named.map(lineOf), ...(left > 0 ? [`… and ${left} more`] : [])].join('\n'),
    ...{ user_id: scope.userId, agent_id: scope.agentId, run_id: scope.runId, app_id: null },
  };
  const body = JSON.stringify({ event_id: eventId, type, created_at: isoOf(at), data });
  return { eventId, type, subject: id, lane, userId: scope.userId, appId: null, at, body };
}

/** An act as everybody is told of it. */
export const toldAct = ({ act, memoryId, before, after, reason, asks, certainty, slot }: Act) => ({
  act,
  memory_id: memoryId,
  before,
  after,
  ...(certainty !== undefined && { certainty }),
  ...(slot !== undefined && { slot }),
  reason,
  asks,
});

/** One act as a line. */
function lineOf({ act, before, after, asks, slot }: Act): string {
  if (slot !== undefined) return `${act}: “${before ?? ''}” under ${slot}`;
  if (asks) return `${act}: asks about “${before ?? ''}”`;
  if (before === null) return `${act}: new “${after ?? ''}”`;
  if (after === null) return `${act}: no longer “${before}”`;
  return before === after ? `${act}: “${before}”` : `${act}: “${before}” → “${after}”`;
}

import { HoldList, HoldView, ListHoldsQuery } from '@slowwave/contracts';
import { DAY_MS, isoOf, isoOrNull, type KeptHold, type Millis } from '@slowwave/engine';
import { concerns, IdParams, listed, notFound, pageOf } from '@slowwave/http';
import { routesOf } from './deps.ts';

const route = routesOf('manage');

/** Who used far more than is usual, and is let go again. */
export const holdRoutes = [
  route('GET /v1/holds', {
    id: 'listHolds',
    summary: 'List users, apps and keys that are or were held, newest first',
    description:
      'A user, app or key that uses many times the usual daily amount (hold_at in the settings) is held: batches are accepted and wait, searches ' +
      'continue, and recalls answer without a model. A hold ends with its day (UTC).',
    query: ListHoldsQuery,
    answer: HoldList,
    handle: async ({ ledger, tools }, { tenant, query }) =>
      listed(await ledger.limits.holds(tenant, pageOf(query)), (hold) => holdView(hold, tools.now())),
  }),
  route('POST /v1/holds/:id/release', {
    id: 'releaseHold',
    summary: 'Release a hold',
    description: 'Waiting work continues within five minutes. There is no second hold on the same day.',
    params: IdParams,
    answer: HoldView,
    handle: async ({ ledger, tools }, { tenant, params, request }) => {
      const hold = await ledger.limits.release(tenant, params.id, tools.now());
      if (hold === null) throw notFound('hold', params.id);
      concerns(request, { kind: 'hold', id: hold.id });
      return holdView(hold, tools.now());
    },
  }),
];

function holdView(hold: KeptHold, now: Millis): HoldView {
  const { id, kind, who, day, measure, used, limit, heldAt, releasedAt, owner } = hold;
  const endsAt = (day + 1) * DAY_MS;
  const whose = kind === 'owner' ? { kind: owner?.kind ?? 'user', of: owner?.id ?? '' } : { kind, of: who };
  const state = releasedAt !== null ? 'released' : now < endsAt ? 'held' : 'over';
  const times = { held_at: isoOf(heldAt), released_at: isoOrNull(releasedAt), ends_at: isoOf(endsAt) };
  return { id, state, ...whose, measure, used, limit, ...times };
}

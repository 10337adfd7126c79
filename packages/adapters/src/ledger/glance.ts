import type { AcceptedBatches, Glance, HowToGlance, OpenBatches, TenantId } from '@slowwave/engine';
import { all, counted, first, type Script, together } from './script.ts';
import { usageSinceDay } from './usage.ts';

/** What the overview of a tenant shows. However much the ledger holds, it reads so many entries of indexes and so many rows. */
export function* glance(tenant: TenantId, how: HowToGlance): Script<Glance> {
  const { now, since, fromDay, entriesMax, rowsMax } = how;
  const [open, accepted, parked, took, due, reviews, usage, answers, last] = yield* together(
    openBatches(tenant, entriesMax),
    acceptedSince(tenant, how),
    all<Glance['parked'][number]>(PARKED, { tenant, rowsMax }),
    all<{ ms: number }>(TOOK, { tenant, since, rowsMax }),
    first<{ due_at: number }>(OLDEST_DUE, { tenant, now }),
    counted(REVIEWS, { tenant, entriesMax }),
    usageSinceDay(tenant, fromDay),
    all<Glance['answers'][number]>(ANSWERS, { tenant, since, rowsMax }),
    first<{ at: number }>(LAST_ANSWER, { before: rowsMax - 1 }),
  );
  return {
    open,
    ...accepted,
    parked,
    delays: took.map(({ ms }) => ms).sort((a, b) => a - b),
    oldestDue: due?.due_at ?? null,
    reviews,
    usage,
    answers,
    answersSince: Math.max(since, last?.at ?? since),
  };
}

function* openBatches(tenant: TenantId, entriesMax: number): Script<OpenBatches> {
  const of = (state: keyof OpenBatches) => counted(IN_STATE, { tenant, state, entriesMax });
  const [pending, consolidating, parked] = yield* together(of('pending'), of('consolidating'), of('parked'));
  return { pending, consolidating, parked };
}

function* acceptedSince(
  tenant: TenantId,
  { since, everyMs, entriesMax }: HowToGlance,
): Script<Pick<Glance, 'accepted' | 'acceptedSince'>> {
  const accepted = yield* all<AcceptedBatches>(ACCEPTED, { tenant, since, everyMs, entriesMax });
  const looked = accepted.reduce((sum, { batches }) => sum + batches, 0);
  // Where there were more than that, some of the oldest stretch are missing.
  const whole = looked < entriesMax ? since : Math.min(...accepted.map(({ from }) => from)) + everyMs;
  return { accepted: accepted.filter(({ from }) => from >= whole), acceptedSince: whole };
}

/** As the index says it. */
const NOT_CONSOLIDATED = "state <> 'consolidated'";

const IN_STATE = `
  SELECT count(*) AS count FROM (
    SELECT 1 FROM batches INDEXED BY batches_by_state
    WHERE tenant = @tenant AND state = @state AND ${NOT_CONSOLIDATED} LIMIT @entriesMax
  ) AS found`;

/** An index has all of it. */
const ACCEPTED = `
  SELECT accepted_at - accepted_at % @everyMs AS "from", state, count(*) AS batches FROM (
    SELECT accepted_at, state FROM batches INDEXED BY batches_of_tenant
    WHERE tenant = @tenant AND accepted_at >= @since ORDER BY accepted_at DESC LIMIT @entriesMax
  ) AS newest GROUP BY 1, 2 ORDER BY 1, 2`;

const PARKED = `
  SELECT code, count(*) AS batches FROM (
    SELECT coalesce(failure ->> 'code', 'unknown') AS code FROM batches INDEXED BY batches_by_state
    WHERE tenant = @tenant AND state = 'parked' AND ${NOT_CONSOLIDATED} ORDER BY accepted_at DESC LIMIT @rowsMax
  ) AS newest GROUP BY code ORDER BY code COLLATE "C"`;

const TOOK = `
  SELECT searchable_at - accepted_at AS ms FROM (
    SELECT accepted_at, searchable_at, backfill FROM batches INDEXED BY batches_of_tenant
    WHERE tenant = @tenant AND state = 'consolidated' AND accepted_at >= @since
    ORDER BY accepted_at DESC LIMIT @rowsMax
  ) AS newest WHERE searchable_at IS NOT NULL AND NOT backfill`;

const OLDEST_DUE = `
  SELECT due_at FROM lanes
  WHERE state <> 'idle' AND due_at <= @now AND tenant = @tenant ORDER BY due_at LIMIT 1`;

const REVIEWS = `
  SELECT count(*) AS count FROM (
    SELECT 1 FROM reviews WHERE tenant = @tenant AND state = 'pending' LIMIT @entriesMax
  ) AS found`;

/** Their ids rise with time. SQLite reads the tables of a cross join in this order. */
const ANSWERS = `
  SELECT r.route, count(*) AS answers FROM (
    SELECT lane, route, at FROM receipts WHERE id > '' AND parts >= 0 ORDER BY id DESC LIMIT @rowsMax
  ) AS r CROSS JOIN lanes l
  WHERE l.id = r.lane AND l.tenant = @tenant AND l.erasure IS NULL AND r.at >= @since
  GROUP BY r.route ORDER BY r.route`;

/** The oldest of those that are looked at, if there are older ones. */
const LAST_ANSWER = `
  SELECT at FROM receipts WHERE id > '' AND parts >= 0 ORDER BY id DESC LIMIT 1 OFFSET @before`;

import type {
  AcceptedBatches,
  Backup,
  BatchState,
  Glance,
  HowToGlance,
  HowToMeasure,
  MeasuredRow,
  MeasuredStretch,
  OpenBatches,
  OverviewStore,
  OwnerSummary,
  OwnersAsked,
  Tally,
  TenantId,
} from '@slowwave/engine';
import { ofNoSpace } from '@slowwave/engine/storing';
import { unpacked } from '../packed.ts';
import { COUNT_UNPROJECTED_GRAPH } from './graph/rows.ts';
import { type Listing, laneIdOf, newestFirst } from './page.ts';
import { type ColumnsOf, type OwnerColumns, ownerFrom } from './rows/columns.ts';
import { hasOwner, LAST_BACKUP } from './schema.ts';
import { all, counted, first, firstAs, lookup, read, type Script, snapshot, storeOf, together } from './script.ts';
import { COUNT_UNPROJECTED } from './speech.ts';
import { countersOf, usageOfConsolidation, usageOfDay, usageOfTenant, usageSinceDay } from './usage.ts';

export const overviewStore = storeOf<OverviewStore>('overview', {
  /**
   * What is still on its way is counted from its rows, in an index; what has come to an end was counted when it did. On one
   * snapshot: a batch that arrives between the two statements would show as a gap.
   */
  batches: snapshot(function* (tenant) {
    const text = `
      SELECT state, count(*) AS batches FROM batches
      WHERE tenant = @tenant AND state IN ('pending', 'consolidating', 'parked') AND state <> 'consolidated' GROUP BY state`;
    const [rows, counters] = yield* together(
      all<{ state: BatchState; batches: number }>(text, { tenant }),
      countersOf(tenant),
    );
    const open = (state: BatchState): number => rows.find((row) => row.state === state)?.batches ?? 0;
    return {
      accepted: counters('accepted'),
      pending: open('pending'),
      consolidating: open('consolidating'),
      consolidated: counters('consolidated'),
      empty: counters('empty'),
      parked: open('parked'),
      undone: counters('undone'),
      erased: counters('erased'),
    };
  }),
  /** Reads an index alone, and no more of it than asked for. */
  backlog: read((tenant, atMost) => {
    const whose = tenant === null ? ofNoSpace('tenant') : 'tenant = @tenant';
    const text = `
      SELECT count(*) AS count FROM (
        SELECT 1 FROM batches INDEXED BY batches_open
        WHERE ${whose} AND state IN ('pending', 'consolidating') LIMIT @atMost
      ) AS found`;
    return counted(text, { ...(tenant !== null && { tenant }), atMost });
  }),
  memories: read(function* (tenant) {
    const counters = yield* countersOf(tenant);
    return { live: counters('memories'), versions: counters('versions') };
  }),
  usage: read(usageOfTenant),
  usageOfDay: read(usageOfDay),
  usageOf: read(usageOfConsolidation),
  glance: snapshot(glance),
  measured: snapshot(measured),
  owners: read((tenant, page, { idPrefix, order } = ALL_OWNERS) => {
    const listing = { ...OWNERS, by: [`l.${order}_at`, 'l.id'] as const };
    if (idPrefix === '') return newestFirst(listing, page, { tenant });
    return newestFirst(listing, page, { tenant, idPrefix, afterPrefix: afterAll(idPrefix) });
  }),
  lastBackup: lookup(() =>
    firstAs(
      ({ value }: { value: string }) => JSON.parse(value) as Backup,
      `SELECT value FROM meta WHERE key = '${LAST_BACKUP}'`,
    ),
  ),
  ownerCount: read(function* (tenant) {
    return (yield* countersOf(tenant))('owners');
  }),
  /** Everything that is not projected yet. */
  outbox: read(function* () {
    const counts = yield* together(
      counted('SELECT count(*) AS count FROM outbox'),
      counted(COUNT_UNPROJECTED),
      counted(COUNT_UNPROJECTED_GRAPH),
    );
    return counts.reduce((sum, one) => sum + one, 0);
  }),
  oldestDue: read(function* (now) {
    const text = `
      SELECT due_at FROM lanes
      WHERE state <> 'idle' AND due_at <= @now AND ${ofNoSpace('tenant')} ORDER BY due_at LIMIT 1`;
    return (yield* first<{ due_at: number }>(text, { now }))?.due_at ?? null;
  }),
});

type OwnerRow = ColumnsOf<Omit<OwnerSummary, 'owner'>> & OwnerColumns;

const ownerSummaryFrom = (row: OwnerRow): OwnerSummary => ({
  owner: ownerFrom(row),
  memories: row.memories,
  pending: row.pending,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const ALL_OWNERS: OwnersAsked = { idPrefix: '', order: 'created' };

/** The ids of a tenant stand in an index by their kind. */
const BEGINS = `l.owner_kind IN ('user', 'agent', 'run') AND l.owner_id >= @idPrefix`;

const OWNERS: Omit<Listing<OwnerRow, OwnerSummary>, 'by'> = {
  select: `
    SELECT l.id, l.owner_kind, l.owner_id, l.pending, l.created_at, l.updated_at,
      CASE WHEN l.cold IS NULL THEN (SELECT count(*) FROM memories m WHERE m.lane = l.number AND m.live)
        ELSE (SELECT s.memories FROM segments s WHERE s.name = l.cold) END AS memories
    FROM lanes l`,
  always: [hasOwner('l')],
  asked: { tenant: 'l.tenant = @tenant', idPrefix: BEGINS, afterPrefix: 'l.owner_id < @afterPrefix' },
  make: ownerSummaryFrom,
};

/** Between these two there are halves of pairs, which no text has. */
const [LAST_BEFORE_PAIRS, FIRST_AFTER_PAIRS, LAST] = [0xd7ff, 0xe000, 0x10ffff];

/** The first text after all that begin with a prefix, in the order of code points; undefined: there is none. */
function afterAll(prefix: string): string | undefined {
  const points = Array.from(prefix, (one) => one.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === LAST_BEFORE_PAIRS ? FIRST_AFTER_PAIRS : last + 1);
}

/** What the overview of a tenant shows. However much the ledger holds, it reads so many entries of indexes and so many rows. */
function* glance(tenant: TenantId, how: HowToGlance): Script<Glance> {
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

/** The figures of a stretch of time, and what was thought of what came of it. */
function* measured(tenant: TenantId, how: HowToMeasure): Script<MeasuredStretch> {
  const given = { tenant, ...how };
  const [consolidations, reviews, ratings, outcomes] = yield* together(
    all<FiguresRow>(CONSOLIDATIONS, given),
    first<Tally>(REVIEWED, given),
    first<Tally>(RATED, given),
    first<Tally>(OUTCOMES, given),
  );
  return {
    consolidations: consolidations.map(measuredFrom),
    opinions: { reviews: reviews ?? NONE, ratings: ratings ?? NONE, outcomes: outcomes ?? NONE },
  };
}

const NONE: Tally = { part: 0, of: 0 };

interface FiguresRow extends Pick<MeasuredRow, 'lane'> {
  readonly state: string;
  readonly figures: Uint8Array;
}

const measuredFrom = ({ lane, state, figures }: FiguresRow): MeasuredRow => ({
  ...(JSON.parse(unpacked(figures)) as Pick<MeasuredRow, 'model' | 'figures'>),
  lane,
  undone: state === 'undone',
});

const CONSOLIDATIONS = `
  SELECT ${laneIdOf('lane')} AS lane, state, figures FROM consolidations
  WHERE tenant = @tenant AND created_at >= @from AND created_at < @to AND figures IS NOT NULL
  ORDER BY created_at DESC, id DESC LIMIT @rowsMax`;

/** Of the newest ones: how many there are, and how many of them are against it. */
const tally = (newest: string, against: string): string => `
  SELECT count(*) FILTER (WHERE ${against}) AS part, count(*) AS of FROM (${newest} LIMIT @rowsMax) AS newest`;

const REVIEWED = tally(
  `SELECT state FROM reviews
   WHERE tenant = @tenant AND created_at >= @from AND created_at < @to AND state IN ('approved', 'rejected')
   ORDER BY created_at DESC`,
  "state = 'rejected'",
);

const RATED = tally(
  `SELECT e.rated ->> 'rating' AS rating FROM events e CROSS JOIN memories m
   WHERE e.kind = 'FEEDBACK' AND e.recorded_at >= @from AND e.recorded_at < @to AND e.rated ->> 'rating' IS NOT NULL
     AND m.number = e.memory AND +m.tenant = @tenant
   ORDER BY e.recorded_at DESC`,
  "rating <> 'positive'",
);

/** SQLite reads the tables of a cross join in this order. */
const OUTCOMES = tally(
  `SELECT r.outcome FROM receipts r CROSS JOIN lanes l
   WHERE r.outcome IS NOT NULL AND r.at >= @from AND r.at < @to AND l.id = r.lane AND l.tenant = @tenant
   ORDER BY r.at DESC`,
  "outcome = 'bad'",
);

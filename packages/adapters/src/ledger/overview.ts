import type { Backup, BatchState, OverviewStore, OwnerSummary, OwnersAsked } from '@slowwave/engine';
import { ofNoSpace } from '@slowwave/engine/storing';
import { glance } from './glance.ts';
import { COUNT_UNPROJECTED_GRAPH } from './graph/items.ts';
import { measured } from './measured.ts';
import { type Listing, newestFirst } from './page.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { type OwnerColumns, ownerFrom } from './rows/columns.ts';
import { hasOwner } from './schema.ts';
import { LAST_BACKUP } from './schema-numbers.ts';
import { all, counted, first, firstAs, lookup, read, snapshot, storeOf, together } from './script.ts';
import { COUNT_UNPROJECTED } from './speech.ts';
import { countersOf, usageOfConsolidation, usageOfDay, usageOfTenant } from './usage.ts';

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

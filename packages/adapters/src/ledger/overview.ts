import type { BatchCounts, BatchState, OverviewStore, OwnerSummary, Page, Paged, TenantId } from '@slowwave/engine';
import { ofNoSpace } from '@slowwave/engine/storing';
import { type Access, asRead, asSnapshot } from './access.ts';
import { pageOf } from './cursor.ts';
import { COUNT_UNPROJECTED_GRAPH } from './graph/items.ts';
import { newestFirst, where } from './page.ts';
import { type OwnerColumns, ownerFrom } from './rows/scope.ts';
import { all, first, type Script, together } from './script.ts';
import { COUNT_UNPROJECTED } from './speech.ts';
import * as usage from './usage.ts';

export const overviewStore = ({ read }: Access): OverviewStore => ({
  batches: (tenant) => read(countBatches, { tenant }),
  backlog: (tenant, atMost) => read(countBacklog, { tenant, atMost }),
  memories: (tenant) => read(countMemories, { tenant }),
  usage: (tenant) => read(usageOfTenant, { tenant }),
  usageOfDay: (of, at) => read(usageOfDay, { of, at }),
  usageOf: (id) => read(usageOfConsolidation, { id }),
  owners: (tenant, page) => read(listOwners, { tenant, page }),
  ownerCount: (tenant) => read(countOwners, { tenant }),
  outbox: () => read(countOutbox, null),
  oldestDue: (now) => read(oldestDue, { now }),
});

const usageOfTenant = asRead('overview.usage', usage.usageOfTenant);
const usageOfDay = asRead('overview.usageOfDay', usage.usageOfDay);
const usageOfConsolidation = asRead('overview.usageOf', usage.usageOfConsolidation);

interface OfTenant {
  readonly tenant: TenantId;
}

/**
 * The states are counted from the rows, not from counters: a lost batch must show as a gap. On one snapshot: a batch that
 * arrives between the two statements would show as one.
 */
const countBatches = asSnapshot('overview.batches', function* ({ tenant }: OfTenant): Script<BatchCounts> {
  const text = 'SELECT state, count(*) AS batches FROM batches WHERE tenant = @tenant GROUP BY state';
  const [rows, counters] = yield* together(
    all<{ state: BatchState; batches: number }>(text, { tenant }),
    usage.countersOf(tenant),
  );
  const of = (state: BatchState): number => rows.find((row) => row.state === state)?.batches ?? 0;
  return {
    accepted: counters('accepted'),
    pending: of('pending'),
    consolidating: of('consolidating'),
    consolidated: of('consolidated'),
    empty: of('empty'),
    parked: of('parked'),
    undone: of('undone'),
    erased: counters('erased'),
  };
});

interface Backlog {
  readonly tenant: TenantId | null;
  readonly atMost: number;
}

/** Reads an index alone, and no more of it than asked for. */
const countBacklog = asRead('overview.backlog', function* ({ tenant, atMost }: Backlog): Script<number> {
  const whose = tenant === null ? ofNoSpace('tenant') : 'tenant = @tenant';
  const text = `
    SELECT count(*) AS open FROM (
      SELECT 1 FROM batches WHERE ${whose} AND state IN ('pending', 'consolidating') LIMIT @atMost
    ) AS found`;
  const row = yield* first<{ open: number }>(text, { ...(tenant !== null && { tenant }), atMost });
  return row?.open ?? 0;
});

interface MemoryCounts {
  readonly live: number;
  readonly versions: number;
}

const countMemories = asRead('overview.memories', function* ({ tenant }: OfTenant): Script<MemoryCounts> {
  const text = `
    SELECT count(*) FILTER (WHERE live) AS live, coalesce(sum(version_count), 0)::bigint AS versions
    FROM memories WHERE tenant = @tenant`;
  return (yield* first<MemoryCounts>(text, { tenant })) ?? { live: 0, versions: 0 };
});

interface OwnerRow extends OwnerColumns {
  readonly id: string;
  readonly memories: number;
  readonly pending: number;
  readonly created_at: number;
  readonly updated_at: number;
}

interface ListOwners extends OfTenant {
  readonly page: Page;
}

/** Newest first, by when they were first heard of. */
const listOwners = asRead('overview.owners', function* ({ tenant, page }: ListOwners): Script<Paged<OwnerSummary>> {
  const newest = newestFirst(page, 'l.created_at', 'l.id');
  const conditions = where(['l.tenant = @tenant AND l.erasure IS NULL', newest.condition]);
  const rows = yield* all<OwnerRow>(`${SELECT_OWNERS} ${conditions} ${newest.order}`, { tenant, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(ownerSummaryFrom), nextCursor };
});

const SELECT_OWNERS = `
  SELECT l.id, l.owner_kind, l.owner_id, l.pending, l.created_at, l.updated_at,
    (SELECT count(*) FROM memories m WHERE m.lane = l.id AND m.live) AS memories
  FROM lanes l`;

const ownerSummaryFrom = (row: OwnerRow): OwnerSummary => ({
  owner: ownerFrom(row),
  memories: row.memories,
  pending: row.pending,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const countOwners = asRead('overview.ownerCount', function* ({ tenant }: OfTenant): Script<number> {
  const text = 'SELECT count(*) AS owners FROM lanes WHERE tenant = @tenant AND erasure IS NULL';
  return (yield* first<{ owners: number }>(text, { tenant }))?.owners ?? 0;
});

/** Everything that is not projected yet. */
const countOutbox = asRead('overview.outbox', function* (_: null): Script<number> {
  const [entries, batches, graph] = yield* together(
    first<{ unprojected: number }>('SELECT count(*) AS unprojected FROM outbox'),
    first<{ unprojected: number }>(COUNT_UNPROJECTED),
    first<{ unprojected: number }>(COUNT_UNPROJECTED_GRAPH),
  );
  return (entries?.unprojected ?? 0) + (batches?.unprojected ?? 0) + (graph?.unprojected ?? 0);
});

const oldestDue = asRead('overview.oldestDue', function* ({ now }: { now: number }): Script<number | null> {
  const text = `
    SELECT due_at FROM lanes
    WHERE state <> 'idle' AND NOT paused AND due_at <= @now AND ${ofNoSpace('tenant')} ORDER BY due_at LIMIT 1`;
  return (yield* first<{ due_at: number }>(text, { now }))?.due_at ?? null;
});

import type { BatchCounts, BatchState, OwnerSummary, Page, Paged, TenantId, UsageTotals } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { newestFirst, where } from '../../../ledger/page.ts';
import { type OwnerColumns, ownerFrom } from '../../../ledger/rows/scope.ts';
import type { Sql } from '../sql.ts';
import type { CounterName } from '../write/counters.ts';

/** The states are counted from the rows, not from counters: a lost batch must show as a gap. */
export function batchCounts(sql: Sql, tenant: TenantId): BatchCounts {
  const rows = sql.all<{ state: BatchState; batches: number }>(COUNT_BATCHES, { tenant });
  const of = (state: BatchState): number => rows.find((row) => row.state === state)?.batches ?? 0;
  const counters = countersOf(sql, tenant);
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
}

export function memoryCounts(sql: Sql, tenant: TenantId): { live: number; versions: number } {
  return sql.get<{ live: number; versions: number }>(COUNT_MEMORIES, { tenant }) ?? { live: 0, versions: 0 };
}

export function usageOfTenant(sql: Sql, tenant: TenantId): UsageTotals {
  const counters = countersOf(sql, tenant);
  return {
    calls: counters('calls'),
    failedCalls: counters('failed_calls'),
    promptTokens: counters('prompt_tokens'),
    completionTokens: counters('completion_tokens'),
  };
}

export function usageOfConsolidation(sql: Sql, id: string): UsageTotals {
  const none = { calls: 0, failedCalls: 0, promptTokens: 0, completionTokens: 0 };
  return sql.get<UsageTotals>(SUM_USAGE, { id }) ?? none;
}

/** Newest first, by when they were first heard of. */
export function listOwners(sql: Sql, tenant: TenantId, page: Page): Paged<OwnerSummary> {
  const newest = newestFirst(page, 'l.created_at', 'l.id');
  const conditions = where(['l.tenant = @tenant', newest.condition]);
  const rows = sql.all<OwnerRow>(`${SELECT_OWNERS} ${conditions} ${newest.order}`, { tenant, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(ownerSummaryFrom), nextCursor };
}

export function ownerCount(sql: Sql, tenant: TenantId): number {
  const text = 'SELECT count(*) AS owners FROM lanes WHERE tenant = @tenant';
  return sql.get<{ owners: number }>(text, { tenant })?.owners ?? 0;
}

function countersOf(sql: Sql, tenant: TenantId): (name: CounterName) => number {
  const text = 'SELECT name, value FROM counters WHERE tenant = @tenant';
  const rows = sql.all<{ name: string; value: number }>(text, { tenant });
  const values = new Map(rows.map((row) => [row.name, row.value]));
  return (name) => values.get(name) ?? 0;
}

interface OwnerRow extends OwnerColumns {
  readonly id: string;
  readonly memories: number;
  readonly pending: number;
  readonly created_at: number;
  readonly updated_at: number;
}

const ownerSummaryFrom = (row: OwnerRow): OwnerSummary => ({
  owner: ownerFrom(row),
  memories: row.memories,
  pending: row.pending,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const COUNT_BATCHES = 'SELECT state, count(*) AS batches FROM batches WHERE tenant = @tenant GROUP BY state';

const COUNT_MEMORIES = `
  SELECT coalesce(sum(live), 0) AS live, coalesce(sum(version_count), 0) AS versions
  FROM memories WHERE tenant = @tenant`;

const SUM_USAGE = `
  SELECT count(*) AS calls, coalesce(sum(failed), 0) AS failedCalls,
    coalesce(sum(prompt_tokens), 0) AS promptTokens, coalesce(sum(completion_tokens), 0) AS completionTokens
  FROM usage WHERE consolidation_id = @id`;

const SELECT_OWNERS = `
  SELECT l.id, l.owner_kind, l.owner_id, l.pending, l.created_at, l.updated_at,
    (SELECT count(*) FROM memories m WHERE m.lane = l.id AND m.live = 1) AS memories
  FROM lanes l`;

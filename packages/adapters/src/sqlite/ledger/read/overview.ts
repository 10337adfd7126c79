import type {
  Account,
  BatchCounts,
  BatchState,
  Millis,
  OwnerSummary,
  Page,
  Paged,
  TenantId,
  UsageOfModel,
  UsageTotals,
} from '@slowwave/engine';
import { DAY_MS, dayOf, ofNoSpace } from '@slowwave/engine/storing';
import {
  batchCountsFrom,
  type Counters,
  countersFrom,
  NO_USAGE,
  type OwnerRow,
  ownerSummaryFrom,
  usageFrom,
} from '../../../ledger/counts.ts';
import { pageOf } from '../../../ledger/cursor.ts';
import { newestFirst, where } from '../../../ledger/page.ts';
import type { Sql } from '../sql.ts';

export function batchCounts(sql: Sql, tenant: TenantId): BatchCounts {
  const rows = sql.all<{ state: BatchState; batches: number }>(COUNT_BATCHES, { tenant });
  return batchCountsFrom(rows, countersOf(sql, tenant));
}

export function memoryCounts(sql: Sql, tenant: TenantId): { live: number; versions: number } {
  return sql.get<{ live: number; versions: number }>(COUNT_MEMORIES, { tenant }) ?? { live: 0, versions: 0 };
}

export const usageOfTenant = (sql: Sql, tenant: TenantId): UsageTotals => usageFrom(countersOf(sql, tenant));

export const usageOfConsolidation = (sql: Sql, id: string): UsageTotals =>
  sql.get<UsageTotals>(SUM_USAGE, { id }) ?? NO_USAGE;

/** The use of models on the day of a moment. */
export function usageOfDay(sql: Sql, of: { readonly tenant: TenantId } | Account, at: Millis): readonly UsageOfModel[] {
  const day = dayOf(at);
  if ('tenant' in of) return sql.all<UsageOfModel>(USAGE_OF_TENANT, { tenant: of.tenant, day });
  const times = { from: day * DAY_MS, to: (day + 1) * DAY_MS };
  if ('lane' in of) return sql.all<UsageOfModel>(USAGE_OF_LANE, { lane: of.lane, ...times });
  return sql.all<UsageOfModel>(USAGE_OF_STRANGERS, { tenant: of.strangersOf, ...times });
}

/** Reads an index alone, and no more of it than asked for. */
export function backlog(sql: Sql, tenant: TenantId | null, atMost: number): number {
  const counted = tenant === null ? COUNT_OPEN : COUNT_OPEN_OF_TENANT;
  return sql.get<{ open: number }>(counted, { ...(tenant !== null && { tenant }), atMost })?.open ?? 0;
}

/** Newest first, by when they were first heard of. */
export function listOwners(sql: Sql, tenant: TenantId, page: Page): Paged<OwnerSummary> {
  const newest = newestFirst(page, 'l.created_at', 'l.id');
  const conditions = where(['l.tenant = @tenant AND l.erasure IS NULL', newest.condition]);
  const rows = sql.all<OwnerRow>(`${SELECT_OWNERS} ${conditions} ${newest.order}`, { tenant, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(ownerSummaryFrom), nextCursor };
}

export function ownerCount(sql: Sql, tenant: TenantId): number {
  const text = 'SELECT count(*) AS owners FROM lanes WHERE tenant = @tenant AND erasure IS NULL';
  return sql.get<{ owners: number }>(text, { tenant })?.owners ?? 0;
}

const countersOf = (sql: Sql, tenant: TenantId): Counters =>
  countersFrom(sql.all('SELECT name, value FROM counters WHERE tenant = @tenant', { tenant }));

const COUNT_BATCHES = 'SELECT state, count(*) AS batches FROM batches WHERE tenant = @tenant GROUP BY state';

const COUNT_MEMORIES = `
  SELECT coalesce(sum(live), 0) AS live, coalesce(sum(version_count), 0) AS versions
  FROM memories WHERE tenant = @tenant`;

const SUM_USAGE = `
  SELECT count(*) AS calls, coalesce(sum(failed), 0) AS failedCalls,
    coalesce(sum(prompt_tokens), 0) AS promptTokens, coalesce(sum(completion_tokens), 0) AS completionTokens
  FROM usage WHERE consolidation_id = @id`;

const usageWhere = (whose: string): string => `
  SELECT model, count(*) AS calls, sum(failed) AS failedCalls, sum(prompt_tokens) AS promptTokens,
    sum(completion_tokens) AS completionTokens
  FROM usage WHERE ${whose} AND at >= @from AND at < @to GROUP BY model ORDER BY model`;

const USAGE_OF_LANE = usageWhere('lane = @lane');
/** The same index has them, those of all tenants together. */
const USAGE_OF_STRANGERS = usageWhere("lane = '' AND tenant = @tenant");

const USAGE_OF_TENANT = `
  SELECT model, calls, failed_calls AS failedCalls, prompt_tokens AS promptTokens,
    completion_tokens AS completionTokens
  FROM usage_days WHERE tenant = @tenant AND day = @day ORDER BY model`;

const COUNT_OPEN_OF_TENANT = `
  SELECT count(*) AS open FROM (
    SELECT 1 FROM batches WHERE tenant = @tenant AND state IN ('pending', 'consolidating') LIMIT @atMost
  )`;

const COUNT_OPEN = `
  SELECT count(*) AS open FROM (
    SELECT 1 FROM batches WHERE state IN ('pending', 'consolidating') AND ${ofNoSpace('tenant')} LIMIT @atMost
  )`;

const SELECT_OWNERS = `
  SELECT l.id, l.owner_kind, l.owner_id, l.pending, l.created_at, l.updated_at,
    (SELECT count(*) FROM memories m WHERE m.lane = l.id AND m.live = 1) AS memories
  FROM lanes l`;

import {
  type Account,
  type BatchCounts,
  type BatchState,
  DAY_MS,
  dayOf,
  type Millis,
  type OwnerSummary,
  ofNoSpace,
  type Page,
  type Paged,
  type TenantId,
  type UsageOfModel,
  type UsageTotals,
} from '@slowwave/engine';
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

/** Needs one snapshot: a batch that arrives between the two statements would show as a gap. */
export async function batchCounts(sql: Sql, tenant: TenantId): Promise<BatchCounts> {
  const rows = await sql.all<{ state: BatchState; batches: number }>(COUNT_BATCHES, { tenant });
  return batchCountsFrom(rows, await countersOf(sql, tenant));
}

export async function memoryCounts(sql: Sql, tenant: TenantId): Promise<{ live: number; versions: number }> {
  return (await sql.get<{ live: number; versions: number }>(COUNT_MEMORIES, { tenant })) ?? { live: 0, versions: 0 };
}

export async function usageOfTenant(sql: Sql, tenant: TenantId): Promise<UsageTotals> {
  return usageFrom(await countersOf(sql, tenant));
}

export async function usageOfConsolidation(sql: Sql, id: string): Promise<UsageTotals> {
  return (await sql.get<UsageTotals>(SUM_USAGE, { id })) ?? NO_USAGE;
}

/** The use of models on the day of a moment. */
export async function usageOfDay(
  sql: Sql,
  of: { readonly tenant: TenantId } | Account,
  at: Millis,
): Promise<readonly UsageOfModel[]> {
  const day = dayOf(at);
  if ('tenant' in of) return sql.all<UsageOfModel>(USAGE_OF_TENANT, { tenant: of.tenant, day });
  const times = { from: day * DAY_MS, to: (day + 1) * DAY_MS };
  if ('lane' in of) return sql.all<UsageOfModel>(USAGE_OF_LANE, { lane: of.lane, ...times });
  return sql.all<UsageOfModel>(USAGE_OF_STRANGERS, { tenant: of.strangersOf, ...times });
}

/** Reads an index alone, and no more of it than asked for. */
export async function backlog(sql: Sql, tenant: TenantId | null, atMost: number): Promise<number> {
  const counted = tenant === null ? COUNT_OPEN : COUNT_OPEN_OF_TENANT;
  return (await sql.get<{ open: number }>(counted, { ...(tenant !== null && { tenant }), atMost }))?.open ?? 0;
}

/** Newest first, by when they were first heard of. */
export async function listOwners(sql: Sql, tenant: TenantId, page: Page): Promise<Paged<OwnerSummary>> {
  const newest = newestFirst(page, 'l.created_at', 'l.id');
  const conditions = where(['l.tenant = @tenant AND l.erasure IS NULL', newest.condition]);
  const params = { tenant, ...newest.params };
  const rows = await sql.all<OwnerRow>(`${SELECT_OWNERS} ${conditions} ${newest.order}`, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(ownerSummaryFrom), nextCursor };
}

export async function ownerCount(sql: Sql, tenant: TenantId): Promise<number> {
  const text = 'SELECT count(*) AS owners FROM lanes WHERE tenant = @tenant AND erasure IS NULL';
  return (await sql.get<{ owners: number }>(text, { tenant }))?.owners ?? 0;
}

const countersOf = async (sql: Sql, tenant: TenantId): Promise<Counters> =>
  countersFrom(await sql.all(SUM_COUNTERS, { tenant }));

const COUNT_BATCHES = 'SELECT state, count(*) AS batches FROM batches WHERE tenant = @tenant GROUP BY state';

const SUM_COUNTERS = 'SELECT name, sum(value)::bigint AS value FROM counters WHERE tenant = @tenant GROUP BY name';

const COUNT_MEMORIES = `
  SELECT count(*) FILTER (WHERE live) AS live, coalesce(sum(version_count), 0)::bigint AS versions
  FROM memories WHERE tenant = @tenant`;

const SUM_USAGE = `
  SELECT count(*) AS calls, count(*) FILTER (WHERE failed) AS "failedCalls",
    coalesce(sum(prompt_tokens), 0)::bigint AS "promptTokens",
    coalesce(sum(completion_tokens), 0)::bigint AS "completionTokens"
  FROM usage WHERE consolidation_id = @id`;

const usageWhere = (whose: string): string => `
  SELECT model, count(*) AS calls, count(*) FILTER (WHERE failed) AS "failedCalls",
    sum(prompt_tokens)::bigint AS "promptTokens", sum(completion_tokens)::bigint AS "completionTokens"
  FROM usage WHERE ${whose} AND at >= @from AND at < @to GROUP BY model ORDER BY model COLLATE "C"`;

const USAGE_OF_LANE = usageWhere('lane = @lane');
/** The same index has them, those of all tenants together. */
const USAGE_OF_STRANGERS = usageWhere("lane = '' AND tenant = @tenant");

const USAGE_OF_TENANT = `
  SELECT model, sum(calls)::bigint AS calls, sum(failed_calls)::bigint AS "failedCalls",
    sum(prompt_tokens)::bigint AS "promptTokens", sum(completion_tokens)::bigint AS "completionTokens"
  FROM usage_days WHERE tenant = @tenant AND day = @day GROUP BY model ORDER BY model COLLATE "C"`;

const COUNT_OPEN_OF_TENANT = `
  SELECT count(*) AS open FROM (
    SELECT 1 FROM batches WHERE tenant = @tenant AND state IN ('pending', 'consolidating') LIMIT @atMost
  ) AS found`;

const COUNT_OPEN = `
  SELECT count(*) AS open FROM (
    SELECT 1 FROM batches WHERE state IN ('pending', 'consolidating') AND ${ofNoSpace('tenant')} LIMIT @atMost
  ) AS found`;

const SELECT_OWNERS = `
  SELECT l.id, l.owner_kind, l.owner_id, l.pending, l.created_at, l.updated_at,
    (SELECT count(*) FROM memories m WHERE m.lane = l.id AND m.live) AS memories
  FROM lanes l`;

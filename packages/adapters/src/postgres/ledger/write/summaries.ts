import type { Account, LaneId, RefreshedSummary, SummaryCall, SummaryRefresh, TenantId } from '@slowwave/engine';
import type { Sql } from '../sql.ts';
import { countCall, NO_LANE } from './calls.ts';
import { lockLane } from './lanes.ts';

/** Takes the place of the summary it was made from, and of no other. */
export async function storeSummary(
  sql: Sql,
  { refresh, refreshed }: { refresh: SummaryRefresh; refreshed: RefreshedSummary },
): Promise<{ kind: 'stored' | 'overtaken' }> {
  const { summary, upTo, revision } = refreshed;
  const params = { id: Number(refresh.scope), lane: refresh.lane, summary, upTo, revision };
  return { kind: (await sql.run(STORE_SUMMARY, params)) === 1 ? 'stored' : 'overtaken' };
}

/** Counts a call that belongs to no consolidation. */
export async function countSummaryCall(
  sql: Sql,
  { account, call }: { account: Account; call: SummaryCall },
): Promise<void> {
  if ('strangersOf' in account) {
    return countCall(sql, { tenant: account.strangersOf, lane: NO_LANE, consolidationId: '' }, call);
  }
  const { lane } = account;
  const row = await sql.get<{ tenant: TenantId }>('SELECT tenant FROM lanes WHERE id = @lane', { lane });
  if (row === null) return; // erased in the meantime, and its usage with it
  await countCall(sql, { tenant: row.tenant, lane, consolidationId: '' }, call);
}

/** The same for a caller that holds no lock yet. */
export async function forgetSummariesOf(sql: Sql, lane: LaneId): Promise<void> {
  await lockLane(sql, lane);
  await forgetSummaries(sql, lane);
}

/** Summaries go back to covering nothing; refreshes under way no longer fit. */
export async function forgetSummaries(sql: Sql, lane: LaneId): Promise<void> {
  await sql.run(FORGET_SUMMARIES, { lane });
}

const STORE_SUMMARY = `
  UPDATE scopes SET summary = @summary, summary_upto = @upTo, summary_revision = summary_revision + 1
  WHERE id = @id AND lane = @lane AND summary_revision = @revision`;

const FORGET_SUMMARIES = `
  UPDATE scopes SET summary = NULL, summary_upto = 0, summary_revision = summary_revision + 1 WHERE lane = @lane`;

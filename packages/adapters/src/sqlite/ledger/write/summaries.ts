import type { Account, LaneId, RefreshedSummary, SummaryCall, SummaryRefresh } from '@slowwave/engine';
import type { Sql } from '../sql.ts';
import { countCall, NO_LANE } from './calls.ts';
import { loadLane } from './lanes.ts';

/** Takes the place of the summary it was made from, and of no other. */
export function storeSummary(
  sql: Sql,
  { refresh, refreshed }: { refresh: SummaryRefresh; refreshed: RefreshedSummary },
): { kind: 'stored' | 'overtaken' } {
  const { summary, upTo, revision } = refreshed;
  const params = { id: Number(refresh.scope), lane: refresh.lane, summary, upTo, revision };
  return { kind: sql.run(STORE_SUMMARY, params) === 1 ? 'stored' : 'overtaken' };
}

/** Counts a call that belongs to no consolidation. */
export function countSummaryCall(sql: Sql, { account, call }: { account: Account; call: SummaryCall }): void {
  if ('strangersOf' in account) {
    countCall(sql, { tenant: account.strangersOf, lane: NO_LANE, consolidationId: '' }, call);
    return;
  }
  const { lane } = account;
  const tenant = loadLane(sql, lane)?.tenant;
  if (tenant === undefined) return; // erased in the meantime, and its usage with it
  countCall(sql, { tenant, lane, consolidationId: '' }, call);
}

/** Summaries go back to covering nothing; refreshes under way no longer fit. */
export function forgetSummaries(sql: Sql, { lane }: { lane: LaneId }): void {
  sql.run(FORGET_SUMMARIES, { lane });
}

const STORE_SUMMARY = `
  UPDATE scopes SET summary = @summary, summary_upto = @upTo, summary_revision = summary_revision + 1
  WHERE id = @id AND lane = @lane AND summary_revision = @revision`;

const FORGET_SUMMARIES = `
  UPDATE scopes SET summary = NULL, summary_upto = 0, summary_revision = summary_revision + 1 WHERE lane = @lane`;

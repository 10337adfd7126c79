import type { Contradiction, Millis, OrphanKind, ParkedBatches, Suspects, TenantId } from '@slowwave/engine';
import { ofNoSpace } from '@slowwave/engine/storing';
import {
  CONTRADICTORY,
  COUNT_MEMORIES,
  countOf,
  examplesOf,
  FOLDED,
  ORPHANS,
  OVERDUE,
  SELECT_SAMPLE,
  SELECT_TENANTS,
} from '../../../ledger/audit.ts';
import { strayRelations } from '../../../ledger/graph/audit.ts';
import { runScript } from '../script.ts';
import type { Params, Sql } from '../sql.ts';

/** What a ledger says of its own soundness, by the names that the store asks by. */
export const AUDITS = {
  tenants: (sql: Sql): TenantId[] =>
    sql
      .all<{ tenant: TenantId }>(SELECT_TENANTS)
      .map(({ tenant }) => tenant)
      .sort(),
  memories: (sql: Sql): number => sql.get<{ count: number }>(COUNT_MEMORIES)?.count ?? 0,
  sample: (sql: Sql, limit: number) => sql.all<{ tenant: TenantId; id: string }>(SELECT_SAMPLE, { limit }),
  orphans: (sql: Sql, kind: OrphanKind): Suspects => suspects(sql, ORPHANS[kind]),
  contradictions: (sql: Sql, kind: Contradiction): Suspects =>
    kind === FOLDED ? runScript(sql, strayRelations()) : suspects(sql, CONTRADICTORY[kind]),
  overdue: (sql: Sql, before: Millis): Suspects => suspects(sql, OVERDUE, { before }),
  parked: (sql: Sql) => sql.all<ParkedBatches>(COUNT_PARKED),
} as const;

function suspects(sql: Sql, audit: Parameters<typeof countOf>[0], params: Params = {}): Suspects {
  const count = sql.get<{ count: number }>(countOf(audit), params)?.count ?? 0;
  const examples = count === 0 ? [] : sql.all<{ id: string }>(examplesOf(audit), params);
  return { count, examples: examples.map(({ id }) => id) };
}

const COUNT_PARKED = `
  SELECT tenant, coalesce(json_extract(failure, '$.code'), 'unknown') AS code, count(*) AS batches
  FROM batches WHERE state = 'parked' AND ${ofNoSpace('tenant')} GROUP BY 1, 2 ORDER BY 1, 2`;

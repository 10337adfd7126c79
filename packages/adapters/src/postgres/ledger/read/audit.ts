import { type AuditStore, ofNoSpace, type ParkedBatches, type Suspects, type TenantId } from '@slowwave/engine';
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
import type { Access } from '../access.ts';
import { runScript } from '../script.ts';
import type { Params, Sql } from '../sql.ts';

export function auditStore({ read, snapshot }: Access): AuditStore {
  return {
    tenants: () =>
      read(async (sql) => (await sql.all<{ tenant: TenantId }>(SELECT_TENANTS)).map(({ tenant }) => tenant).sort()),
    memories: () => read(async (sql) => (await sql.get<{ count: number }>(COUNT_MEMORIES))?.count ?? 0),
    sample: (limit) => read((sql) => sql.all<{ tenant: TenantId; id: string }>(SELECT_SAMPLE, { limit })),
    orphans: (kind) => snapshot((sql) => suspects(sql, ORPHANS[kind])),
    contradictions: (kind) =>
      snapshot((sql) => (kind === FOLDED ? runScript(sql, strayRelations()) : suspects(sql, CONTRADICTORY[kind]))),
    overdue: (before) => snapshot((sql) => suspects(sql, OVERDUE, { before })),
    parked: () => read((sql) => sql.all<ParkedBatches>(COUNT_PARKED)),
  };
}

async function suspects(sql: Sql, audit: Parameters<typeof countOf>[0], params: Params = {}): Promise<Suspects> {
  const count = (await sql.get<{ count: number }>(countOf(audit), params))?.count ?? 0;
  const examples = count === 0 ? [] : await sql.all<{ id: string }>(examplesOf(audit), params);
  return { count, examples: examples.map(({ id }) => id) };
}

const COUNT_PARKED = `
  SELECT tenant, coalesce(failure ->> 'code', 'unknown') AS code, count(*) AS batches
  FROM batches WHERE state = 'parked' AND ${ofNoSpace('tenant')} GROUP BY 1, 2 ORDER BY 1, 2`;

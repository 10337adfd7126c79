import type { TenantId } from '@slowwave/engine';
import type { CounterName } from '../../../ledger/counts.ts';
import type { Sql } from '../sql.ts';

export interface Count {
  readonly tenant: TenantId;
  readonly name: CounterName;
  readonly value: number;
}

/** Adds to counters. Last in a transaction: their rows are shared by all writers of a tenant. */
export async function count(sql: Sql, counts: readonly Count[]): Promise<void> {
  const added = counts.filter(({ value }) => value !== 0);
  await sql.run(ADD, {
    tenants: added.map(({ tenant }) => tenant),
    names: added.map(({ name }) => name),
    values: added.map(({ value }) => value),
  });
}

/** Each connection has its slot. Rows are taken in one order, so that nobody waits in a circle. */
const ADD = `
  INSERT INTO counters (tenant, name, slot, value)
  SELECT n.tenant, n.name, pg_backend_pid() % 16, sum(n.value)
  FROM unnest(@tenants::text[], @names::text[], @values::bigint[]) AS n (tenant, name, value)
  GROUP BY n.tenant, n.name ORDER BY n.tenant, n.name
  ON CONFLICT (tenant, name, slot) DO UPDATE SET value = counters.value + excluded.value`;

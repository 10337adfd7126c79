import type { TenantId } from '@slowwave/engine';
import type { CounterName } from '../../../ledger/counts.ts';
import type { Sql } from '../sql.ts';

export function count(sql: Sql, tenant: TenantId, added: Partial<Record<CounterName, number>>): void {
  for (const [name, value] of Object.entries(added)) sql.run(ADD, { tenant, name, value });
}

const ADD = `
  INSERT INTO counters (tenant, name, value) VALUES (@tenant, @name, @value)
  ON CONFLICT (tenant, name) DO UPDATE SET value = value + excluded.value`;

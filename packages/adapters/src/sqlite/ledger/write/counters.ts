import type { TenantId } from '@slowwave/engine';
import type { Sql } from '../sql.ts';

/** What is counted per tenant because its rows may be gone (erased) or are too many to add up. */
export type CounterName = 'accepted' | 'erased' | 'calls' | 'failed_calls' | 'prompt_tokens' | 'completion_tokens';

export function count(sql: Sql, tenant: TenantId, added: Partial<Record<CounterName, number>>): void {
  for (const [name, value] of Object.entries(added)) sql.run(ADD, { tenant, name, value });
}

const ADD = `
  INSERT INTO counters (tenant, name, value) VALUES (@tenant, @name, @value)
  ON CONFLICT (tenant, name) DO UPDATE SET value = value + excluded.value`;

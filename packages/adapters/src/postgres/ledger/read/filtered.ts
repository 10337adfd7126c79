import type { FilteredList, FilteredStore, Memory, Page, Paged, TenantId } from '@slowwave/engine';
import { postgresDialect, translate } from '../../../filter-sql/index.ts';
import { pageOf } from '../../../ledger/cursor.ts';
import { newestFirst, where } from '../../../ledger/page.ts';
import type { Access } from '../access.ts';
import type { Sql } from '../sql.ts';
import { loadMemories } from './load.ts';
import { ownedBy } from './memories.ts';

export const filteredStore = ({ read }: Access): FilteredStore => ({
  list: (tenant, asked, page) => read((sql) => listFiltered(sql, { tenant, asked, page })),
});

const DIALECT = postgresDialect(
  {
    userId: 's.user_id',
    agentId: 's.agent_id',
    runId: 's.run_id',
    appId: 's.app_id',
    memoryId: 'm.id',
    text: 'v.text',
    category: "(v.details ->> 'category')",
    immutable: "(v.details ->> 'immutable')::boolean",
    confirmations: 'm.confirmations::float8',
    createdAt: 'm.created_at',
    updatedAt: 'm.updated_at',
    saidAt: 'v.said_at',
    validFrom: 'v.valid_from',
    expiresAt: 'm.expires_at',
  },
  "v.details -> 'metadata'",
);

async function listFiltered(
  sql: Sql,
  { tenant, asked, page }: { tenant: TenantId; asked: FilteredList; page: Page },
): Promise<Paged<Memory>> {
  const newest = newestFirst(page, 'm.created_at', 'm.id');
  const owned = ownedBy(tenant, asked.scope);
  const filter = translate(asked.where, DIALECT);
  const unexpired = '(m.expires_at IS NULL OR m.expires_at > @now)';
  const fits = `EXISTS (SELECT 1 FROM versions v WHERE v.memory_id = m.id AND v.superseded_by IS NULL AND ${filter.condition})`;
  const condition = where([...owned.conditions, unexpired, newest.condition, fits]);
  const part = { condition, limit: newest.order, order: 'found.created_at DESC, found.id DESC' };
  // What is made for one filter is not kept as a prepared statement.
  const once: Sql = { ...sql, all: sql.once };
  const memories = await loadMemories(once, part, {
    ...owned.params,
    now: asked.now,
    ...newest.params,
    ...filter.params,
  });
  return pageOf(memories, page.limit, (memory) => [memory.createdAt, memory.id]);
}

import { setImmediate } from 'node:timers/promises';
import type { Filter, FilteredList, FilteredStore, Memory, TenantId } from '@slowwave/engine';
import { type SqlFilter, sqliteDialect, translate } from '../../../filter-sql/index.ts';
import { pageOf, readCursor, type SortKey } from '../../../ledger/cursor.ts';
import { where } from '../../../ledger/page.ts';
import type { Access } from '../access.ts';
import type { Sql } from '../sql.ts';
import { manyMemories, ownedBy } from './memories.ts';

/** So many conditions are tested without a break, in 2 to 5 ms: reads run where requests are answered. */
const TESTS_AT_ONCE = 500;

/** Lists in slices, so that an owner with very much that hardly anything fits of holds nobody up. */
export function filteredStore({ read }: Access): FilteredStore {
  return {
    list: async (tenant, asked, page) => {
      const filter = translate(asked.where, DIALECT);
      const limit = Math.ceil(TESTS_AT_ONCE / conditionsIn(asked.where));
      const found: Row[] = [];
      let after = readCursor(page.cursor, ['number', 'string']);
      for (;;) {
        const slice = await read((sql) => sliceOf(sql, { tenant, asked, filter }, { after, limit }));
        found.push(...slice.filter(({ fits }) => fits === 1));
        const last = slice.at(-1);
        if (found.length > page.limit || slice.length < limit || last === undefined) break;
        after = keyOf(last);
        await setImmediate();
      }
      const { results, nextCursor } = pageOf(found, page.limit, keyOf);
      return { results: await memoriesOf(read, tenant, results), nextCursor };
    },
  };
}

/** A row of the list before its filter. */
interface Row {
  readonly id: string;
  readonly created_at: number;
  readonly fits: number;
}

const keyOf = ({ created_at, id }: Row): SortKey => [created_at, id];

const DIALECT = sqliteDialect(
  {
    userId: 's.user_id',
    agentId: 's.agent_id',
    runId: 's.run_id',
    appId: 's.app_id',
    memoryId: 'm.id',
    text: 'v.text',
    category: "(v.details ->> 'category')",
    immutable: "(v.details ->> 'immutable')",
    confirmations: 'm.confirmations',
    createdAt: 'm.created_at',
    updatedAt: 'm.updated_at',
    saidAt: 'v.said_at',
    validFrom: 'v.valid_from',
    expiresAt: 'm.expires_at',
  },
  "v.details -> 'metadata'",
);

function conditionsIn(filter: Filter): number {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.reduce((sum, one) => sum + conditionsIn(one), 1);
    case 'not':
      return conditionsIn(filter.of);
    case 'condition':
      return 1;
  }
}

interface Listed {
  readonly tenant: TenantId;
  readonly asked: FilteredList;
  readonly filter: SqlFilter;
}

function sliceOf(sql: Sql, { tenant, asked, filter }: Listed, slice: { after: SortKey | null; limit: number }): Row[] {
  const owned = ownedBy(tenant, asked.scope);
  const later = slice.after === null ? null : '(m.created_at, m.id) < (@afterTime, @afterId)';
  const unexpired = '(m.expires_at IS NULL OR m.expires_at > @now)';
  const text = `
    SELECT m.id, m.created_at, (${filter.condition}) AS fits
    FROM memories m JOIN lanes l ON l.id = m.lane JOIN scopes s ON s.id = m.scope
      JOIN versions v ON v.memory_id = m.id AND v.superseded_by IS NULL
    ${where([...owned.conditions, unexpired, later])} ORDER BY m.created_at DESC, m.id DESC LIMIT @limit`;
  const [afterTime = null, afterId = null] = slice.after ?? [];
  const place = { now: asked.now, limit: slice.limit, ...(later === null ? {} : { afterTime, afterId }) };
  return sql.once<Row>(text, {
    ...owned.params,
    ...place,
    ...(filter.params as Readonly<Record<string, string | number>>),
  });
}

/** In the order of the rows. One that was erased meanwhile is left out. */
async function memoriesOf(read: Access['read'], tenant: TenantId, rows: readonly Row[]): Promise<readonly Memory[]> {
  const ids = rows.map(({ id }) => id);
  const memories = new Map((await read((sql) => manyMemories(sql, tenant, ids))).map((memory) => [memory.id, memory]));
  return ids.flatMap((id) => memories.get(id) ?? []);
}

import type { Filter, FilteredStore, Memory, SaidId, Scope, TenantId } from '@slowwave/engine';
import { type Dialect, type Source, type SqlFilter, translate } from './filter-sql.ts';
import { LIVE_OF_OWNER, ownedBy, UNEXPIRED } from './memories.ts';
import { pageOf, readCursor, type SortKey, where } from './page.ts';
import { loadMemories, NEWEST_FIRST } from './rows/memory.ts';
import { READ_VERSIONS } from './rows/version.ts';
import { type Access, first, once, read, storeOf } from './script.ts';

/** How a kind of ledger tests what a filter says. */
export interface Filtering {
  readonly dialect: (source: Source) => Dialect;
  /** So many conditions are tested without a break; null: nobody waits for the tests but who asked. */
  readonly testsAtOnce: number | null;
}

/** Lists in slices where tests hold others up: an owner may have very much that hardly anything fits of. */
export function filteredStore(access: Access, { dialect, testsAtOnce }: Filtering): FilteredStore {
  const words = dialect(SOURCE);
  const { slice: sliceOf } = scripted(access);
  return {
    list: async (tenant, { scope, where: asked, now }, page) => {
      const filter = translate(asked, words);
      const tests = testsAtOnce === null ? null : Math.ceil(testsAtOnce / conditionsIn(asked));
      const found: Memory[] = [];
      for (let after = readCursor(page.cursor, ['number', 'string']); ; ) {
        const limit = page.limit + 1 - found.length;
        const slice = await sliceOf({ tenant, scope, now, filter, tests, after, limit });
        found.push(...slice.memories);
        after = slice.end;
        if (after === null || found.length > page.limit) return pageOf(found, page.limit, keyOf);
      }
    },
  };
}

const keyOf = ({ createdAt, id }: Memory): SortKey => [createdAt, id];

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

interface ListSlice {
  readonly tenant: TenantId;
  readonly scope: Scope;
  readonly now: number;
  readonly filter: SqlFilter;
  /** How many memories it is tested of at most; null: as many as it takes. */
  readonly tests: number | null;
  readonly after: SortKey | null;
  readonly limit: number;
}

interface Slice {
  readonly memories: readonly Memory[];
  /** Where the next slice begins; null: there is none. */
  readonly end: SortKey | null;
}

const scripted = storeOf<{ slice(of: ListSlice): Promise<Slice> }>('filtered', {
  slice: read(function* (of) {
    const { filter, tests, limit } = of;
    const owned = ownedBy(of.tenant, of.scope);
    const later = of.after === null ? null : '(m.created_at, m.id) < (@afterTime, @afterId)';
    const [afterTime = null, afterId = null] = of.after ?? [];
    const given = { ...owned.given, now: of.now, afterTime, afterId };
    const end = tests === null ? null : yield* first<EndRow>(selectLast(later), { ...given, before: tests - 1 });
    const within = end === null ? null : '(m.created_at, m.id) >= (@endTime, @endId)';
    const memories = yield* loadMemories(
      where([...owned.conditions, UNEXPIRED, later, within, fits(filter)]),
      { ...given, ...filter.params, endTime: end?.created_at ?? null, endId: end?.id ?? null, limit },
      { order: NEWEST_FIRST, ask: once },
    );
    return { memories, end: end === null ? null : [end.created_at, end.id] };
  }),
});

interface EndRow {
  readonly id: string;
  readonly created_at: number;
}

/** The last memory of a slice that is full, whatever the scope leaves of it: no slice takes longer. */
const selectLast = (later: string | null): string => `
  SELECT m.id, m.created_at FROM memories m
  ${where([LIVE_OF_OWNER, later])} ORDER BY ${NEWEST_FIRST('m')} LIMIT 1 OFFSET @before`;

/** Of the newest version of a memory. */
const fits = ({ condition }: SqlFilter): string =>
  `EXISTS (SELECT 1 FROM ${READ_VERSIONS} v WHERE v.memory = m.number AND v.superseded_by IS NULL AND ${condition})`;

const SOURCE: Source = {
  columns: {
    userId: 's.user_id',
    memoryId: 'm.id',
    text: 'v.text',
    category: "(v.details ->> 'category')",
    immutable: "coalesce((v.details ->> 'immutable')::boolean, FALSE)",
    flagged: "coalesce((v.details ->> 'flagged')::boolean, FALSE)",
    trust: "coalesce(v.details ->> 'trust', 'user')",
    confirmations: 'm.confirmations::float8',
    createdAt: 'm.created_at',
    updatedAt: 'm.updated_at',
    saidAt: 'v.said_at',
    validFrom: 'v.valid_from',
    expiresAt: 'm.expires_at',
  },
  lists: { agentId: idsOf('agent'), runId: idsOf('run'), appId: idsOf('app') },
  metadata: "v.details -> 'metadata'",
};

function idsOf(kind: SaidId['kind']) {
  return { rows: `SELECT 1 FROM memory_ids i WHERE i.memory_id = m.id AND i.kind = '${kind}'`, id: 'i.id' };
}

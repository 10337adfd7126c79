import type { LaneId, SaidId, SaidIdStore, TenantId, UsedId } from '@slowwave/engine';
import { KEY_OF, SAID_KINDS } from '@slowwave/engine/storing';
import { saidUnder, UNEXPIRED } from './memories.ts';
import { isLaneStanding, pageOf, readCursor } from './page.ts';
import { loadMemories } from './rows/memory.ts';
import type { IdRow } from './rows/said-ids.ts';
import { all, idsOf, lookup, read, snapshot, storeOf } from './script.ts';

export const saidIdStore = storeOf<SaidIdStore>('saidIds', {
  of: read(function* (tenant: TenantId, memoryId: string) {
    const rows = yield* all<IdRow>(SELECT_IDS, { tenant, memoryId });
    return rows.map(({ kind, id, first, last, beyond }) => ({ kind, id, first, last, indexed: beyond === null }));
  }),
  beyondIndex: lookup(function* (lane: LaneId, ids: readonly Pick<SaidId, 'kind' | 'id'>[]) {
    const found: (Pick<SaidId, 'kind' | 'id'> & { readonly memoryId: string })[] = [];
    for (const [kind, some] of Map.groupBy(ids, (one) => one.kind)) {
      const rows = yield* all<IdRow>(SELECT_BEYOND, { lane, kind, ids: some.map(({ id }) => id) });
      found.push(...rows.map(({ memory_id: memoryId, id }) => ({ kind, id, memoryId })));
    }
    return found;
  }),
  memories: snapshot(function* (tenant, { named, now }, page) {
    const [kind] = SAID_KINDS.filter((one) => named[KEY_OF[one]] !== undefined);
    if (kind === undefined) throw new Error('expected an agent, run or app, got none');
    const after = readCursor(page.cursor, ['string'])?.[0] ?? '';
    const asked = { tenant, now, kind, ...named, after, limit: page.limit + 1 };
    const ids = yield* idsOf(
      `${SELECT_UNDER} i.id = @${KEY_OF[kind]} AND ${saidUnder(named).join(' AND ')} ${IN_ORDER}`,
      asked,
    );
    const { results, nextCursor } = pageOf(ids, page.limit, (id) => [id]);
    return { results: yield* loadMemories('WHERE m.id IN :ids', { ids: results }), nextCursor };
  }),
  list: read(function* (tenant, page) {
    const [kind = '', id = ''] = readCursor(page.cursor, ['string', 'string']) ?? [];
    const rows = yield* all<UsedId>(SELECT_USED, { tenant, kind, id, limit: page.limit + 1 });
    return pageOf(rows, page.limit, (row) => [row.kind, row.id]);
  }),
});

/** By one of the ids: the index has them in the order of the memories, so that a page costs a page. */
const SELECT_UNDER = `
  SELECT i.memory_id AS id FROM memory_ids i CROSS JOIN memories m
  WHERE i.tenant = @tenant AND i.kind = @kind AND i.memory_id > @after AND m.id = i.memory_id
    AND m.live AND ${UNEXPIRED} AND ${isLaneStanding('m.lane')} AND`;

const IN_ORDER = 'ORDER BY i.memory_id LIMIT @limit';

const SELECT_USED = `
  SELECT i.kind, i.id, count(*) AS memories, min(i.first) AS first, max(i.last) AS last
  FROM memory_ids i CROSS JOIN memories m
  WHERE i.tenant = @tenant AND (i.kind, i.id) > (@kind, @id) AND m.id = i.memory_id AND m.live AND ${isLaneStanding('m.lane')}
  GROUP BY i.kind, i.id ORDER BY i.kind, i.id LIMIT @limit`;

const SELECT_IDS = `
  SELECT i.* FROM memories m JOIN memory_ids i ON i.memory_id = m.id
  WHERE m.id = @memoryId AND m.tenant = @tenant AND ${isLaneStanding('m.lane')}`;

const SELECT_BEYOND = 'SELECT memory_id, id FROM memory_ids WHERE beyond = @lane AND kind = @kind AND id IN :ids';

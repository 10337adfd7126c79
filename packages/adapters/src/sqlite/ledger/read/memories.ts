import type { LaneId, Memory, MemoryEvent, Owner, Page, Paged, Scope, TenantId, Tombstone } from '@slowwave/engine';
import { ownerOf } from '@slowwave/engine/storing';
import { pageOf, readCursor } from '../../../ledger/cursor.ts';
import { isStanding, newestFirst, where } from '../../../ledger/page.ts';
import { type EventRow, eventFrom } from '../../../ledger/rows/event.ts';
import { type MemoryRow, memoryFrom, SELECT_MEMORIES, type VersionRow } from '../../../ledger/rows/memory.ts';
import { type TombstoneRow, tombstoneFrom } from '../../../ledger/rows/tombstone.ts';
import type { Params, Sql } from '../sql.ts';

export function getMemory(sql: Sql, tenant: TenantId, id: string): Memory | null {
  return manyMemories(sql, tenant, [id])[0] ?? null;
}

export function manyMemories(sql: Sql, tenant: TenantId, ids: readonly string[]): readonly Memory[] {
  const condition = 'WHERE m.tenant = @tenant AND l.erasure IS NULL AND m.id IN (SELECT value FROM json_each(@ids))';
  return loadMemories(sql, condition, { tenant, ids: JSON.stringify(ids) });
}

/** Memories of a lane that the index has not been told about. */
export function unprojectedMemories(sql: Sql, lane: LaneId): readonly Memory[] {
  return loadMemories(sql, 'WHERE m.id IN (SELECT memory_id FROM outbox WHERE lane = @lane)', { lane });
}

/** All of a lane, in id order. */
export function memoriesOfLane(
  sql: Sql,
  { lane, after, limit }: { lane: LaneId; after: string | null; limit: number },
): readonly Memory[] {
  const condition = 'WHERE m.lane = @lane AND m.id > @after ORDER BY m.id LIMIT @limit';
  return loadMemories(sql, condition, { lane, after: after ?? '', limit });
}

/** Of all tenants, in id order. */
export function everyMemory(sql: Sql, after: string | null, limit: number): readonly Memory[] {
  return loadMemories(sql, 'WHERE m.id > @after AND l.erasure IS NULL ORDER BY m.id LIMIT @limit', {
    after: after ?? '',
    limit,
  });
}

/** Live memories of the scope's owner, newest first; the scope's other ids narrow. */
export function listMemories(
  sql: Sql,
  { tenant, scope, now, page }: { tenant: TenantId; scope: Scope; now: number; page: Page },
): Paged<Memory> {
  const newest = newestFirst(page, 'm.created_at', 'm.id');
  const owned = ownedBy(tenant, scope);
  const unexpired = '(m.expires_at IS NULL OR m.expires_at > @now)';
  const conditions = where([...owned.conditions, unexpired, newest.condition]);
  const memories = loadMemories(sql, `${conditions} ${newest.order}`, { ...owned.params, now, ...newest.params });
  return pageOf(memories, page.limit, (memory) => [memory.createdAt, memory.id]);
}

export function liveIds(sql: Sql, tenant: TenantId, scope: Scope): readonly string[] {
  const owned = ownedBy(tenant, scope);
  const from = 'FROM memories m JOIN lanes l ON l.id = m.lane JOIN scopes s ON s.id = m.scope';
  const text = `SELECT m.id ${from} ${where(owned.conditions)} ORDER BY m.created_at, m.id`;
  return sql.all<{ id: string }>(text, owned.params).map((row) => row.id);
}

export function tombstonesOf(sql: Sql, lane: LaneId, textHashes: readonly string[]): readonly Tombstone[] {
  return sql.all<TombstoneRow>(SELECT_TOMBSTONES, { lane, hashes: JSON.stringify(textHashes) }).map(tombstoneFrom);
}

/** Oldest first. */
export function historyOf(
  sql: Sql,
  { tenant, id, page }: { tenant: TenantId; id: string; page: Page },
): Paged<MemoryEvent> {
  const after = readCursor(page.cursor, ['number'])?.[0] ?? 0;
  const rows = sql.all<EventRow>(SELECT_HISTORY, { tenant, id, after, limit: page.limit + 1 });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.revision]);
  return { results: results.map(eventFrom), nextCursor };
}

/** Memories with all their versions. */
export function loadMemories(sql: Sql, condition: string, params: Params): Memory[] {
  const rows = sql.all<MemoryRow>(`${SELECT_MEMORIES} ${condition}`, params);
  const ids = JSON.stringify(rows.map((row) => row.id));
  const versions = Map.groupBy(sql.all<VersionRow>(SELECT_VERSIONS, { ids }), (version) => version.memory_id);
  return rows.map((row) => memoryFrom(row, versions.get(row.id) ?? []));
}

/** Conditions on m (memories), l (lanes) and s (scopes) for the live memories a scope means. */
export function ownedBy(tenant: TenantId, scope: Scope): { conditions: readonly (string | null)[]; params: Params } {
  const owner: Owner = ownerOf(scope);
  return {
    conditions: [
      'm.tenant = @tenant AND m.live',
      'm.lane = (SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @ownerKind AND owner_id = @ownerId)',
      scope.agentId === null ? null : 's.agent_id = @agentId',
      scope.runId === null ? null : 's.run_id = @runId',
      scope.appId === null ? null : 's.app_id = @appId',
    ],
    params: {
      tenant,
      ownerKind: owner.kind,
      ownerId: owner.id,
      agentId: scope.agentId,
      runId: scope.runId,
      appId: scope.appId,
    },
  };
}

const SELECT_VERSIONS = `
  SELECT * FROM versions WHERE memory_id IN (SELECT value FROM json_each(@ids)) ORDER BY memory_id, number`;

const SELECT_TOMBSTONES = `
  SELECT * FROM tombstones WHERE lane = @lane AND text_hash IN (SELECT value FROM json_each(@hashes))`;

const SELECT_HISTORY = `
  SELECT * FROM events
  WHERE tenant = @tenant AND memory_id = @id AND revision > @after
    AND ${isStanding('(SELECT lane FROM memories WHERE id = @id)')}
  ORDER BY revision LIMIT @limit`;

import {
  type LaneId,
  type Memory,
  type MemoryEvent,
  ownerOf,
  type Page,
  type Paged,
  type Scope,
  type TenantId,
  type Tombstone,
} from '@slowwave/engine';
import { pageOf, readCursor } from '../../../ledger/cursor.ts';
import { isStanding, newestFirst, where } from '../../../ledger/page.ts';
import { type EventRow, eventFrom } from '../../../ledger/rows/event.ts';
import { type TombstoneRow, tombstoneFrom } from '../../../ledger/rows/tombstone.ts';
import type { Params, Sql } from '../sql.ts';
import { loadMemories } from './load.ts';

const BY_ID = 'found.id';

export async function getMemory(sql: Sql, tenant: TenantId, id: string): Promise<Memory | null> {
  return (await manyMemories(sql, tenant, [id]))[0] ?? null;
}

export async function manyMemories(sql: Sql, tenant: TenantId, ids: readonly string[]): Promise<readonly Memory[]> {
  const condition = 'WHERE m.tenant = @tenant AND l.erasure IS NULL AND m.id = ANY(@ids::text[])';
  return loadMemories(sql, { condition, order: BY_ID }, { tenant, ids });
}

/** Memories of a lane that the index has not been told about. */
export async function unprojectedMemories(sql: Sql, lane: LaneId): Promise<readonly Memory[]> {
  const condition = 'WHERE m.id IN (SELECT memory_id FROM outbox WHERE lane = @lane)';
  return loadMemories(sql, { condition, order: BY_ID }, { lane });
}

/** All of a lane, in id order. */
export async function memoriesOfLane(
  sql: Sql,
  { lane, after, limit }: { lane: LaneId; after: string | null; limit: number },
): Promise<readonly Memory[]> {
  const condition = 'WHERE m.lane = @lane AND m.id > @after';
  const part = { condition, limit: 'ORDER BY m.id LIMIT @limit', order: BY_ID };
  return loadMemories(sql, part, { lane, after: after ?? '', limit });
}

/** Of all tenants, in id order. */
export async function everyMemory(sql: Sql, after: string | null, limit: number): Promise<readonly Memory[]> {
  const part = {
    condition: 'WHERE m.id > @after AND l.erasure IS NULL',
    limit: 'ORDER BY m.id LIMIT @limit',
    order: BY_ID,
  };
  return loadMemories(sql, part, { after: after ?? '', limit });
}

/** Live memories of the scope's owner, newest first; the scope's other ids narrow. */
export async function listMemories(
  sql: Sql,
  { tenant, scope, now, page }: { tenant: TenantId; scope: Scope; now: number; page: Page },
): Promise<Paged<Memory>> {
  const newest = newestFirst(page, 'm.created_at', 'm.id');
  const owned = ownedBy(tenant, scope);
  const unexpired = '(m.expires_at IS NULL OR m.expires_at > @now)';
  const condition = where([...owned.conditions, unexpired, newest.condition]);
  const part = { condition, limit: newest.order, order: 'found.created_at DESC, found.id DESC' };
  const memories = await loadMemories(sql, part, { ...owned.params, now, ...newest.params });
  return pageOf(memories, page.limit, (memory) => [memory.createdAt, memory.id]);
}

export async function liveIds(sql: Sql, tenant: TenantId, scope: Scope): Promise<readonly string[]> {
  const owned = ownedBy(tenant, scope);
  const from = 'FROM memories m JOIN lanes l ON l.id = m.lane JOIN scopes s ON s.id = m.scope';
  const text = `SELECT m.id ${from} ${where(owned.conditions)} ORDER BY m.created_at, m.id`;
  return (await sql.all<{ id: string }>(text, owned.params)).map((row) => row.id);
}

export async function tombstonesOf(
  sql: Sql,
  lane: LaneId,
  textHashes: readonly string[],
): Promise<readonly Tombstone[]> {
  return (await sql.all<TombstoneRow>(SELECT_TOMBSTONES, { lane, textHashes })).map(tombstoneFrom);
}

/** Oldest first. */
export async function historyOf(
  sql: Sql,
  { tenant, id, page }: { tenant: TenantId; id: string; page: Page },
): Promise<Paged<MemoryEvent>> {
  const after = readCursor(page.cursor, ['number'])?.[0] ?? 0;
  const rows = await sql.all<EventRow>(SELECT_HISTORY, { tenant, id, after, limit: page.limit + 1 });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.revision]);
  return { results: results.map(eventFrom), nextCursor };
}

/** Conditions on m (memories), l (lanes) and s (scopes) for the live memories a scope means. */
export function ownedBy(tenant: TenantId, scope: Scope): { conditions: readonly (string | null)[]; params: Params } {
  const owner = ownerOf(scope);
  const { agentId, runId, appId } = scope;
  return {
    conditions: [
      'm.tenant = @tenant AND m.live',
      'm.lane = (SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @ownerKind AND owner_id = @ownerId)',
      agentId === null ? null : 's.agent_id = @agentId',
      runId === null ? null : 's.run_id = @runId',
      appId === null ? null : 's.app_id = @appId',
    ],
    params: { tenant, ownerKind: owner.kind, ownerId: owner.id, agentId, runId, appId },
  };
}

const SELECT_TOMBSTONES = 'SELECT * FROM tombstones WHERE lane = @lane AND text_hash = ANY(@textHashes::text[])';

const SELECT_HISTORY = `
  SELECT * FROM events
  WHERE tenant = @tenant AND memory_id = @id AND revision > @after
    AND ${isStanding('(SELECT lane FROM memories WHERE id = @id)')}
  ORDER BY revision LIMIT @limit`;

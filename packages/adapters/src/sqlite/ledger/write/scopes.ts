import type { LaneId, Scope } from '@slowwave/engine';
import { scopeKey } from '../../../ledger/rows/scope.ts';
import type { Sql } from '../sql.ts';

/** The number of a scope in its lane, given when it is first seen. */
export function openScope(sql: Sql, lane: LaneId, scope: Scope): number {
  const key = scopeKey(scope);
  const known = scopeId(sql, lane, key);
  if (known !== null) return known;
  sql.run(INSERT_SCOPE, {
    lane,
    key,
    userId: scope.userId,
    agentId: scope.agentId,
    runId: scope.runId,
    appId: scope.appId,
  });
  const made = scopeId(sql, lane, key);
  if (made === null) throw new Error('a scope is missing right after it was made');
  return made;
}

function scopeId(sql: Sql, lane: LaneId, key: string): number | null {
  return sql.get<{ id: number }>('SELECT id FROM scopes WHERE lane = @lane AND key = @key', { lane, key })?.id ?? null;
}

const INSERT_SCOPE = `
  INSERT INTO scopes (lane, key, user_id, agent_id, run_id, app_id)
  VALUES (@lane, @key, @userId, @agentId, @runId, @appId)`;

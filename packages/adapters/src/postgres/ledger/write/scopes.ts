import type { LaneId, Scope } from '@slowwave/engine';
import { scopeKey } from '../../../ledger/rows/scope.ts';
import type { Sql } from '../sql.ts';

export interface LaneScope {
  readonly lane: LaneId;
  readonly scope: Scope;
}

/** The numbers of scopes in their lanes, given when they are first seen. Needs the locks of the lanes. */
export async function openScopes(sql: Sql, scopes: readonly LaneScope[]): Promise<(of: LaneScope) => number> {
  const wanted = new Map(scopes.map((one) => [keyOf(one), one]));
  const rows = await sql.all<{ id: number; lane: LaneId; key: string }>(OPEN_SCOPES, {
    lanes: [...wanted.values()].map(({ lane }) => lane),
    keys: [...wanted.values()].map(({ scope }) => scopeKey(scope)),
    userIds: [...wanted.values()].map(({ scope }) => scope.userId),
    agentIds: [...wanted.values()].map(({ scope }) => scope.agentId),
    runIds: [...wanted.values()].map(({ scope }) => scope.runId),
    appIds: [...wanted.values()].map(({ scope }) => scope.appId),
  });
  const ids = new Map(rows.map(({ id, lane, key }) => [`${lane} ${key}`, id]));
  return (of) => {
    const id = ids.get(keyOf(of));
    if (id === undefined) throw new Error(`a scope of ${of.lane} is missing right after it was made`);
    return id;
  };
}

const keyOf = ({ lane, scope }: LaneScope): string => `${lane} ${scopeKey(scope)}`;

/** One statement sees nothing of its own writes: what it made is added to what it found. */
const OPEN_SCOPES = `
  WITH wanted AS (
    SELECT * FROM unnest(
      @lanes::text[], @keys::text[], @userIds::text[], @agentIds::text[], @runIds::text[], @appIds::text[]
    ) AS n (lane, key, user_id, agent_id, run_id, app_id)
  ), made AS (
    INSERT INTO scopes (lane, key, user_id, agent_id, run_id, app_id)
    SELECT * FROM wanted n WHERE NOT EXISTS (SELECT 1 FROM scopes s WHERE s.lane = n.lane AND s.key = n.key)
    RETURNING id, lane, key
  )
  SELECT id, lane, key FROM made
  UNION ALL
  SELECT s.id, s.lane, s.key FROM scopes s JOIN wanted n ON s.lane = n.lane AND s.key = n.key`;

import type { LaneId, Owner, Scope, TenantId } from '@slowwave/engine';
import { entryOf, mayEnter } from '../../ledger/away.ts';
import type { LaneRow } from '../../ledger/lane-life.ts';
import type { NewLane } from '../../ledger/lanes.ts';
import { scopeKey } from '../../ledger/rows/columns.ts';
import type { Sql } from './sql.ts';

/** Makes the lanes that are missing. Before any lock is taken: two writers make new lanes in the same order. */
export async function openLanes(sql: Sql, lanes: readonly NewLane[]): Promise<void> {
  const entries = lanes.map((lane) => entryOf(lane, lane.newId));
  await sql.run(INSERT_LANES, {
    ids: lanes.map((lane) => lane.newId),
    ...ownersOf(lanes),
    nows: lanes.map((lane) => lane.now),
    keys: entries.map(({ key }) => key),
    slots: entries.map(({ slot }) => slot),
  });
}

/** The lanes of these owners, locked. */
export async function lockOwners(
  sql: Sql,
  owned: readonly Omit<NewLane, 'newId' | 'now'>[],
): Promise<readonly LaneRow[]> {
  return sql.all<LaneRow>(LOCK_OWNERS, ownersOf(owned));
}

const ownersOf = (owned: readonly { tenant: TenantId; owner: Owner }[]) => ({
  tenants: owned.map(({ tenant }) => tenant),
  kinds: owned.map(({ owner }) => owner.kind),
  ownerIds: owned.map(({ owner }) => owner.id),
});

const INSERT_LANES = `
  INSERT INTO lanes (
    id, tenant, owner_kind, owner_id, state, generation, epoch, next_position, next_seq,
    pending, pending_tokens, pending_backfill, nudged_backfill, flush_through, attempts, created_at, updated_at
  )
  SELECT n.id, n.tenant, n.kind, n.owner_id, 'idle', 0, 0, 1, 1, 0, 0, 0, false, 0, 0, n.now, n.now
  FROM unnest(
      @ids::text[], @tenants::text[], @kinds::text[], @ownerIds::text[], @nows::bigint[], @keys::text[], @slots::bigint[]
    ) AS n (id, tenant, kind, owner_id, now, key, slot)
  WHERE NOT EXISTS (
    SELECT 1 FROM lanes l WHERE l.tenant = n.tenant AND l.owner_kind = n.kind AND l.owner_id = n.owner_id
  ) AND ${mayEnter('n.key', 'n.slot')}
  ORDER BY n.tenant, n.kind, n.owner_id
  ON CONFLICT (tenant, owner_kind, owner_id) DO NOTHING`;

const LOCK_OWNERS = `
  SELECT l.* FROM lanes l
  JOIN (
    SELECT DISTINCT * FROM unnest(@tenants::text[], @kinds::text[], @ownerIds::text[]) AS n (tenant, kind, owner_id)
  ) n ON l.tenant = n.tenant AND l.owner_kind = n.kind AND l.owner_id = n.owner_id
  ORDER BY l.id FOR NO KEY UPDATE OF l`;

interface LaneScope {
  readonly lane: LaneId;
  readonly laneNumber: number;
  /** Who slept has other numbers since; null: it never did. */
  readonly wokenAt: number | null;
  readonly scope: Scope;
}

/** The numbers of scopes in their lanes, given when they are first seen, and which of them had to be asked for. Needs the locks of the lanes. */
export async function scopesOf(
  sql: Sql,
  scopes: readonly LaneScope[],
  known: ReadonlyMap<string, number>,
): Promise<{ readonly numbers: readonly number[]; readonly made: ReadonlyMap<string, number> }> {
  const keys = scopes.map(keyOf);
  const wanted = new Map(scopes.flatMap((one, i) => (known.has(keys[i] ?? '') ? [] : [[keys[i] ?? '', one] as const])));
  const made = wanted.size === 0 ? new Map<string, number>() : await openScopes(sql, wanted);
  const numbers = keys.map((key, i) => {
    const number = known.get(key) ?? made.get(key);
    if (number === undefined) throw new Error(`a scope of ${scopes[i]?.lane} is missing right after it was made`);
    return number;
  });
  return { numbers, made };
}

async function openScopes(sql: Sql, wanted: ReadonlyMap<string, LaneScope>): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ id: number; lane: number; key: string }>(OPEN_SCOPES, {
    lanes: [...wanted.values()].map(({ laneNumber }) => laneNumber),
    keys: [...wanted.values()].map(({ scope }) => scopeKey(scope)),
    userIds: [...wanted.values()].map(({ scope }) => scope.userId),
    agentIds: [...wanted.values()].map(({ scope }) => scope.agentId),
    runIds: [...wanted.values()].map(({ scope }) => scope.runId),
    appIds: [...wanted.values()].map(({ scope }) => scope.appId),
  });
  const ids = new Map(rows.map(({ id, lane, key }) => [`${lane} ${key}`, id]));
  return new Map(
    [...wanted].flatMap(([key, { laneNumber, scope }]) => {
      const id = ids.get(`${laneNumber} ${scopeKey(scope)}`);
      return id === undefined ? [] : [[key, id] as const];
    }),
  );
}

const keyOf = ({ lane, wokenAt, scope }: LaneScope): string => `${lane} ${wokenAt ?? ''} ${scopeKey(scope)}`;

/** One statement sees nothing of its own writes: what it made is added to what it found. */
const OPEN_SCOPES = `
  WITH wanted AS (
    SELECT n.lane, decode(n.key, 'hex') AS key, n.user_id, n.agent_id, n.run_id, n.app_id FROM unnest(
      @lanes::bigint[], @keys::text[], @userIds::text[], @agentIds::text[], @runIds::text[], @appIds::text[]
    ) AS n (lane, key, user_id, agent_id, run_id, app_id)
  ), made AS (
    INSERT INTO scopes (lane, key, user_id, agent_id, run_id, app_id)
    SELECT * FROM wanted n WHERE NOT EXISTS (SELECT 1 FROM scopes s WHERE s.lane = n.lane AND s.key = n.key)
    RETURNING id, lane, key
  )
  SELECT id, lane, encode(key, 'hex') AS key FROM made
  UNION ALL
  SELECT s.id, s.lane, encode(s.key, 'hex') FROM scopes s JOIN wanted n ON s.lane = n.lane AND s.key = n.key`;

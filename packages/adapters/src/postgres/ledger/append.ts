import { type Appended, type DuePolicy, type LaneId, type NewBatch, ownerOf } from '@slowwave/engine';
import { heard } from '@slowwave/engine/storing';
import { type AppendedOrAway, elsewhere } from '../../ledger/away.ts';
import { append as appendTo } from '../../ledger/lane-life.ts';
import { type NewLane, ownerOfBatch } from '../../ledger/lanes.ts';
import { newBatchColumns, newMessageColumns } from '../../ledger/rows/batch.ts';
import { type LaneRow, pausesFrom } from '../../ledger/rows/lane.ts';
import { insert, lastly, together } from '../../ledger/script.ts';
import { saveLanes } from '../../ledger/turn.ts';
import { count } from '../../ledger/usage.ts';
import { answersOfKeys } from './append-keys.ts';
import { lockOwners, openLanes, openScopes } from './append-lanes.ts';
import { LostRowError } from './errors.ts';
import { runScript } from './script.ts';
import type { Sql } from './sql.ts';

export interface Append {
  readonly batch: NewBatch;
  readonly policy: DuePolicy;
  /** The id of the owner's lane, if it has none yet. */
  readonly newLaneId: LaneId;
}

/** Stores several batches, each at the end of its owner's lane. Answers them one by one. */
export async function appendGroup(sql: Sql, group: readonly Append[]): Promise<readonly AppendedOrAway[]> {
  const known = await answersOfKeys(sql, group);
  const fresh = group.filter((one) => !known.has(one));
  const stored = fresh.length === 0 ? new Map<Append, AppendedOrAway>() : await store(sql, fresh);
  const away = new Map(
    [...stored].flatMap(([one, answer]) => (answer.kind === 'away' ? [[one.batch.id, answer]] : [])),
  );
  return group.map((one) => {
    const before = known.get(one);
    // A key that was taken by a batch of the same group goes with it.
    const answer = (before?.kind === 'repeated' ? away.get(before.batchId) : undefined) ?? before ?? stored.get(one);
    if (answer === undefined) throw new Error(`batch ${one.batch.id} was left without an answer`);
    return answer;
  });
}

async function store(sql: Sql, all: readonly Append[]): Promise<Map<Append, AppendedOrAway>> {
  await openLanes(sql, firstOfEachOwner(all));
  const lanes = new Map((await lockOwners(sql, all.map(laneOf))).map((lane) => [ownerKey(lane), lane]));
  const answers = await awayAmong(sql, all, lanes);
  const group = answers.size === 0 ? all : all.filter((one) => !answers.has(one));
  if (group.length === 0) return answers;
  const laneIdOf = (one: Append): LaneId => rowOf(lanes, one).id;
  const scopeOf = await openScopes(
    sql,
    group.map((one) => ({ lane: laneIdOf(one), scope: one.batch.scope })),
  );
  const places = new Map(group.map((one) => [one, scopeOf({ lane: laneIdOf(one), scope: one.batch.scope })]));
  const seen = await seenClientIds(sql, places);
  const rows: Rows = { batches: [], messages: [] };
  for (const [one, scope] of places) answers.set(one, place(one, { lanes, scope, seen, rows }));
  const counts = group.map(({ batch }) => ({ tenant: batch.tenant, name: 'accepted', value: 1 }) as const);
  const { batches, messages } = rows;
  const inserts = [insert('batches', batches), insert('messages', messages)] as const;
  await runScript(sql, lastly(together(...inserts, saveLanes([...lanes.values()]), count(counts))));
  return answers;
}

/** What is said to owners who are somewhere else is not stored, and leaves its idempotency keys free. */
async function awayAmong(
  sql: Sql,
  group: readonly Append[],
  lanes: ReadonlyMap<string, LaneRow>,
): Promise<Map<Append, AppendedOrAway>> {
  const answers = new Map<Append, AppendedOrAway>();
  for (const one of group.filter(({ batch }) => !lanes.has(ownerKeyOf(batch)))) {
    const to = await runScript(sql, elsewhere(ownerOfBatch(one.batch), one.newLaneId));
    if (to !== null) answers.set(one, { kind: 'away', to });
  }
  const ids = [...answers.keys()].map(({ batch }) => batch.id);
  if (ids.length > 0) await sql.run('DELETE FROM idempotency_keys WHERE batch_id = ANY(@ids::text[])', { ids });
  return answers;
}

interface Rows {
  readonly batches: ReturnType<typeof newBatchColumns>[];
  readonly messages: ReturnType<typeof newMessageColumns>[];
}

/** Gives one batch its position and its messages their numbers; `lanes`, `seen` and `rows` go on from there. */
function place(
  { batch: posted, policy }: Append,
  { lanes, scope, seen, rows }: { lanes: Map<string, LaneRow>; scope: number; seen: Set<string>; rows: Rows },
): Appended {
  const key = ownerKeyOf(posted);
  const lane = lanes.get(key);
  if (lane === undefined) throw new Error(`the lane of batch ${posted.id} is not locked`);
  const { batch, paused } = heard(posted, pausesFrom(lane));
  rows.batches.push(newBatchColumns(batch, { lane: lane.id, scope, position: lane.next_position }));
  for (const [i, message] of batch.messages.entries()) {
    const clientId = message.clientId === null ? null : clientKey(scope, message.clientId);
    const resent = clientId !== null && seen.has(clientId);
    if (clientId !== null) seen.add(clientId);
    const place = { lane: lane.id, scope, seq: lane.next_seq + i, resent, seenUntil: lane.updated_at };
    rows.messages.push(newMessageColumns(message, batch, place));
  }
  const step = appendTo(lane, batch, policy);
  lanes.set(key, step.lane);
  return { kind: 'stored', nudge: step.nudge, paused };
}

/** Which client ids the scopes know already. */
async function seenClientIds(sql: Sql, places: ReadonlyMap<Append, number>): Promise<Set<string>> {
  const wanted = [...places].flatMap(([{ batch }, scope]) =>
    batch.messages.flatMap(({ clientId }) => (clientId === null ? [] : [{ scope, clientId }])),
  );
  if (wanted.length === 0) return new Set();
  const rows = await sql.all<{ scope: number; client_id: string }>(SELECT_CLIENT_IDS, {
    scopes: wanted.map(({ scope }) => scope),
    clientIds: wanted.map(({ clientId }) => clientId),
  });
  return new Set(rows.map((row) => clientKey(row.scope, row.client_id)));
}

const clientKey = (scope: number, clientId: string): string => `${scope} ${clientId}`;

const laneOf = ({ batch, newLaneId }: Append): NewLane => ({
  ...ownerOfBatch(batch),
  newId: newLaneId,
  now: batch.acceptedAt,
});

function firstOfEachOwner(group: readonly Append[]): readonly NewLane[] {
  const firsts = new Map(group.toReversed().map((one) => [ownerKeyOf(one.batch), laneOf(one)]));
  return [...firsts.values()];
}

const ownerKeyOf = ({ tenant, scope }: NewBatch): string => {
  const { kind, id } = ownerOf(scope);
  return ownerKey({ tenant, owner_kind: kind, owner_id: id });
};
const ownerKey = (lane: Pick<LaneRow, 'tenant' | 'owner_kind' | 'owner_id'>): string =>
  JSON.stringify([lane.tenant, lane.owner_kind, lane.owner_id]);

function rowOf(lanes: ReadonlyMap<string, LaneRow>, { batch }: Append): LaneRow {
  const lane = lanes.get(ownerKeyOf(batch));
  if (lane === undefined) throw new LostRowError(`the lane of batch ${batch.id} is missing right after it was made`);
  return lane;
}

const SELECT_CLIENT_IDS = `
  SELECT DISTINCT m.scope, m.client_id FROM messages m
  JOIN unnest(@scopes::bigint[], @clientIds::text[]) AS n (scope, client_id)
    ON m.scope = n.scope AND m.client_id = n.client_id`;

import {
  type Appended,
  type BatchState,
  type LaneId,
  type NewMessage,
  type Owner,
  ownerOf,
  type Scope,
  type TenantId,
} from '@slowwave/engine';
import { type AppendedOrAway, elsewhere, entryOf, mayEnter } from '../../ledger/away.ts';
import { type Append, keptOf, unclaimedColumns } from '../../ledger/batches.ts';
import { append as appendTo, type LaneRow, pausesFrom } from '../../ledger/lane-life.ts';
import { type NewLane, ownerOfBatch, requireAwake } from '../../ledger/lanes.ts';
import { newBatchColumns, newMessageColumns, type Posted, storedMessage } from '../../ledger/rows/batch.ts';
import { scopeKey } from '../../ledger/rows/columns.ts';
import { insert, lastly, run, type Script, together } from '../../ledger/script.ts';
import { saveLanes } from '../../ledger/turn.ts';
import { count } from '../../ledger/usage.ts';
import { LostRowError } from './errors.ts';
import { runScript } from './script.ts';
import type { Sql } from './sql.ts';

/** What a process knows to be there: lanes, by their owners, and the numbers of scopes. Neither goes before its owner does. */
export interface Known {
  readonly lanes: Set<string>;
  readonly scopes: Map<string, number>;
}

/** As many owners and scopes as a process posts for within minutes; with more it asks again. */
const KNOWN_MAX = 50_000;

/** Stores several batches, each at the end of its owner's lane. Answers them one by one. */
export async function appendGroup(
  sql: Sql,
  group: readonly Append[],
  known: Known,
): Promise<readonly AppendedOrAway[]> {
  const repeated = await answersOfKeys(sql, group);
  const fresh = group.filter((one) => !repeated.has(one));
  const stored = fresh.length === 0 ? new Map<Append, AppendedOrAway>() : await store(sql, fresh, known);
  const away = new Map(
    [...stored].flatMap(([one, answer]) => (answer.kind === 'away' ? [[one.posted.batch.id, answer]] : [])),
  );
  return group.map((one) => {
    const before = repeated.get(one);
    // A key that was taken by a batch of the same group goes with it.
    const answer = (before?.kind === 'repeated' ? away.get(before.batchId) : undefined) ?? before ?? stored.get(one);
    if (answer === undefined) throw new Error(`batch ${one.posted.batch.id} was left without an answer`);
    return answer;
  });
}

async function store(sql: Sql, all: readonly Append[], known: Known): Promise<Map<Append, AppendedOrAway>> {
  const strangers = all.filter(({ posted }) => !known.lanes.has(ownerKeyOf(posted.batch)));
  if (strangers.length > 0) await openLanes(sql, firstOfEachOwner(strangers));
  const lanes = new Map((await lockOwners(sql, all.map(laneOf))).map((lane) => [ownerKey(lane), lane]));
  for (const { posted } of all) if (!lanes.has(ownerKeyOf(posted.batch))) known.lanes.delete(ownerKeyOf(posted.batch));
  const answers = await awayAmong(sql, all, lanes);
  const group = answers.size === 0 ? all : all.filter((one) => !answers.has(one));
  if (group.length === 0) return answers;
  const scopes = await scopesOf(
    sql,
    group.map((one) => {
      const { id, number, woken_at } = rowOf(lanes, one);
      return { lane: id, laneNumber: number, wokenAt: woken_at, scope: one.posted.batch.scope };
    }),
    known.scopes,
  );
  const places = new Map(group.map((one, i) => [one, scopes.numbers[i] ?? 0]));
  const seen = await seenClientIds(sql, places);
  const rows: Rows = { batches: [], messages: [], unclaimed: [] };
  for (const [one, scope] of places) answers.set(one, place(one, { lanes, scope, seen, rows }));
  const counts = group.map(({ posted }) => ({ tenant: posted.batch.tenant, name: 'accepted', value: 1 }) as const);
  const { batches, messages, unclaimed } = rows;
  const rest = [insertUnclaimed(unclaimed), saveLanes([...lanes.values()]), count(counts)] as const;
  if (messages.length === 0) await runScript(sql, lastly(together(insert('batches', batches), ...rest)));
  else {
    await runScript(sql, insert('batches', batches));
    await runScript(sql, lastly(together(insert('messages', await numbered(sql, messages)), ...rest)));
  }
  // It is committed.
  if (known.lanes.size + known.scopes.size > KNOWN_MAX) for (const some of [known.lanes, known.scopes]) some.clear();
  for (const key of lanes.keys()) known.lanes.add(key);
  for (const [key, number] of scopes.made) known.scopes.set(key, number);
  return answers;
}

/** What is said to owners who are somewhere else is not stored, and leaves its idempotency keys free. */
async function awayAmong(
  sql: Sql,
  group: readonly Append[],
  lanes: ReadonlyMap<string, LaneRow>,
): Promise<Map<Append, AppendedOrAway>> {
  const answers = new Map<Append, AppendedOrAway>();
  for (const one of group.filter(({ posted }) => !lanes.has(ownerKeyOf(posted.batch)))) {
    const to = await runScript(sql, elsewhere(ownerOfBatch(one.posted.batch), one.newLaneId));
    if (to !== null) answers.set(one, { kind: 'away', to });
  }
  const ids = [...answers.keys()].map(({ posted }) => posted.batch.id);
  if (ids.length > 0) await sql.run('DELETE FROM idempotency_keys WHERE batch_id = ANY(@ids::text[])', { ids });
  return answers;
}

interface Rows {
  readonly batches: ReturnType<typeof newBatchColumns>[];
  readonly messages: Numberless[];
  readonly unclaimed: ReturnType<typeof unclaimedColumns>[];
}

/** A message whose batch has no number yet. */
interface Numberless {
  readonly lane: number;
  readonly columns: ReturnType<typeof newMessageColumns>;
}

async function numbered(sql: Sql, messages: readonly Numberless[]): Promise<ReturnType<typeof storedMessage>[]> {
  const ids = [...new Set(messages.map(({ columns }) => columns.batch_id))];
  const text = 'SELECT id, number FROM batches WHERE id = ANY(@ids::text[])';
  const rows = await sql.all<{ id: string; number: number }>(text, { ids });
  const numbers = new Map(rows.map(({ id, number }) => [id, number]));
  return messages.map(({ lane, columns }) => {
    const batch = numbers.get(columns.batch_id);
    if (batch === undefined) throw new Error(`batch ${columns.batch_id} is missing right after it was stored`);
    return storedMessage(columns, { lane, batch });
  });
}

/** Gives one batch its position and its messages their numbers; `lanes`, `seen` and `rows` go on from there. */
function place(
  { posted: given, policy }: Append,
  { lanes, scope, seen, rows }: { lanes: Map<string, LaneRow>; scope: number; seen: Set<string>; rows: Rows },
): Appended {
  const key = ownerKeyOf(given.batch);
  const lane = lanes.get(key);
  if (lane === undefined) throw new Error(`the lane of batch ${given.batch.id} is not locked`);
  const { posted, paused } = keptOf(given, pausesFrom(lane));
  const { messages } = posted;
  rows.batches.push(newBatchColumns(posted, { lane: lane.number, scope, position: lane.next_position }));
  if (typeof messages === 'string') {
    rows.unclaimed.push(unclaimedColumns(posted, messages, { seq: lane.next_seq, seenUntil: lane.updated_at }));
  } else placeMessages(posted.batch, messages, { lane, scope, seen, rows });
  const step = appendTo(lane, posted, policy);
  lanes.set(key, step.lane);
  return { kind: 'stored', nudge: step.nudge, paused };
}

interface Place {
  readonly lane: LaneRow;
  readonly scope: number;
  readonly seen: Set<string>;
  readonly rows: Rows;
}

function placeMessages(
  batch: Posted['batch'],
  messages: readonly NewMessage[],
  { lane, scope, seen, rows }: Place,
): void {
  for (const [i, message] of messages.entries()) {
    const clientId = message.clientId === null ? null : clientKey(scope, message.clientId);
    const resent = clientId !== null && seen.has(clientId);
    if (clientId !== null) seen.add(clientId);
    const place = { lane: lane.id, scope, seq: lane.next_seq + i, resent, seenUntil: lane.updated_at };
    rows.messages.push({ lane: lane.number, columns: newMessageColumns(message, batch, place) });
  }
}

/** No line ends within JSON, as it is written here: in one text the values need no marks around them. */
function* insertUnclaimed(rows: Rows['unclaimed']): Script<void> {
  if (rows.length === 0) return;
  yield* run(INSERT_UNCLAIMED, {
    ids: rows.map((row) => row.batch_id),
    seqs: rows.map(({ seq }) => seq),
    seenUntil: rows.map((row) => row.seen_until),
    messages: rows.map(({ messages }) => messages).join('\n'),
  });
}

const INSERT_UNCLAIMED = `
  INSERT INTO unclaimed_messages (batch_id, seq, seen_until, messages)
  SELECT * FROM unnest(@ids::text[], @seqs::bigint[], @seenUntil::bigint[], string_to_array(@messages, E'\\n')) AS n`;

/** Which client ids the scopes know already. */
async function seenClientIds(sql: Sql, places: ReadonlyMap<Append, number>): Promise<Set<string>> {
  const wanted = [...places].flatMap(([{ posted }, scope]) =>
    typeof posted.messages === 'string'
      ? []
      : posted.messages.flatMap(({ clientId }) => (clientId === null ? [] : [{ scope, clientId }])),
  );
  if (wanted.length === 0) return new Set();
  const rows = await sql.all<{ scope: number; client_id: string }>(SELECT_CLIENT_IDS, {
    scopes: wanted.map(({ scope }) => scope),
    clientIds: wanted.map(({ clientId }) => clientId),
  });
  return new Set(rows.map((row) => clientKey(row.scope, row.client_id)));
}

const clientKey = (scope: number, clientId: string): string => `${scope} ${clientId}`;

const laneOf = ({ posted, newLaneId }: Append): NewLane => ({
  ...ownerOfBatch(posted.batch),
  newId: newLaneId,
  now: posted.batch.acceptedAt,
});

function firstOfEachOwner(group: readonly Append[]): readonly NewLane[] {
  const firsts = new Map(group.toReversed().map((one) => [ownerKeyOf(one.posted.batch), laneOf(one)]));
  return [...firsts.values()];
}

const ownerKeyOf = ({ tenant, scope }: Posted['batch']): string => {
  const { kind, id } = ownerOf(scope);
  return ownerKey({ tenant, owner_kind: kind, owner_id: id });
};
const ownerKey = (lane: Pick<LaneRow, 'tenant' | 'owner_kind' | 'owner_id'>): string =>
  JSON.stringify([lane.tenant, lane.owner_kind, lane.owner_id]);

function rowOf(lanes: ReadonlyMap<string, LaneRow>, { posted: { batch } }: Append): LaneRow {
  const lane = lanes.get(ownerKeyOf(batch));
  if (lane === undefined) throw new LostRowError(`the lane of batch ${batch.id} is missing right after it was made`);
  requireAwake(lane);
  return lane;
}

const SELECT_CLIENT_IDS = `
  SELECT DISTINCT m.scope, m.client_id FROM messages m
  JOIN unnest(@scopes::bigint[], @clientIds::text[]) AS n (scope, client_id)
    ON m.scope = n.scope AND m.client_id = n.client_id`;

/**
 * Takes the idempotency keys of a group. What a key that was taken before leads to is the answer; batches without an
 * answer are to be stored. A key that another transaction is just taking is waited for.
 */
async function answersOfKeys(sql: Sql, group: readonly Append[]): Promise<Map<Append, Appended>> {
  const keyed = group.filter(({ posted }) => posted.batch.idempotency !== null);
  if (keyed.length === 0) return new Map();
  const firsts = new Map(keyed.toReversed().map((one) => [keyOf(one.posted.batch), one]));
  const before = await takenBefore(sql, await take(sql, [...firsts.values()]));
  const answers = new Map<Append, Appended>();
  for (const one of keyed) {
    const key = keyOf(one.posted.batch);
    const first = firsts.get(key);
    const holder = before.get(key) ?? (first === undefined || first === one ? null : takenBy(first.posted.batch));
    if (holder !== null) answers.set(one, answerOf(one.posted.batch, holder));
  }
  return answers;
}

/** Takes keys in one order, so that nobody waits in a circle. Returns those that were taken already. */
async function take(sql: Sql, group: readonly Append[]): Promise<readonly Append[]> {
  const taken = await sql.all<{ tenant: TenantId; key: string }>(TAKE_KEYS, {
    ...namesOf(group),
    bodyHashes: group.map(({ posted }) => posted.batch.idempotency?.bodyHash ?? null),
    ids: group.map(({ posted }) => posted.batch.id),
  });
  const ours = new Set(taken.map(({ tenant, key }) => JSON.stringify([tenant, key])));
  return group.filter(({ posted }) => !ours.has(keyOf(posted.batch)));
}

async function takenBefore(sql: Sql, group: readonly Append[]): Promise<ReadonlyMap<string, Holder>> {
  if (group.length === 0) return new Map();
  const rows = await sql.all<Holder & { tenant: TenantId; key: string }>(SELECT_KEYS, namesOf(group));
  const holders = new Map(rows.map((row) => [JSON.stringify([row.tenant, row.key]), row]));
  const lost = group.find(({ posted }) => !holders.has(keyOf(posted.batch)));
  if (lost !== undefined)
    throw new LostRowError(`the idempotency key of batch ${lost.posted.batch.id} belongs to a batch that is missing`);
  return holders;
}

/** Who has a key. */
interface Holder {
  readonly body_hash: string;
  readonly batch_id: string;
  readonly state: BatchState;
}

/** A batch of the same group, which is about to be stored. */
const takenBy = ({ idempotency, id }: Posted['batch']): Holder => ({
  body_hash: idempotency?.bodyHash ?? '',
  batch_id: id,
  state: 'pending',
});

const answerOf = ({ idempotency }: Posted['batch'], holder: Holder): Appended =>
  holder.body_hash === idempotency?.bodyHash
    ? { kind: 'repeated', batchId: holder.batch_id, state: holder.state }
    : { kind: 'conflict' };

const keyOf = ({ tenant, idempotency }: Posted['batch']): string => JSON.stringify([tenant, idempotency?.key]);

const namesOf = (group: readonly Append[]) => ({
  tenants: group.map(({ posted }) => posted.batch.tenant),
  keys: group.map(({ posted }) => posted.batch.idempotency?.key ?? null),
});

const TAKE_KEYS = `
  INSERT INTO idempotency_keys (tenant, key, body_hash, batch_id)
  SELECT * FROM unnest(@tenants::text[], @keys::text[], @bodyHashes::text[], @ids::text[])
    AS n (tenant, key, body_hash, batch_id)
  ORDER BY n.tenant, n.key
  ON CONFLICT (tenant, key) DO NOTHING
  RETURNING tenant, key`;

const SELECT_KEYS = `
  SELECT k.tenant, k.key, k.body_hash, k.batch_id, b.state
  FROM unnest(@tenants::text[], @keys::text[]) AS n (tenant, key)
  JOIN idempotency_keys k ON k.tenant = n.tenant AND k.key = n.key
  JOIN batches b ON b.id = k.batch_id`;

/** Makes the lanes that are missing. Before any lock is taken: two writers make new lanes in the same order. */
async function openLanes(sql: Sql, lanes: readonly NewLane[]): Promise<void> {
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
async function lockOwners(sql: Sql, owned: readonly Omit<NewLane, 'newId' | 'now'>[]): Promise<readonly LaneRow[]> {
  return sql.all<LaneRow>(LOCK_OWNERS, ownersOf(owned));
}

const ownersOf = (owned: readonly { tenant: TenantId; owner: Owner }[]) => ({
  tenants: owned.map(({ tenant }) => tenant),
  kinds: owned.map(({ owner }) => owner.kind),
  ownerIds: owned.map(({ owner }) => owner.id),
});

/** Looked up one by one: joined while the ledger is young, all lanes would be read. */
const LANE_OF_NAMED = `(
  SELECT k.number FROM lanes k WHERE k.tenant = ANY(ARRAY(SELECT n.tenant)) AND k.owner_kind = n.kind AND k.owner_id = n.owner_id)`;

const INSERT_LANES = `
  INSERT INTO lanes (
    id, tenant, owner_kind, owner_id, state, generation, epoch, next_position, next_seq,
    pending, pending_tokens, pending_backfill, nudged_backfill, flush_through, attempts, created_at, updated_at
  )
  SELECT n.id, n.tenant, n.kind, n.owner_id, 'idle', 0, 0, 1, 1, 0, 0, 0, false, 0, 0, n.now, n.now
  FROM unnest(
      @ids::text[], @tenants::text[], @kinds::text[], @ownerIds::text[], @nows::bigint[], @keys::text[], @slots::bigint[]
    ) AS n (id, tenant, kind, owner_id, now, key, slot)
  WHERE ${LANE_OF_NAMED} IS NULL AND ${mayEnter('n.key', 'n.slot')}
  ORDER BY n.tenant, n.kind, n.owner_id
  ON CONFLICT (tenant, owner_kind, owner_id) DO NOTHING`;

/** An owner that was cut off while its lock was waited for has another id by then. */
const LOCK_OWNERS = `
  SELECT l.* FROM lanes l
  WHERE l.number = ANY(ARRAY(
      SELECT ${LANE_OF_NAMED} FROM unnest(@tenants::text[], @kinds::text[], @ownerIds::text[]) AS n (tenant, kind, owner_id)))
    AND l.owner_id = ANY(@ownerIds::text[])
  ORDER BY l.id FOR NO KEY UPDATE`;

interface LaneScope {
  readonly lane: LaneId;
  readonly laneNumber: number;
  /** Who slept has other numbers since; null: it never did. */
  readonly wokenAt: number | null;
  readonly scope: Scope;
}

/** The numbers of scopes in their lanes, given when they are first seen, and which of them had to be asked for. Needs the locks of the lanes. */
async function scopesOf(
  sql: Sql,
  scopes: readonly LaneScope[],
  known: ReadonlyMap<string, number>,
): Promise<{ readonly numbers: readonly number[]; readonly made: ReadonlyMap<string, number> }> {
  const keys = scopes.map(scopeNameOf);
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

const scopeNameOf = ({ lane, wokenAt, scope }: LaneScope): string => `${lane} ${wokenAt ?? ''} ${scopeKey(scope)}`;

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

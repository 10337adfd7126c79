import { type Appended, type DuePolicy, type LaneId, type NewMessage, ownerOf } from '@slowwave/engine';
import { type AppendedOrAway, elsewhere } from '../../ledger/away.ts';
import { keptOf, unclaimedColumns } from '../../ledger/batches.ts';
import { append as appendTo, type LaneRow, pausesFrom } from '../../ledger/lane-life.ts';
import { type NewLane, ownerOfBatch, requireAwake } from '../../ledger/lanes.ts';
import { newBatchColumns, newMessageColumns, type Posted, storedMessage } from '../../ledger/rows/batch.ts';
import { insert, lastly, run, type Script, together } from '../../ledger/script.ts';
import { saveLanes } from '../../ledger/turn.ts';
import { count } from '../../ledger/usage.ts';
import { answersOfKeys } from './append-keys.ts';
import { lockOwners, openLanes, scopesOf } from './append-lanes.ts';
import { LostRowError } from './errors.ts';
import { runScript } from './script.ts';
import type { Sql } from './sql.ts';

export interface Append {
  readonly posted: Posted;
  readonly policy: DuePolicy;
  /** The id of the owner's lane, if it has none yet. */
  readonly newLaneId: LaneId;
}

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

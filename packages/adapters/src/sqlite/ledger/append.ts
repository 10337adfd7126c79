import type { Appended, Destination, DuePolicy, NewMessage, Scope } from '@slowwave/engine';
import { type AppendedOrAway, elsewhere } from '../../ledger/away.ts';
import { type Append, keptOf, unclaimedColumns } from '../../ledger/batches.ts';
import { append as appendTo, type LaneRow, pausesFrom } from '../../ledger/lane-life.ts';
import { insertLane, type NewLane, ownerOfBatch, requireAwake } from '../../ledger/lanes.ts';
import { newBatchColumns, newMessageColumns, type Posted, storedMessage } from '../../ledger/rows/batch.ts';
import { storedScopeKey } from '../../ledger/rows/columns.ts';
import { saveLane } from '../../ledger/turn.ts';
import { count } from '../../ledger/usage.ts';
import { insertRows, runScript, type Sql, type Value } from './sql.ts';

/** The same on its way to the thread that writes: a text is copied as it is, where an object is taken apart name by name. */
export interface PackedAppend {
  /** The batch and the id of a lane as JSON, and behind the end of the line what it says, if that is one value. */
  readonly text: string;
  readonly policy: DuePolicy;
}

export function packed({ posted, policy, newLaneId }: Append): PackedAppend {
  const { messages, ...rest } = posted;
  if (typeof messages !== 'string') return { text: JSON.stringify({ ...posted, newLaneId }), policy };
  return { text: `${JSON.stringify({ ...rest, newLaneId })}\n${messages}`, policy };
}

/** JSON has no end of a line within it, as it is written here. */
export function unpacked({ text, policy }: PackedAppend): Append {
  const end = text.indexOf('\n');
  const { newLaneId, ...posted } = JSON.parse(end === -1 ? text : text.slice(0, end)) as Posted &
    Pick<Append, 'newLaneId'>;
  return { posted: end === -1 ? posted : { ...posted, messages: text.slice(end + 1) }, policy, newLaneId };
}

/** Stores a batch at the end of its owner's lane. */
export function append(sql: Sql, { posted: given, policy, newLaneId }: Append): AppendedOrAway {
  const before = answerOfKey(sql, given.batch);
  if (before !== null) return before;
  const { tenant, acceptedAt } = given.batch;
  const lane = laneOf(sql, { ...ownerOfBatch(given.batch), newId: newLaneId, now: acceptedAt });
  if ('cell' in lane) return { kind: 'away', to: lane };
  requireAwake(lane);
  const { posted, paused } = keptOf(given, pausesFrom(lane));
  const scope = openScope(sql, lane.number, posted.batch.scope);
  insertRows(sql, 'batches', [newBatchColumns(posted, { lane: lane.number, scope, position: lane.next_position })]);
  insertMessages(sql, posted, { lane, scope });
  rememberKey(sql, posted.batch);
  runScript(sql, count([{ tenant, name: 'accepted', value: 1 }]));
  const step = appendTo(lane, posted, policy);
  saveLonger(sql, lane, step.lane);
  return { kind: 'stored', nudge: step.nudge, paused };
}

/** What the same idempotency key led to, or null when it is new. */
function answerOfKey(sql: Sql, { tenant, idempotency }: Posted['batch']): Appended | null {
  if (idempotency === null) return null;
  const known = sql.get<KeyRow>(SELECT_KEY, { tenant, key: idempotency.key });
  if (known === null) return null;
  if (known.body_hash !== idempotency.bodyHash) return { kind: 'conflict' };
  return { kind: 'repeated', batchId: known.batch_id, state: known.state };
}

function rememberKey(sql: Sql, { tenant, idempotency, id }: Posted['batch']): void {
  if (idempotency === null) return;
  sql.run(INSERT_KEY, { tenant, key: idempotency.key, bodyHash: idempotency.bodyHash, id });
}

function insertMessages(sql: Sql, posted: Posted, { lane, scope }: { lane: LaneRow; scope: number }): void {
  const { batch, messages } = posted;
  if (typeof messages === 'string') {
    const row = unclaimedColumns(posted, messages, { seq: lane.next_seq, seenUntil: lane.updated_at });
    insertRows(sql, 'unclaimed_messages', [row]);
    return;
  }
  const stored = sql.get<{ number: number }>('SELECT number FROM batches WHERE id = @id', { id: batch.id });
  if (stored === null) throw new Error(`the messages of batch ${batch.id} are stored, but the batch is not`);
  for (const [i, message] of messages.entries()) {
    insertMessage(sql, message, { batch, number: stored.number, lane, scope, seq: lane.next_seq + i });
  }
}

interface PlaceOfMessage {
  readonly batch: Posted['batch'];
  /** Of the batch. */
  readonly number: number;
  readonly lane: LaneRow;
  readonly scope: number;
  readonly seq: number;
}

function insertMessage(sql: Sql, message: NewMessage, { batch, number, lane, scope, seq }: PlaceOfMessage): void {
  const { clientId } = message;
  const resent = clientId !== null && sql.get(SELECT_SAME_CLIENT_ID, { scope, clientId }) !== null;
  const row = newMessageColumns(message, batch, { lane: lane.id, scope, seq, resent, seenUntil: lane.updated_at });
  insertRows(sql, 'messages', [storedMessage(row, { lane: lane.number, batch: number })]);
}

interface KeyRow {
  readonly body_hash: string;
  readonly batch_id: string;
  readonly state: Extract<Appended, { kind: 'repeated' }>['state'];
}

const SELECT_KEY = `
  SELECT k.body_hash, k.batch_id, b.state FROM idempotency_keys k JOIN batches b ON b.id = k.batch_id
  WHERE k.tenant = @tenant AND k.key = @key`;

const INSERT_KEY = `
  INSERT INTO idempotency_keys (tenant, key, body_hash, batch_id) VALUES (@tenant, @key, @bodyHash, @id)`;

const SELECT_SAME_CLIENT_ID = 'SELECT 1 FROM messages WHERE scope = @scope AND client_id = @clientId LIMIT 1';

/** The lane of an owner, made if missing; or where the owner is. */
function laneOf(sql: Sql, owned: NewLane): LaneRow | Destination {
  const owner = { tenant: owned.tenant, kind: owned.owner.kind, ownerId: owned.owner.id };
  const known = sql.get<LaneRow>(SELECT_LANE, owner);
  if (known !== null) return known;
  runScript(sql, insertLane(owned));
  const made = sql.get<LaneRow>(SELECT_LANE, owner) ?? runScript(sql, elsewhere(owned, owned.newId));
  if (made === null) throw new Error(`lane ${owned.newId} is missing right after it was made`);
  return made;
}

/**
 * Writes what an append changes. Its state is left alone where it stays as it was: the indexes that ask for it would be
 * written anew, though they stay as they were.
 */
function saveLonger(sql: Sql, before: LaneRow, lane: LaneRow): void {
  if (lane.state === before.state && lane.generation === before.generation) sql.run(UPDATE_LONGER, longerColumns(lane));
  else runScript(sql, saveLane(lane));
}

const longerColumns = (lane: LaneRow): readonly Value[] => [
  lane.next_position,
  lane.next_seq,
  lane.pending,
  lane.pending_tokens,
  lane.pending_exchanges,
  lane.pending_backfill,
  lane.oldest_at,
  lane.newest_at,
  lane.pace_ms,
  lane.flush_through,
  lane.due_at,
  lane.updated_at,
  lane.id,
];

/** The number of a scope in its lane, given when it is first seen. */
function openScope(sql: Sql, lane: number, scope: Scope): number {
  const key = storedScopeKey(scope);
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

function scopeId(sql: Sql, lane: number, key: Buffer): number | null {
  return sql.get<{ id: number }>('SELECT id FROM scopes WHERE lane = @lane AND key = @key', { lane, key })?.id ?? null;
}

const INSERT_SCOPE = `
  INSERT INTO scopes (lane, key, user_id, agent_id, run_id, app_id)
  VALUES (@lane, @key, @userId, @agentId, @runId, @appId)`;

const SELECT_LANE = 'SELECT * FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId';

const UPDATE_LONGER = `
  UPDATE lanes SET
    next_position = ?, next_seq = ?, pending = ?, pending_tokens = ?, pending_exchanges = ?, pending_backfill = ?,
    oldest_at = ?, newest_at = ?, pace_ms = ?, flush_through = ?, due_at = ?, updated_at = ?
  WHERE id = ?`;

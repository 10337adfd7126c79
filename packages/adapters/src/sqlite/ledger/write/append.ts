import type { Appended, DuePolicy, LaneId, NewBatch, NewMessage } from '@slowwave/engine';
import { ownerOf } from '@slowwave/engine/storing';
import { append as appendTo } from '../../../ledger/lane-life.ts';
import { newBatchColumns } from '../../../ledger/rows/batch.ts';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import { newMessageColumns } from '../../../ledger/rows/message.ts';
import { count } from '../../../ledger/usage.ts';
import { insertInto } from '../insert.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { openLane, saveLonger } from './lanes.ts';
import { openScope } from './scopes.ts';

export interface Append {
  readonly batch: NewBatch;
  readonly policy: DuePolicy;
  /** The id of the owner's lane, if it has none yet. */
  readonly newLaneId: LaneId;
}

/** Stores a batch at the end of its owner's lane. */
export function append(sql: Sql, { batch, policy, newLaneId }: Append): Appended {
  const before = answerOfKey(sql, batch);
  if (before !== null) return before;
  const { tenant, acceptedAt, tokens, flush, priority } = batch;
  const lane = openLane(sql, { tenant, owner: ownerOf(batch.scope), newId: newLaneId, now: acceptedAt });
  const scope = openScope(sql, lane.id, batch.scope);
  insertBatch(sql, newBatchColumns(batch, { lane: lane.id, scope, position: lane.next_position }));
  for (const [i, message] of batch.messages.entries()) {
    insertMessage(sql, message, { batch, lane, scope, seq: lane.next_seq + i });
  }
  rememberKey(sql, batch);
  runScript(sql, count([{ tenant, name: 'accepted', value: 1 }]));
  const messages = batch.messages.length;
  const step = appendTo(lane, { tokens, messages, acceptedAt, flush, priority }, policy);
  saveLonger(sql, lane, step.lane);
  return { kind: 'stored', nudge: step.nudge };
}

/** What the same idempotency key led to, or null when it is new. */
function answerOfKey(sql: Sql, { tenant, idempotency }: NewBatch): Appended | null {
  if (idempotency === null) return null;
  const known = sql.get<KeyRow>(SELECT_KEY, { tenant, key: idempotency.key });
  if (known === null) return null;
  if (known.body_hash !== idempotency.bodyHash) return { kind: 'conflict' };
  return { kind: 'repeated', batchId: known.batch_id, state: known.state };
}

function rememberKey(sql: Sql, { tenant, idempotency, id }: NewBatch): void {
  if (idempotency === null) return;
  sql.run(INSERT_KEY, { tenant, key: idempotency.key, bodyHash: idempotency.bodyHash, id });
}

function insertMessage(
  sql: Sql,
  message: NewMessage,
  { batch, lane, scope, seq }: { batch: NewBatch; lane: LaneRow; scope: number; seq: number },
): void {
  const { clientId } = message;
  const resent = clientId !== null && sql.get(SELECT_SAME_CLIENT_ID, { scope, clientId }) !== null;
  insertNewMessage(
    sql,
    newMessageColumns(message, batch, { lane: lane.id, scope, seq, resent, seenUntil: lane.updated_at }),
  );
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

const insertBatch = insertInto<keyof ReturnType<typeof newBatchColumns>>('batches', [
  'id',
  'tenant',
  'lane',
  'scope',
  'settings',
  'metadata',
  'position',
  'tokens',
  'state',
  'stage',
  'attempts',
  'message_count',
  'backfill',
  'accepted_at',
]);

const insertNewMessage = insertInto<keyof ReturnType<typeof newMessageColumns>>('messages', [
  'id',
  'tenant',
  'lane',
  'scope',
  'batch_id',
  'seq',
  'client_id',
  'role',
  'content',
  'name',
  'said_at',
  'clock_at',
  'utc_offset',
  'resent',
]);

const SELECT_SAME_CLIENT_ID = 'SELECT 1 FROM messages WHERE scope = @scope AND client_id = @clientId LIMIT 1';

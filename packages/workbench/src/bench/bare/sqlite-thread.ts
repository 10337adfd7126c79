import { parentPort, workerData } from 'node:worker_threads';
import { connectToWrite } from '@slowwave/adapters/sqlite/inside';
import {
  BATCH_COLUMNS,
  MESSAGE_COLUMNS,
  NEW_LANE,
  nextId,
  type Poster,
  rowsOf,
  SETTINGS,
  TENANT,
  TOKENS,
} from './rows.ts';
import type { Answer, Call } from './sqlite.ts';

/** On the disk as the ledger's own: with the same pragmas. */
const { db } = connectToWrite(workerData as string);
const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ');
const addLane = db.prepare(
  `INSERT INTO lanes (${NEW_LANE.columns}) VALUES (${marks(NEW_LANE.columns.split(',').length)})`,
);
const addScope = db.prepare('INSERT INTO scopes (lane, key, user_id) VALUES (?, ?, ?)');
const addBatch = db.prepare(
  `INSERT INTO batches (${BATCH_COLUMNS}) VALUES (${marks(6)}, '${TENANT}', '${SETTINGS}', '{}', ${TOKENS}, 3, 0, 'pending', 'waiting', 0)`,
);
const addMessage = db.prepare(`INSERT INTO messages (${MESSAGE_COLUMNS}) VALUES (${marks(8)}, 0)`);
const changeLane = db.prepare(`
  UPDATE lanes SET next_position = ?, next_seq = ?, pending = pending + 1, pending_tokens = pending_tokens + ${TOKENS}, newest_at = ?, updated_at = ?
  WHERE id = ?`);
const count = db.prepare(`
  INSERT INTO counters (tenant, name, slot, value) VALUES ('${TENANT}', 'accepted', 0, ?)
  ON CONFLICT (tenant, name, slot) DO UPDATE SET value = value + excluded.value`);

const posters = new Map<string, Poster>();

function posterOf(user: string): Poster {
  const known = posters.get(user);
  if (known !== undefined) return known;
  const lane = nextId('lane');
  const laneNumber = Number(addLane.run(...NEW_LANE.values(lane, user, Date.now())).lastInsertRowid);
  const scope = Number(addScope.run(laneNumber, Buffer.from(user), user).lastInsertRowid);
  const poster = { lane, laneNumber, scope, position: 0, seq: 0 };
  posters.set(user, poster);
  return poster;
}

const write = db.transaction((calls: readonly Call[]): Answer[] => {
  const answers = calls.map(({ number, posted }) => {
    const { poster, batch, messages } = rowsOf(posted, posterOf(posted.user));
    const batchNumber = Number(addBatch.run(...batch).lastInsertRowid);
    for (const [place, lane, scope, , ...said] of messages) addMessage.run(place, lane, scope, batchNumber, ...said);
    const [id, , , , , at] = batch;
    changeLane.run(poster.position, poster.seq, at, at, poster.lane);
    return { number, id };
  });
  count.run(calls.length);
  return answers;
});

let waiting: Call[] = [];
parentPort?.on('message', (calls: readonly Call[]) => {
  if (waiting.length === 0) setImmediate(commit);
  waiting.push(...calls);
});

/** All that wait share a commit. */
function commit(): void {
  const calls = waiting;
  waiting = [];
  parentPort?.postMessage(write.immediate(calls));
}

import { openPool, openPostgresLedger } from '@slowwave/adapters/postgres';
import { systemTools } from '@slowwave/adapters/system';
import type { Log } from '@slowwave/engine';
import { recordingLog } from '@slowwave/engine-testing';
import {
  BATCH_COLUMNS,
  type BareWriter,
  MESSAGE_COLUMNS,
  NEW_LANE,
  nextId,
  type Posted,
  type Poster,
  type Rows,
  rowsOf,
  SETTINGS,
  TENANT,
  TOKENS,
} from './rows.ts';

const WRITE = `
  WITH batches_added AS (
    INSERT INTO batches (${BATCH_COLUMNS})
    SELECT b.*, '${TENANT}', '${SETTINGS}'::jsonb, '{}'::jsonb, ${TOKENS}, 3, false, 'pending', 'waiting', 0
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS b
    RETURNING id, number),
  messages_added AS (
    INSERT INTO messages (${MESSAGE_COLUMNS})
    SELECT m.place, m.lane, m.scope, b.number, m.seq, m.role, m.content::jsonb, m.at, false
    FROM unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::text[], $13::text[], $14::bigint[])
      AS m (place, lane, scope, batch, seq, role, content, at)
    JOIN batches_added b ON b.id = m.batch),
  lanes_changed AS (
    UPDATE lanes l SET next_position = n.position, next_seq = n.seq, pending = pending + n.count,
      pending_tokens = pending_tokens + n.count * ${TOKENS}, newest_at = n.at, updated_at = n.at
    FROM unnest($15::text[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[]) AS n (id, position, seq, count, at)
    WHERE l.id = n.id)
  INSERT INTO counters (tenant, name, slot, value) VALUES ('${TENANT}', 'accepted', 0, $20)
  ON CONFLICT (tenant, name, slot) DO UPDATE SET value = counters.value + excluded.value`;

const ADD_POSTERS = `
  WITH made AS (
    INSERT INTO lanes (${NEW_LANE.columns})
    SELECT p.lane, '${TENANT}', 'user', p.owner, 'waiting', 1, 0, $3::bigint + ${NEW_LANE.waitMs}, 0, 0, 0, 0, 0, false, 0, 0, $3, $3, $3
    FROM unnest($1::text[], $2::text[]) AS p (lane, owner) RETURNING id, number, owner_id),
  opened AS (
    INSERT INTO scopes (lane, key, user_id) SELECT number, owner_id::bytea, owner_id FROM made RETURNING lane, id, user_id)
  SELECT m.id AS lane, m.number AS "laneNumber", o.id AS scope, o.user_id AS user FROM opened o JOIN made m ON m.number = o.lane`;

interface Waiting {
  readonly posted: Posted;
  resolve(id: string): void;
  reject(error: unknown): void;
}

/** The ledger's tables in a database of their own on a server, and one connection that writes to them. */
export async function openBarePostgres(server: string): Promise<BareWriter> {
  const log = recordingLog();
  const url = await newDatabase(server, log);
  await (await openPostgresLedger({ url, tools: systemTools, log, connections: 2 })).close();
  const pool = openPool({ url, schema: 'slowwave', max: 1, log });
  const posters = new Map<string, Poster>();
  let waiting: Waiting[] = [];
  let isWriting = false;

  const makePosters = async (users: readonly string[]): Promise<void> => {
    if (users.length === 0) return;
    const lanes = users.map(() => nextId('lane'));
    const { rows } = await pool.query(ADD_POSTERS, [lanes, users, Date.now()]);
    for (const { user, lane, laneNumber, scope } of rows as Record<
      'user' | 'lane' | 'laneNumber' | 'scope',
      string
    >[]) {
      posters.set(user, { lane, laneNumber: Number(laneNumber), scope: Number(scope), position: 0, seq: 0 });
    }
  };
  const write = async (calls: readonly Waiting[]): Promise<void> => {
    await makePosters([...new Set(calls.map(({ posted }) => posted.user))].filter((user) => !posters.has(user)));
    const rows = calls.map(({ posted }) => rowsOf(posted, posters.get(posted.user) as Poster));
    await pool.query({ name: 'write', text: WRITE, values: valuesOf(rows) });
    for (const [i, { resolve }] of calls.entries()) resolve(rows[i]?.batch[0] ?? '');
  };
  /** All that wait share a commit. */
  const commit = async (): Promise<void> => {
    while (waiting.length > 0) {
      const calls = waiting;
      waiting = [];
      await write(calls).catch((error: unknown) => {
        for (const { reject } of calls) reject(error);
      });
    }
    isWriting = false;
  };
  return {
    append: (posted) =>
      new Promise((resolve, reject) => {
        waiting.push({ posted, resolve, reject });
        if (isWriting) return;
        isWriting = true;
        setImmediate(() => void commit());
      }),
  };
}

async function newDatabase(server: string, log: Log): Promise<string> {
  const pool = openPool({ url: server, schema: 'public', max: 1, log });
  await pool.query('CREATE DATABASE bare');
  await pool.end();
  const url = new URL(server);
  url.pathname = '/bare';
  return url.href;
}

function valuesOf(rows: readonly Rows[]): unknown[] {
  const lanes = [...Map.groupBy(rows, ({ poster }) => poster)];
  return [
    ...columnsOf(rows.map(({ batch }) => batch)),
    ...columnsOf(rows.flatMap(({ messages }) => messages)),
    ...columnsOf(
      lanes.map(([{ lane, position, seq }, some]) => [lane, position, seq, some.length, some.at(-1)?.batch[5]]),
    ),
    rows.length,
  ];
}

const columnsOf = (rows: readonly (readonly unknown[])[]): unknown[][] =>
  (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));

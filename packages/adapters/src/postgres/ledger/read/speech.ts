import type { SpeechStore } from '@slowwave/engine';
import type { MessageRow } from '../../../ledger/rows/message.ts';
import {
  BEFORE,
  beforeIds,
  COUNT_POINTS,
  FIRST_LOST,
  hearersOf,
  notAside,
  type SaidRow,
  SELECT_SPOKEN,
  type SpokenRow,
  saidFrom,
  spokenFrom,
  UNTOLD,
} from '../../../ledger/speech.ts';
import type { Access } from '../access.ts';
import type { Params, Sql } from '../sql.ts';

/** Batches and their messages are read on one snapshot: what retention removes in between would be told as it was. */
export function speechStore({ read, snapshot }: Access): SpeechStore {
  return {
    said: (lane, ids) => snapshot((sql) => saidOf(sql, SELECT_SAID, { lane, ids })),
    untold: (limit) => snapshot((sql) => spokenOf(sql, UNTOLD_BATCHES, { limit })),
    untoldIn: (lane, limit) => snapshot((sql) => spokenOf(sql, UNTOLD_IN, { lane, limit })),
    untoldOf: (ids) => snapshot((sql) => spokenOf(sql, UNTOLD_OF, { ids })),
    refilling: () => read(async (sql) => (await sql.get(FIRST_LOST)) !== null),
    batches: (ids) => snapshot((sql) => spokenOf(sql, `AND b.id IN ${IDS} ORDER BY b.id`, { ids })),
    every: ({ after, limit, changedSince }) =>
      snapshot((sql) => spokenOf(sql, EVERY, { after: after ?? '', limit, since: changedSince ?? 0 })),
    hearers: (ids) => read(async (sql) => (await sql.all<{ id: string }>(hearersOf(IDS), { ids })).map(({ id }) => id)),
    points: (tenant) => read(async (sql) => (await sql.get<{ points: number }>(COUNT_POINTS, { tenant }))?.points ?? 0),
  };
}

async function spokenOf(sql: Sql, condition: string, params: Params) {
  const rows = await sql.all<SpokenRow>(`${SELECT_SPOKEN} ${condition}`, params);
  if (rows.length === 0) return [];
  return spokenFrom(rows, await saidOf(sql, SELECT_OF_BATCHES, { ids: rows.map(({ id }) => id) }));
}

async function saidOf(sql: Sql, text: string, params: Params) {
  const rows = await sql.all<SaidRow>(text, params);
  const ids = beforeIds(rows);
  return saidFrom(rows, ids.length === 0 ? [] : await sql.all<MessageRow>(SELECT_MESSAGES, { ids }));
}

const IDS = '(SELECT unnest(@ids::text[]))';

const SELECT_SAID = `SELECT m.*, ${BEFORE} FROM messages m WHERE m.id IN ${IDS} AND m.lane = @lane`;

const SELECT_OF_BATCHES = `SELECT m.*, ${BEFORE} FROM messages m WHERE m.batch_id IN ${IDS} ORDER BY m.lane, m.seq`;

const SELECT_MESSAGES = `SELECT * FROM messages WHERE id IN ${IDS}`;

const LOST_LAST = 'ORDER BY b.told_revision DESC, b.id LIMIT @limit';

const UNTOLD_BATCHES = `AND ${UNTOLD} AND ${notAside('b.lane')} ${LOST_LAST}`;

const UNTOLD_IN = `AND ${UNTOLD} AND b.lane = @lane ${LOST_LAST}`;

const UNTOLD_OF = `AND b.consolidation_id IN ${IDS} AND ${UNTOLD} ORDER BY b.id`;

const EVERY = `
  AND b.id > @after AND l.erasure IS NULL AND greatest(b.applied_at, coalesce(b.speech_revised_at, 0)) >= @since
  ORDER BY b.id LIMIT @limit`;

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

export function speechStore({ read }: Access): SpeechStore {
  return {
    said: (lane, ids) => read((sql) => saidOf(sql, SELECT_SAID, { lane, ids: JSON.stringify(ids) })),
    untold: (limit) => read((sql) => spokenOf(sql, UNTOLD_BATCHES, { limit })),
    untoldIn: (lane, limit) => read((sql) => spokenOf(sql, UNTOLD_IN, { lane, limit })),
    untoldOf: (ids) => read((sql) => spokenOf(sql, UNTOLD_OF, { ids: JSON.stringify(ids) })),
    refilling: () => read((sql) => sql.get(FIRST_LOST) !== null),
    batches: (ids) => read((sql) => spokenOf(sql, `AND b.id IN ${IDS} ORDER BY b.id`, { ids: JSON.stringify(ids) })),
    every: ({ after, limit, changedSince }) =>
      read((sql) => spokenOf(sql, EVERY, { after: after ?? '', limit, since: changedSince ?? 0 })),
    hearers: (ids) =>
      read((sql) => sql.all<{ id: string }>(hearersOf(IDS), { ids: JSON.stringify(ids) }).map(({ id }) => id)),
    points: (tenant) => read((sql) => sql.get<{ points: number }>(COUNT_POINTS, { tenant })?.points ?? 0),
  };
}

function spokenOf(sql: Sql, condition: string, params: Params) {
  const rows = sql.all<SpokenRow>(`${SELECT_SPOKEN} ${condition}`, params);
  if (rows.length === 0) return [];
  return spokenFrom(rows, saidOf(sql, SELECT_OF_BATCHES, { ids: JSON.stringify(rows.map(({ id }) => id)) }));
}

function saidOf(sql: Sql, text: string, params: Params) {
  const rows = sql.all<SaidRow>(text, params);
  return saidFrom(rows, sql.all<MessageRow>(SELECT_MESSAGES, { ids: JSON.stringify(beforeIds(rows)) }));
}

const IDS = '(SELECT value FROM json_each(@ids))';

/** The + keeps SQLite from looking through the whole lane for them. */
const SELECT_SAID = `SELECT m.*, ${BEFORE} FROM messages m WHERE m.id IN ${IDS} AND +m.lane = @lane`;

const SELECT_OF_BATCHES = `SELECT m.*, ${BEFORE} FROM messages m WHERE m.batch_id IN ${IDS} ORDER BY m.lane, m.seq`;

const SELECT_MESSAGES = `SELECT * FROM messages WHERE id IN ${IDS}`;

const LOST_LAST = 'ORDER BY b.told_revision DESC, b.id LIMIT @limit';

const UNTOLD_BATCHES = `AND ${UNTOLD} AND ${notAside('b.lane')} ${LOST_LAST}`;

const UNTOLD_IN = `AND ${UNTOLD} AND b.lane = @lane ${LOST_LAST}`;

const UNTOLD_OF = `AND b.consolidation_id IN ${IDS} AND ${UNTOLD} ORDER BY b.id`;

const EVERY = `
  AND b.id > @after AND l.erasure IS NULL AND max(b.applied_at, coalesce(b.speech_revised_at, 0)) >= @since
  ORDER BY b.id LIMIT @limit`;

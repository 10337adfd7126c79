import type { SpeechStore } from '@slowwave/engine';
import type { MessageRow } from '../../../ledger/rows/message.ts';
import { BEFORE, beforeIds, type SaidRow, saidFrom } from '../../../ledger/speech.ts';
import type { Access } from '../access.ts';
import type { Sql } from '../sql.ts';

export function speechStore({ read }: Access): SpeechStore {
  return {
    said: (lane, ids) => read((sql) => saidOf(sql, sql.all<SaidRow>(SELECT_SAID, { lane, ids: JSON.stringify(ids) }))),
  };
}

function saidOf(sql: Sql, rows: readonly SaidRow[]) {
  return saidFrom(rows, sql.all<MessageRow>(SELECT_MESSAGES, { ids: JSON.stringify(beforeIds(rows)) }));
}

/** The + keeps SQLite from looking through the whole lane for them. */
const SELECT_SAID = `
  SELECT m.*, ${BEFORE} FROM messages m WHERE m.id IN (SELECT value FROM json_each(@ids)) AND +m.lane = @lane`;

const SELECT_MESSAGES = 'SELECT * FROM messages WHERE id IN (SELECT value FROM json_each(@ids))';

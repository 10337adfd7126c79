import type { SpeechStore } from '@slowwave/engine';
import type { MessageRow } from '../../../ledger/rows/message.ts';
import { BEFORE, beforeIds, type SaidRow, saidFrom } from '../../../ledger/speech.ts';
import type { Access } from '../access.ts';
import type { Sql } from '../sql.ts';

export function speechStore({ read }: Access): SpeechStore {
  return {
    said: (lane, ids) => read(async (sql) => saidOf(sql, await sql.all<SaidRow>(SELECT_SAID, { lane, ids }))),
  };
}

async function saidOf(sql: Sql, rows: readonly SaidRow[]) {
  const ids = beforeIds(rows);
  return saidFrom(rows, ids.length === 0 ? [] : await sql.all<MessageRow>(SELECT_MESSAGES, { ids }));
}

const SELECT_SAID = `SELECT m.*, ${BEFORE} FROM messages m WHERE m.id = ANY(@ids::text[]) AND m.lane = @lane`;

const SELECT_MESSAGES = 'SELECT * FROM messages WHERE id = ANY(@ids::text[])';

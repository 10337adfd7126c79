import type { HistoryPlace } from '@slowwave/engine';
import { REMOVED } from '@slowwave/engine/storing';

/** What retention finds: written so that both kinds of ledger read it, and use their indexes of what is left to remove. */
const MESSAGES = `
  FROM batches WHERE tenant = @tenant AND accepted_at < @before AND stripped_at IS NULL
    AND state IN ('consolidated', 'empty', 'undone')`;

const PLANS = `
  FROM consolidations WHERE tenant = @tenant AND created_at < @before AND stripped_at IS NULL
    AND state IN ('applied', 'split', 'undone')`;

export const COUNT_MESSAGES = `SELECT count(*) AS count ${MESSAGES}`;
export const PICK_MESSAGES = `SELECT id ${MESSAGES} ORDER BY accepted_at LIMIT @limit`;
export const COUNT_PLANS = `SELECT count(*) AS count ${PLANS}`;
export const PICK_PLANS = `SELECT id ${PLANS} ORDER BY created_at LIMIT @limit`;

export const SELECT_TENANTS = 'SELECT tenant FROM settings ORDER BY tenant';
export const SELECT_LANES = `
  SELECT id FROM lanes WHERE tenant = @tenant AND erasure IS NULL AND id > @after ORDER BY id LIMIT @limit`;

/** In the order of the index. */
export const SELECT_HISTORIES = `
  SELECT id, history_from FROM memories
  WHERE tenant = @tenant AND history_from IS NOT NULL AND history_from < @before
    AND (history_from, id) > (@afterFrom, @afterId)
  ORDER BY history_from, id LIMIT @limit`;

/** The parameters of a page that begins after a place. */
export const afterPlace = (after: HistoryPlace | null) => ({
  afterFrom: after?.from ?? -1,
  afterId: after?.memoryId ?? '',
});

export interface HistoryRow {
  readonly id: string;
  readonly history_from: number;
}

export const placeFrom = ({ id, history_from }: HistoryRow): HistoryPlace => ({ memoryId: id, from: history_from });

/** A message's content, as it is stored. */
export const REMOVED_CONTENT = JSON.stringify(REMOVED);

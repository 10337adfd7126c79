import { REMOVED } from '@slowwave/engine';

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

/** A message's content, as it is stored. */
export const REMOVED_CONTENT = JSON.stringify(REMOVED);

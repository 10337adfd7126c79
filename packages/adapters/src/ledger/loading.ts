import type { Memory } from '@slowwave/engine';
import { MARKED, type MemoryRow, memoryFrom } from './rows/memory.ts';
import { all, type Given, type once, type Script } from './script.ts';

type Order = (memories: string) => string;

const BY_ID: Order = (memories) => `${memories}.id`;
/** Those of a lane lie in this order. */
export const BY_NUMBER: Order = (memories) => `${memories}.number`;
export const NEWEST_FIRST: Order = (memories) => `${memories}.created_at DESC, ${memories}.id DESC`;

interface Loading {
  readonly order?: Order;
  /** `once` where the condition is as a caller's filter is. */
  readonly ask?: typeof all | typeof once;
}

/**
 * Memories with all that happened to them: of m (memories), l (lanes) and s (scopes), as many as `limit` says where it is given. One
 * statement, so that all are of one moment.
 */
export function* loadMemories(
  condition: string,
  given: Given,
  { order = BY_ID, ask = all }: Loading = {},
): Script<readonly Memory[]> {
  const limit = 'limit' in given ? `ORDER BY ${order('m')} LIMIT @limit` : '';
  const text = `WITH found AS (${SELECT_MEMORIES} ${condition} ${limit}) ${WITH_EVENTS} ORDER BY ${order('found')}`;
  return (yield* ask<FoundRow>(text, given)).map(memoryFrom);
}

type FoundRow = MemoryRow & { readonly marks: string | null };

const SELECT_MEMORIES = `
  SELECT m.id, m.number, m.tenant, l.id AS lane, m.confirmations, m.last_confirmed_at, m.revision, m.created_at, m.updated_at,
    l.owner_kind, l.owner_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM memories m JOIN lanes l ON l.number = m.lane JOIN scopes s ON s.id = m.scope`;

const WITH_EVENTS = `
  SELECT found.*, (
    SELECT jsonb_agg(jsonb_build_array(${MARKED})) FROM events event WHERE event.memory = found.number
  ) AS marks
  FROM found`;

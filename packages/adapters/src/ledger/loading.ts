import type { Memory } from '@slowwave/engine';
import { MARKED, type MemoryRow, marksFrom, memoryFrom, type VersionColumns } from './rows/memory.ts';
import { all, type Given, type once, type Script } from './script.ts';

type Order = (memories: string) => string;

const BY_ID: Order = (memories) => `${memories}.id`;
export const NEWEST_FIRST: Order = (memories) => `${memories}.created_at DESC, ${memories}.id DESC`;

interface Loading {
  readonly order?: Order;
  /** `once` where the condition is as a caller's filter is. */
  readonly ask?: typeof all | typeof once;
}

/**
 * Memories with all their versions and events: of m (memories), l (lanes) and s (scopes), as many as `limit` says where it is
 * given. One statement, so that all are of one moment.
 */
export function* loadMemories(
  condition: string,
  given: Given,
  { order = BY_ID, ask = all }: Loading = {},
): Script<readonly Memory[]> {
  const limit = 'limit' in given ? `ORDER BY ${order('m')} LIMIT @limit` : '';
  const text = `WITH found AS (${SELECT_MEMORIES} ${condition} ${limit}) ${WITH_VERSIONS} ORDER BY ${order('found')}`;
  const rows = yield* ask<FoundRow>(text, given);
  return [...Map.groupBy(rows, ({ id }) => id).values()].map(foundMemory);
}

const SELECT_MEMORIES = `
  SELECT m.id, m.tenant, m.lane, m.confirmations, m.last_confirmed_at, m.revision, m.created_at, m.updated_at,
    l.owner_kind, l.owner_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM memories m JOIN lanes l ON l.id = m.lane JOIN scopes s ON s.id = m.scope`;

/** A timeline stands in one row of its memory, the newest version's. */
const WITH_VERSIONS = `
  SELECT found.*, v.number, v.text, v.said_at, v.said_seq, v.valid_from, v.invalid_at, v.superseded_by, v.details, v.recorded_at,
    CASE WHEN v.superseded_by IS NULL THEN (
      SELECT jsonb_agg(jsonb_build_array(${MARKED})) FROM events event WHERE event.memory_id = found.id
    ) END AS marks
  FROM found LEFT JOIN versions v ON v.memory_id = found.id`;

/** The columns of a version are null for a memory without any. */
type FoundRow = MemoryRow & { readonly marks: string | null } & (
    | VersionColumns
    | { readonly [Name in keyof VersionColumns]: null }
  );

function foundMemory(rows: readonly FoundRow[]): Memory {
  const newest = rows.find(({ marks }) => marks !== null);
  if (newest === undefined) throw new Error(`memory ${rows[0]?.id} has versions, but all of them are superseded`);
  const versions = rows.filter((row) => row.number !== null);
  return memoryFrom(newest, { versions: versions.sort((a, b) => a.number - b.number), timeline: marksFrom(newest) });
}

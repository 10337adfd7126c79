import type { PresentStore, Scope } from '@slowwave/engine';
import {
  conversationFrom,
  conversationParams,
  LANE_OF_OWNER,
  type PendingRow,
  type ProfileRow,
  presentParams,
  profileFactFrom,
  SHOWN_AT,
  selectSummary,
  waiting,
  within,
} from '../../../ledger/present.ts';
import type { Access } from '../access.ts';

/** The summary stands in every row; a message's columns are null where nothing waits. */
type Row = { readonly summary: string | null } & (PendingRow | { readonly [Name in keyof PendingRow]: null });

export function presentStore({ read }: Access): PresentStore {
  return {
    conversation: (tenant, scope, limits) =>
      read(async (sql) => {
        const rows = await sql.all<Row>(selectConversation(scope), conversationParams(tenant, scope, limits));
        const summary = rows.find((row) => row.summary !== null)?.summary ?? null;
        return conversationFrom(
          rows.filter((row) => row.id !== null),
          summary,
          limits,
        );
      }),
    profile: (tenant, scope, how) =>
      read(async (sql) => {
        const rows = await sql.all<ProfileRow>(selectProfile(scope), { ...presentParams(tenant, scope), ...how });
        return rows.map(profileFactFrom);
      }),
  };
}

/** The planner finds the indexes. */
const WAITING = waiting(() => '');

/** One statement, one round trip. Which messages first: their contents are read only of those that are wanted. */
const selectConversation = (scope: Scope): string => `
  WITH ${WAITING}, picked AS (
    SELECT m.id, w.backfill FROM waiting w
    JOIN messages m ON m.batch_id = w.id JOIN scopes s ON s.id = w.scope
    WHERE NOT m.resent${within(scope)} ORDER BY w.backfill, m.seq DESC LIMIT @limit
  ), told AS (
    SELECT m.id, m.batch_id, m.seq, m.client_id, m.role, m.name, m.said_at, m.clock_at, m.utc_offset, k.backfill,
      CASE WHEN pg_column_size(m.content) > @longest THEN NULL
        WHEN octet_length(m.content::text) <= @longest THEN m.content END AS content
    FROM picked k JOIN messages m ON m.id = k.id
  ), latest AS (${selectSummary(scope)})
  SELECT latest.summary, told.* FROM latest FULL JOIN told ON false ORDER BY told.backfill, told.seq DESC`;

const selectProfile = (scope: Scope): string => `
  SELECT m.id, v.number, v.text, v.said_at, v.said_seq, v.valid_from, (v.details ->> 'utcOffset')::bigint AS utc_offset
  FROM memories m
  JOIN versions v ON v.memory_id = m.id AND ${SHOWN_AT}
  JOIN scopes s ON s.id = m.scope
  WHERE m.lane = ${LANE_OF_OWNER} AND m.live AND m.profile_rank > 0
    AND (m.expires_at IS NULL OR m.expires_at > @at)${within(scope)}
  ORDER BY m.profile_rank DESC, m.created_at, m.id LIMIT @limit`;

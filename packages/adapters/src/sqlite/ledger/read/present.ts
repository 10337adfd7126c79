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

export function presentStore({ read }: Access): PresentStore {
  return {
    conversation: (tenant, scope, limits) =>
      read((sql) => {
        const rows = sql.all<PendingRow>(selectPending(scope), conversationParams(tenant, scope, limits));
        const summary = sql.get<{ summary: string }>(selectSummary(scope), presentParams(tenant, scope));
        return conversationFrom(rows, summary?.summary ?? null, limits);
      }),
    profile: (tenant, scope, how) =>
      read((sql) => {
        const params = { ...presentParams(tenant, scope), ...how };
        return sql.all<ProfileRow>(selectProfile(scope), params).map(profileFactFrom);
      }),
  };
}

/** SQLite would read all batches there ever were in the lane, back to the first. */
const WAITING = waiting((index) => `INDEXED BY ${index}`);

/** Which messages first: their contents are read only of those that are wanted. */
const selectPending = (scope: Scope): string => `
  WITH ${WAITING}, picked AS (
    SELECT m.id, w.backfill FROM waiting w
    JOIN messages m ON m.batch_id = w.id JOIN scopes s ON s.id = w.scope
    WHERE NOT m.resent${within(scope)} ORDER BY w.backfill, m.seq DESC LIMIT @limit
  )
  SELECT m.id, m.batch_id, m.seq, m.client_id, m.role, m.name, m.said_at, m.clock_at, m.utc_offset,
    CASE WHEN octet_length(m.content) <= @longest THEN m.content END AS content
  FROM picked k JOIN messages m ON m.id = k.id ORDER BY k.backfill, m.seq DESC`;

const selectProfile = (scope: Scope): string => `
  SELECT m.id, v.number, v.text, v.said_at, v.said_seq, v.valid_from, v.details ->> '$.utcOffset' AS utc_offset
  FROM memories m
  JOIN versions v ON v.memory_id = m.id AND ${SHOWN_AT}
  JOIN scopes s ON s.id = m.scope
  WHERE m.lane = ${LANE_OF_OWNER} AND m.live AND m.profile_rank > 0
    AND (m.expires_at IS NULL OR m.expires_at > @at)${within(scope)}
  ORDER BY m.profile_rank DESC, m.created_at, m.id LIMIT @limit`;

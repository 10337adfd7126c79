import type { LaneId, Memory, MemoryVersion, TenantId } from '@slowwave/engine';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './scope.ts';

export interface MemoryRow extends ScopeColumns, OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly timeline: string;
  readonly confirmations: number;
  readonly last_confirmed_at: number | null;
  readonly revision: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface VersionRow {
  readonly memory_id: string;
  readonly number: number;
  readonly text: string;
  readonly said_at: number;
  readonly said_seq: number;
  readonly valid_from: number;
  readonly invalid_at: number | null;
  readonly superseded_by: number | null;
  readonly details: string;
  readonly recorded_at: number;
}

/** Memories with their owner's and scope's columns; add a WHERE on `m`. */
export const SELECT_MEMORIES = `
  SELECT m.*, l.owner_kind, l.owner_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM memories m JOIN lanes l ON l.id = m.lane JOIN scopes s ON s.id = m.scope`;

export const memoryFrom = (row: MemoryRow, versions: readonly VersionRow[]): Memory => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  scope: scopeFrom(row),
  versions: versions.map(versionFrom),
  timeline: JSON.parse(row.timeline),
  confirmations: row.confirmations,
  lastConfirmedAt: row.last_confirmed_at,
  revision: row.revision,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const versionFrom = (row: VersionRow): MemoryVersion => ({
  number: row.number,
  text: row.text,
  saidAt: { at: row.said_at, seq: row.said_seq },
  validFrom: row.valid_from,
  invalidAt: row.invalid_at,
  supersededBy: row.superseded_by,
  details: JSON.parse(row.details),
  recordedAt: row.recorded_at,
});

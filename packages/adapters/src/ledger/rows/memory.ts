import type { LaneId, Memory, MemoryVersion, TenantId } from '@slowwave/engine';
import { foundVersions, historyFrom, liveVersion, profileRank } from '@slowwave/engine/storing';
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

export interface VersionRow extends VersionColumns {
  readonly memory_id: string;
}

export interface VersionColumns {
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

export const memoryFrom = (row: MemoryRow, versions: readonly VersionColumns[]): Memory => ({
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

const versionFrom = (row: VersionColumns): MemoryVersion => ({
  number: row.number,
  text: row.text,
  saidAt: { at: row.said_at, seq: row.said_seq },
  validFrom: row.valid_from,
  invalidAt: row.invalid_at,
  supersededBy: row.superseded_by,
  details: JSON.parse(row.details),
  recordedAt: row.recorded_at,
});

/** A memory's own columns; its versions are rows of their own. */
export function memoryColumns(memory: Memory, given: { tenant: TenantId; scope: number }) {
  const live = liveVersion(memory);
  return {
    id: memory.id,
    tenant: given.tenant,
    lane: memory.lane,
    scope: given.scope,
    timeline: JSON.stringify(memory.timeline),
    confirmations: memory.confirmations,
    last_confirmed_at: memory.lastConfirmedAt,
    revision: memory.revision,
    version_count: foundVersions(memory).length,
    live: live === null ? 0 : 1,
    expires_at: live?.details.expiresAt ?? null,
    history_from: historyFrom(memory),
    profile_rank: profileRank(memory),
    created_at: memory.createdAt,
    updated_at: memory.updatedAt,
  };
}

export const versionColumns = (memoryId: string, version: MemoryVersion): VersionRow => ({
  memory_id: memoryId,
  number: version.number,
  text: version.text,
  said_at: version.saidAt.at,
  said_seq: version.saidAt.seq,
  valid_from: version.validFrom,
  invalid_at: version.invalidAt,
  superseded_by: version.supersededBy,
  details: JSON.stringify(version.details),
  recorded_at: version.recordedAt,
});

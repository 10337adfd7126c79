import type { EventKind, LaneId, Mark, Memory, MemoryVersion, TenantId, Under, VersionDetails } from '@slowwave/engine';
import { foundVersions, historyFrom, liveVersion, markOf, profileRank } from '@slowwave/engine/storing';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './scope.ts';

export interface MemoryRow extends ScopeColumns, OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
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

/** What a timeline needs of each event, as a list of JSON. */
export const MARKED = `event.id, event.revision, event.kind, event.said_at, event.said_seq, event.recorded_at, event.valid_from,
        event.text, json(event.details), event.undo_id, json(event.retracts), json(event.under)`;

type Marked = readonly [
  ...[id: string, revision: number, kind: EventKind],
  ...[saidAt: number, saidSeq: number, recordedAt: number, validFrom: number],
  ...[text: string | null, details: VersionDetails | null, undoId: string | null, retracts: readonly number[] | null],
  under: Under | null,
];

/** The timeline of a memory, of all its events. */
export const marksFrom = ({ marks }: { readonly marks: string | null }): readonly Mark[] =>
  (JSON.parse(marks ?? '[]') as readonly Marked[]).map(markFrom).sort((a, b) => a.revision - b.revision);

function markFrom(marked: Marked): Mark {
  const [id, revision, kind, at, seq, recordedAt, validFrom, text, details, undoId, retracts, under] = marked;
  const event = { id, revision, kind, saidAt: { at, seq }, recordedAt, validFrom, text, details };
  const retraction = undoId === null || retracts === null ? {} : { retraction: { undoId, retracts } };
  return markOf({ ...event, ...retraction, ...(under !== null && { under }) });
}

export const memoryFrom = (
  row: MemoryRow,
  { versions, timeline }: { readonly versions: readonly VersionColumns[]; readonly timeline: readonly Mark[] },
): Memory => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  scope: scopeFrom(row),
  versions: versions.map(versionFrom),
  timeline,
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

/** A memory's own columns. Its versions are rows of their own, its timeline is made of its events. */
export function memoryColumns(memory: Memory, given: { tenant: TenantId; scope: number }) {
  const live = liveVersion(memory);
  return {
    id: memory.id,
    tenant: given.tenant,
    lane: memory.lane,
    scope: given.scope,
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

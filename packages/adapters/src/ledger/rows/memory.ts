import type {
  Mark,
  Memory,
  MemoryEvent,
  MemoryVersion,
  Rated,
  TenantId,
  Under,
  VersionDetails,
} from '@slowwave/engine';
import {
  forgottenAt,
  foundVersions,
  goneSince,
  hasConclusions,
  historyFrom,
  liveVersion,
  markOf,
  placementOf,
  profileRank,
} from '@slowwave/engine/storing';
import {
  type ColumnsOf,
  leanFrom,
  leanText,
  type OwnerColumns,
  ownerFrom,
  type ScopeColumns,
  scopeFrom,
  withUsual,
} from './columns.ts';

export interface MemoryRow
  extends ColumnsOf<Omit<Memory, 'owner' | 'scope' | 'versions' | 'timeline'>>,
    ScopeColumns,
    OwnerColumns {}

export interface VersionRow extends VersionColumns {
  readonly memory_id: string;
}

export interface VersionColumns extends ColumnsOf<Omit<MemoryVersion, 'saidAt'>, 'details'> {
  readonly said_at: number;
  readonly said_seq: number;
}

/** Of nearly all versions. Statements that look into details take what is missing for this. */
const USUAL_DETAILS: VersionDetails = {
  ...{ category: null, language: null, about: 'user', trust: 'user', quote: null, sourceIds: [] },
  ...{ metadata: {}, immutable: false, expiresAt: null },
};

const UNDER_NONE: Under = { agentId: null, runId: null, appId: null };

export const detailsFrom = (text: string): VersionDetails => leanFrom(text, USUAL_DETAILS);

const detailsText = (details: VersionDetails): string => leanText(details, USUAL_DETAILS);

/** What a timeline needs of each event, as a list of JSON. */
export const MARKED = `event.id, event.revision, event.kind, event.said_at, event.said_seq, event.recorded_at, event.valid_from,
        event.text, json(event.details), event.undo_id, json(event.retracts), json(event.under), event.forgets, json(event.rated)`;

type Marked = readonly [
  ...[id: string, revision: number, kind: MemoryEvent['kind']],
  ...[saidAt: number, saidSeq: number, recordedAt: number, validFrom: number],
  ...[
    text: string | null,
    details: Partial<VersionDetails> | null,
    undoId: string | null,
    retracts: readonly number[] | null,
  ],
  ...[under: Partial<Under> | null, forgets: Forgets, rated: Rated | null],
];

/** The timeline of a memory, of all its events. */
export const marksFrom = ({ marks }: { readonly marks: string | null }): readonly Mark[] =>
  (JSON.parse(marks ?? '[]') as readonly Marked[]).map(markFrom).sort((a, b) => a.revision - b.revision);

function markFrom(marked: Marked): Mark {
  const [id, revision, kind, at, seq, recordedAt, validFrom, text, lean, undoId, retracts, under, forgets, rated] =
    marked;
  const details = lean === null ? null : withUsual(lean, USUAL_DETAILS);
  const said = { id, revision, kind, saidAt: { at, seq }, recordedAt, validFrom, text, details };
  const event = { ...said, ...forgettingFrom(forgets), ...(rated !== null && { rated }) };
  const retraction = retracts === null ? {} : { retraction: { undoId, retracts } };
  return markOf({ ...event, ...retraction, ...(under !== null && { under: withUsual(under, UNDER_NONE) }) });
}

/** Of a deletion: it forgets (1), or the memory was merged into another one (2). */
type Forgets = 0 | 1 | 2;

const forgettingFrom = (forgets: Forgets): Pick<MemoryEvent, 'forgets' | 'merged'> => ({
  ...(forgets === 1 && { forgets: true }),
  ...(forgets === 2 && { merged: true }),
});

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
  details: detailsFrom(row.details),
  recordedAt: row.recorded_at,
});

/** A memory's own columns. Its versions are rows of their own, its timeline is made of its events. */
export function memoryColumns(memory: Memory, given: { tenant: TenantId; scope: number }) {
  const live = liveVersion(memory);
  const placed = placementOf(memory);
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
    forgotten_at: forgottenAt(memory)?.at ?? null,
    gone_since: goneSince(memory),
    expires_at: live?.details.expiresAt ?? null,
    history_from: historyFrom(memory),
    profile_rank: profileRank(memory),
    placed: placed === null ? null : JSON.stringify(placed),
    concluded: hasConclusions(memory) ? 1 : 0,
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
  details: detailsText(version.details),
  recorded_at: version.recordedAt,
});

export interface EventRow
  extends ColumnsOf<
    Omit<MemoryEvent, 'kind' | 'previousHash' | 'saidAt' | 'under' | 'retraction' | 'forgets' | 'merged' | 'rated'>,
    'details' | 'sourceIds'
  > {
  readonly seq: number;
  readonly kind: MemoryEvent['kind'];
  readonly previous_hash: string | null;
  readonly said_at: number;
  readonly said_seq: number;
  readonly under: string | null;
  readonly forgets: Forgets;
  readonly undo_id: string | null;
  readonly retracts: string | null;
  readonly rated: string | null;
}

export const eventFrom = (row: EventRow): MemoryEvent => ({
  id: row.id,
  memoryId: row.memory_id,
  revision: row.revision,
  kind: row.kind,
  actor: row.actor,
  consolidationId: row.consolidation_id,
  factId: row.fact_id,
  reason: row.reason,
  previous: row.previous,
  ...(row.previous_hash !== null && { previousHash: row.previous_hash }),
  saidAt: { at: row.said_at, seq: row.said_seq },
  validFrom: row.valid_from,
  recordedAt: row.recorded_at,
  text: row.text,
  details: row.details === null ? null : detailsFrom(row.details),
  sourceIds: JSON.parse(row.source_ids),
  ...(row.under !== null && { under: leanFrom(row.under, UNDER_NONE) }),
  ...retractionFrom(row),
  ...forgettingFrom(row.forgets),
  ...(row.rated !== null && { rated: JSON.parse(row.rated) }),
});

const retractionFrom = ({ undo_id, retracts }: EventRow): Pick<MemoryEvent, 'retraction'> =>
  retracts === null ? {} : { retraction: { undoId: undo_id, retracts: JSON.parse(retracts) } };

/** Its place among all events is given by the ledger. */
export const eventColumns = (event: MemoryEvent, tenant: TenantId) => ({
  id: event.id,
  tenant,
  memory_id: event.memoryId,
  revision: event.revision,
  kind: event.kind,
  actor: event.actor,
  consolidation_id: event.consolidationId,
  fact_id: event.factId,
  reason: event.reason,
  previous: event.previous,
  previous_hash: event.previousHash ?? null,
  said_at: event.saidAt.at,
  said_seq: event.saidAt.seq,
  valid_from: event.validFrom,
  recorded_at: event.recordedAt,
  text: event.text,
  details: event.details === null ? null : detailsText(event.details),
  source_ids: JSON.stringify(event.sourceIds),
  under: event.under === undefined ? null : leanText(event.under, UNDER_NONE),
  undo_id: event.retraction?.undoId ?? null,
  retracts: event.retraction === undefined ? null : JSON.stringify(event.retraction.retracts),
  forgets: event.forgets === true ? 1 : event.merged === true ? 2 : 0,
  rated: event.rated === undefined ? null : JSON.stringify(event.rated),
});

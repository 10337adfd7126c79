import type { Mark, Memory, MemoryEvent, Rated, TenantId, Under, VersionDetails } from '@slowwave/engine';
import {
  eventIdOf,
  forgottenAt,
  foundVersions,
  goneSince,
  hasConclusions,
  historyFrom,
  liveVersion,
  markOf,
  placementOf,
  placeOfEvent,
  profileRank,
  versionsOf,
} from '@slowwave/engine/storing';
import { consolidationIdOf } from '../page.ts';
import { all, type Given, type once, type Row, type Script } from '../script.ts';
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

interface MemoryRow
  extends ColumnsOf<Omit<Memory, 'owner' | 'scope' | 'versions' | 'timeline'>>,
    ScopeColumns,
    OwnerColumns {}

/** What of a memory and its lane is kept as numbers. */
export interface Numbered {
  readonly number: number;
  readonly lane: number;
}

/** Of nearly all versions. Statements that look into details take what is missing for this. */
export const USUAL_DETAILS: VersionDetails = {
  ...{ category: null, language: null, about: 'user', trust: 'user', quote: null, sourceIds: [] },
  ...{ metadata: {}, immutable: false, expiresAt: null },
};

const UNDER_NONE: Under = { agentId: null, runId: null, appId: null };

/** Details of an event: a quote that stands in its text is where it stands, and source ids are those of the event unless they differ. */
type LeanDetails = Omit<Partial<VersionDetails>, 'quote'> & { readonly quote?: string | readonly [number, number] };

interface Said {
  readonly text: string | null;
  readonly sourceIds: readonly string[];
}

/** The details of an event that says something. */
export const detailsFrom = (details: string, { text, sourceIds }: Said): VersionDetails =>
  detailsOf(JSON.parse(details), { text, sourceIds });

function detailsOf({ quote, ...lean }: LeanDetails, { text, sourceIds }: Said): VersionDetails {
  const said = typeof quote === 'object' ? (text ?? '').slice(quote[0], quote[0] + quote[1]) : quote;
  return withUsual({ ...lean, ...(said !== undefined && { quote: said }) }, { ...USUAL_DETAILS, sourceIds });
}

function detailsText(details: VersionDetails, { text, sourceIds }: Said): string {
  const place = details.quote === null || text === null ? -1 : text.indexOf(details.quote);
  const { quote, ...rest } = details;
  const usual = { ...USUAL_DETAILS, sourceIds };
  if (place === -1 || quote === null) return leanText(details, usual);
  return leanText<object>({ ...rest, quote: [place, quote.length] }, usual);
}

/** What a timeline needs of each event, as a list of JSON. */
const MARKED = `event.revision, event.kind, event.said_at, event.said_seq, event.recorded_at, event.valid_from,
        event.text, json(event.details), json(event.source_ids), event.undo_id, json(event.retracts), json(event.under),
        event.forgets, json(event.rated)`;

type Marked = readonly [
  ...[revision: number, kind: MemoryEvent['kind']],
  ...[saidAt: number, saidSeq: number, recordedAt: number, validFrom: number | null],
  ...[text: string | null, details: LeanDetails | null, sourceIds: readonly string[]],
  ...[undoId: string | null, retracts: readonly number[] | null],
  ...[under: Partial<Under> | null, forgets: Forgets, rated: Rated | null],
];

/** The timeline of a memory, of all its events. */
const marksFrom = ({ id, marks }: { readonly id: string; readonly marks: string | null }): readonly Mark[] =>
  (JSON.parse(marks ?? '[]') as readonly Marked[])
    .map((marked) => markFrom(id, marked))
    .sort((a, b) => a.revision - b.revision);

function markFrom(memoryId: string, marked: Marked): Mark {
  const [revision, kind, at, seq, recordedAt, validFrom, text, lean, sourceIds, undoId, retracts, under, ...others] =
    marked;
  const [forgets, rated] = others;
  const details = lean === null ? null : detailsOf(lean, { text, sourceIds });
  const said = { id: `${revision} of ${memoryId}`, revision, kind, saidAt: { at, seq }, recordedAt, text, details };
  const event = {
    ...said,
    validFrom: validFrom ?? at,
    ...forgettingFrom(forgets),
    ...(rated !== null && { rated }),
  };
  const retraction = retracts === null ? {} : { retraction: { undoId, retracts } };
  return markOf({ ...event, ...retraction, ...(under !== null && { under: withUsual(under, UNDER_NONE) }) });
}

/** Of a deletion: it forgets (1), or the memory was merged into another one (2). */
type Forgets = 0 | 1 | 2;

const forgettingFrom = (forgets: Forgets): Pick<MemoryEvent, 'forgets' | 'merged'> => ({
  ...(forgets === 1 && { forgets: true }),
  ...(forgets === 2 && { merged: true }),
});

/** A memory with the timeline of its events, as a list of JSON; its versions follow from it. */
function memoryFrom(row: MemoryRow & { readonly marks: string | null }): Memory {
  const timeline = marksFrom(row);
  return {
    id: row.id,
    tenant: row.tenant,
    lane: row.lane,
    owner: ownerFrom(row),
    scope: scopeFrom(row),
    versions: versionsOf(timeline),
    timeline,
    confirmations: row.confirmations,
    lastConfirmedAt: row.last_confirmed_at,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** A memory's own columns. Its versions are rows of their own, its timeline is made of its events. */
export function memoryColumns(memory: Memory, given: Numbered & { tenant: TenantId; scope: number }) {
  const live = liveVersion(memory);
  const placed = placementOf(memory);
  return {
    number: given.number,
    id: memory.id,
    tenant: given.tenant,
    lane: given.lane,
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

/** An event as it is stored, with the id of its memory. */
export interface EventRow
  extends Omit<
    ColumnsOf<
      Omit<MemoryEvent, 'kind' | 'previousHash' | 'saidAt' | 'under' | 'retraction' | 'forgets' | 'merged' | 'rated'>,
      'details' | 'sourceIds'
    >,
    'id' | 'actor' | 'reason' | 'valid_from'
  > {
  readonly seq: number;
  readonly memory: number;
  readonly id: string | null;
  readonly actor: MemoryEvent['actor'] | null;
  readonly reason: string | null;
  readonly kind: MemoryEvent['kind'];
  readonly valid_from: number | null;
  readonly previous_hash: string | null;
  readonly said_at: number;
  readonly said_seq: number;
  readonly under: string | null;
  readonly forgets: Forgets;
  readonly undo_id: string | null;
  readonly retracts: string | null;
  readonly rated: string | null;
}

/** Events e of memories m. */
export const EVENT_COLUMNS = `e.*, ${consolidationIdOf('e.consolidation')} AS consolidation_id`;
export const SELECT_EVENTS = `SELECT ${EVENT_COLUMNS}, m.id AS memory_id FROM events e JOIN memories m ON m.number = e.memory`;

const USUAL_ACTOR: MemoryEvent['actor'] = 'consolidation';
/** Another one is kept as it is. */
const USUAL_REASON = 'no similar memory';

export function eventFrom(row: EventRow): MemoryEvent {
  const sourceIds = JSON.parse(row.source_ids) as readonly string[];
  return {
    id: row.id ?? eventIdOf(row.memory_id, row.revision),
    memoryId: row.memory_id,
    revision: row.revision,
    kind: row.kind,
    actor: row.actor ?? USUAL_ACTOR,
    consolidationId: row.consolidation_id,
    factId: row.fact_id,
    reason: row.reason ?? USUAL_REASON,
    previous: row.previous,
    ...(row.previous_hash !== null && { previousHash: row.previous_hash }),
    saidAt: { at: row.said_at, seq: row.said_seq },
    validFrom: row.valid_from ?? row.said_at,
    recordedAt: row.recorded_at,
    text: row.text,
    details: row.details === null ? null : detailsFrom(row.details, { text: row.text, sourceIds }),
    sourceIds,
    ...(row.under !== null && { under: leanFrom(row.under, UNDER_NONE) }),
    ...retractionFrom(row),
    ...forgettingFrom(row.forgets),
    ...(row.rated !== null && { rated: JSON.parse(row.rated) }),
  };
}

const retractionFrom = ({ undo_id, retracts }: EventRow): Pick<MemoryEvent, 'retraction'> =>
  retracts === null ? {} : { retraction: { undoId: undo_id, retracts: JSON.parse(retracts) } };

/** Whether the id of an event is made of that of its memory, and is found by it. */
const follows = ({ id, memoryId, revision }: Pick<MemoryEvent, 'id' | 'memoryId' | 'revision'>): boolean =>
  id === eventIdOf(memoryId, revision) && placeOfEvent(id) !== null;

/** Its place among all events is given by the ledger. */
export const eventColumns = (
  event: MemoryEvent,
  { memory, consolidation }: { readonly memory: number; readonly consolidation: number | null },
) => ({
  memory,
  revision: event.revision,
  forgets: event.forgets === true ? 1 : event.merged === true ? 2 : 0,
  said_at: event.saidAt.at,
  said_seq: event.saidAt.seq,
  valid_from: event.validFrom === event.saidAt.at ? null : event.validFrom,
  recorded_at: event.recordedAt,
  id: follows(event) ? null : event.id,
  kind: event.kind,
  actor: event.actor === USUAL_ACTOR ? null : event.actor,
  consolidation,
  undo_id: event.retraction?.undoId ?? null,
  retracts: event.retraction === undefined ? null : JSON.stringify(event.retraction.retracts),
  fact_id: event.factId,
  ...saidColumns(event),
  under: event.under === undefined ? null : leanText(event.under, UNDER_NONE),
  rated: event.rated === undefined ? null : JSON.stringify(event.rated),
});

/** What an event says, which retention removes. */
export const saidColumns = (event: MemoryEvent) => ({
  reason: event.reason === USUAL_REASON ? null : event.reason,
  previous: event.previous,
  previous_hash: event.previousHash ?? null,
  text: event.text,
  details: event.details === null ? null : detailsText(event.details, event),
  source_ids: JSON.stringify(event.sourceIds),
});

/** An event as lines of bundles have it. */
export function wholeEvent(row: EventRow): Row {
  const event = eventFrom(row);
  const details = event.details === null ? null : leanText(event.details, USUAL_DETAILS);
  const { id, actor, reason, validFrom: valid_from } = event;
  return { ...row, id, actor, reason, valid_from, details };
}

/** The same as it is kept. */
export function keptEvent(row: Row): Row {
  const { id = null, actor = null, reason = null, valid_from = null, details = null, ...rest } = row;
  const said = { text: rest.text as string | null, sourceIds: JSON.parse(String(rest.source_ids)) };
  const named = { id: String(id), memoryId: String(rest.memory_id), revision: Number(rest.revision) };
  return {
    ...rest,
    id: follows(named) ? null : id,
    actor: actor === USUAL_ACTOR ? null : actor,
    reason: reason === USUAL_REASON ? null : reason,
    valid_from: valid_from === rest.said_at ? null : valid_from,
    details: details === null ? null : detailsText(leanFrom(String(details), USUAL_DETAILS), said),
  };
}

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

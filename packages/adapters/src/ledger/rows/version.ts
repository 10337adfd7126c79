import type { Mark, MemoryChange, MemoryVersion, SaidId, TenantId } from '@slowwave/engine';
import { canonical, saidIds } from '@slowwave/engine/storing';
import { type Row, run, type Script } from '../script.ts';
import { leanFrom, leanText } from './columns.ts';
import { detailsFrom, type EventRow, USUAL_DETAILS } from './memory.ts';

/** A version as it is stored: null is what its event says. */
export interface VersionRow {
  readonly memory: number;
  readonly number: number;
  readonly superseded_by: number | null;
  readonly invalid_at: number | null;
  readonly text: string | null;
  readonly said_at: number | null;
  readonly said_seq: number | null;
  readonly valid_from: number | null;
  readonly details: string | null;
  readonly recorded_at: number | null;
}

export function versionColumns(memory: number, version: MemoryVersion, timeline: readonly Mark[]): VersionRow {
  const mark = timeline.find(({ revision }) => revision === version.number);
  const event = mark?.kind === 'said' ? mark : null;
  const own = <Value extends string | number>(value: Value, of: Value | undefined): Value | null =>
    value === of ? null : value;
  const details = leanText(version.details, USUAL_DETAILS);
  return {
    memory,
    number: version.number,
    superseded_by: version.supersededBy,
    invalid_at: version.invalidAt,
    text: own(version.text, event?.text),
    said_at: own(version.saidAt.at, event?.saidAt.at),
    said_seq: own(version.saidAt.seq, event?.saidAt.seq),
    valid_from: own(version.validFrom, event?.validFrom),
    details: event === null ? details : own(details, leanText(event.details, USUAL_DETAILS)),
    recorded_at: own(version.recordedAt, event?.recordedAt),
  };
}

/** Where a version says nothing of its own, its event says it: the first of these columns that says something. */
const SAID_BY_EVENT = {
  text: ['text'],
  said_at: ['said_at'],
  said_seq: ['said_seq'],
  valid_from: ['valid_from', 'said_at'],
  details: ['details'],
  recorded_at: ['recorded_at'],
} as const;

/** Of versions v with the events o that they have the numbers of. */
const VERSION_COLUMNS = Object.entries(SAID_BY_EVENT).map(
  ([column, said]) => `coalesce(v.${column}, ${said.map((one) => `o.${one}`).join(', ')}) AS ${column}`,
);

/** Versions as they read, for statements that ask about them. */
export const READ_VERSIONS = `(
  SELECT v.memory, v.number, v.superseded_by, v.invalid_at, ${VERSION_COLUMNS.join(', ')} FROM versions v JOIN events o ON o.memory = v.memory AND o.revision = v.number)`;

/** A version with what its event says. */
export type WholeVersionRow = VersionRow & {
  readonly [Name in
    | 'text'
    | 'said_at'
    | 'said_seq'
    | 'valid_from'
    | 'details'
    | 'source_ids'
    | 'recorded_at' as `event_${Name}`]: EventRow[Name];
};

/** Of an event o that a version has the number of. */
export const BESIDE_VERSION = `
  o.text AS event_text, o.said_at AS event_said_at, o.said_seq AS event_said_seq, o.valid_from AS event_valid_from,
  o.details AS event_details, o.source_ids AS event_source_ids, o.recorded_at AS event_recorded_at`;

type WholeVersion = VersionRow & {
  readonly [Name in 'said_at' | 'said_seq' | 'valid_from' | 'recorded_at']: number;
};

/** A version as lines of bundles have it. */
export function wholeVersion(row: WholeVersionRow): WholeVersion {
  const said = { text: row.event_text, sourceIds: JSON.parse(row.event_source_ids) as readonly string[] };
  const details = row.event_details === null ? null : leanText(detailsFrom(row.event_details, said), USUAL_DETAILS);
  const event: Row = { ...row, event_details: details };
  const own = Object.entries(SAID_BY_EVENT).map(([column, names]) => {
    const values = [row[column as keyof typeof SAID_BY_EVENT], ...names.map((name) => event[`event_${name}`])];
    return [column, values.find((value) => value != null) ?? null];
  });
  return { ...row, ...Object.fromEntries(own) };
}

export function versionFrom(row: WholeVersionRow): MemoryVersion {
  const whole = wholeVersion(row);
  return {
    number: whole.number,
    text: whole.text ?? '',
    saidAt: { at: whole.said_at, seq: whole.said_seq },
    validFrom: whole.valid_from,
    invalidAt: whole.invalid_at,
    supersededBy: whole.superseded_by,
    details: leanFrom(whole.details ?? '{}', USUAL_DETAILS),
    recordedAt: whole.recorded_at,
  };
}

/** A whole version as it is kept beside its event. */
export function keptVersion(row: VersionRow, event: EventRow): VersionRow {
  const own = <Value>(value: Value, of: Value): Value | null => (value === of ? null : value);
  const sourceIds = JSON.parse(event.source_ids) as readonly string[];
  const said = event.details === null ? null : detailsFrom(event.details, { text: event.text, sourceIds });
  const isSame = row.details !== null && canonical(leanFrom(row.details, USUAL_DETAILS)) === canonical(said);
  return {
    ...row,
    text: own(row.text, event.text),
    said_at: own(row.said_at, event.said_at),
    said_seq: own(row.said_seq, event.said_seq),
    valid_from: own(row.valid_from, event.valid_from ?? event.said_at),
    details: isSame ? null : row.details,
    recorded_at: own(row.recorded_at, event.recorded_at),
  };
}

export interface IdRow {
  readonly memory_id: string;
  readonly tenant: TenantId;
  readonly kind: SaidId['kind'];
  readonly id: string;
  readonly first: number;
  readonly last: number;
  readonly beyond: string | null;
}

/** Those that are new, or were said earlier, later or less often than was known. */
export function writtenIds(change: MemoryChange): readonly IdRow[] {
  const before = new Set(idsBefore(change).map((row) => JSON.stringify(row)));
  return rowsOf(change, change.memory.timeline).filter((row) => !before.has(JSON.stringify(row)));
}

/** Under which nothing counts any more. */
export function takeIds(changes: readonly MemoryChange[]): readonly Script<unknown>[] {
  const rows = changes.flatMap((change) => {
    const kept = new Set(saidIds(change.memory).map(nameOf));
    const taken = idsBefore(change).filter((row) => !kept.has(nameOf(row)));
    return taken.map(({ memory_id, kind, id }) => ({ memory_id, kind, id }));
  });
  return rows.length === 0 ? [] : [run(TAKE_IDS, { rows })];
}

const TAKE_IDS = `
  DELETE FROM memory_ids
  WHERE (memory_id, kind, id) IN (SELECT value ->> 'memory_id', value ->> 'kind', value ->> 'id' FROM :rows AS r)`;

const nameOf = ({ kind, id }: Pick<SaidId, 'kind' | 'id'>): string => `${kind} ${id}`;

/** The rows that are stored: they follow from what was said until the revision that the change expects. */
const idsBefore = (change: MemoryChange): readonly IdRow[] =>
  rowsOf(
    change,
    change.memory.timeline.filter(({ revision }) => revision <= change.expectedRevision),
  );

const rowsOf = ({ memory: { id, tenant, lane } }: MemoryChange, timeline: readonly Mark[]): readonly IdRow[] =>
  saidIds({ timeline }).map(({ indexed, ...said }) => ({
    memory_id: id,
    tenant,
    ...said,
    beyond: indexed ? null : lane,
  }));

export const REPLACE_ID = `ON CONFLICT (memory_id, kind, id) DO UPDATE SET
  first = excluded.first, last = excluded.last, beyond = excluded.beyond`;

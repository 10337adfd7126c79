import type { Filter, Filterable, IndexQuery } from '@slowwave/engine';
import { matches, visible } from '@slowwave/engine/storing';
import { type Details, detailsFrom, type Kept } from '../../index-point.ts';
import { HeadReader, WITHDRAWN } from './heads.ts';
import { cosinesOf, type Legs, legsOf, type Seen } from './legs.ts';
import type { ManyPoints } from './many.ts';
import type { Sight } from './many-shown.ts';
import type { PackedRow } from './packed-records.ts';
import { changedAt, fewIn, type ReadParts, type ShownParts, ShownRow, textIn } from './packed-shown.ts';
import type { FoundPoints } from './protocol.ts';
import { FLOAT, type IdPart, idWords } from './record.ts';
import { byMemory, type Segment, type StoredPoint, segmentOf } from './stored-point.ts';

/** The points of one owner in memory, wherever the index that they are from is. */
export interface PointsOfOwner {
  /** Side by side, and what was written since in small ones. */
  readonly segments: readonly Segment[];
  /** What very many are looked up in, in place of segments; null: they are few. */
  readonly many: ManyPoints | null;
}

/** A point with its scores; null: that leg did not compare it. */
interface Scored {
  readonly point: StoredPoint;
  readonly vectorScore: number | null;
  readonly keywordScore: number | null;
}

/** The points either leg finds, by memory id and version, each scored in both. */
export function foundIn(table: PointsOfOwner, query: IndexQuery, narrowed: Narrowed): readonly Scored[] {
  const legs = legsFor(table, query, narrowed);
  const { vector, terms } = query;
  const vectorScores = new Map(vector === null ? [] : legs.nearest({ ...query, vector }));
  const also = new Set(vectorScores.keys());
  const keywordScores = new Map(terms === null ? [] : legs.byWords({ ...query, terms, also }));
  const byWords = [...keywordScores.keys()].filter((point) => !also.has(point));
  if (vector !== null) for (const [point, score] of cosinesOf(byWords, vector)) vectorScores.set(point, score);
  const found = [...new Set([...vectorScores.keys(), ...keywordScores.keys()])].sort(byMemory);
  return found.map((point) => ({
    point,
    vectorScore: vectorScores.get(point) ?? null,
    keywordScore: keywordScores.get(point) ?? null,
  }));
}

/** With what a hit shows, as far as it is known. */
export function shownOf(found: readonly Scored[], payloadOf: (point: StoredPoint) => string | null): FoundPoints {
  const shown = found.flatMap((scored) => {
    const payload = payloadOf(scored.point);
    return payload === null ? [] : [{ ...scored, payload }];
  });
  return {
    payloads: `[${shown.map(({ payload }) => payload).join(',')}]`,
    memoryIds: shown.map(({ point }) => point.memoryId),
    versions: shown.map(({ point }) => point.version),
    live: shown.map(({ point }) => point.live),
    vectorScores: shown.map(({ vectorScore }) => vectorScore),
    keywordScores: shown.map(({ keywordScore }) => keywordScore),
  };
}

/** Slots of an owner with few points that a filter leaves; null: it leaves all of them. Of many, points are filtered where they are. */
export type Narrowed = Pick<Fitting, 'has'> | null;

function legsFor(table: PointsOfOwner, query: IndexQuery, narrowed: Narrowed): Legs {
  return table.many?.seen(sightOf(query)) ?? legsOf(seenOf(table, query, narrowed));
}

export function seenOf({ segments }: Pick<PointsOfOwner, 'segments'>, query: IndexQuery, narrowed: Narrowed): Seen {
  const { isSeen } = sightOf(query);
  return segments.flatMap(({ points }) =>
    points.filter((point) => isSeen(point) && (narrowed === null || narrowed.has(point.slot))),
  );
}

function sightOf(query: IndexQuery): Sight {
  const { visibility, where, owner } = query;
  const asked = idsOf(query).map(({ part, id }) => ({ part, words: idWords(id) }));
  return {
    visibility,
    narrows: asked.length > 0,
    ...{ where, owner },
    isSeen: (point) =>
      (visibility.kind === 'told_last' || visible(point, { visibility, filter: {} })) &&
      asked.every(({ part, words }) => point.isOf(part, words)),
  };
}

/** The ids that a point must have, and in which of its lists. */
function idsOf({ filter, visibility }: IndexQuery): { readonly part: IdPart; readonly id: string }[] {
  const named = (['agentId', 'runId', 'appId'] as const).flatMap((part) => {
    const id = filter[part];
    return id === undefined ? [] : [{ part, id }];
  });
  return visibility.kind === 'told_last' ? [...named, { part: visibility.among, id: visibility.appId }] : named;
}

/** The slots of an owner that a filter is true of, as they were after a count of changes. */
interface Fitting {
  readonly changes: number;
  has(slot: number): boolean;
  /** The same after more changes, of which these slots were touched. */
  with(changes: number, touched: Iterable<TouchedSlot>): Fitting;
}

export interface TouchedSlot {
  readonly slot: number;
  /** Whether the filter is true of what is there now, 1 or 0. */
  readonly fits: number;
}

export const NOTHING_FITS: Fitting = fittingOf(0, new Uint8Array(0));

/** A byte for each slot. */
function fittingOf(changes: number, slots: Uint8Array): Fitting {
  return {
    changes,
    has: (slot) => slots[slot] === 1,
    with: (after, touched) => {
      const all = [...touched];
      if (all.length === 0) return fittingOf(after, slots);
      const last = all.reduce((most, { slot }) => Math.max(most, slot), slots.length - 1);
      const now = new Uint8Array(last + 1);
      now.set(slots);
      for (const { slot, fits } of all) now[slot] = fits;
      return fittingOf(after, now);
    },
  };
}

/**
 * What filters have left of one owner. A filter is put to all that the owner has once, and from then on to what has changed since: whoever
 * asks with the same filter again and again does not pay for how much there is.
 */
export interface FittingKept {
  get(filter: FilterOf): Fitting | null;
  keep(filter: FilterOf, fitting: Fitting): void;
}

type FilterOf = Pick<IndexQuery, 'visibility'> & { readonly where: Filter };

const KEPT_MAX = 16;
/** A longer filter is not worth its room. */
const FILTER_CHARS_MAX = 4_096;

export function fittingKept(): FittingKept {
  const kept = new Map<string, Fitting>(); // least recently used first
  return {
    get: (filter) => kept.get(nameOf(filter)) ?? null,
    keep: (filter, fitting) => {
      const name = nameOf(filter);
      if (name.length > FILTER_CHARS_MAX || (kept.get(name)?.changes ?? 0) > fitting.changes) return;
      kept.delete(name);
      kept.set(name, fitting);
      for (const oldest of kept.keys()) if (kept.size > KEPT_MAX) kept.delete(oldest);
    },
  };
}

/** Most of what an owner has may be former versions: where nobody sees them, no filter is put to them. */
const seesOnlyLive = ({ visibility }: Pick<IndexQuery, 'visibility'>): boolean => visibility.kind === 'live';

const nameOf = (filter: FilterOf): string => JSON.stringify([seesOnlyLive(filter), filter.where]);

/** A row of points as far as filters look into it, and the slot that it begins at. */
export interface FilteredRow extends Omit<PackedRow, 'records'> {
  readonly first: number;
}

/** Of points that changed since. */
export type Filtering = Pick<IndexQuery, 'owner' | 'visibility'> & { readonly where: Filter; readonly since: number };

/** Of which points of a row a filter is true. */
export function touchedIn(row: FilteredRow, { where, since, owner, visibility }: Filtering): TouchedSlot[] {
  const onlyLive = seesOnlyLive({ visibility });
  const shown = new ShownRow(row.shown, row.first);
  const heads = new HeadReader(row.heads, row);
  const found: TouchedSlot[] = [];
  for (let place = 0; heads.next(); ) {
    const isThere = heads.live !== WITHDRAWN;
    if (heads.change > since) {
      const isSeen = isThere && (heads.live === 1 || !onlyLive);
      const fits = isSeen && matches(where, new FilteredPoint(shown.partsAt(place), heads, owner));
      found.push({ slot: heads.slot, fits: fits ? 1 : 0 });
    }
    if (isThere) place += 1;
  }
  return found;
}

const VALID_FROM = FLOAT.validFrom - FLOAT.saidAt;
const EXPIRES_AT = FLOAT.expiresAt - FLOAT.saidAt;

/** A point as filters look at it, before the next head is read: nothing is read of it but what they ask for. */
class FilteredPoint implements Filterable {
  readonly #parts: ShownParts;
  readonly #head: HeadReader;
  readonly #owner: IndexQuery['owner'];
  #few: Partial<Kept> | null = null;
  #details: Details | null = null;

  constructor(parts: ShownParts, head: HeadReader, owner: IndexQuery['owner']) {
    this.#parts = parts;
    this.#head = head;
    this.#owner = owner;
  }

  get memoryId() {
    return this.#head.id.text;
  }
  get text() {
    return this.#parts.text === null ? (this.#read.t as string) : textIn(this.#parts.text);
  }
  get saidAt() {
    const [at = 0, seq = 0] = this.#head.moments;
    return { at, seq };
  }
  get validFrom() {
    return this.#head.moments[VALID_FROM] as number;
  }
  get expiresAt() {
    const expiresAt = this.#head.moments[EXPIRES_AT] as number;
    return Number.isFinite(expiresAt) ? expiresAt : null;
  }
  get createdAt() {
    return changedAt(this.#parts, this.#read, this.#head.moments)[0];
  }
  get updatedAt() {
    return changedAt(this.#parts, this.#read, this.#head.moments)[1];
  }
  get scope() {
    return this.#known.scope;
  }
  get ids() {
    return this.#known.ids;
  }
  get category() {
    return this.#known.category;
  }
  get metadata() {
    return this.#known.metadata;
  }
  get immutable() {
    return this.#known.immutable;
  }
  get flagged() {
    return this.#known.flagged;
  }
  get trust() {
    return this.#known.trust;
  }
  get confirmations() {
    return this.#known.confirmations;
  }

  get #read(): Partial<Kept> {
    this.#few ??= fewIn(this.#parts.remainder);
    return this.#few;
  }
  get #known(): Details {
    this.#details ??= detailsFrom(this.#read, this.#owner);
    return this.#details;
  }
}

interface KeptOwners<Table> {
  get(name: string): Table | null;
  keep(name: string, table: Table): void;
  forget(name: string): void;
  forgetAll(): void;
}

/**
 * Owners of which it is remembered that they were asked about. Who comes once among thousands is not kept: its bytes would
 * push out those of others, and be thrown away when they are old, for which the thread would stand still.
 */
const ASKED_MAX = 256;

interface KeepOptions {
  readonly bytes: number;
  /** From the first question on, and the last one whatever it takes: to read them takes long. */
  readonly atOnce?: boolean;
}

/** Keeps owners from their second question on, those that were asked about last, up to so many bytes. */
export function keptOwners<Table extends PointsOfOwner>({ bytes, atOnce = false }: KeepOptions): KeptOwners<Table> {
  const tables = new Map<string, { readonly table: Table; readonly bytes: number }>(); // least recently used first
  const asked = new Set<string>(); // the same
  let total = 0;

  const forget = (name: string): void => {
    total -= tables.get(name)?.bytes ?? 0;
    tables.delete(name);
  };
  const wasAsked = (name: string): boolean => {
    const before = asked.delete(name);
    asked.add(name);
    for (const oldest of asked) if (asked.size > ASKED_MAX) asked.delete(oldest);
    return before;
  };
  return {
    get: (name) => tables.get(name)?.table ?? null,
    forget,
    forgetAll: () => {
      for (const name of [...tables.keys()]) forget(name);
    },
    keep: (name, table) => {
      forget(name);
      if (!atOnce && !wasAsked(name)) return;
      const kept = { table, bytes: bytesOf(table) };
      tables.set(name, kept);
      total += kept.bytes;
      for (const oldest of tables.keys()) {
        if (total <= bytes || (atOnce && oldest === name)) return;
        forget(oldest);
      }
    },
  };
}

/** What a table takes in memory beside its bytes, about, for each segment. */
const SEGMENT_BYTES = 1_000;
/** And for each point in it. */
const POINT_BYTES = 56;

const bytesOf = ({ segments, many }: PointsOfOwner): number =>
  segments.reduce((sum, segment) => sum + bytesOfSegment(segment), many?.bytes ?? 0);

function bytesOfSegment({ bytes, points }: Segment): number {
  let all = bytes.length + SEGMENT_BYTES + points.length * POINT_BYTES;
  for (const { shown } of points) all += shown?.length ?? 0;
  return all;
}

/** A point that was written. */
export interface ChangedPoint {
  readonly slot: number;
  /** null: it is withdrawn. */
  readonly point: StoredPoint | null;
  /** What hits show of it; null: that was not read. */
  readonly parts: ReadParts | null;
}

/** Points that were written since take the places of older ones, which are left out where they were. */
export function withChanges(segments: readonly Segment[], changed: readonly ChangedPoint[]): readonly Segment[] {
  if (changed.length === 0) return segments;
  const slots = new Set(changed.map(({ slot }) => slot));
  const kept = segments.map(({ bytes, points }) => ({ bytes, points: points.filter(({ slot }) => !slots.has(slot)) }));
  const written = writtenIn(changed);
  return written === null ? kept : [...kept, written];
}

/** What is still there of points that were written; null: nothing. */
export function writtenIn(changed: readonly ChangedPoint[]): Segment | null {
  const records = changed.flatMap(({ point }) => (point === null ? [] : [point.record]));
  return records.length === 0 ? null : segmentOf(Buffer.concat(records));
}

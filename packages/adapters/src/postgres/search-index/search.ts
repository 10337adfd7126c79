import type { IndexLane, IndexQuery } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import {
  type ChangedPoint,
  type FilteredRow,
  type FittingKept,
  fittingKept,
  foundIn,
  keptOwners,
  type Narrowed,
  NOTHING_FITS,
  type PointsOfOwner,
  shownOf,
  touchedIn,
  withChanges,
} from '../../sqlite/search-index/looking.ts';
import { MANY, manyPoints, type SaidPoint } from '../../sqlite/search-index/many.ts';
import { changedIn } from '../../sqlite/search-index/packed-records.ts';
import { keptJson, ShownRow } from '../../sqlite/search-index/packed-shown.ts';
import { type FoundPoints, type IndexSpace, isForDecision, takingTurns } from '../../sqlite/search-index/protocol.ts';
import { type Segment, type StoredPoint, segmentOf } from '../../sqlite/search-index/stored-point.ts';
import { blockOf } from '../../sqlite/search-index/tables.ts';
import type { Answer, Ask } from '../ledger/asking.ts';
import { askOf, type Sql } from '../ledger/sql.ts';
import { OWNER_NAMED, ownerKey, requireSpace } from './schema.ts';

type Owners = ReturnType<typeof ownerCache>;
type Found = ReturnType<typeof foundIn>;
type Search = (sql: Sql, queries: readonly IndexQuery[]) => Promise<FoundPoints[] | null>;

/**
 * Answers questions on one snapshot: the server is asked once for what changed of their owners and which points their filters leave, and
 * once for what hits show, unless that is in memory. What is compared, and how, is what the index in a SQLite file does, so that both give the same scores.
 * null: who looked later was faster, and what this one looked at is gone; ask again.
 */
export function searchIn(owners: Owners): Search {
  const turns = takingTurns<Looked, Found>(foundOf, ({ query }) => isForDecision(query));
  return async (sql, queries) => {
    const looked = await look(sql, owners, queries);
    if (looked === null) return null;
    const found = await turns(looked);
    await readShown(sql, looked, found);
    return looked.map(({ table }, i) => shownOf(found[i] ?? [], table?.many?.shownOf ?? (({ shown }) => shown)));
  };
}

/** A question and what it is asked of. */
interface Looked {
  readonly query: IndexQuery;
  /** null: its owner has nothing. */
  readonly table: OwnerTable | null;
  /** Slots of an owner with few points that the question's filter leaves. */
  readonly fitting: Narrowed;
}

const foundOf = ({ query, table, fitting }: Looked): Found => (table === null ? [] : foundIn(table, query, fitting));

async function look(sql: Sql, owners: Owners, queries: readonly IndexQuery[]): Promise<readonly Looked[] | null> {
  const nameOf = (query: IndexQuery): string => JSON.stringify(ownerKey(query));
  const looks = new Map(queries.map((query) => [nameOf(query), owners.look(query)]));
  const filters = queries.flatMap((query) => filterOf(query, looks.get(nameOf(query))?.known ?? null));
  const asks = [...[...looks.values()].map(({ ask }) => ask), ...filters.map(({ ask }) => ask)];
  const answers = await sql.ask(asks);
  const tables = [...looks.values()].map((one, i) => one.tableOf(answers[i] ?? NONE));
  const known = tables.filter((table) => table !== OVERTAKEN);
  if (known.length < tables.length) return null;
  const tableOf = new Map([...looks.keys()].map((name, i) => [name, known[i] ?? null]));
  const fitting = new Map<IndexQuery, Narrowed>();
  const asked = new Set(filters.map(({ query }) => query));
  // It was known with very many points, of which filters ask nobody, and has few by now.
  const isUnasked = (query: IndexQuery): boolean => tableOf.get(nameOf(query))?.many === null && !asked.has(query);
  if (queries.some((query) => query.where !== null && isUnasked(query))) return null;
  for (const [i, { query, fittingIn }] of filters.entries()) {
    const table = tableOf.get(nameOf(query)) ?? null;
    if (table !== null && table.many !== null) continue;
    const left = table === null ? NOTHING_FITS : fittingIn(table, answers[looks.size + i] ?? NONE);
    if (left === null) return null;
    fitting.set(query, left);
  }
  return queries.map((query) => ({
    query,
    table: tableOf.get(nameOf(query)) ?? null,
    fitting: fitting.get(query) ?? null,
  }));
}

const NONE: Answer = { rows: [], count: 0 };

/** What the server is asked about the filter of a question to an owner who may have few points, and what is made of its answer. */
interface FilterAsked {
  readonly query: IndexQuery;
  readonly ask: Ask;
  /** null: it was asked about an owner who has been replaced since. */
  fittingIn(table: OwnerTable, answer: Answer): Narrowed;
}

function filterOf(query: IndexQuery, known: OwnerTable | null): readonly FilterAsked[] {
  const { visibility, where } = query;
  if (where === null) return [];
  if (known !== null && known.many !== null) return [];
  const before = known?.fitting.get({ visibility, where }) ?? null;
  const since = before?.changes ?? 0;
  return [
    {
      query,
      ask: askOf(TOUCHED, { ...ownerKey(query), known: before === null ? null : (known?.number ?? null), since }),
      fittingIn: (table, { rows }) => {
        if (before !== null && known?.number !== table.number) return null;
        const filtering = { ...query, where, since };
        const touched = (rows as readonly FilteredRow[]).flatMap((row) => touchedIn(row, filtering));
        // What is loose is newer than what its block has of it.
        const now = new Map(touched.map((one) => [one.slot, one])).values();
        const fitting = (before ?? NOTHING_FITS).with(table.changes, now);
        table.fitting.keep({ visibility, where }, fitting);
        return fitting;
      },
    },
  ];
}

/** Of an owner who has not changed no row is looked at. */
const CHANGED_SHOWN = 'owner = o.number AND o.changes > @since::bigint AND change > @since::bigint';

/** Of one owner by its number, if that is named; rows of blocks first. */
const TOUCHED = `
SELECT p.first, p.change, p.heads, p.shown
FROM state s JOIN owners o ON ${OWNER_NAMED} JOIN LATERAL (
  SELECT 0 AS part, first, change, heads, shown FROM blocks WHERE ${CHANGED_SHOWN}
  UNION ALL
  SELECT 1 AS part, first, change, heads, shown FROM loose WHERE ${CHANGED_SHOWN}
) AS p ON true
WHERE o.number = coalesce(@known::bigint, o.number)
ORDER BY p.part`;

/** Asks for what hits show of all that was found, as far as it is not known. */
async function readShown(sql: Sql, looked: readonly Looked[], found: readonly Found[]): Promise<void> {
  const unknown = looked.flatMap(({ table }, i) => {
    const points = table === null || table.many !== null ? [] : (found[i] ?? []).map(({ point }) => point);
    const slots = points.flatMap(({ slot, shown }) => (shown === null ? [slot] : []));
    return table === null || slots.length === 0 ? [] : [{ owner: table.number, slots, points }];
  });
  if (unknown.length === 0) return;
  const answers = await sql.askLast(
    unknown.map(({ owner, slots }) => askOf(SHOWN, { owner, slots, blocks: [...new Set(slots.map(blockOf))] })),
  );
  for (const [i, { points }] of unknown.entries()) {
    keepShown((answers[i] ?? NONE).rows as readonly ShownIn[], new Map(points.map((point) => [point.slot, point])));
  }
}

type ShownIn = Pick<FilteredRow, 'first' | 'shown'>;

/** What is loose comes first: it is newer than what its block has of it. */
function keepShown(rows: readonly ShownIn[], points: ReadonlyMap<number, StoredPoint>): void {
  for (const { first, shown } of rows) {
    const inRow = new ShownRow(shown, first);
    for (const [place, slot] of inRow.slots.entries()) {
      const point = points.get(slot);
      if (point !== undefined) point.shown ??= keptJson(inRow.partsAt(place), point.moments);
    }
  }
}

const SHOWN = `
SELECT first, shown FROM (
  SELECT 1 AS part, first, shown FROM blocks WHERE owner = @owner AND first = ANY (@blocks::integer[])
  UNION ALL
  SELECT 0 AS part, first, shown FROM loose WHERE owner = @owner AND first = ANY (@slots::integer[])
) AS p
ORDER BY part`;

/** All points of one owner in memory, as they were after a count of changes. */
interface OwnerTable extends PointsOfOwner {
  readonly number: number;
  readonly changes: number;
  /** What filters have left of it, also before. */
  readonly fitting: FittingKept;
}

type Owned = Pick<IndexQuery, 'tenant' | 'owner' | 'lane' | 'shelf'>;

/** What is kept are few points, of which it was not read what hits show. */
const OUTGROWN = 'outgrown';

/** What is kept has more than the snapshot of who looked has, and what it had then is gone: look again. */
const OVERTAKEN = 'overtaken';

/** A look at an owner: what to ask the server, and what to make of its answer. */
interface Look {
  readonly ask: Ask;
  /** As it is kept so far. */
  readonly known: OwnerTable | null;
  /** null: there is no such owner. */
  tableOf(answer: Answer): OwnerTable | null | typeof OVERTAKEN;
}

interface OwnerCache {
  look(of: Owned): Look;
  drop(of: IndexLane): void;
}

export interface CacheOptions {
  readonly bytes: number;
  /** Of owners with very many points, who would push out all others. */
  readonly bytesOfMany: number;
  /** From how many points on an owner has very many. */
  readonly many?: number;
}

/**
 * Keeps owners that were asked about last, up to so many bytes. Each look at one that is kept asks for what changed since it
 * was read, so that the writes of all processes are seen; most often that is nothing.
 */
export function ownerCache(space: IndexSpace, { bytes, bytesOfMany, many = MANY }: CacheOptions): OwnerCache {
  const few = keptOwners<OwnerTable>({ bytes });
  const large = keptOwners<OwnerTable>({ bytes: bytesOfMany, atOnce: true });
  const kept = (name: string): OwnerTable | null => few.get(name) ?? large.get(name);
  const forget = (name: string): void => {
    for (const one of [few, large]) one.forget(name);
  };
  return {
    drop: (of) => {
      for (const shelf of SHELVES) forget(nameOf({ ...of, shelf }));
    },
    look: (of) => {
      const name = nameOf(of);
      const known = kept(name);
      const since = { known: known?.number ?? 0, since: known?.changes ?? 0 };
      const knownLarge = known !== null && known.many !== null;
      return {
        ask: askOf(LOOK, { ...ownerKey(of), ...since, many, knownLarge }),
        known,
        tableOf: ({ rows }) => {
          // A look that was answered later may have begun earlier: whoever looked meanwhile has taken in some of it, or more.
          const now = kept(name);
          const table = tableFrom(rows as readonly LookRow[], { known, now, space, many });
          // Who has very many by now has to be read as a whole.
          if (table === null || table === OUTGROWN) forget(name);
          if (table === OUTGROWN) return OVERTAKEN;
          if (table === null || table === OVERTAKEN || isNewer(now, table)) return table;
          forget(name);
          (table.many === null ? few : large).keep(name, table);
          return table;
        },
      };
    },
  };
}

const isNewer = (kept: OwnerTable | null, table: OwnerTable): boolean =>
  kept?.number === table.number && kept.changes > table.changes;

const nameOf = (of: Owned): string => JSON.stringify(ownerKey(of));

interface LookRow {
  readonly space: string;
  readonly number: number | null;
  readonly changes: number;
  readonly points: number;
  /** null: no point has changed. */
  readonly first: number | null;
  readonly change: number;
  readonly heads: Buffer;
  readonly records: Buffer;
  /** null: the owner has few points. */
  readonly shown: Buffer | null;
}

const SINCE = 'CASE WHEN o.number = @known THEN @since::bigint ELSE 0 END';
/** Of an owner who has not changed no row is looked at: a large one has thousands. */
const CHANGED = `owner = o.number AND o.changes > ${SINCE} AND change > ${SINCE}`;

/** Rows of blocks first: what is loose is newer than what its block has of it. */
const LOOK = `
SELECT s.space, o.number, o.changes, o.points, p.first, p.change, p.heads, p.records,
  CASE WHEN o.points >= @many::integer OR @knownLarge::boolean THEN p.shown END AS shown
FROM state s
LEFT JOIN owners o ON ${OWNER_NAMED}
LEFT JOIN LATERAL (
  SELECT 0 AS part, first, change, heads, records, shown FROM blocks WHERE ${CHANGED}
  UNION ALL
  SELECT 1 AS part, first, change, heads, records, shown FROM loose WHERE ${CHANGED}
) AS p ON true
ORDER BY p.part`;

interface Before {
  /** What was kept when the server was asked, and what is now. */
  readonly known: OwnerTable | null;
  readonly now: OwnerTable | null;
  readonly space: IndexSpace;
  readonly many: number;
}

function tableFrom(
  rows: readonly LookRow[],
  { known, now, space, many }: Before,
): OwnerTable | null | typeof OVERTAKEN | typeof OUTGROWN {
  const [first] = rows;
  if (first === undefined) throw new Error('the index in PostgreSQL has lost its state');
  requireSpace(first, space);
  const { number, changes, points } = first;
  if (number === null) return null;
  const since = known?.number === number ? known.changes : 0;
  const goesOn = (table: OwnerTable | null): boolean =>
    table?.number === number && table.changes >= since && table.changes <= changes;
  const before = [now, known].find(goesOn) ?? null;
  if (before?.changes === changes) return before;
  // Only the newest of an owner with very many can be written to.
  if (before !== null && before.many !== null && before !== now) return OVERTAKEN;
  if (before !== null && before.many === null && points >= many) return OUTGROWN;
  const changed = rows.flatMap(({ first, ...row }) =>
    first === null ? [] : changedIn(row, first).filter(({ change }) => change > (before?.changes ?? 0)),
  );
  // Who asked knew few points, and somebody else very many since.
  if (before !== null && before.many !== null && changed.some(isWithoutShown)) return OVERTAKEN;
  const fitting = before?.fitting ?? fittingKept();
  const isMany = points >= many;
  const { dimensions } = space;
  return { number, changes, fitting, ...pointsWith(before, newest(changed), { dimensions, isMany }) };
}

const isWithoutShown = ({ point, parts }: ChangedPoint): boolean => point !== null && parts === null;

/** Of each slot what comes last. */
const newest = (changed: readonly ChangedPoint[]): readonly ChangedPoint[] => [
  ...new Map(changed.map((point) => [point.slot, point])).values(),
];

interface Sizes {
  readonly dimensions: number;
  readonly isMany: boolean;
}

function pointsWith(
  before: PointsOfOwner | null,
  changed: readonly ChangedPoint[],
  { dimensions, isMany }: Sizes,
): PointsOfOwner {
  const written = before?.many?.with(changed) ?? null;
  if (written !== null) return { segments: [], many: written };
  const copied = before?.many?.copied() ?? [];
  if (isMany) return { segments: [], many: manyPoints(saidWith(copied, changed), dimensions) };
  const segments = copied.length === 0 ? (before?.segments ?? []) : [oneOf(copied.map(({ point }) => point))];
  return { segments: inFew(withChanges(segments, changed)), many: null };
}

/** What was written takes the places of what was there. */
function saidWith(said: readonly SaidPoint[], changed: readonly ChangedPoint[]): readonly SaidPoint[] {
  const slots = new Set(changed.map(({ slot }) => slot));
  const written = changed.flatMap(({ point, parts }) => (point === null || parts === null ? [] : [{ point, parts }]));
  return [...said.filter(({ point }) => !slots.has(point.slot)), ...written];
}

/** Segments at which they are made one: each is looked at by itself, and holds what was left out of it. */
const SEGMENTS_MAX = 64;

function inFew(segments: readonly Segment[]): readonly Segment[] {
  if (segments.length < SEGMENTS_MAX) return segments;
  return [oneOf(segments.flatMap(({ points }) => points))];
}

const oneOf = (points: readonly StoredPoint[]): Segment => segmentOf(Buffer.concat(points.map(({ record }) => record)));

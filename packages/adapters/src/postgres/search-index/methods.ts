import type {
  IndexMarker,
  IndexQuery,
  LaneId,
  Log,
  Owner,
  PointName,
  SearchIndex,
  Shelf,
  ShownPoint,
  TenantId,
} from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { checkVector, type Kept, shownFrom } from '../../index-point.ts';
import { inOrder, type KeptPoint, type PackedRow, pointsIn } from '../../sqlite/search-index/packed-records.ts';
import { keptJson } from '../../sqlite/search-index/packed-shown.ts';
import { type FoundPoints, type IndexSpace, spaceText } from '../../sqlite/search-index/protocol.ts';
import { segmentOf } from '../../sqlite/search-index/stored-point.ts';
import { BLOCK_SLOTS, blockOf, hashOf } from '../../sqlite/search-index/tables.ts';
import { compactDatabase, type Transactions, transactionsOn } from '../ledger/access.ts';
import { COLUMN_TYPES } from '../ledger/asking.ts';
import { asStoreError, type DatabaseStore, ofConnection } from '../ledger/errors.ts';
import { askOf, type Sql } from '../ledger/sql.ts';
import { openPool, placeOf } from '../pool.ts';
import { markerOf, OWNER_NAMED, ownerKey, prepareIndex, requireSpace, type StateRow } from './schema.ts';
import { type CacheOptions, ownerCache, searchIn } from './search.ts';
import { CHANGING_EDITION, forgetLane, type Place, withdrawPoints, writePoints } from './write.ts';

/** Where the tables of an index are. */
export interface IndexDatabase extends IndexSpace {
  /** postgres://user:password@host:5432/database */
  readonly url: string;
  /** The schema that the tables live in, made if missing. */
  readonly schema: string;
  /** Most at once. */
  readonly connections?: number;
}

/** Where nobody says how many: a search takes one for milliseconds. */
const CONNECTIONS_MAX = 4;

type Warning = Pick<Log, 'warn'>;

/** What a thread with an index answers. */
export type IndexMethods = Omit<SearchIndex, 'search'> & {
  search(queries: readonly IndexQuery[]): Promise<readonly FoundPoints[]>;
};

export async function connectIndex(database: IndexDatabase, cache: CacheOptions, log: Warning): Promise<IndexMethods> {
  const { dimensions, fingerprint } = database;
  const space = { dimensions, fingerprint };
  const { own, close } = await connected(database, log);
  const owners = ownerCache(space, cache);
  const search = searchIn(owners);
  const inUse: Place = { target: 'edition', space };
  const check = ({ vector }: Pick<IndexQuery, 'vector'>): void => {
    if (vector !== null) checkVector(vector, space);
  };
  return {
    marker: () => own.read(async (sql) => markerOf(await stateOf(sql), space)),
    stamp: (marker) => own.write((sql) => stamp(sql, marker, space)),
    upsert: async (points) => {
      points.forEach(check);
      if (points.length > 0) await own.write((sql) => writePoints(sql, inUse, points));
    },
    withdraw: async (withdrawals) => {
      if (withdrawals.length > 0) await own.write((sql) => withdrawPoints(sql, inUse, withdrawals));
    },
    search: async (queries) => {
      queries.forEach(check);
      if (queries.length === 0) return [];
      for (;;) {
        const found = await own.snapshot((sql) => search(sql, queries));
        if (found !== null) return found;
      }
    },
    vectors: (points) => own.snapshot((sql) => vectorsOf(sql, space, points)),
    forget: async (of) => {
      const gone = await own.write((sql) => forgetLane(sql, null, of));
      owners.drop(of);
      return gone;
    },
    compact: () => compactDatabase(own, ['owners', 'loose', 'blocks']),
    clear: () => own.write((sql) => clear(sql, space)),
    count: (tenant, shelf = 'memories') =>
      own.read(async (sql) => (await sql.get<{ count: number }>(COUNT, { tenant, shelf }))?.count ?? 0),
    page: (after, limit) => own.read((sql) => pageOf(sql, after, limit)),
    close,
  };
}

interface Connected {
  readonly own: Transactions;
  close(): Promise<void>;
}

export async function connected({ url, schema, connections = CONNECTIONS_MAX, ...space }: IndexDatabase, log: Warning) {
  const store: DatabaseStore = { place: placeOf(url), holds: 'index' };
  // Every statement finds its rows by their keys, however few there are while it is planned.
  const settings = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };
  const pool = openPool({ url, schema, max: connections, log, types: COLUMN_TYPES, settings });
  try {
    const client = await pool.connect();
    await prepareIndex(client, schema, space).finally(() => client.release());
  } catch (error) {
    await pool.end();
    throw asStoreError(ofConnection(error), store);
  }
  let closed: Promise<void> | null = null;
  return {
    own: transactionsOn(pool, store),
    close: () => {
      closed ??= pool.end();
      return closed;
    },
  } satisfies Connected;
}

async function stateOf(sql: Sql): Promise<StateRow> {
  const state = await sql.get<StateRow>('SELECT space, marker FROM state');
  if (state === null) throw new Error('the index in PostgreSQL has lost its state');
  return state;
}

async function stamp(sql: Sql, marker: IndexMarker, space: IndexSpace): Promise<void> {
  const [, points] = await sql.ask([CHANGING_EDITION, askOf(HAS_POINTS)]);
  const state = await stateOf(sql);
  requireSpace(state, space);
  const before = markerOf(state, space);
  const taken = before !== null && before.ledgerId !== marker.ledgerId;
  if (taken && points?.rows.length !== 0) {
    throw new EngineError(
      `expected an empty index to stamp, got one in PostgreSQL with points of ledger ${before.ledgerId}; clear it first`,
      { code: 'index_unavailable', retryable: false },
    );
  }
  await sql.run('UPDATE state SET marker = @marker', { marker: JSON.stringify(marker) });
}

const HAS_POINTS = 'SELECT 1 FROM owners o JOIN state s ON o.edition = s.edition WHERE o.points > 0 LIMIT 1';

/** Nothing is left of any edition: who reads meanwhile finds nothing, and no failure. */
async function clear(sql: Sql, space: IndexSpace): Promise<void> {
  await sql.askLast([
    CHANGING_EDITION,
    askOf('TRUNCATE owners, loose, blocks'),
    askOf(NEW_STATE, { space: spaceText(space) }),
  ]);
}

const NEW_STATE = `
UPDATE state SET space = @space, edition = nextval('numbers'), marker = NULL, next_edition = NULL, rebuild = NULL`;

const COUNT = `
SELECT coalesce(sum(o.points), 0)::bigint AS count FROM owners o JOIN state s ON o.edition = s.edition
WHERE o.tenant = @tenant AND o.shelf = @shelf`;

async function vectorsOf(sql: Sql, space: IndexSpace, points: readonly PointName[]) {
  const [state, ...answers] = await sql.ask([
    askOf('SELECT space FROM state'),
    ...points.map((point) => askOf(NAMED, { ...ownerKey(point), hash: hashOf(point) })),
  ]);
  requireSpace(state?.rows[0] as StateRow, space);
  return points.map(({ memoryId, version }, i) => {
    const found = ((answers[i]?.rows ?? []) as readonly PointsRow[])
      .flatMap((row) => pointsIn(row, row.first))
      // What is loose comes last: it is newer than what its block has of it.
      .findLast(({ head }) => head.memoryId === memoryId && head.version === version);
    const [point] = found?.said == null ? [] : segmentOf(found.said.record).points;
    return point?.hasVector === true ? point.vector.subarray(0, space.dimensions) : null;
  });
}

interface PointsRow extends PackedRow {
  readonly first: number;
}

/** The rows in which a name may be. */
const NAMED = `
SELECT p.first, p.change, p.heads, p.shown, p.records
FROM state s JOIN owners o ON ${OWNER_NAMED} JOIN LATERAL (
  SELECT 0 AS part, b.* FROM blocks b WHERE b.owner = o.number AND @hash::integer = ANY (b.names)
  UNION ALL
  SELECT 1 AS part, l.* FROM loose l WHERE l.owner = o.number AND @hash::integer = ANY (l.names)
) AS p ON true
ORDER BY p.part`;

interface OwnedRow extends PointsRow {
  readonly owner: number;
  readonly tenant: TenantId;
  readonly kind: Owner['kind'];
  readonly id: string;
  readonly lane: LaneId;
  readonly shelf: Shelf;
}

/** In the order of owners and slots: blocks are read as a whole, and then as much of them as there is room for. */
async function pageOf(sql: Sql, after: string | null, limit: number) {
  const points: { readonly shown: ShownPoint; readonly at: readonly [owner: number, slot: number] }[] = [];
  let next: readonly [owner: number, slot: number] = [0, 0];
  if (after !== null) {
    const [owner, slot] = JSON.parse(after) as [number, number];
    next = [owner, slot + 1];
  }
  while (points.length < limit) {
    const [owner, slot] = next;
    const rows = await sql.all<OwnedRow>(PAGED, { owner, slot, block: blockOf(slot) });
    const [row] = rows;
    if (row === undefined) break;
    const inBlock = inOrder(
      new Map(rows.flatMap((one) => pointsIn(one, one.first)).map((one) => [one.head.slot, one])),
    );
    for (const point of inBlock) {
      const isBefore = row.owner === owner && point.head.slot < slot;
      if (point.said !== null && !isBefore)
        points.push({ shown: shownIn(row, point), at: [row.owner, point.head.slot] });
    }
    next = [row.owner, blockOf(row.first) + BLOCK_SLOTS];
  }
  const page = points.slice(0, limit);
  const last = page.at(-1);
  return {
    points: page.map(({ shown }) => shown),
    next: last === undefined || page.length < limit ? null : JSON.stringify(last.at),
  };
}

function shownIn({ kind, id, tenant, lane, shelf }: OwnedRow, { head, said }: KeptPoint): ShownPoint {
  if (said === null) throw new Error('a withdrawn point has nothing to show');
  const { memoryId, version, live, moments } = head;
  const kept = JSON.parse(keptJson(said.parts, moments)) as Kept;
  return shownFrom(kept, { memoryId, version, live: live === 1, owner: { kind, id }, tenant, lane, shelf });
}

/** The first block from a slot on of which there is anything, as a whole and loose; what is loose comes last. */
const PAGED = `
WITH begins AS (
  (SELECT b.owner, b.first AS block FROM blocks b JOIN owners o ON o.number = b.owner JOIN state s ON o.edition = s.edition
    WHERE (b.owner, b.first) >= (@owner::bigint, @block::integer) ORDER BY b.owner, b.first LIMIT 1)
  UNION ALL
  (SELECT l.owner, l.first - l.first % ${BLOCK_SLOTS} FROM loose l JOIN owners o ON o.number = l.owner JOIN state s ON o.edition = s.edition
    WHERE (l.owner, l.first) >= (@owner::bigint, @slot::integer) ORDER BY l.owner, l.first LIMIT 1)
  ORDER BY owner, block LIMIT 1
)
SELECT p.owner, p.first, p.change, p.heads, p.shown, p.records, o.tenant, o.kind, o.id, o.lane, o.shelf
FROM begins g JOIN owners o ON o.number = g.owner JOIN LATERAL (
  SELECT 0 AS part, b.* FROM blocks b WHERE b.owner = g.owner AND b.first = g.block
  UNION ALL
  SELECT 1 AS part, l.* FROM loose l WHERE l.owner = g.owner AND l.first BETWEEN g.block AND g.block + ${BLOCK_SLOTS - 1}
) AS p ON true
ORDER BY p.part`;

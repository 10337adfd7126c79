import type {
  IndexMarker,
  IndexQuery,
  LaneId,
  Log,
  Owner,
  PointName,
  SearchIndex,
  Shelf,
  TenantId,
} from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { checkVector } from '../../check-vector.ts';
import { shownFrom } from '../../shown-point.ts';
import type { FoundPoint } from '../../sqlite/search-index/protocol.ts';
import { keptVector } from '../../sqlite/search-index/stored-record.ts';
import { type Transactions, transactionsOn } from '../ledger/access.ts';
import { compactDatabase } from '../ledger/compact.ts';
import { asStoreError, type DatabaseStore, ofConnection } from '../ledger/errors.ts';
import { askOf, type Sql } from '../ledger/sql.ts';
import { COLUMN_TYPES } from '../ledger/text.ts';
import { openPool, placeOf } from '../pool.ts';
import { type CacheOptions, ownerCache } from './owners.ts';
import {
  type IndexSpace,
  markerOf,
  OWNER_NAMED,
  ownerKey,
  prepareIndex,
  requireSpace,
  type StateRow,
  spaceText,
  WITHDRAWN,
} from './schema.ts';
import { searchIn } from './search.ts';
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
  search(queries: readonly IndexQuery[]): Promise<readonly (readonly FoundPoint[])[]>;
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
    compact: () => compactDatabase(own, ['owners', 'points']),
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
    askOf('TRUNCATE owners, points'),
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
    ...points.map(({ memoryId, version, ...of }) => askOf(RECORD, { ...ownerKey(of), memoryId, version })),
  ]);
  requireSpace(state?.rows[0] as StateRow, space);
  return answers.map(({ rows: [row] }) => {
    const found = row as { record: Buffer } | undefined;
    return found === undefined ? null : keptVector(found.record, space.dimensions);
  });
}

const RECORD = `
SELECT p.record FROM state s JOIN owners o ON ${OWNER_NAMED} JOIN points p ON p.owner = o.number
WHERE p.memory_id = @memoryId AND p.version = @version`;

interface PageRow {
  readonly owner: number;
  readonly memory_id: string;
  readonly version: number;
  readonly live: number;
  readonly payload: string;
  readonly tenant: TenantId;
  readonly kind: Owner['kind'];
  readonly id: string;
  readonly lane: LaneId;
  readonly shelf: Shelf;
}

const shownRow = ({ memory_id: memoryId, version, live, payload, tenant, kind, id, lane, shelf }: PageRow) =>
  shownFrom(payload, { memoryId, version, live: live === 1, owner: { kind, id }, tenant, lane, shelf });

async function pageOf(sql: Sql, after: string | null, limit: number) {
  const [owner, memoryId, version] = after === null ? [0, '', 0] : (JSON.parse(after) as [number, string, number]);
  const rows = await sql.all<PageRow>(PAGE, { owner, memoryId, version, limit });
  const last = rows.at(-1);
  const next =
    last === undefined || rows.length < limit ? null : JSON.stringify([last.owner, last.memory_id, last.version]);
  return { points: rows.map(shownRow), next };
}

const PAGE = `
SELECT p.owner, p.memory_id, p.version, p.live, p.payload, o.tenant, o.kind, o.id, o.lane, o.shelf
FROM points p JOIN owners o ON o.number = p.owner JOIN state s ON o.edition = s.edition
WHERE (p.owner, p.memory_id, p.version) > (@owner, @memoryId, @version) AND p.live <> ${WITHDRAWN}
ORDER BY p.owner, p.memory_id, p.version LIMIT @limit`;

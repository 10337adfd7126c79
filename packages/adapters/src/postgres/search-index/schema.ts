import type { IndexLane, IndexMarker, Shelf } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import type { PoolClient } from 'pg';
import { type IndexSpace, spaceText } from '../../sqlite/search-index/protocol.ts';
import { inTransaction } from '../pool.ts';

/** Goes up with every change of the tables below or of a record. There are no migrations: an index is rebuilt from the ledger. */
const FORMAT = 4;

/** Points that are kept together. */
const ROW = `
  owner bigint NOT NULL,
  first integer NOT NULL,
  change bigint NOT NULL,
  names integer[] NOT NULL,
  heads bytea NOT NULL,
  shown bytea NOT NULL,
  records bytea NOT NULL,
  PRIMARY KEY (owner, first)
`;
/** Nothing of a row is worth to be packed once more. */
const AS_IT_IS = ['heads', 'shown', 'records'].map((column) => `ALTER ${column} SET STORAGE EXTERNAL`).join(', ');

/** Blocks are made anew again and again, and take in what is loose: the room of what was there is to be used again before it is a fifth of all. */
const SOON = 'autovacuum_vacuum_scale_factor = 0.05';

/**
 * numbers          never given twice, not even after the index was cleared: whoever keeps an owner by its number never
 *                  takes another one for it
 * state            one row: what the index is made for, and by the number of an edition which owners are in it. A new index
 *                  is built as the next edition, in the same tables, and takes over by a change of this row
 * owners           one for each lane of an owner in an edition, and in it for each shelf
 * owners.changes   grows with every write to the owner's points: who has read up to it has read everything
 * owners.slots     how many were given to points; a point keeps its slot, and a slot is never given again
 * owners.points    how many points there are, withdrawn ones left out
 * loose            points that are not as they are in the block of their slot, each a row of its own, whose first slot is its own
 * blocks           points by 64 slots. What is loose meanwhile may be in them as it was before; what was withdrawn or forgotten
 *                  never is. Of what is withdrawn only the head is kept
 * change           the owner's count when the last of the points of a row was written
 * names            a hash of the name of each of its points
 * heads, shown, records: see sqlite/search-index/packed-records.ts
 */
const TABLES = `
CREATE SEQUENCE numbers;
CREATE TABLE state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  format integer NOT NULL,
  space text NOT NULL,
  edition bigint NOT NULL,
  marker text,
  next_edition bigint,
  rebuild text
);
CREATE TABLE owners (
  number bigint PRIMARY KEY DEFAULT nextval('numbers'),
  edition bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  shelf text COLLATE "C" NOT NULL,
  changes bigint NOT NULL DEFAULT 0,
  slots integer NOT NULL DEFAULT 0,
  points integer NOT NULL DEFAULT 0,
  UNIQUE (tenant, kind, id, lane, shelf, edition)
);
CREATE TABLE loose (${ROW}) WITH (${SOON});
CREATE TABLE blocks (${ROW}) WITH (${SOON}, toast.${SOON});
ALTER TABLE loose ${AS_IT_IS};
ALTER TABLE blocks ${AS_IT_IS};
`;

/** How a life of an owner is named in the tables: whoever comes by the same id after an erasure has another lane. */
export const ownerKey = ({ tenant, owner, lane, shelf }: IndexLane & { readonly shelf: Shelf }) => ({
  tenant,
  kind: owner.kind,
  id: owner.id,
  lane,
  shelf,
});

/** The row of an owner named like this, in the edition that is in use. */
export const OWNER_NAMED =
  'o.edition = s.edition AND o.tenant = @tenant AND o.kind = @kind AND o.id = @id AND o.lane = @lane AND o.shelf = @shelf';

/** The row of the state, as it says of itself what it is. */
export interface StateRow {
  readonly space: string;
  readonly marker: string | null;
}

/** Vectors and terms of two spaces are never mixed or compared. */
export function requireSpace({ space: found }: Pick<StateRow, 'space'>, space: IndexSpace): void {
  if (found === spaceText(space)) return;
  throw new EngineError(
    `expected the index in PostgreSQL to be for ${spaceText(space)}, got one for ${found}; ` +
      'it must be rebuilt from the ledger, which a restart with these settings does',
    { code: 'index_unavailable', retryable: true },
  );
}

/** The marker of an index of another space is never null, for it is not empty, and never one that anybody believes. */
export function markerOf({ space: found, marker }: StateRow, space: IndexSpace): IndexMarker | null {
  const stored = marker === null ? null : (JSON.parse(marker) as IndexMarker);
  return found === spaceText(space) ? stored : { ledgerId: stored?.ledgerId ?? 'unknown', fingerprint: found };
}

/** The lock under which one process at a time makes the tables: a number that only has to differ from other programs'. */
const MAKING_LOCK = 1_402_718_296;

/**
 * Makes the tables where there are none. Those of an older format become empty ones, which are filled from the ledger. Safe when
 * several processes open the index at once: one makes them, the others wait.
 */
export async function prepareIndex(client: PoolClient, schema: string, space: IndexSpace): Promise<void> {
  if ((await formatOf(client, schema)) === FORMAT) return;
  await inTransaction(client, async () => {
    await client.query(`SELECT pg_advisory_xact_lock(${MAKING_LOCK})`);
    if ((await formatOf(client, schema)) === FORMAT) return; // another process may have made them meanwhile
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}; ${TABLES}`);
    const state = "INSERT INTO state (format, space, edition) VALUES ($1, $2, nextval('numbers'))";
    await client.query(state, [FORMAT, spaceText(space)]);
  });
}

/** 0: there are no tables. Whoever else made a schema of this name keeps it. */
async function formatOf(client: PoolClient, schema: string): Promise<number> {
  const { rows: made } = await client.query(
    `SELECT to_regclass('${schema}.state') IS NOT NULL AS ours, EXISTS (
      SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('${schema}')) AS taken`,
  );
  if (made[0]?.ours !== 1) {
    if (made[0]?.taken !== 1) return 0;
    throw unusable(`expected the schema ${schema} to be a search index or empty, got tables of another program`);
  }
  const { rows } = await client.query('SELECT format FROM state');
  const format = Number(rows[0]?.format ?? 0);
  if (format <= FORMAT) return format;
  throw unusable(
    `the index in the schema ${schema} has format ${format}, but this release only supports formats up to ${FORMAT}`,
  );
}

const unusable = (problem: string): EngineError =>
  new EngineError(`${problem}; stop all processes and drop the schema: the index is rebuilt from the ledger`, {
    code: 'index_unavailable',
    retryable: false,
  });

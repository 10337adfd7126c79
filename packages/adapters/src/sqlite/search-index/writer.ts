import type { BuildNote, IndexMarker, IndexPoint } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { checkVector } from '../../check-vector.ts';
import { compactFile } from '../file.ts';
import { BUSY_TIMEOUT_MS, type Sql } from '../ledger/sql.ts';
import { markerOf, metaOf, renew, requireSpace, setMeta, spaceText } from './format.ts';
import { forgetLane, withdrawPoints, writePoints } from './points.ts';
import type { BuildMethods, IndexSpace, WriterMethods } from './protocol.ts';
import {
  createTables,
  IN_USE,
  isThere,
  NEXT,
  OLD,
  type PointTables,
  renameTables,
  TABLES,
  throwAway,
  throwAwayDiscarded,
} from './tables.ts';

/** Everything that changes the index, each call one transaction. */
export function indexWriter(sql: Sql, space: IndexSpace): WriterMethods {
  const transaction = sql.db.transaction((change: () => void) => change());
  return {
    upsert: (points) => {
      for (const point of points) checkVector(point.vector, space);
      transaction.immediate(() => {
        requireSpace(sql, space);
        writePoints({ sql, tables: IN_USE }, points);
      });
    },
    withdraw: (withdrawals) => {
      transaction.immediate(() => {
        requireSpace(sql, space);
        withdrawPoints({ sql, tables: IN_USE }, withdrawals);
      });
    },
    stamp: (marker) => transaction.immediate(() => stamp(sql, marker)),
    forget: (of) => {
      let gone = 0;
      transaction.immediate(() => {
        gone = [IN_USE, NEXT, OLD].reduce((sum, tables) => sum + forgetLane({ sql, tables }, of), 0);
      });
      return gone;
    },
    compact: () => compactFile(sql, { busyMs: BUSY_TIMEOUT_MS }),
    clear: () => {
      transaction.immediate(() => renew(sql, space));
      throwAwayDiscarded(sql);
    },
  };
}

function stamp(sql: Sql, marker: IndexMarker): void {
  const before = markerOf(sql);
  const taken = before !== null && before.ledgerId !== marker.ledgerId;
  if (taken && sql.get('SELECT 1 FROM names LIMIT 1') !== null) {
    throw new EngineError(
      `expected an empty index to stamp, got ${sql.db.name} with points of ledger ${before.ledgerId}; clear it first`,
      { code: 'index_unavailable', retryable: false },
    );
  }
  setMeta(sql, 'marker', JSON.stringify(marker));
}

/** What is kept of a build: which vectors it is for, and whether it took over already. */
interface StoredNote extends BuildNote {
  readonly space: string;
}

/**
 * A new index beside the one in use, in the same file: tables of their own that take over by their names, so that
 * whoever has the file open finds them at once. Each call is one transaction; throwing away is many.
 */
export function indexBuilder(sql: Sql, space: IndexSpace): BuildMethods {
  const transaction = sql.db.transaction((change: () => unknown) => change());
  const target = () => (isThere(sql, NEXT.owners) ? NEXT : IN_USE);
  return {
    begun: (ledgerId) => {
      const note = noteOf(sql);
      return note?.ledgerId === ledgerId && note.space === spaceText(space) ? note : null;
    },
    begin: (note) => {
      throwAwayAll(sql, NEXT);
      throwAwayAll(sql, OLD);
      transaction.immediate(() => {
        createTables(sql, NEXT);
        keep(sql, space, note);
      });
    },
    write: (points: readonly IndexPoint[]) => {
      for (const point of points) checkVector(point.vector, space);
      transaction.immediate(() => writePoints({ sql, tables: target() }, points));
    },
    forget: (of) => {
      let gone = 0;
      transaction.immediate(() => {
        gone = forgetLane({ sql, tables: target() }, of);
      });
      return gone;
    },
    withdraw: (withdrawals) => void transaction.immediate(() => withdrawPoints({ sql, tables: target() }, withdrawals)),
    note: (note) => void transaction.immediate(() => keep(sql, space, note)),
    takeOver: () => {
      if (target() === NEXT) transaction.immediate(() => swap(sql, space));
    },
    finish: (marker: IndexMarker) => {
      transaction.immediate(() => {
        setMeta(sql, 'marker', JSON.stringify(marker));
        sql.run("DELETE FROM meta WHERE key = 'rebuild'");
      });
      throwAwayAll(sql, OLD);
    },
  };
}

function noteOf(sql: Sql): StoredNote | null {
  const text = metaOf(sql, 'rebuild');
  return text === null ? null : (JSON.parse(text) as StoredNote);
}

const keep = (sql: Sql, space: IndexSpace, note: BuildNote): void =>
  setMeta(sql, 'rebuild', JSON.stringify({ ...note, space: spaceText(space) } satisfies StoredNote));

/** Without a marker until the build is finished: nobody believes it yet, whoever has another embedder is refused. */
function swap(sql: Sql, space: IndexSpace): void {
  renameTables(sql, IN_USE, OLD);
  renameTables(sql, NEXT, IN_USE);
  setMeta(sql, 'space', spaceText(space));
  sql.run("DELETE FROM meta WHERE key = 'marker'");
}

function throwAwayAll(sql: Sql, tables: PointTables): void {
  for (const table of TABLES) throwAway(sql, tables[table]);
}

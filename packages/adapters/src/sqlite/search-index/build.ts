import type { BuildNote, IndexMarker, IndexPoint } from '@slowwave/engine';
import { checkVector } from '../../check-vector.ts';
import type { Sql } from '../ledger/sql.ts';
import { forgetLane } from './forget-lane.ts';
import { metaOf, setMeta, spaceText } from './format.ts';
import { withdrawPoints, writePoints } from './points.ts';
import type { BuildMethods, IndexSpace } from './protocol.ts';
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
} from './tables.ts';

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
  const target = () => (isThere(sql, NEXT.points) ? NEXT : IN_USE);
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

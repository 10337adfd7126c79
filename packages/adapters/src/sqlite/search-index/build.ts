import type { BuildNote, IndexMarker, IndexPoint } from '@slowwave/engine';
import { checkVector } from '../../vectors/check-vector.ts';
import type { Sql } from '../ledger/sql.ts';
import { forgetLane } from './forget-lane.ts';
import { createTables, IN_USE, isThere, metaOf, NEXT, OLD, type PointTables, setMeta, spaceText } from './format.ts';
import { withdrawPoints, writePoints } from './points.ts';
import type { BuildMethods, IndexSpace } from './protocol.ts';
import { throwAway } from './throw-away.ts';

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
      transaction.immediate(() => writePoints(sql, target(), points));
    },
    forget: (of) => {
      let gone = 0;
      transaction.immediate(() => {
        gone = forgetLane(sql, target(), of);
      });
      return gone;
    },
    withdraw: (withdrawals) => void transaction.immediate(() => withdrawPoints(sql, target(), withdrawals)),
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
  for (const table of ['owners', 'points'] as const) {
    sql.db.exec(`ALTER TABLE ${IN_USE[table]} RENAME TO ${OLD[table]}`);
    sql.db.exec(`ALTER TABLE ${NEXT[table]} RENAME TO ${IN_USE[table]}`);
  }
  setMeta(sql, 'space', spaceText(space));
  sql.run("DELETE FROM meta WHERE key = 'marker'");
}

function throwAwayAll(sql: Sql, { points, owners }: PointTables): void {
  throwAway(sql, points);
  throwAway(sql, owners);
}

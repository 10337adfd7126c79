import type { IndexMarker } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { checkVector } from '../../check-vector.ts';
import { compactFile } from '../file.ts';
import { BUSY_TIMEOUT_MS, type Sql } from '../ledger/sql.ts';
import { forgetLane } from './forget-lane.ts';
import { markerOf, renew, requireSpace, setMeta } from './format.ts';
import { withdrawPoints, writePoints } from './points.ts';
import type { IndexSpace, WriterMethods } from './protocol.ts';
import { IN_USE, NEXT, OLD, throwAwayDiscarded } from './tables.ts';

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
  if (taken && sql.get('SELECT 1 FROM points LIMIT 1') !== null) {
    throw new EngineError(
      `expected an empty index to stamp, got ${sql.db.name} with points of ledger ${before.ledgerId}; clear it first`,
      { code: 'index_unavailable', retryable: false },
    );
  }
  setMeta(sql, 'marker', JSON.stringify(marker));
}

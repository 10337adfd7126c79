import { grownRecords } from './grown-records.ts';
import { type Head, headsIn, packHeads, WITHDRAWN } from './heads.ts';
import { packRecords } from './packed-records.ts';
import type { ShownParts } from './packed-shown.ts';
import { packShown, ShownRow } from './shown-row.ts';
import { segmentOf } from './stored-point.ts';

/** Points of one owner that are kept together: as many as a block has, or one that is loose. */
export interface PackedRow {
  /** The last change of any of them. */
  readonly change: number;
  /** See heads.ts. */
  readonly heads: Uint8Array;
  /** See shown-row.ts. */
  readonly shown: Uint8Array;
  /** See packed-records.ts. */
  readonly records: Uint8Array;
}

/** All that is kept of a point. */
export interface KeptPoint {
  readonly head: Head;
  /** null: it is withdrawn. */
  readonly said: { readonly record: Uint8Array; readonly parts: ShownParts } | null;
}

/** Points as a row has them. */
export const inOrder = (points: ReadonlyMap<number, KeptPoint>): KeptPoint[] =>
  [...points.values()].sort((one, other) => one.head.slot - other.head.slot);

/** Points in the order of their slots, from a first one on. */
export function packRow(points: readonly KeptPoint[], first: number): PackedRow {
  const change = points.reduce((last, { head }) => Math.max(last, head.change), 0);
  const said = points.flatMap(({ head, said }) => (said === null ? [] : [{ ...said, ...head }]));
  return {
    change,
    heads: packHeads(
      points.map(({ head }) => head),
      { first, change },
    ),
    shown: packShown(said, first),
    records: packRecords(said.map(({ record }) => record)),
  };
}

export function pointsIn(row: PackedRow, first: number): KeptPoint[] {
  const records = segmentOf(grownRecords(row, first)).points;
  const shown = new ShownRow(row.shown, first);
  let place = 0;
  return headsIn(row.heads, { first, change: row.change }).map((head) => {
    const record = head.live === WITHDRAWN ? undefined : records[place]?.record;
    if (record === undefined) return { head, said: null };
    place += 1;
    return { head, said: { record, parts: shown.partsAt(place - 1) } };
  });
}

import type { Filter, Filterable } from '@slowwave/engine';
import { matches } from '@slowwave/engine/storing';
import type { Fitting } from './fitting.ts';

const MOMENTS = ['createdAt', 'updatedAt', 'saidAt', 'validFrom', 'expiresAt'] as const;
type MomentName = (typeof MOMENTS)[number];

/** What of a slot's point filters by time ask for. null: never. */
export type MomentsOfSlot = { readonly slot: number } & Readonly<Record<MomentName, number | null>>;

/** Whether a filter asks for nothing but moments. Most such filters are others each time: "since yesterday", by the clock. */
export function isByMoments(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.every(isByMoments);
    case 'not':
      return isByMoments(filter.of);
    case 'condition':
      return MOMENTS.some((name) => name === filter.field.name);
  }
}

/**
 * The moments of all that an owner has, as they were after a count of changes. They are read once, and from then on what has changed
 * since: a filter by time that was never asked before is put to them in memory.
 */
export interface Moments {
  readonly changes: number;
  /** The same after more changes, of which these slots were touched. */
  with(changes: number, touched: readonly MomentsOfSlot[]): Moments;
  leftBy(where: Filter): Pick<Fitting, 'has'>;
}

type Columns = Readonly<Record<MomentName, Float64Array>>;

export const NO_MOMENTS: Moments = momentsOf(
  0,
  columnsOf(() => new Float64Array(0)),
);

function momentsOf(changes: number, columns: Columns): Moments {
  return {
    changes,
    with: (after, touched) => {
      if (touched.length === 0) return momentsOf(after, columns);
      const length = touched.reduce((most, { slot }) => Math.max(most, slot + 1), columns.saidAt.length);
      const now = columnsOf((name) => {
        const column = new Float64Array(length).fill(Number.NaN);
        column.set(columns[name]);
        for (const one of touched) column[one.slot] = one[name] ?? Number.NaN;
        return column;
      });
      return momentsOf(after, now);
    },
    leftBy: (where) => {
      const point = new PointInTime(columns);
      return { has: (slot) => matches(where, point.at(slot)) };
    },
  };
}

/** What `matches` asks of a point, where it asks for nothing but moments. One for all slots, as there are very many. */
class PointInTime {
  readonly #columns: Columns;
  #slot = 0;

  constructor(columns: Columns) {
    this.#columns = columns;
  }

  at(slot: number): Filterable {
    this.#slot = slot;
    return this as unknown as Filterable;
  }

  get createdAt(): number | null {
    return this.#moment('createdAt');
  }
  get updatedAt(): number | null {
    return this.#moment('updatedAt');
  }
  get saidAt(): { readonly at: number | null } {
    return { at: this.#moment('saidAt') };
  }
  get validFrom(): number | null {
    return this.#moment('validFrom');
  }
  get expiresAt(): number | null {
    return this.#moment('expiresAt');
  }

  #moment(name: MomentName): number | null {
    const moment = this.#columns[name][this.#slot] ?? Number.NaN;
    return Number.isNaN(moment) ? null : moment;
  }
}

function columnsOf(make: (name: MomentName) => Float64Array): Columns {
  return Object.fromEntries(MOMENTS.map((name) => [name, make(name)])) as unknown as Columns;
}

import type { Filter, Filterable, IndexQuery } from '@slowwave/engine';
import { fold, matches } from '@slowwave/engine/storing';
import type { ManyShown } from './many-shown.ts';
import { changedAt } from './packed-shown.ts';
import type { StoredPoint } from './stored-point.ts';

/**
 * Puts filters to very many points of one owner in memory, one condition after the other. What a condition asks for is laid out by
 * documents with the first that does; what most have in common, such as metadata, is asked once for all that have the same. By the
 * function that says for every store what a filter means.
 */
export class ManyFiltered {
  readonly #points: readonly StoredPoint[];
  readonly #shown: ManyShown;
  readonly #capacity: number;
  /** Of the filters that were asked last: which documents they leave, up to one. Least recently used first. */
  readonly #kept = new Map<string, Left>();
  readonly #moments = new Map<MomentName, Column>();
  readonly #folded: string[] = [];
  #foldedBytes = 0;

  constructor(points: readonly StoredPoint[], shown: ManyShown, capacity: number) {
    this.#points = points;
    this.#shown = shown;
    this.#capacity = capacity;
  }

  /** 1 for each of the first documents that the filter is true of. */
  leftBy(where: Filter, owner: IndexQuery['owner'], documents: number): Uint8Array {
    const name = JSON.stringify(where);
    const left = this.#kept.get(name) ?? { marks: new Uint8Array(this.#capacity), upTo: 0 };
    if (left.upTo < documents) {
      const test = this.#testOf(where, { owner, documents });
      for (; left.upTo < documents; left.upTo += 1) left.marks[left.upTo] = test(left.upTo) ? 1 : 0;
    }
    this.#kept.delete(name);
    if (name.length <= FILTER_CHARS_MAX) this.#kept.set(name, left);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > KEPT_MAX) this.#kept.delete(oldest);
    return left.marks;
  }

  get bytes(): number {
    return this.#kept.size * this.#capacity + this.#moments.size * 8 * this.#capacity + this.#foldedBytes;
  }

  /** Says of each of the first documents whether a filter is true of it. */
  #testOf(where: Filter, asked: Asked): Test {
    switch (where.kind) {
      case 'all':
      case 'any': {
        const tests = where.of.map((one) => this.#testOf(one, asked));
        if (where.kind === 'all') return (document) => tests.every((test) => test(document));
        return (document) => tests.some((test) => test(document));
      }
      case 'not': {
        const test = this.#testOf(where.of, asked);
        return (document) => !test(document);
      }
      case 'condition':
        return this.#conditionOf(where, asked);
    }
  }

  #conditionOf(where: Condition, { owner, documents }: Asked): Test {
    const { name } = where.field;
    if (name === 'text') return this.#textCondition(where, documents);
    if (name === 'memoryId') return (document) => isTrueOf(where, { memoryId: this.#points[document]?.memoryId ?? '' });
    if (isMoment(name)) {
      const values = this.#momentsNow(name, documents);
      const at = inTime(name);
      return (document) => isTrueOf(where, at(values[document] as number));
    }
    const remainders = this.#shown.remainders;
    const known = new Uint8Array(this.#shown.remainderCount);
    return (document) => {
      const number = remainders[document] as number;
      if (known[number] === UNKNOWN) {
        known[number] = isTrueOf(where, this.#shown.detailsOf(document, owner)) ? TRUE : FALSE;
      }
      return known[number] === TRUE;
    };
  }

  #textCondition(where: Condition, documents: number): Test {
    const { test } = where;
    if (test.kind !== 'contains') return (document) => isTrueOf(where, { text: this.#shown.textOf(document) });
    if (!test.folded) return (document) => this.#shown.textOf(document).includes(test.text);
    const folded = this.#foldedNow(documents);
    return (document) => (folded[document] as string).includes(test.text);
  }

  #foldedNow(documents: number): readonly string[] {
    for (let document = this.#folded.length; document < documents; document += 1) {
      const text = fold(this.#shown.textOf(document));
      this.#folded.push(text);
      this.#foldedBytes += BYTES_OF_STRING + text.length;
    }
    return this.#folded;
  }

  #momentsNow(name: MomentName, documents: number): Float64Array {
    const column = this.#moments.get(name) ?? { values: new Float64Array(this.#capacity), upTo: 0 };
    this.#moments.set(name, column);
    for (; column.upTo < documents; column.upTo += 1) column.values[column.upTo] = this.#momentIn(name, column.upTo);
    return column.values;
  }

  #momentIn(name: MomentName, document: number): number {
    const point = this.#points[document] as StoredPoint;
    if (name === 'saidAt') return point.saidAt.at;
    if (name === 'validFrom') return point.validFrom;
    if (name === 'expiresAt') return point.expiresAt ?? Number.NaN;
    const made = changedAt(this.#shown.partsOf(document), this.#shown.fewOf(document), point.moments);
    return name === 'createdAt' ? made[0] : made[1];
  }
}

const KEPT_MAX = 16;
/** A longer filter is not worth its room. */
const FILTER_CHARS_MAX = 4_096;
const BYTES_OF_STRING = 32;

const [UNKNOWN, FALSE, TRUE] = [0, 1, 2];

type Condition = Extract<Filter, { kind: 'condition' }>;

interface Left {
  readonly marks: Uint8Array;
  upTo: number;
}

/** Values of the first documents. */
interface Column {
  readonly values: Float64Array;
  upTo: number;
}

type Test = (document: number) => boolean;

/** Whose documents are asked for, and how many of them. */
interface Asked {
  readonly owner: IndexQuery['owner'];
  readonly documents: number;
}

/** A condition asks for one thing. */
const isTrueOf = (where: Condition, of: Partial<Filterable>): boolean => matches(where, of as Filterable);

const MOMENTS = ['createdAt', 'updatedAt', 'saidAt', 'validFrom', 'expiresAt'] as const;
type MomentName = (typeof MOMENTS)[number];

const isMoment = (name: string): name is MomentName => MOMENTS.some((one) => one === name);

/** What a condition asks of a point where it asks for a moment: one for all points, as there are very many. */
function inTime(name: MomentName): (moment: number) => Partial<Filterable> {
  const said = { at: 0, seq: 0 };
  const of: { -readonly [Name in MomentName]?: Filterable[Name] | number | null } = { saidAt: said };
  return (moment) => {
    if (name === 'saidAt') said.at = moment;
    else of[name] = Number.isNaN(moment) ? null : moment;
    return of as Partial<Filterable>;
  };
}

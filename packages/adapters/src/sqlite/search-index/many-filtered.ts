import type { Filter, Filterable, IndexQuery, Json } from '@slowwave/engine';
import { fold, isTrueOf, matches, valueBehind } from '@slowwave/engine/storing';
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
  /** By the keys of a place in metadata. Least recently used first. */
  readonly #columns = new Map<string, ValueColumn>();
  readonly #texts: JoinedTexts;
  readonly #folded: JoinedTexts;

  constructor(points: readonly StoredPoint[], shown: ManyShown, capacity: number) {
    this.#points = points;
    this.#shown = shown;
    this.#capacity = capacity;
    this.#texts = new JoinedTexts((document) => shown.textOf(document));
    this.#folded = new JoinedTexts((document) => fold(shown.textOf(document)));
  }

  /** 1 for each of the first documents that the filter is true of. */
  leftBy(where: Filter, owner: IndexQuery['owner'], documents: number): Uint8Array {
    const name = JSON.stringify(where);
    const left = this.#kept.get(name) ?? { marks: new Uint8Array(this.#capacity), upTo: 0 };
    if (left.upTo < documents) {
      const test = this.#testOf(where, { owner, from: left.upTo, documents });
      for (; left.upTo < documents; left.upTo += 1) left.marks[left.upTo] = test(left.upTo) ? 1 : 0;
    }
    if (name.length <= FILTER_CHARS_MAX) keep(this.#kept, { name, max: KEPT_MAX }, left);
    return left.marks;
  }

  get bytes(): number {
    const columns = [...this.#columns.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const ofAll = this.#kept.size + this.#moments.size * 8;
    return ofAll * this.#capacity + columns + this.#texts.bytes + this.#folded.bytes;
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

  #conditionOf(where: Condition, asked: Asked): Test {
    const { field, test } = where;
    if (field.name === 'text') return this.#textCondition(where, asked);
    if (field.name === 'metadata') return this.#metadataCondition(field.keys, test);
    if (field.name === 'memoryId') {
      return (document) => isTrueOf(test, this.#points[document]?.memoryId ?? null);
    }
    if (isMoment(field.name)) {
      const values = this.#momentsNow(field.name, asked.documents);
      return (document) => isTrueOf(test, orNone(values[document] as number));
    }
    const { remainders, remainderCount } = this.#shown;
    const isTrue = onceFor(remainderCount, (number) =>
      matches(where, this.#shown.detailsOf(number, asked.owner) as Filterable),
    );
    return (document) => isTrue(remainders[document] as number);
  }

  /** What many have the same of is asked once. */
  #metadataCondition(keys: readonly string[], test: Condition['test']): Test {
    const { remainders, remainderCount } = this.#shown;
    const name = JSON.stringify(keys);
    const column = this.#columns.get(name) ?? new ValueColumn();
    keep(this.#columns, { name, max: COLUMNS_MAX }, column);
    const numbers = column.numbersNow(remainderCount, (one) => valueBehind(keys, this.#shown.metadataOf(one)));
    const isTrue = onceFor(column.values.length, (number) => isTrueOf(test, column.values[number] ?? null));
    return (document) => isTrue(numbers[remainders[document] as number] as number);
  }

  #textCondition({ test }: Condition, { from, documents }: Asked): Test {
    if (test.kind !== 'contains') return (document) => isTrueOf(test, this.#shown.textOf(document));
    const texts = test.folded ? this.#folded : this.#texts;
    const marks = new Uint8Array(documents);
    texts.mark(test.text, marks, { from, to: documents });
    return (document) => marks[document] === 1;
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

/** As the one that was used last, of so many. */
function keep<T>(kept: Map<string, T>, { name, max }: { readonly name: string; readonly max: number }, one: T): void {
  kept.delete(name);
  kept.set(name, one);
  for (const oldest of kept.keys()) if (kept.size > max) kept.delete(oldest);
}

/** What is asked of each of so many is asked once. */
function onceFor(count: number, isTrue: (one: number) => boolean): (one: number) => boolean {
  const known = new Uint8Array(count);
  return (one) => {
    if (known[one] === UNKNOWN) known[one] = isTrue(one) ? TRUE : FALSE;
    return known[one] === TRUE;
  };
}

const KEPT_MAX = 16;
/** Places in metadata that filters ask for. */
const COLUMNS_MAX = 8;
/** A longer filter is not worth its room. */
const FILTER_CHARS_MAX = 4_096;

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

/** Whose documents are asked for: some of the first so many. */
interface Asked {
  readonly owner: IndexQuery['owner'];
  readonly from: number;
  readonly documents: number;
}

const MOMENTS = ['createdAt', 'updatedAt', 'saidAt', 'validFrom', 'expiresAt'] as const;
type MomentName = (typeof MOMENTS)[number];

const isMoment = (name: string): name is MomentName => MOMENTS.some((one) => one === name);
const orNone = (moment: number): number | null => (Number.isNaN(moment) ? null : moment);

/** What documents have in one place, such as behind a key of their metadata: each value once, as far as they are few. */
export class ValueColumn {
  readonly values: Json[] = [];
  /** By what most documents have the same of: the number of its value. */
  #numbers = new Uint32Array(ROOM);
  #upTo = 0;
  readonly #known = new Map<Json, number>();

  get bytes(): number {
    return this.#numbers.byteLength + this.values.length * BYTES_OF_VALUE + this.#known.size * BYTES_OF_KNOWN;
  }

  /** The numbers of the first so many, of which those that are new are asked for. */
  numbersNow(count: number, jsonOf: (one: number) => Json): Uint32Array {
    if (count > this.#numbers.length) {
      const before = this.#numbers;
      this.#numbers = new Uint32Array(count + Math.ceil(count * SPARE));
      this.#numbers.set(before);
    }
    for (; this.#upTo < count; this.#upTo += 1) this.#numbers[this.#upTo] = this.#numberOf(jsonOf(this.#upTo));
    return this.#numbers;
  }

  #numberOf(value: Json): number {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const number = this.values.push(value) - 1;
    // Lists and objects are never the same; of many different values few come again.
    const isPlain = typeof value !== 'object' || value === null;
    if (isPlain && this.#known.size < KNOWN_MAX) this.#known.set(value, number);
    return number;
  }
}

const ROOM = 1_024;
const SPARE = 1 / 16;
const KNOWN_MAX = 4_096;
/** About. */
const BYTES_OF_VALUE = 8;
const BYTES_OF_KNOWN = 40;

/** Documents whose texts are looked through at once: so many that one text of them is soon made anew when another one comes. */
const PIECE = 1_024;
/** Stands between two texts. */
const BETWEEN = '\0';
/** Of fewer documents each is looked at by itself. */
const FEW = 64;

interface Piece {
  readonly text: string;
  /** Where each document begins, and where one more would. */
  readonly begins: readonly number[];
}

/** Texts of documents side by side, in which a part is looked for in many of them at once: that is several times as fast as in each. */
export class JoinedTexts {
  readonly #textOf: (document: number) => string;
  readonly #pieces: Piece[] = [];
  #bytes = 0;

  constructor(textOf: (document: number) => string) {
    this.#textOf = textOf;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Sets 1 for each of some documents whose text has this part. */
  mark(part: string, marks: Uint8Array, { from, to }: { readonly from: number; readonly to: number }): void {
    if (to - from < FEW || part === '' || part.includes(BETWEEN)) {
      for (let document = from; document < to; document += 1) {
        if (this.#textOf(document).includes(part)) marks[document] = 1;
      }
      return;
    }
    for (let piece = Math.floor(from / PIECE); piece * PIECE < to; piece += 1) {
      markIn(this.#pieceOf(piece, to), part, marks.subarray(piece * PIECE));
    }
  }

  /** With all of its documents up to one. */
  #pieceOf(number: number, to: number): Piece {
    const first = number * PIECE;
    const documents = Math.min(PIECE, to - first);
    const known = this.#pieces[number];
    if (known !== undefined && known.begins.length > documents) return known;
    const texts = Array.from({ length: documents }, (_, i) => this.#textOf(first + i));
    const begins = [0];
    for (const text of texts) begins.push((begins.at(-1) ?? 0) + text.length + BETWEEN.length);
    const piece = { text: texts.join(BETWEEN), begins };
    this.#bytes += bytesOf(piece) - (known === undefined ? 0 : bytesOf(known));
    this.#pieces[number] = piece;
    return piece;
  }
}

/** About. */
const bytesOf = ({ text, begins }: Piece): number => text.length + begins.length * 8;

function markIn({ text, begins }: Piece, part: string, marks: Uint8Array): void {
  let document = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, begins[document])) {
    while ((begins[document + 1] as number) <= at) document += 1;
    marks[document] = 1;
    document += 1;
  }
}

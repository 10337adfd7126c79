import type { Sighted } from '@slowwave/engine';
import { cosineOf } from '@slowwave/engine/storing';
import { FLOAT, FLOATS, ID_PARTS, type IdPart, type IdWords, NUMBERS_AT, WORD } from './record.ts';

/** Records of one owner that were read at once, side by side. */
export interface Segment {
  readonly bytes: Uint8Array;
  readonly points: readonly StoredPoint[];
}

export function segmentOf(given: Uint8Array): Segment {
  // Numbers of eight bytes are read in place, for which the bytes must begin on a multiple of eight.
  const bytes = given.byteOffset % 8 === 0 ? given : Uint8Array.from(given);
  const run = runOf(bytes);
  const points: StoredPoint[] = [];
  for (let at = 0; at < bytes.length; at += run.words[at / 4 + WORD.bytes] || bytes.length) {
    points.push(new StoredPoint(run, at));
  }
  return { bytes, points };
}

/** The same bytes as numbers of each kind. */
interface Run {
  readonly words: Uint32Array;
  readonly floats: Float64Array;
  readonly numbers: Int8Array;
  readonly text: Buffer;
}

const runOf = ({ buffer, byteOffset, length }: Uint8Array): Run => ({
  words: new Uint32Array(buffer, byteOffset, length / 4),
  floats: new Float64Array(buffer, byteOffset, length / 8),
  numbers: new Int8Array(buffer, byteOffset, length),
  text: Buffer.from(buffer, byteOffset, length),
});

/** Agents, runs and apps are compared by `isOf`: the ids themselves are not in a record. */
const UNREAD_IDS: Sighted['ids'] = { agentId: [], runId: [], appId: [] };

/** A record by the names of what is in it. Nothing is decoded before it is asked for. */
export class StoredPoint implements Sighted {
  readonly ids = UNREAD_IDS;
  /** What a hit shows of it, once one did: a point that is kept in memory is often found again. */
  shown: string | null = null;
  readonly #run: Run;
  readonly #at: number;
  /** Once it was asked for: points that are as good as others are put in the order of their ids. */
  #memoryId: string | null = null;

  constructor(run: Run, at: number) {
    this.#run = run;
    this.#at = at;
  }

  /** All of it, as it lies in its segment. */
  get record(): Uint8Array {
    return this.#run.text.subarray(this.#at, this.#at + this.bytes);
  }
  get bytes(): number {
    return this.#word(WORD.bytes);
  }
  get slot(): number {
    return this.#word(WORD.slot);
  }
  get live(): boolean {
    return this.#word(WORD.live) === 1;
  }
  get version(): number {
    return this.#word(WORD.version);
  }
  get memoryId(): string {
    if (this.#memoryId !== null) return this.#memoryId;
    const begin = this.#at + this.#listAt(ID_PARTS.length) * 4;
    this.#memoryId = this.#run.text.toString('utf8', begin, begin + this.#word(WORD.idBytes));
    return this.#memoryId;
  }

  /** In the order of FLOAT, from its first on. */
  get moments(): Float64Array {
    const first = this.#at / 8 + FLOAT.saidAt;
    return this.#run.floats.subarray(first, first + FLOATS);
  }
  get saidAt(): Sighted['saidAt'] {
    return { at: this.#float(FLOAT.saidAt), seq: this.#float(FLOAT.saidSeq) };
  }
  get validFrom(): number {
    return this.#float(FLOAT.validFrom);
  }
  get invalidAt(): number | null {
    return orNever(this.#float(FLOAT.invalidAt));
  }
  get expiresAt(): number | null {
    return orNever(this.#float(FLOAT.expiresAt));
  }
  get deletedAt(): Sighted['deletedAt'] {
    const at = orNever(this.#float(FLOAT.deletedAt));
    return at === null ? null : { at, seq: this.#float(FLOAT.deletedSeq) };
  }
  get shownFrom(): number | undefined {
    const at = this.#float(FLOAT.shownFrom);
    return Number.isNaN(at) ? undefined : at;
  }

  /** Whether one of the agents, runs or apps of a list of it is the one with these `idWords`. */
  isOf(part: IdPart, [low, high]: IdWords): boolean {
    const place = ID_PARTS.indexOf(part);
    const end = this.#listAt(place + 1);
    for (let at = this.#listAt(place); at < end; at += 2) {
      if (this.#word(at) === low && this.#word(at + 1) === high) return true;
    }
    return false;
  }

  /** The word where a list of ids begins; that of the one after the last is where all of them end. */
  #listAt(place: number): number {
    let at = WORD.firstEntry + this.#word(WORD.entries) * 2;
    for (let before = 0; before < place; before += 1) at += this.#word(WORD.ids + before) * 2;
    return at;
  }

  /** How many terms its text has, or with `wide` also its context. */
  termCount(wide: boolean): number {
    return this.#word(wide ? WORD.allTerms : WORD.ownTerms);
  }

  /** The entries of its text, or with `wide` all of them. */
  entries(wide: boolean): Entries {
    const first = this.#at / 4 + WORD.firstEntry;
    const end = first + this.#word(wide ? WORD.entries : WORD.ownEntries) * 2;
    return { words: this.#run.words, first, end, wide };
  }

  get roughVector(): RoughVector {
    const begin = this.#at + this.#word(WORD.vectorAt);
    const { numbers, floats } = this.#run;
    return { numbers, first: begin + NUMBERS_AT, step: floats[begin / 8] ?? 0 };
  }

  /**
   * The cosine with a question of length one, of zeros up to a multiple of eight, but for what the numbers missed. Four sums side by
   * side: each addition would otherwise wait for the one before.
   */
  roughCosine(question: Float64Array): number {
    const begin = this.#at + this.#word(WORD.vectorAt);
    const { numbers, floats } = this.#run;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0, at = begin + NUMBERS_AT; i < question.length; i += 4, at += 4) {
      a += (numbers[at] as number) * (question[i] as number);
      b += (numbers[at + 1] as number) * (question[i + 1] as number);
      c += (numbers[at + 2] as number) * (question[i + 2] as number);
      d += (numbers[at + 3] as number) * (question[i + 3] as number);
    }
    return (a + b + c + d) * (floats[begin / 8] as number);
  }
  /** How far that is from the cosine at most. */
  get missed(): number {
    return this.#run.floats[(this.#at + this.#word(WORD.vectorAt)) / 8 + 1] ?? 0;
  }

  get hasVector(): boolean {
    return this.#run.floats[(this.#at + this.#word(WORD.vectorAt)) / 8] !== 0;
  }
  /** The vector as it was written: by then every vector is one of 8-bit numbers. A few zeros more than it has numbers. */
  get vector(): Float32Array {
    const { numbers, first, step } = this.#written;
    return Float32Array.from(numbers.subarray(first, this.#at + this.bytes), (number) => number * step);
  }
  /** The cosine of that with a question of so many numbers, and of this length: product and length in one pass, as side by side they take half of the time. */
  cosine(question: Float32Array, length: number): number {
    const { numbers, first, step } = this.#written;
    let product = 0;
    let squares = 0;
    for (let i = 0; i < question.length; i += 1) {
      const value = Math.fround((numbers[first + i] as number) * step);
      product += value * (question[i] as number);
      squares += value * value;
    }
    return cosineOf(product, Math.sqrt(squares) * length);
  }
  get #written(): RoughVector {
    const first = this.#at + this.#word(WORD.vectorAt) + NUMBERS_AT;
    const { numbers, floats } = this.#run;
    return { numbers, first, step: floats[first / 8 - 1] ?? 0 };
  }

  #word(word: number): number {
    return this.#run.words[this.#at / 4 + word] ?? 0;
  }
  #float(float: number): number {
    return this.#run.floats[this.#at / 8 + float] ?? 0;
  }
}

/** Entries are at `words[first]` … `words[end - 1]`, two words each. */
export interface Entries {
  readonly words: Uint32Array;
  readonly first: number;
  readonly end: number;
  readonly wide: boolean;
}

/** A vector in 8-bit numbers from `numbers[first]` on: times `step` they have about length one. A step of 0: all are zero. */
export interface RoughVector {
  readonly numbers: Int8Array;
  readonly first: number;
  readonly step: number;
}

const orNever = (moment: number): number | null => (moment === Number.POSITIVE_INFINITY ? null : moment);

/** The order of equal scores: by memory id, then version. */
export function byMemory(one: StoredPoint, other: StoredPoint): number {
  const [a, b] = [one.memoryId, other.memoryId];
  if (a !== b) return a < b ? -1 : 1;
  return one.version - other.version;
}

import { type Details, detailsFrom, type Kept, type PlaceOfPoint } from '../../shown-point.ts';
import { fewIn, keptJson, type ReadParts, textIn } from './packed-shown.ts';
import type { StoredPoint } from './stored-point.ts';

/**
 * What hits show of very many points of one owner, by documents: a hit and a filter ask for it in memory. Documents are added and never
 * changed. What several of them have in common is there once.
 */
export class ManyShown {
  /** null: UTF-8 has no place for it. */
  readonly #texts: (string | null)[] = [];
  readonly #flags: Uint8Array;
  /** By document: the number of its remainder. */
  readonly remainders: Uint32Array;
  readonly #jsons: (string | null)[] = [];
  readonly #numbers = new Map<string | null, number>();
  /** By remainder, once it was asked for. */
  readonly #fews: Partial<Kept>[] = [];
  readonly #details: Details[] = [];
  /** What is near the moments of each, one after the other, and where it ends. */
  #near = Buffer.alloc(NEAR_ROOM);
  readonly #ends: Uint32Array;
  #bytes = 0;

  constructor(capacity: number) {
    this.#flags = new Uint8Array(capacity);
    this.remainders = new Uint32Array(capacity);
    this.#ends = new Uint32Array(capacity + 1);
  }

  /** What comes next. */
  put({ flags, text, remainder, near }: ReadParts): void {
    const document = this.#texts.length;
    const read = text === null || typeof text === 'string' ? text : textIn(text);
    this.#texts.push(read);
    this.#flags[document] = flags;
    this.remainders[document] = this.#numberOf(remainder);
    const begin = this.#ends[document] as number;
    if (begin + near.length > this.#near.length) this.#near = Buffer.concat([this.#near], 2 * (begin + near.length));
    this.#near.set(near, begin);
    this.#ends[document + 1] = begin + near.length;
    this.#bytes += BYTES_OF_STRING + BYTES_OF_DOCUMENT + (read?.length ?? 0) + near.length;
  }

  partsOf(document: number): ReadParts {
    const near = this.#near.subarray(this.#ends[document], this.#ends[document + 1]);
    const remainder = this.#jsons[this.remainders[document] as number] ?? null;
    return { flags: this.#flags[document] as number, text: this.#texts[document] ?? null, remainder, near };
  }
  jsonOf(document: number, { moments }: StoredPoint): string {
    return keptJson(this.partsOf(document), moments);
  }
  textOf(document: number): string {
    return this.#texts[document] ?? (this.fewOf(document).t as string);
  }
  /** What it has that few have. */
  fewOf(document: number): Partial<Kept> {
    return this.#few(this.remainders[document] as number);
  }
  /** What all with this remainder say beside their texts and their moments. */
  detailsOf(number: number, owner: PlaceOfPoint['owner']): Details {
    this.#details[number] ??= detailsFrom(this.#few(number), owner);
    return this.#details[number];
  }

  /** Those of all with this remainder. */
  metadataOf(number: number): Details['metadata'] {
    return this.#few(number).d ?? {};
  }

  /** How many remainders there are. */
  get remainderCount(): number {
    return this.#jsons.length;
  }
  get bytes(): number {
    return this.#bytes + this.#fews.length * BYTES_OF_FEW + this.#details.length * BYTES_OF_DETAILS;
  }

  #few(number: number): Partial<Kept> {
    this.#fews[number] ??= fewIn(this.#jsons[number] ?? null);
    return this.#fews[number];
  }
  #numberOf(remainder: string | null): number {
    const known = this.#numbers.get(remainder);
    if (known !== undefined) return known;
    this.#jsons.push(remainder);
    this.#bytes += BYTES_OF_STRING + (remainder?.length ?? 0);
    this.#numbers.set(remainder, this.#jsons.length - 1);
    return this.#jsons.length - 1;
  }
}

const NEAR_ROOM = 4_096;

/** About. */
const BYTES_OF_STRING = 32;
const BYTES_OF_FEW = 150;
const BYTES_OF_DETAILS = 250;
/** Its flags, the number of its remainder, and where it ends. */
const BYTES_OF_DOCUMENT = 9;

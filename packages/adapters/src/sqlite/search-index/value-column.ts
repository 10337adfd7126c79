import type { Json } from '@slowwave/engine';

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

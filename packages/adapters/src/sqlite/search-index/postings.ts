import type { TermKey } from './record.ts';
import type { StoredPoint } from './stored-point.ts';

/** Where each term of very many points is: a question reads the lists of its own terms alone. Never written again. */
export interface Postings {
  /** Where the list of a term is; null: none of them has it. */
  placeOf(key: TermKey): { readonly first: number; readonly end: number } | null;
  /** Those that have a term, in their order. */
  readonly documents: Uint32Array;
  /** How often they do: as the lower half of the second word of an entry has it. */
  readonly counts: Uint16Array;
  readonly bytes: number;
}

/** Lists of the documents by their terms, one after the other. */
export function postingsOf(points: readonly StoredPoint[]): Postings {
  const terms = termNumbers();
  const all = points.map((point) => point.entries(true));
  const total = all.reduce((sum, { first, end }) => sum + (end - first) / 2, 0);
  // Once to count, once to write: a list of its own for each of a hundred thousand terms would take many times the room.
  const termOf = new Uint32Array(total);
  let at = 0;
  for (const { words, first, end } of all) {
    for (let i = first; i < end; i += 2) {
      termOf[at] = terms.numberOf(words[i] as number, (words[i + 1] as number) & HIGH_BITS);
      at += 1;
    }
  }
  const ends = new Uint32Array(terms.count() + 1);
  for (const term of termOf) ends[term + 1] = (ends[term + 1] as number) + 1;
  for (let term = 1; term < ends.length; term += 1) ends[term] = (ends[term] as number) + (ends[term - 1] as number);
  const next = ends.slice();
  const documents = new Uint32Array(total);
  const counts = new Uint16Array(total);
  at = 0;
  for (const [document, { words, first, end }] of all.entries()) {
    for (let i = first; i < end; i += 2) {
      const term = termOf[at] as number;
      const place = next[term] as number;
      documents[place] = document;
      counts[place] = (words[i + 1] as number) & LOW_BITS;
      next[term] = place + 1;
      at += 1;
    }
  }
  return {
    bytes: documents.byteLength + counts.byteLength + ends.byteLength + terms.bytes(),
    documents,
    counts,
    placeOf: ({ low, high }) => {
      const term = terms.find(low, high);
      return term === null ? null : { first: ends[term] as number, end: ends[term + 1] as number };
    },
  };
}

const LOW_BITS = 0xffff;
const HIGH_BITS = ~LOW_BITS;

/** Numbers for the keys of terms, in the order in which they come: a table that is looked up by the key itself, a hash already. */
function termNumbers() {
  let mask = 2 ** 14 - 1;
  let slots = new Uint32Array(mask + 1); // number + 1; 0: free
  let lows = new Uint32Array(2 ** 13);
  let highs = new Int32Array(2 ** 13);
  let count = 0;
  const slotOf = (low: number, high: number): number => {
    let slot = (low ^ (high >>> 16)) & mask;
    for (;;) {
      const known = (slots[slot] as number) - 1;
      if (known === -1 || (lows[known] === low && highs[known] === high)) return slot;
      slot = (slot + 1) & mask;
    }
  };
  const grow = (): void => {
    mask = (mask + 1) * 2 - 1;
    slots = new Uint32Array(mask + 1);
    [lows, highs] = [twiceAsLong(lows), twiceAsLong(highs)];
    for (let term = 0; term < count; term += 1) {
      slots[slotOf(lows[term] as number, highs[term] as number)] = term + 1;
    }
  };
  return {
    count: () => count,
    bytes: () => slots.byteLength + lows.byteLength + highs.byteLength,
    find: (low: number, high: number): number | null => {
      const number = slots[slotOf(low, high)] as number;
      return number === 0 ? null : number - 1;
    },
    numberOf: (low: number, high: number): number => {
      const slot = slotOf(low, high);
      const known = slots[slot] as number;
      if (known !== 0) return known - 1;
      lows[count] = low;
      highs[count] = high;
      slots[slot] = count + 1;
      count += 1;
      if (count === lows.length) grow();
      return count - 1;
    },
  };
}

function twiceAsLong<Numbers extends Uint32Array | Int32Array>(numbers: Numbers): Numbers {
  const longer = new (numbers.constructor as new (length: number) => Numbers)(numbers.length * 2);
  longer.set(numbers);
  return longer;
}

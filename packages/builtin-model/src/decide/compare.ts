import type { Slot, Statement } from './statement.ts';

/** How a new statement stands to a known one. */
export type Relation = 'same' | 'extends' | 'replaces' | 'contradicts' | 'apart';

export function relationOf(fact: Statement, memory: Statement): Relation {
  const pairs = fact.slots.flatMap((slot) => {
    const known = memory.slots.find(({ attribute }) => attribute === slot.attribute);
    return known === undefined ? [] : [{ slot, known }];
  });
  if (pairs.length === 0) return 'apart';
  if (fact.positive !== memory.positive) return opposition(fact, pairs);
  if (!fact.positive) return pairs.every(({ slot, known }) => equal(slot, known)) ? 'same' : 'apart';
  return agreement(fact, pairs);
}

interface Pair {
  readonly slot: Slot;
  readonly known: Slot;
}

/** A denial and what it denies exclude each other; where one thing holds, an earlier denial of another says no more. */
function opposition(fact: Statement, pairs: readonly Pair[]): Relation {
  if (pairs.every(({ slot, known }) => (fact.positive ? meets(known, slot) : meets(slot, known)))) return 'contradicts';
  return fact.positive && pairs.every(({ slot }) => slot.single) ? 'replaces' : 'apart';
}

function agreement(fact: Statement, pairs: readonly Pair[]): Relation {
  if (pairs.some(({ slot, known }) => !within(slot, known) && !within(known, slot))) {
    return pairs.some(({ slot }) => slot.single) ? 'replaces' : 'apart';
  }
  const says = fact.slots.length > pairs.length || pairs.some(({ slot, known }) => !within(slot, known));
  const widens = pairs.every(({ slot }) => slot.single || slot.attribute === 'having');
  if (pairs.every(({ slot, known }) => equal(slot, known)) && fact.slots.length === pairs.length) return 'same';
  if (!widens) return 'apart';
  return says ? 'extends' : 'same';
}

/**
 * A denial meets what it denies: exactly; by its gist where only one value can hold ("not married"); and what begins or ends
 * with its words ("tennis" in "tennis every Tuesday", "Vespa" in "red Vespa"), likings apart: who hates milk may like milk rice.
 */
function meets(denied: Slot, held: Slot): boolean {
  if (equal(denied, held) || (denied.single && (within(denied, held) || within(held, denied)))) return true;
  if (/\p{Script=Han}/u.test(denied.value))
    return !/^(?:liking|allergy)$/u.test(denied.attribute) && held.value.includes(denied.value);
  const [some, all] = [wordsOf(denied.value), wordsOf(held.value)];
  const covers = [all.slice(0, some.length), all.slice(-some.length)].some((part) => part.join(' ') === some.join(' '));
  return !/^(?:liking|allergy)$/u.test(denied.attribute) && (some.length === 0 || covers || all.length === 0);
}

const equal = (a: Slot, b: Slot): boolean => wordsOf(a.value).join(' ') === wordsOf(b.value).join(' ');

/** Whether every word of one is in the other: "oslo" within "oslo, norway". */
function within(a: Slot, b: Slot): boolean {
  if (/\p{Script=Han}/u.test(a.value + b.value)) return b.value.includes(a.value);
  const words = new Set(wordsOf(b.value));
  return wordsOf(a.value).every((word) => words.has(word));
}

const IDLE = new Set('a an the their my to very really now some named called one'.split(' '));

/** The words of a value that make it what it is, singular. */
export function wordsOf(value: string): readonly string[] {
  const words = value.toLowerCase().split(/[^\p{L}\p{N}+#@.'-]+/u);
  return words.filter((word) => word !== '' && !IDLE.has(word)).map(singular);
}

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/u.test(word)) return word;
  return word
    .replace(/ies$/u, 'y')
    .replace(/(?<=[^aeiou]o|sh|ch|x)es$/u, '')
    .replace(/s$/u, '');
}

import { RELATIONS, type Relation, subjectsOf, valuesOf } from './world-words.ts';

/** Texts about subjects whose values change, with what holds in the end: a conversation with a known outcome. */
export interface World {
  /** In the order they are said. */
  readonly texts: readonly string[];
  readonly gold: readonly string[];
  /** How many texts take another one's place. */
  readonly updates: number;
  readonly questions: readonly { readonly text: string; readonly gold: string }[];
  /** Which texts are about the same: a subject and what is said of it. */
  keyOf(text: string): string;
}

export interface WorldOptions {
  readonly seed: number;
  readonly facts: number;
  readonly updates: number;
  /** Updates say it in other words than what they replace. */
  readonly paraphrased?: boolean;
}

/** The same options make the same world. */
export function world({ seed, facts, updates, paraphrased = false }: WorldOptions): World {
  const random = seeded(seed);
  const lives = livesOf(facts - updates, random);
  for (let i = 0; i < updates; i += 1) sayMore(pick(lives, random), paraphrased, random);
  const keys = new Map(lives.flatMap((life) => life.said.map((text) => [text, life.key] as const)));
  return {
    texts: interleaved(lives, random),
    gold: lives.map(lastOf),
    updates,
    questions: lives.map((life) => ({ text: fill(life.relation.asks, life.subject, ''), gold: lastOf(life) })),
    keyOf: (text) => keys.get(text) ?? text,
  };
}

/** One subject and one relation, through time. */
interface Life {
  readonly key: string;
  readonly subject: string;
  readonly relation: Relation;
  readonly values: string[];
  readonly said: string[];
}

type Random = () => number;

/** Mulberry32: numbers in [0, 1) that follow from the seed alone. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(list: readonly T[], random: Random): T {
  const one = list[Math.floor(random() * list.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
}

/** In an order that follows from the seed; the list itself stays. */
export function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** Different pairs of subject and relation, each with its first value. */
function livesOf(count: number, random: Random): Life[] {
  const lives = new Map<string, Life>();
  while (lives.size < count) {
    const relation = pick(RELATIONS, random);
    const subject = pick(subjectsOf(relation.about), random);
    const key = `${relation.name} of ${subject}`;
    if (lives.has(key)) continue;
    const value = pick(valuesOf(relation.takes), random);
    lives.set(key, { key, subject, relation, values: [value], said: [fill(relation.says[0], subject, value)] });
  }
  return [...lives.values()];
}

/** A value never comes back: a text said twice would be distinguished by time alone. */
function sayMore(life: Life, paraphrased: boolean, random: Random): void {
  const { relation, subject, values, said } = life;
  const fresh = valuesOf(relation.takes).filter((value) => !values.includes(value));
  const value = pick(fresh, random);
  const form = paraphrased ? said.length % relation.says.length : 0;
  values.push(value);
  said.push(fill(relation.says[form] ?? relation.says[0], subject, value));
}

/** All lives at once: each text at a random place, those of one life in their order. */
function interleaved(lives: readonly Life[], random: Random): string[] {
  const places = shuffled(
    lives.flatMap((life) => life.said.map(() => life)),
    random,
  );
  const next = new Map<Life, number>();
  return places.map((life) => {
    const at = next.get(life) ?? 0;
    next.set(life, at + 1);
    return life.said[at] ?? '';
  });
}

const lastOf = (life: Life): string => life.said.at(-1) ?? '';

const fill = (form: string, subject: string, value: string): string =>
  form.replace('{s}', () => subject).replace('{v}', () => value);

import { THINGS } from './pattern-bench.ts';

interface Shown {
  readonly id: string;
  readonly text: string;
}

/** What a model says of two memories that it is shown. */
export interface Pair {
  readonly [key: string]: string;
  readonly kind: 'same' | 'contradiction';
  readonly keep: string;
  readonly drop: string;
  readonly reason: string;
}

/** The thing that a text is about. */
export const thingIn = (text: string): string => THINGS.find((thing) => text.includes(thing)) ?? text;

/** The truth of a group: a text that begins with all of another one says all of it. */
export const mergesIn = (memories: readonly Shown[]): Pair[] =>
  memories.flatMap((one) =>
    memories
      .filter(({ text }) => text !== one.text && text.startsWith(one.text))
      .map(({ id }) => ({ kind: 'same' as const, keep: id, drop: one.id, reason: 'all of it' })),
  );

/** Lies of every kind about pairs, by turns. */
export function pairLiesAbout(memories: readonly Shown[], nth: number): Pair[] {
  const one = memories[nth % memories.length];
  const other = memories.find(({ text }) => thingIn(text) !== thingIn(one?.text ?? ''));
  const [a, b] = [one?.id ?? '0', other?.id ?? '1'];
  const lie = (kind: Pair['kind'], keep: string, drop: string): Pair[] => [{ kind, keep, drop, reason: 'trust me' }];
  const kinds = [
    () => lie('same', '99', a), // evidence that there is not
    () => lie('same', 'mem_of_somebody_else', a),
    () => lie('same', a, a), // its own evidence
    () => lie('same', a, b), // evidence that says something else
    () => lie('same', b, a),
    () => lie('contradiction', '99', a),
    () =>
      mergesIn(memories).map(({ keep, drop }) => ({ kind: 'same' as const, keep: drop, drop: keep, reason: 'less' })),
  ];
  return kinds[nth % kinds.length]?.() ?? [];
}

/** A slot of the profile, and which of the memories that a model is shown stands there. */
interface Place {
  readonly [key: string]: string;
  readonly id: string;
  readonly slot: string;
}

/** The truth: where somebody lives belongs under `home`. */
export const homesIn = (memories: readonly Shown[]): Place[] =>
  memories.filter(({ text }) => text.includes(' lives in ')).map(({ id }) => ({ id, slot: 'home' }));

/** Lies of every kind about slots, by turns. */
export function placeLiesAbout(memories: readonly Shown[], nth: number): Place[] {
  const id = memories[nth % memories.length]?.id ?? '0';
  const kinds: readonly Place[][] = [
    [{ id: '99', slot: 'home' }], // a memory that there is not
    [{ id: 'mem_of_somebody_else', slot: 'home' }],
    [{ id, slot: 'criminal_record' }], // a slot that there is not
    [
      { id, slot: 'home' },
      { id, slot: 'work' }, // two places at once
    ],
  ];
  return kinds[nth % kinds.length] ?? [];
}

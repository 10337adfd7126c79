import { expect, it } from 'vitest';
import type { Candidate, Fact } from '../plan.ts';
import { atOnce } from '../slices.ts';
import { decideGroups, halvesOf } from './decide.ts';

const grouped = (...given: Parameters<typeof decideGroups>) => atOnce(decideGroups(...given));

const fact = (n: number, text: string): Fact => ({ id: `f${n}`, text, saidAt: { at: 0, seq: n } }) as Fact;
const candidate = (shortId: string, ...facts: readonly string[]): Candidate =>
  ({
    shortId,
    text: 'one two three',
    recalledBy: facts.map((of) => ({ fact: of, vector: 1, keyword: null })),
  }) as unknown as Candidate;
const AROUND = 30;
const limits = (tokens: number) => ({ tokens, count: (text: string) => text.split(' ').length, overlap: 0.3 });
const FACTS = [fact(0, 'lives in Oslo'), fact(1, 'has a cat'), fact(2, 'lives in Bergen now'), fact(3, 'plays chess')];

it('what fits is one group with everything in it, also what only repeats recalled', () => {
  const candidates = [candidate('0', 'f0'), candidate('1', 'f9')];
  expect(grouped(FACTS, candidates, limits(1_000))).toEqual([{ facts: FACTS, candidates, earlier: [] }]);
});

it('what does not fit is cut between facts; each group is shown its own memories and the earlier facts it may mean', () => {
  const candidates = [candidate('0', 'f0', 'f2'), candidate('1', 'f1'), candidate('2', 'f3')];
  const groups = grouped(FACTS, candidates, limits(4 * (AROUND + 4)));
  expect(groups.map(({ facts }) => facts.map(({ id }) => id))).toEqual([
    ['f0', 'f1'],
    ['f2', 'f3'],
  ]);
  expect(groups.map((group) => group.candidates.map(({ shortId }) => shortId))).toEqual([
    ['0', '1'],
    ['0', '2'],
  ]);
  expect(groups.map(({ earlier }) => earlier.map(({ id }) => id))).toEqual([[], ['f0']]);
});

it('a memory that several facts of a group share counts once', () => {
  const candidates = [candidate('0', 'f0', 'f1', 'f2', 'f3')];
  expect(grouped(FACTS, candidates, limits(5 * (AROUND + 4)))).toHaveLength(1);
});

it('a fact that is too much on its own still has its turn', () => {
  expect(grouped(FACTS, [], limits(1)).map(({ facts }) => facts.length)).toEqual([1, 1, 1, 1]);
});

it('a group is halved between facts; each half has its own memories, and the second the earlier facts it may mean', () => {
  const candidates = [candidate('0', 'f0', 'f2'), candidate('1', 'f1')];
  const before = fact(9, 'lives in Rome');
  const halves = atOnce(halvesOf({ facts: FACTS, candidates, earlier: [before] }, { overlap: 0.3 })) ?? [];
  expect(
    halves.map(({ facts, candidates: shown, earlier }) => [
      facts.map(({ id }) => id),
      shown.map(({ shortId }) => shortId),
      earlier.map(({ id }) => id),
    ]),
  ).toEqual([
    [['f0', 'f1'], ['0', '1'], ['f9']],
    [['f2', 'f3'], ['0'], ['f9', 'f0']],
  ]);
});

it('one fact is not halved', () => {
  const group = { facts: FACTS.slice(0, 1), candidates: [], earlier: [] };
  expect(atOnce(halvesOf(group, { overlap: 0.3 }))).toBeNull();
});

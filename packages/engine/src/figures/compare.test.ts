import { expect, test } from 'vitest';
import type { MeasuredRow, MeasuredStretch } from '../ports/ledger/overview.ts';
import type { LaneId } from '../words.ts';
import { driftOf } from './compare.ts';

const OPINIONS = {
  reviews: { part: 1, of: 4 },
  ratings: { part: 0, of: 0 },
  outcomes: { part: 2, of: 9 },
};

/** Of 40 owners: of ten facts each, so many have a quote that stands. */
const stretch = (standing: number, model = 'one'): MeasuredStretch => ({
  consolidations: Array.from({ length: 40 }, (_, i): MeasuredRow => {
    const figures = { quotes_stand: { part: standing - (i % 2), of: 10 }, calls: { part: 2 + (i % 3), of: 2 } };
    return { lane: `lane_${i}` as LaneId, model, figures, undone: i < 2 };
  }),
  opinions: OPINIONS,
});

test('a figure that became worse by more than its margin is told apart from what stayed', () => {
  const { figures, opinions } = driftOf(stretch(10), stretch(7), null);
  expect(figures.map(({ figure, verdict }) => [figure, verdict])).toEqual([
    ['quotes_stand', 'worse'],
    ['calls', 'fine'],
  ]);
  expect(figures[0]).toMatchObject({ baseline: 0.95, variant: 0.65, n: { baseline: 400, variant: 400 } });
  expect(figures[0]?.difference?.high).toBeLessThan(-0.05);
  expect(opinions.map(({ of, recent }) => [of, recent.part, recent.of])).toEqual([
    ['consolidations', 2, 40],
    ['reviews', 1, 4],
    ['ratings', 0, 0],
    ['outcomes', 2, 9],
  ]);
  expect(driftOf(stretch(10), stretch(10), null).figures.map(({ verdict }) => verdict)).toEqual(['fine', 'fine']);
});

test('nothing is said of a figure of too few owners, nor of one that a model never had', () => {
  const few = { consolidations: stretch(7).consolidations.slice(0, 3), opinions: OPINIONS };
  expect(driftOf(few, few, null).figures.map(({ difference, verdict }) => [difference, verdict])).toEqual([
    [null, 'unclear'],
    [null, 'unclear'],
  ]);
  expect(driftOf(stretch(10), stretch(7), 'another').figures).toEqual([]);
});

test('models are counted on both sides, and asked for alone', () => {
  const both = {
    consolidations: [...stretch(10).consolidations, ...stretch(7, 'two').consolidations.slice(9)],
    opinions: OPINIONS,
  };
  const drift = driftOf(stretch(10), both, 'one');
  expect(drift.models).toEqual([
    { model: 'one', before: 40, recent: 40 },
    { model: 'two', before: 0, recent: 31 },
  ]);
  expect(drift.figures.map(({ verdict }) => verdict)).toEqual(['fine', 'fine']);
});

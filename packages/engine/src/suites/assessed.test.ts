import { expect, test } from 'vitest';
import type { Assessment } from '../ports/ledger/replays.ts';
import { assessmentsOf } from './assessed.ts';

const given = (by: string, verdicts: readonly Assessment['verdict'][]): readonly Assessment[] =>
  verdicts.map((verdict, i) => ({ item: `item ${i}`, by, verdict }));

test('what people think of a run is a share of facts and one of messages, each with its interval', () => {
  const [ana] = assessmentsOf(given('ana', ['agree', 'agree', 'agree', 'wrong', 'complete', 'missing'])).assessors;
  expect(ana).toMatchObject({ by: 'ana', right: { value: 0.75, of: 4 }, complete: { value: 0.5, of: 2 } });
  expect(ana?.right?.low).toBeLessThan(0.75);
  expect(ana?.right?.high).toBeLessThanOrEqual(1);
  expect(assessmentsOf(given('ana', ['agree'])).assessors[0]?.complete).toBeNull();
});

test('how far two agree is told from what chance alone would make of it', () => {
  const pair = (a: readonly Assessment['verdict'][], b: readonly Assessment['verdict'][]) =>
    assessmentsOf([...given('ana', a), ...given('bo', b)]).pairs;
  // The usual example of Cohen's kappa: 20 and 15 alike, 5 and 10 not, of 50.
  const times = (verdict: Assessment['verdict'], count: number) => Array.from({ length: count }, () => verdict);
  const ana = [...times('agree', 25), ...times('wrong', 25)];
  const bo = [...times('agree', 20), ...times('wrong', 5), ...times('agree', 10), ...times('wrong', 15)];
  const [first] = pair(ana, bo);
  expect(first).toMatchObject({ by: ['ana', 'bo'], facts: { of: 50, same: 35 }, messages: null });
  expect(first?.facts?.kappa).toBeCloseTo(0.4, 10);
  expect(pair(['agree', 'wrong'], ['agree', 'wrong'])[0]?.facts?.kappa).toBe(1);
  expect(pair(['agree', 'agree'], ['agree', 'agree'])[0]?.facts, 'nobody can tell').toMatchObject({
    same: 2,
    kappa: null,
  });
  expect(pair(['missing'], ['complete'])[0]).toMatchObject({ facts: null, messages: { of: 1, same: 0 } });
});

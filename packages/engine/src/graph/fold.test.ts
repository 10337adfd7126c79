import { describe, expect, it } from 'vitest';
import { fixedTools, MORNING } from '../testing/fixed-tools.ts';
import { statementsBy } from '../testing/graph-statements.ts';
import { anyStatements } from '../testing/graph-walk.ts';
import { seeded, shuffled } from '../testing/worlds.ts';
import { foldRelations, standingOf } from './fold.ts';
import { graphOf } from './follow.ts';
import type { Statement } from './words.ts';

const ROUNDS = 200;

const fold = (statements: readonly Statement[]): readonly string[] =>
  foldRelations(statements, standingOf(statements)).map(
    (one) => `${one.source} ${one.relationship} ${one.destination} ${one.validFrom}-${one.invalidAt ?? ''}`,
  );

describe('relations', () => {
  it('are the same in whatever order the statements arrive', () => {
    const random = seeded(1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const statements = anyStatements(fixedTools(), { random, count: 12 });
      const entities = ['A', 'B', 'C', 'D', 'E'].map((id) => ({ id, name: id }));
      const wanted = graphOf(entities, statements);
      expect(graphOf(entities, shuffled(statements, random)), `round ${round}`).toEqual(wanted);
    }
  });

  it('that were told of the past held until then, beside what holds', () => {
    const { holds } = statementsBy(fixedTools());
    const said = [
      holds('Ana lives_in Oslo', { single: true, validFrom: 200 }),
      holds('Ana lives_in Rome', { single: true, validFrom: 50, until: 200 }),
    ];
    expect(fold(said)).toEqual(['Ana lives_in Oslo 200-', 'Ana lives_in Rome 50-200']);
  });

  it('began as early as anybody said, and never end before they began', () => {
    const { holds, ended } = statementsBy(fixedTools());
    const said = [
      holds('Ana knows Bob', { validFrom: 100 }),
      holds('Ana knows Bob', { validFrom: 70 }),
      ended('Ana knows Bob', { at: 30 }),
    ];
    expect(fold(said)).toEqual(['Ana knows Bob 70-70']);
  });

  it('can hold again after they ended', () => {
    const { holds, ended } = statementsBy(fixedTools());
    const said = [
      holds('Ana owns car', { validFrom: 10 }),
      ended('Ana owns car', { at: 20 }),
      holds('Ana owns car', { validFrom: 30 }),
    ];
    expect(fold(said)).toEqual(['Ana owns car 10-20', 'Ana owns car 30-']);
  });

  it('that were denied have ended nothing: what they had taken the place of holds on, or until the next', () => {
    const { holds, denied } = statementsBy(fixedTools());
    const home = (place: string, validFrom: number) => holds(`Ana lives_in ${place}`, { validFrom, single: true });
    const [oslo, paris, rome] = [home('Oslo', 1), home('Paris', 2), home('Rome', 3)];
    const told = (...statements: readonly Statement[]) =>
      foldRelations(statements, (id) => id).map(({ destination, invalidAt }) => [destination, invalidAt]);
    expect(told(oslo, paris)).toEqual([
      ['Oslo', 2],
      ['Paris', null],
    ]);
    expect(told(oslo, paris, denied('Ana lives_in Paris'))).toEqual([['Oslo', null]]);
    expect(told(oslo, paris, rome, denied('Ana lives_in Paris'))).toEqual([
      ['Oslo', 3],
      ['Rome', null],
    ]);
  });

  it('that were denied come back only when they are said again later', () => {
    const { holds, denied } = statementsBy(fixedTools());
    const at = { validFrom: MORNING };
    const [said, no, again] = [holds('Ana likes tea', at), denied('Ana likes tea'), holds('Ana likes tea', at)];
    expect(fold([no, said])).toEqual([]);
    expect(fold([no, said, again])).toEqual([`Ana likes tea ${MORNING}-`]);
  });
});

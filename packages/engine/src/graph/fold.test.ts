import { anyStatements, fixedTools, MORNING, seeded, shuffled, statementsBy } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { foldRelations, graphOf, standingOf } from './fold.ts';
import type { Statement } from './words.ts';

const ROUNDS = 200;

const fold = (statements: readonly Statement[]): readonly string[] =>
  foldRelations(statements, standingOf(statements, null)).map(
    (one) => `${one.source} ${one.relationship} ${one.destination} ${one.validFrom}-${one.invalidAt ?? ''}`,
  );

describe('relations', () => {
  it('are the same in whatever order the statements arrive', () => {
    const random = seeded(1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const statements = anyStatements(fixedTools(), { random, count: 12 });
      const entities = ['A', 'B', 'C', 'D', 'E'].map((id) => ({ id, name: id }));
      const wanted = graphOf(entities, statements, null);
      expect(graphOf(entities, shuffled(statements, random), null), `round ${round}`).toEqual(wanted);
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

describe('entities that are said to be one', () => {
  const ALL = ['a', 'b', 'c', 'd', 'me'];
  const classesOf = (statements: readonly Statement[], self: string | null = null): string[] => {
    const standing = standingOf(statements, self);
    return [...Map.groupBy(ALL, standing).values()].map((members) => members.join(' ')).sort();
  };

  it('stay with the one they were said to be when that one is said to stand apart, in whatever order that was said', () => {
    const { same, apart } = statementsBy(fixedTools());
    const [ab, bc] = [() => same('a', 'b'), () => same('b', 'c')];
    expect(classesOf([ab(), bc(), apart('b')])).toEqual(['a b', 'c', 'd', 'me']);
    expect(classesOf([bc(), ab(), apart('b')])).toEqual(['a b', 'c', 'd', 'me']);
  });

  it('are the same ones in whatever order the merges, and then the splits, were said', () => {
    const random = seeded(7);
    const drawn = (): string => ALL[Math.floor(random() * ALL.length)] ?? 'a';
    for (let round = 0; round < ROUNDS; round += 1) {
      const merges = Array.from({ length: 1 + Math.floor(random() * 5) }, () => [drawn(), drawn()] as const);
      const splits = Array.from({ length: Math.floor(random() * 3) }, drawn);
      const told = (pairs: typeof merges, others: typeof splits): readonly Statement[] => {
        const { same, apart } = statementsBy(fixedTools());
        return [...pairs.map(([one, other]) => same(one, other)), ...others.map((one) => apart(one))];
      };
      const wanted = classesOf(told(merges, splits));
      const got = classesOf(told(shuffled(merges, random), shuffled(splits, random)));
      expect(got, JSON.stringify({ merges, splits })).toEqual(wanted);
    }
  });

  it('in a ring are apart once one of them is said to be', () => {
    const { same, apart } = statementsBy(fixedTools());
    expect(classesOf([same('a', 'b'), same('b', 'a'), apart('a')])).toEqual(['a', 'b', 'c', 'd', 'me']);
    const other = statementsBy(fixedTools());
    expect(classesOf([other.same('b', 'a'), other.same('a', 'b'), other.apart('a')])).toEqual([
      'a',
      'b',
      'c',
      'd',
      'me',
    ]);
  });

  it("never merge the owner's own entity into another one", () => {
    const { same } = statementsBy(fixedTools());
    const standing = standingOf([same('a', 'me'), same('a', 'b')], 'me');
    expect(ALL.map(standing)).toEqual(['me', 'me', 'c', 'd', 'me']);
  });
});

import type { Schemas } from '@qdrant/js-client-rest';
import { type IndexPoint, type IndexQuery, matches, readFilter, visible } from '@slowwave/engine';
import { FILTER_CASES, FILTER_DOCUMENTS, indexPoint, indexQuery } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { sightOf } from './filters.ts';
import { structOf } from './points.ts';

type Values = Readonly<Record<string, unknown>>;

/** As the server tests a filter of the kinds that are asked here: a field that is a list is as good as any of its values. */
function fits(values: Values, filter: Schemas['Filter']): boolean {
  const all = (given: unknown) => [given ?? []].flat() as Schemas['Condition'][];
  const should = all(filter.should);
  return (
    all(filter.must).every((one) => holds(values, one)) &&
    (should.length === 0 || should.some((one) => holds(values, one))) &&
    !all(filter.must_not).some((one) => holds(values, one))
  );
}

function holds(values: Values, condition: Schemas['Condition']): boolean {
  if ('has_id' in condition) return false;
  if (!('key' in condition)) return fits(values, condition as Schemas['Filter']);
  const { key, match, range } = condition as { key: string; match?: Match; range?: Range };
  const have = [values[key] ?? []].flat();
  if (match !== undefined) return have.some((one) => ('any' in match ? match.any.includes(one) : match.value === one));
  return have.some((one) => inRange(Number(one), range ?? {}));
}

type Match = { readonly value: unknown } | { readonly any: readonly unknown[] };
type Range = Readonly<Partial<Record<'gt' | 'gte' | 'lt' | 'lte', number>>>;

const inRange = (one: number, { gt, gte, lt, lte }: Range): boolean =>
  !(one <= (gt ?? Number.NEGATIVE_INFINITY)) &&
  !(one < (gte ?? Number.NEGATIVE_INFINITY)) &&
  !(one >= (lt ?? Number.POSITIVE_INFINITY)) &&
  !(one > (lte ?? Number.POSITIVE_INFINITY));

const NAMES = { alias: 'a', collections: ['a', 'b'], dense: 'd', sparse: 's', wide: 'w', shards: 0 } as const;
const valuesOf = (point: IndexPoint): Values => structOf(point, NAMES).payload as Values;

describe('what Qdrant is asked for', () => {
  test('covers all that a filter is true of, also where something was said under several ids', () => {
    for (const { filter } of FILTER_CASES) {
      const where = readFilter(filter);
      const asked = sightOf(indexQuery({ where }));
      const missed = FILTER_DOCUMENTS.map((of) => indexPoint(of)).filter(
        (point) => matches(where, point) && !fits(valuesOf(point), asked),
      );
      expect([filter, missed.map(({ memoryId }) => memoryId)]).toEqual([filter, []]);
    }
  });

  test('is a point that was said under each id that is named, and what an app was told last', () => {
    const ids = { agentId: ['bot'], runId: ['r1', 'r2'], appId: ['shop', 'health'] };
    const points = [
      indexPoint({ memoryId: 'often', ids, toldLast: { alone: [], shared: ['health'] } }),
      indexPoint({ memoryId: 'former', ids, live: false, toldLast: { alone: [], shared: ['shop'] } }),
      indexPoint({ memoryId: 'alone', ids: { ...ids, appId: ['shop'] }, toldLast: { alone: ['shop'], shared: [] } }),
      indexPoint({ memoryId: 'nowhere' }),
    ];
    const told = (appId: string, among: 'alone' | 'shared'): Partial<IndexQuery> => ({
      visibility: { kind: 'told_last', appId, among },
    });
    const asked: readonly Partial<IndexQuery>[] = [
      {},
      { filter: { runId: 'r2', appId: 'shop' } },
      { filter: { appId: 'health' } },
      { filter: { agentId: 'nobody' } },
      told('shop', 'shared'),
      told('shop', 'alone'),
      told('health', 'shared'),
      told('bank', 'shared'),
    ];
    for (const given of asked) {
      const query = indexQuery(given);
      const found = points.filter((point) => fits(valuesOf(point), sightOf(query)));
      const seen = points.filter((point) => visible(point, query));
      expect([given, found.map(({ memoryId }) => memoryId)]).toEqual([given, seen.map(({ memoryId }) => memoryId)]);
    }
  });
});

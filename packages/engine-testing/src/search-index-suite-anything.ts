import {
  type IdLists,
  type IndexHit,
  type IndexPoint,
  type IndexQuery,
  type LaneId,
  listsOfOne,
  type Owner,
  type Scope,
  type SearchIndex,
  scan,
  type Under,
  type Visibility,
} from '@slowwave/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyIndex, keepPoint, withdrawPoint } from './memory-index.ts';
import { NOON, point, query, ranked } from './search-index-suite-points.ts';

/** How far a score may be from the reference: single precision, several additions. */
const DIGITS = 4;
const WAVES = 6;
const POINTS_PER_WAVE = 120;
const QUESTIONS_PER_WAVE = 25;

/** Points of all kinds, written over each other, and questions of all kinds: for indexes that are exact. */
export function describeAnything(index: () => SearchIndex): void {
  describe('anything that is written', () => {
    test('is found and ranked as by looking at every point', async () => {
      const reference = emptyIndex();
      for (let seed = 1; seed <= WAVES; seed += 1) {
        const written = fc.sample(anyPoint, { numRuns: POINTS_PER_WAVE, seed });
        await index().upsert(written);
        for (const one of written) keepPoint(reference, one);
        const withdrawn = written.slice(0, 5);
        await index().withdraw(withdrawn);
        for (const one of withdrawn) withdrawPoint(reference, one);
        await expectSame(index(), [...reference.points.values()], seed);
      }
    });
  });
}

async function expectSame(index: SearchIndex, points: readonly IndexPoint[], seed: number): Promise<void> {
  const asked = fc.sample(anyQuery, { numRuns: QUESTIONS_PER_WAVE, seed });
  const answers = await index.search(asked);
  for (const [i, one] of asked.entries()) expectHits(answers[i] ?? [], scan(points, one));
}

function expectHits(hits: readonly IndexHit[], expected: readonly IndexHit[]): void {
  expect(ranked(hits, 'vectorScore')).toEqual(ranked(expected, 'vectorScore'));
  expect(ranked(hits, 'keywordScore')).toEqual(ranked(expected, 'keywordScore'));
  const scores = new Map(expected.map((hit) => [nameOf(hit), hit]));
  for (const hit of hits) {
    const same = scores.get(nameOf(hit));
    expect(hit.point).toEqual(same?.point);
    for (const leg of ['vectorScore', 'keywordScore'] as const) {
      if (hit[leg] !== null) expect(hit[leg]).toBeCloseTo(same?.[leg] ?? Number.NaN, DIGITS);
    }
  }
}

const nameOf = ({ point: { memoryId, version } }: IndexHit): string => `${memoryId}.${version}`;

const anyOwner = fc.constantFrom<Owner>({ kind: 'user', id: 'ann' }, { kind: 'user', id: 'bob' });
/** A second one is that of an owner who was erased before. */
const anyLane = fc.constantFrom('lane-1' as LaneId, 'lane-2' as LaneId);
const anyShelf = fc.constantFrom('memories' as const, 'messages' as const);
const anyMoment = fc.integer({ min: 0, max: 6 }).map((hours) => NOON + (hours - 3) * 3_600_000);
const anySaid = fc.record({ at: anyMoment, seq: fc.integer({ min: 0, max: 3 }) });
const anyTerms = fc.array(fc.constantFrom('tea', 'milk', 'cup', 'green', '北京', '京', 'é', 'kyoto'), { maxLength: 9 });
/** Few different ones, so that equal and opposite ones come often, and one that has no direction. */
const anyVector = fc.oneof(
  fc.constantFrom([1, 0, 0, 0], [0, 0, 0, 0], [-3, 0, 0, 0], [1, 1e-3, 0, 0]),
  fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 4, maxLength: 4 }),
  fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
);
const anyId = fc.option(fc.constantFrom('x', 'y'), { nil: null });
const anyApps = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 });
const anyScope = fc.record({ agentId: anyId, runId: anyId, appId: anyId });

/** Ids of a lane's own: a memory never moves to another one. */
const anyPoint = fc
  .record({
    owner: anyOwner,
    lane: anyLane,
    shelf: anyShelf,
    number: fc.integer({ min: 0, max: 99 }),
    version: fc.integer({ min: 1, max: 2 }),
    revision: fc.integer({ min: 1, max: 9 }),
    terms: anyTerms,
    contextTerms: anyTerms,
    vector: anyVector,
    live: fc.boolean(),
    saidAt: anySaid,
    validFrom: anyMoment,
    invalidAt: fc.option(anyMoment, { nil: null }),
    expiresAt: fc.option(anyMoment, { nil: null }),
    deletedAt: fc.option(anySaid, { nil: null }),
    scope: anyScope,
    again: anyScope,
    alone: anyApps,
    shared: anyApps,
  })
  .map(({ number, vector, scope, again, alone, shared, ...given }) => {
    const memoryId = `${given.owner.id}-${given.lane}-${number}`;
    const whole: Scope = { ...scope, userId: given.owner.id };
    return point({
      ...given,
      memoryId,
      scope: whole,
      ids: both(scope, again),
      ...(alone.length + shared.length > 0 && { toldLast: { alone, shared } }),
      text: `Said ${given.revision}`,
      vector: Float32Array.from(vector),
    });
  });

/** Said under some ids, and once more under others. */
function both(one: Under, other: Under): IdLists {
  const [a, b] = [listsOfOne(one), listsOfOne(other)];
  const of = (key: keyof Under): string[] => [...new Set([...a[key], ...b[key]])];
  return { agentId: of('agentId'), runId: of('runId'), appId: of('appId') };
}

const anyVisibility = fc.oneof(
  anyMoment.map((now): Visibility => ({ kind: 'live', now })),
  anyMoment.map((at): Visibility => ({ kind: 'as_of', at })),
  fc.option(anyMoment, { nil: null }).map((begunBy): Visibility => ({ kind: 'every', begunBy })),
  anySaid.map((after): Visibility => ({ kind: 'live_or_said_after', after })),
  fc
    .record({ appId: fc.constantFrom('x', 'y'), among: fc.constantFrom('alone' as const, 'shared' as const) })
    .map((where): Visibility => ({ kind: 'told_last', ...where })),
);

const anyFilter = anyScope.map(({ agentId, runId, appId }) => ({
  ...(agentId === null ? {} : { agentId }),
  ...(runId === null ? {} : { runId }),
  ...(appId === null ? {} : { appId }),
}));

const anyQuery: fc.Arbitrary<IndexQuery> = fc
  .record({
    owner: anyOwner,
    lane: anyLane,
    shelf: anyShelf,
    filter: fc.oneof(fc.constant({}), anyFilter),
    visibility: anyVisibility,
    vector: fc.option(anyVector, { nil: null }),
    terms: fc.option(anyTerms, { nil: null }),
    wide: fc.boolean(),
    limit: fc.constantFrom(0, 1, 2, 7, 30, 1_000),
  })
  .map(({ vector, ...given }) => query({ ...given, vector: vector === null ? null : Float32Array.from(vector) }));

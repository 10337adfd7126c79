import { anyOperations, anyText, playGuard, type Scene } from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operationsIn } from '../models/parse/listed.ts';
import { normaliseText } from '../text/normalise.ts';

/** Enough to find every rule that was ever broken while this was written; some two seconds. */
const RUNS = 2_000;

/** Lives of a few moments, before, between and after those of the facts. */
const anyLife = fc
  .tuple(
    anyText,
    fc.array(fc.option(anyText, { freq: 4 }), { maxLength: 3 }),
    fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 4, maxLength: 4 }),
  )
  .map(([first, rest, minutes]) => [first, ...rest].map((text, i) => [minutes[i] ?? 1, text] as const));

const anyMemory = fc.record(
  {
    life: anyLife,
    immutable: fc.boolean(),
    /** After everything that was said of it. */
    expires: fc.integer({ min: 201, max: 300 }),
    recalledBy: fc.subarray([0, 1, 2, 3]),
    foreign: fc.boolean(),
  },
  { requiredKeys: ['life'] },
);

const anyFact = fc.record(
  { text: anyText, minute: fc.integer({ min: 1, max: 300 }), category: fc.constantFrom('travel', 'food', 'forget') },
  { requiredKeys: ['text', 'minute'] },
);

const anyScene: fc.Arbitrary<Scene> = fc.record(
  {
    memories: fc.array(anyMemory, { maxLength: 3 }),
    facts: fc.array(anyFact, { maxLength: 4 }).map((facts) => facts.toSorted((a, b) => a.minute - b.minute)),
    asked: fc.option(
      anyOperations.map((operations) => operationsIn(operations)?.items ?? []),
      { freq: 9 },
    ),
    deletesMax: fc.integer({ min: 0, max: 3 }),
    tombstones: fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), anyText), { maxLength: 2 }),
    addOnly: fc.boolean(),
  },
  { requiredKeys: ['memories', 'facts', 'asked'] },
);

describe('whatever a model decides', () => {
  it('each fact ends once and holds when it was said, no foreign memory changes, versions do not overlap', () => {
    fc.assert(
      fc.property(anyScene, (scene) => {
        expect(playGuard(scene).ends).toHaveLength(scene.facts.length);
      }),
      { numRuns: RUNS },
    );
  });

  it('no more is deleted than may be, and nothing immutable', () => {
    fc.assert(
      fc.property(anyScene, (scene) => {
        const { operations } = playGuard(scene);
        const deleted = operations.filter(({ event }) => event === 'DELETE').map(({ memoryId }) => memoryId);
        expect(deleted.length).toBeLessThanOrEqual(scene.deletesMax ?? 10);
        const fixed = (scene.memories ?? []).flatMap((given, i) =>
          typeof given !== 'string' && given.immutable === true ? [`mem_known_${i}`] : [],
        );
        for (const id of fixed) {
          expect(deleted).not.toContain(id);
          const changed = operations.filter(({ memoryId, event }) => memoryId === id && event === 'UPDATE');
          for (const { before, after } of changed) expect(normaliseText(after ?? '')).toBe(normaliseText(before ?? ''));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('the same question has the same end', () => {
    fc.assert(
      fc.property(anyScene, (scene) => {
        expect(JSON.stringify(playGuard(scene))).toBe(JSON.stringify(playGuard(scene)));
      }),
      { numRuns: RUNS / 10 },
    );
  });
});

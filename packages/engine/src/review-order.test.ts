import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ReviewedKind } from './plan.ts';
import { reviewer } from './review.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { echoExtract, engineBench, fakeChat } from './testing/index.ts';
import { DEFAULT_TENANT, type JsonObject } from './words.ts';

const WORDS = ['tea', 'cats', 'Oslo', 'chess', 'rain'];
const KINDS: readonly ReviewedKind[] = ['ADD', 'UPDATE', 'DELETE'];
const MINUTE = 60_000;
const ALL = { limit: 100, cursor: null };

const word = fc.constantFrom(...WORDS);
const wish = fc.record({
  fact: fc.constantFrom('f0', 'f1', 'f2', 'f3'),
  event: fc.constantFrom('ADD', 'UPDATE', 'DELETE', 'NONE'),
  id: fc.constantFrom(null, '0', '1', 'f0', 'f1', 'f2'),
  text: fc.option(word),
  reason: fc.constant(null),
  keep: fc.boolean(),
});
const story = fc.record({
  known: fc.uniqueArray(word, { minLength: 1, maxLength: 2 }),
  said: fc.array(word, { minLength: 1, maxLength: 4 }),
  wishes: fc.array(wish, { maxLength: 6 }),
  review: fc.subarray([...KINDS], { minLength: 1 }),
  order: fc.infiniteStream(fc.nat()),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

it('approving all that waits, in any order, leaves what would hold had nothing waited', async () => {
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const [free, held] = [await after(told, []), await after(told, told.review)];
      await approveAll(held, told.order);
      expect(await held.live()).toEqual(await free.live());
    }),
    { numRuns: 100 },
  );
});

/** Ann's memories after what was known before and what was said now. */
async function after({ known, said, wishes }: Story, review: readonly ReviewedKind[]) {
  const operations = wishes as unknown as JsonObject[];
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: () => ({ operations }) });
  // Everything is near everything: only the wishes decide what belongs together.
  const bench = await engineBench({ chat, settings: { near: { vector: -1, keyword: 0, overlap: 0 } } });
  await bench.post(known, { settings: { mode: 'add_only' } });
  await bench.run();
  await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, review });
  bench.tools.advance(MINUTE);
  await bench.post(said);
  await bench.run();
  bench.tools.advance(MINUTE);
  return bench;
}

/** What comes too early is tried again after the others. */
async function approveAll({ deps }: Awaited<ReturnType<typeof after>>, order: Iterator<number>): Promise<void> {
  const { results } = await deps.ledger.reviews.list(DEFAULT_TENANT, { state: 'pending' }, ALL);
  const waiting = results.map((review) => review.id);
  while (waiting.length > 0) {
    const [id = ''] = waiting.splice(order.next().value % waiting.length, 1);
    const { kind } = await reviewer(deps).approve(DEFAULT_TENANT, id);
    if (kind === 'early') waiting.push(id);
  }
}

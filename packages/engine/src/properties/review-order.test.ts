import { type EngineBench, echoExtract, engineBench, fakeChat } from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inOrder } from '../memories/evolve.ts';
import { reviewer } from '../memories/review.ts';
import { memoryWriter } from '../memories/write.ts';
import type { ReviewedKind } from '../plan.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';

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
type Told = Omit<typeof story extends fc.Arbitrary<infer T> ? T : never, 'order'>;

/** Of three that wait: which is approved first, and which of the two that are left. */
const ORDERS = [0, 1, 2].flatMap((first) => [0, 1].map((second): [number, number] => [first, second]));

describe('approving all that waits, in any order,', () => {
  it('leaves what would hold and have held had nothing waited', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ order, ...told }) => expectAsHadNothingWaited(told, order)),
      { numRuns: 100 },
    );
  });

  it.each(ORDERS)('keeps what reads like another memory that is deleted with it (%i, %i)', async (...order) => {
    await expectAsHadNothingWaited(CHESS_TWICE, cycle(order));
    expect(await (await benchAfter(CHESS_TWICE, [])).live()).toContain('chess');
  });

  it.each(ORDERS)(
    'keeps in its history what a memory read like before it was deleted with it (%i, %i)',
    async (...order) => {
      const told: Told = {
        known: ['Oslo', 'tea'],
        said: ['chess', 'rain', 'cats'],
        wishes: [wishOf('f0', 'UPDATE', 'chess'), wishOf('f1', 'UPDATE', 'rain'), wishOf('f2', 'DELETE', null)],
        review: ['UPDATE', 'DELETE'],
      };
      await expectAsHadNothingWaited(told, cycle(order));
      expect(String(await lives(await benchAfter(told, [])))).toMatch(/tea.*chess.*rain/);
    },
  );

  it.each(ORDERS)(
    'keeps what a fact repeats, also where a deletion is asked for the same fact (%i, %i)',
    async (...order) => {
      await expectAsHadNothingWaited(CONFIRMED_THEN_DELETED, cycle(order));
      expect(await (await benchAfter(CONFIRMED_THEN_DELETED, [])).live()).toContain('chess');
    },
  );

  it('brings nothing back that somebody deleted since', async () => {
    const held = await benchAfter(CHESS_TWICE, CHESS_TWICE.review);
    const writer = memoryWriter(held.deps);
    const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
    const plain = { metadata: {}, category: null, immutable: false, validFrom: null, expiresAt: null };
    const written = await writer.add(DEFAULT_TENANT, { scope, text: 'chess', ...plain });
    held.tools.advance(MINUTE);
    if (written.kind === 'written') await writer.remove(DEFAULT_TENANT, written.memory.id);
    const ends = await approveAll(held, cycle([0]));
    expect(ends.toSorted()).toEqual(['approved', 'approved', 'stale']);
    expect(await held.live()).toEqual(['Oslo', 'tea']);
  });
});

async function expectAsHadNothingWaited(told: Told, order: Iterator<number>): Promise<void> {
  const [free, held] = [await benchAfter(told, []), await benchAfter(told, told.review)];
  const ends = await approveAll(held, order);
  expect(ends.filter((end) => end !== 'approved')).toEqual([]);
  expect(await held.live()).toEqual(await free.live());
  expect(await lives(held)).toEqual(await lives(free));
}

/** Ann's memories after what was known before and what was said now. */
async function benchAfter({ known, said, wishes }: Told, review: readonly ReviewedKind[]) {
  const operations = wishes as unknown as JsonObject[];
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: () => ({ operations }) });
  // Everything is near everything: only the wishes decide what belongs together.
  const bench = await engineBench({ chat, settings: { near: { vector: -1, keyword: 0, pair: -1, overlap: 0 } } });
  await bench.post(known, { settings: { mode: 'add_only' } });
  await bench.run();
  await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, review });
  bench.tools.advance(MINUTE);
  await bench.post(said);
  await bench.run();
  bench.tools.advance(MINUTE);
  return bench;
}

/** All versions each memory ever had, in the order of saying, and when each of them held. */
async function lives(bench: EngineBench): Promise<readonly string[]> {
  const memories = await bench.memories();
  const versions = memories.map((memory) =>
    inOrder(memory).map(({ text, saidAt, validFrom, invalidAt, details }) => [
      ...[text, saidAt, validFrom, invalidAt],
      details.sourceIds.toSorted(),
    ]),
  );
  return versions.map((life) => JSON.stringify(life)).sort();
}

/** What comes too early is tried again after the others. Answers with how each ended. */
async function approveAll({ deps }: EngineBench, order: Iterator<number>): Promise<readonly string[]> {
  const { results } = await deps.ledger.reviews.list(DEFAULT_TENANT, { state: 'pending' }, ALL);
  const waiting = results.map((review) => review.id);
  const ends: string[] = [];
  while (waiting.length > 0) {
    const [id = ''] = waiting.splice(order.next().value % waiting.length, 1);
    const result = await reviewer(deps).approve(DEFAULT_TENANT, id);
    if (result.kind === 'early') waiting.push(id);
    else ends.push(result.kind === 'settled' ? result.review.state : result.kind);
  }
  return ends;
}

type Wish = Told['wishes'][number];

const wishOf = (fact: Wish['fact'], event: ReviewedKind, text: Wish['text']): Wish => ({
  fact,
  event,
  id: '1',
  text,
  reason: null,
  keep: false,
});

/** The addition of "chess" waits; what is known as "tea" comes to say "chess" later and is deleted. */
const CHESS_TWICE: Told = {
  known: ['Oslo', 'tea'],
  said: ['chess', 'tea or Oslo', 'tea or chess', 'tea'],
  wishes: [wishOf('f1', 'UPDATE', 'Oslo'), wishOf('f2', 'UPDATE', 'chess'), wishOf('f3', 'DELETE', null)],
  review: ['ADD'],
};

/** "chess" waits; the last fact says the same of what is known as "tea", which is merged into it, and asks to delete it. */
const CONFIRMED_THEN_DELETED: Told = {
  known: ['Oslo', 'tea'],
  said: ['chess', 'tea', 'cats, not chess'],
  wishes: [
    { ...wishOf('f0', 'ADD', null), id: null },
    { ...wishOf('f2', 'ADD', null), id: null },
    wishOf('f2', 'UPDATE', 'chess'),
    { ...wishOf('f2', 'DELETE', null), id: 'f0' },
  ],
  review: ['ADD', 'DELETE'],
};

function* cycle(numbers: readonly number[]): Generator<number, never> {
  for (;;) yield* numbers;
}

import { engineBench, fakeChat } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { figuresAgainst } from '../suites/cases.ts';
import { DEFAULT_TENANT } from '../words.ts';
import {
  compare,
  compareTallies,
  intervalOf,
  mulberry,
  type OwnerFigures,
  talliesOf,
  verdictOf,
  wilson,
} from './compare.ts';
import { addFigures, type Figures, figureValue } from './figures.ts';
import { figuresOf, languageOf, measuredIn, negates, sentencesAround, subjectOf } from './measure.ts';

interface Said {
  readonly says: string;
  readonly facts: readonly { readonly text: string; readonly quote?: string | null }[];
}

/** What is measured of messages with the facts that a model found in them. */
async function measured(talk: readonly Said[]): Promise<Figures> {
  const bench = await engineBench({
    chat: fakeChat({
      extract_facts: () => ({
        facts: talk.flatMap(({ says, facts }, i) =>
          facts.map(({ text, quote = says }) => ({ text, quote, source_ids: [`m${i}`] })),
        ),
      }),
      decide_operations: () => ({ operations: [] }),
    }),
  });
  const id = await bench.post(talk.map(({ says }) => says));
  await bench.run();
  const { consolidationId } = (await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)) ?? { consolidationId: null };
  return figuresOf(await measuredIn(bench.deps, { id: consolidationId ?? '', tenant: DEFAULT_TENANT, batchIds: [id] }));
}

const whole = { part: 1, of: 1 };

test('a consolidation that goes well has figures that say so', async () => {
  const figures = await measured([
    { says: 'I moved to Lisbon on May 3, 2025.', facts: [{ text: 'User moved to Lisbon on May 3, 2025' }] },
    { says: 'My sister Anna does not eat fish.', facts: [{ text: "User's sister Anna does not eat fish" }] },
  ]);
  expect(figures).toMatchObject({
    facts_per_message: { part: 2, of: 2 },
    heard: { part: 2, of: 2 },
    discarded: { part: 0, of: 2 },
    quotes_stand: { part: 2, of: 2 },
    dates_kept: whole,
    dates_said: whole,
    negations_kept: whole,
    names_kept: { part: 2, of: 2 },
    names_apart: whole,
    repaired: { part: 0 },
    unusable: { part: 0 },
    adds: { part: 2, of: 2 },
  });
  expect(figures.calls?.part).toBeGreaterThan(0);
});

test('what a model spoils shows in the figure of its kind', async () => {
  const negated = await measured([
    { says: 'I do not like green tea at all.', facts: [{ text: 'User likes green tea' }] },
  ]);
  expect(figureValue(negated.negations_kept)).toBe(0);
  const mixed = await measured([
    {
      says: 'Anna plays chess. Ben plays the violin.',
      facts: [{ text: 'Ben plays chess', quote: 'Anna plays chess' }],
    },
  ]);
  expect(figureValue(mixed.names_apart)).toBe(0);
  const cut = await measured([
    { says: 'I work as a nurse in Leeds.', facts: [{ text: 'User works as a nurse', quote: 'work as a nur' }] },
  ]);
  expect(figureValue(cut.quotes_stand)).toBe(0);
  const undated = await measured([
    { says: 'I start at the bakery on May 3, 2025.', facts: [{ text: 'User starts at the bakery' }] },
  ]);
  expect(figureValue(undated.dates_kept)).toBe(0);
});

test('texts are read as far as they say surely what they are', () => {
  expect(
    [
      'I live in the city with my dog',
      'Ich wohne mit meiner Katze in der Stadt',
      '我住在北京',
      '東京に住んでいます',
    ].map(languageOf),
  ).toEqual(['en', 'de', 'zh', 'ja']);
  expect(languageOf('Lisbon')).toBeNull();
  expect(['I don’t', 'Das ist kein Hund', '我不吃肉', 'No, gracias', 'I know it'].map(negates)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
  expect(sentencesAround('likes tea', ['Ann is here. Ben likes tea! Bye.'])).toBe('Ben likes tea!');
  expect(
    ['Anna likes tea', "User's sister Anna likes tea", 'User lives in Oslo', "User's city is Oslo"].map(subjectOf),
  ).toEqual(['anna', 'anna', null, null]);
});

test('what was stored is found again by quote, message and words, each once', () => {
  const fact = (text: string, quote: string | null, source: string) => ({
    ...{ text, quote, sources: [source], language: source === 'm3' ? 'zh' : 'en' },
  });
  const stored = {
    facts: [
      fact('User is a vegetarian', 'I eat no meat', 'm1'),
      fact('User lives in Oslo', 'I live in Oslo', 'm2'),
      fact('用户住在北京', null, 'm3'),
    ],
    changes: [
      { event: 'UPDATE' as const, before: 'User lives in Rome' },
      { event: 'DELETE' as const, before: 'User has a dog' },
    ],
    live: ['User lives in Oslo'],
  };
  expect(figuresAgainst(stored, stored).figures).toMatchObject({
    facts_kept: { part: 3, of: 3 },
    facts_new: { part: 0 },
    targets_hit: { part: 2, of: 2 },
    stale: { part: 0, of: 2 },
  });
  const made = {
    facts: [fact('User does not eat meat', 'eat no meat', 'm1')],
    changes: [{ event: 'UPDATE' as const, before: 'User likes tea' }],
    live: ['User lives in Rome'],
  };
  const { figures, keptByLanguage, lost } = figuresAgainst(stored, made);
  expect(figures).toMatchObject({
    facts_kept: { part: 1, of: 3 },
    targets_hit: { part: 0, of: 2 },
    targets_other: whole,
    deletes_kept: whole,
    stale: { part: 1, of: 2 },
  });
  expect(keptByLanguage).toEqual({ en: { part: 1, of: 2 }, zh: { part: 0, of: 1 } });
  expect(lost.map(({ text }) => text)).toEqual(['User lives in Oslo', '用户住在北京']);
});

/** Owners with ten facts each, of which a share is heard, by chance. */
function owners(count: number, { share, seed }: { share: number; seed: number }): OwnerFigures[] {
  const random = mulberry(seed);
  return Array.from({ length: count }, (_, i) => {
    const part = Array.from({ length: 10 }, () => random()).filter((one) => one < share).length;
    return {
      owner: `o${i}`,
      figures: { heard: { part, of: 10 }, prompt_tokens: { part: 900 + 200 * random() * share, of: 10 } },
    };
  });
}

test('intervals hold what is true as often as they say, and the same input has the same answer', () => {
  const missed = Array.from({ length: 200 }, (_, seed) => {
    const [a, b] = [owners(30, { share: 0.8, seed: 2 * seed }), owners(30, { share: 0.8, seed: 2 * seed + 1 })];
    return compare(a, b, { level: 0.95 }).some(
      ({ figure, difference }) =>
        figure === 'heard' && difference !== null && (difference.low > 0 || difference.high < 0),
    );
  }).filter(Boolean).length;
  expect(missed).toBeLessThanOrEqual(16);
  expect(compare(owners(30, { share: 0.8, seed: 1 }), owners(30, { share: 0.6, seed: 2 }))).toEqual(
    compare(owners(30, { share: 0.8, seed: 1 }), owners(30, { share: 0.6, seed: 2 })),
  );
  expect(wilson(0, 10).high).toBeCloseTo(0.278, 2);
});

test('each figure has an interval of its own, which holds what is true as often as it says', () => {
  const missed = Array.from({ length: 200 }, (_, seed) => {
    const heard = intervalOf('heard', talliesOf(owners(30, { share: 0.8, seed }), 'heard'), { level: 0.95 });
    return heard === null || heard.low > 0.8 || heard.high < 0.8;
  }).filter(Boolean).length;
  expect(missed).toBeLessThanOrEqual(16);
  const tokens = talliesOf(owners(30, { share: 0.8, seed: 1 }), 'prompt_tokens');
  const { value, low, high } = intervalOf('prompt_tokens', tokens) ?? { value: 0, low: 0, high: 0 };
  expect([low < value, value < high, high - low < 10]).toEqual([true, true, true]);
  expect(intervalOf('heard', talliesOf(owners(4, { share: 0.8, seed: 1 }), 'heard')), 'too few owners').toBeNull();
});

test('what is worse by more than the margin, and not by chance, is told from what may be', () => {
  const verdictAt = (share: number, count: number) => {
    const found = compare(owners(count, { share: 0.9, seed: 7 }), owners(count, { share, seed: 8 })).find(
      ({ figure }) => figure === 'heard',
    );
    return found === undefined ? null : verdictOf(found);
  };
  expect([verdictAt(0.5, 30), verdictAt(0.9, 100), verdictAt(0.5, 3)]).toEqual(['worse', 'fine', 'unclear']);
  const twice = (by: number) =>
    new Map(Array.from({ length: 10 }, (_, i) => [`o${i}`, { part: (1_000 + i) * by, of: 10 }]));
  const tokens = compareTallies('prompt_tokens', { baseline: twice(1), variant: twice(2) });
  expect(verdictOf(tokens)).toBe('worse');
  expect(verdictOf(compareTallies('prompt_tokens', { baseline: twice(2), variant: twice(1) }))).toBe('fine');
});

test('figures add up', () => {
  expect(addFigures([{ heard: { part: 1, of: 2 } }, { heard: { part: 2, of: 3 }, calls: { part: 1, of: 1 } }])).toEqual(
    {
      heard: { part: 3, of: 5 },
      calls: whole,
    },
  );
});

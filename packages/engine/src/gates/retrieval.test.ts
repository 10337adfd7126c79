import {
  details,
  NOON,
  indexPoint as point,
  indexQuery as query,
  type Talk,
  type TalkOptions,
  type Turn,
  talk,
} from '@slowwave/engine-testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { HASHED, hashVector } from '../models/vectors.ts';
import type { IndexHit, IndexPoint } from '../ports/search-index.ts';
import { contextOf } from '../projection/make-points.ts';
import { type SearchMode, scan } from '../search/hits.ts';
import { FACTORS, type FactorName, rank, rankBy } from '../search/rank.ts';
import { judge, scored } from '../search/relevance.ts';
import { terms } from '../text/terms.ts';
import type { Message } from '../words.ts';

const SEEDS = [1, 2, 3, 4];
/** As many as a search of ten results asks each leg for. */
const LEG = 50;

/** One question with everything either leg found. */
interface Asked {
  readonly text: string;
  readonly gold: string;
  readonly hits: readonly IndexHit[];
  readonly at: number;
}

interface How {
  readonly followUps?: boolean;
  readonly lookalikes?: boolean;
  readonly of?: 'messages' | 'facts';
}

interface Way {
  readonly mode?: SearchMode;
  readonly factors?: readonly FactorName[];
}

interface Figures {
  readonly r5: number;
  readonly r10: number;
  readonly mrr: number;
}

const messageOf = (turn: Turn, seq: number): Message => ({
  ...{ id: `m${seq}`, batchId: `b${turn.session}`, clientId: null, role: 'user', content: turn.text, resent: false },
  name: turn.speaker,
  saidAt: { at: turn.at, seq },
});

/** Every turn a memory, word for word, what is said again only once; or the facts a model would make of them. */
function pointsOf({ turns, facts }: Talk, of: 'messages' | 'facts'): IndexPoint[] {
  const messages = turns.map(messageOf);
  const told = of === 'facts' ? facts : turns.map(({ text }, turn) => ({ text, turn }));
  const first = new Map(told.map(({ text, turn }) => [text, turn] as const).reverse());
  return [...first].map(([text, i], number) => {
    const message = messages[i] as Message;
    const before = turns[i - 1]?.session === turns[i]?.session ? (messages[i - 1] ?? null) : null;
    const version = {
      ...{ number: 1, text, saidAt: message.saidAt, validFrom: message.saidAt.at, invalidAt: null },
      ...{ supersededBy: null, recordedAt: message.saidAt.at, details: details({ sourceIds: [message.id] }) },
    };
    const context = contextOf(version, new Map([[message.id, { message, before }]]));
    return point({ memoryId: `f${number}`, text, saidAt: message.saidAt, vector: hashVector(text), ...context });
  });
}

function ask(options: TalkOptions, { of = 'messages', followUps = false }: How = {}): Asked[] {
  const said = talk(options);
  const points = pointsOf(said, of);
  const at = Math.max(...said.turns.map((turn) => turn.at)) + 86_400_000;
  const questions = followUps
    ? said.followUps
    : said.questions.map(({ text, gold, fact }) => ({ text, gold: of === 'facts' ? fact : gold }));
  return questions.map(({ text, gold }) => ({
    text,
    gold,
    at,
    hits: scan(
      points,
      query({
        vector: hashVector(text),
        terms: terms(text),
        wide: true,
        limit: LEG,
        visibility: { kind: 'live', now: at },
      }),
    ),
  }));
}

function measure(asked: readonly Asked[], { mode = 'hybrid', factors = FACTORS }: Way = {}): Figures {
  const ranks = asked.map(({ text, gold, hits, at }) => {
    const ranked = rankBy(factors, { text, terms: terms(text), mode, at, vectors: HASHED }, hits);
    return ranked.findIndex(({ hit }) => hit.point.text === gold) + 1 || Number.POSITIVE_INFINITY;
  });
  const mean = (of: (rank: number) => number): number => ranks.reduce((sum, rank) => sum + of(rank), 0) / ranks.length;
  return {
    r5: mean((rank) => Number(rank <= 5)),
    r10: mean((rank) => Number(rank <= 10)),
    mrr: mean((rank) => 1 / rank),
  };
}

const all = (language: TalkOptions['language'], how: How = {}): Asked[] =>
  SEEDS.flatMap((seed) => ask({ seed, language, lookalikes: how.lookalikes ?? false }, how));

/** What the worlds are made of, and what has to be reached in them. */
const WORLDS = [
  {
    name: 'English follow-ups',
    language: 'english',
    of: 'messages',
    followUps: true,
    least: { r5: 0.85, r10: 0.95, mrr: 0.25 },
  },
  {
    name: 'Chinese follow-ups',
    language: 'chinese',
    of: 'messages',
    followUps: true,
    least: { r5: 0.9, r10: 0.95, mrr: 0.22 },
  },
  { name: 'English messages', language: 'english', of: 'messages', least: { r5: 0.75, r10: 0.82, mrr: 0.55 } },
  { name: 'Chinese messages', language: 'chinese', of: 'messages', least: { r5: 0.9, r10: 0.93, mrr: 0.65 } },
  { name: 'English facts', language: 'english', of: 'facts', least: { r5: 0.95, r10: 0.98, mrr: 0.9 } },
  { name: 'Chinese facts', language: 'chinese', of: 'facts', least: { r5: 0.98, r10: 0.99, mrr: 0.96 } },
  {
    name: 'English lookalikes',
    language: 'english',
    of: 'facts',
    lookalikes: true,
    least: { r5: 0.9, r10: 0.95, mrr: 0.82 },
  },
  {
    name: 'Chinese lookalikes',
    language: 'chinese',
    of: 'facts',
    lookalikes: true,
    least: { r5: 0.95, r10: 0.98, mrr: 0.88 },
  },
] as const;

/** Where a factor has to show what it is for. */
const GAINS: readonly { factor: FactorName; world: string; figure: keyof Figures; least: number }[] = [
  { factor: 'speaker', world: 'English messages', figure: 'mrr', least: 0.05 },
  { factor: 'speaker', world: 'Chinese messages', figure: 'mrr', least: 0.05 },
  { factor: 'subject', world: 'English lookalikes', figure: 'mrr', least: 0.04 },
  { factor: 'subject', world: 'Chinese lookalikes', figure: 'mrr', least: 0.03 },
  { factor: 'asking', world: 'English messages', figure: 'mrr', least: 0.02 },
  { factor: 'asking', world: 'Chinese messages', figure: 'mrr', least: 0.04 },
  { factor: 'sitting', world: 'English follow-ups', figure: 'r5', least: 0.2 },
  { factor: 'sitting', world: 'Chinese follow-ups', figure: 'r5', least: 0.1 },
];

/** Noise of a few hundred questions. */
const NOISE = 0.005;

describe('what two people said for months', () => {
  const worlds = new Map<string, readonly Asked[]>();
  beforeAll(() => {
    for (const { name, least: _, ...how } of WORLDS) worlds.set(name, all(how.language, how));
  });
  const known = new Map<string, Figures>();
  const figures = (world: string, way: Way = {}): Figures => {
    const key = JSON.stringify([world, way]);
    const one = known.get(key) ?? measure(worlds.get(world) ?? [], way);
    known.set(key, one);
    return one;
  };
  const without = (factor: FactorName): Way => ({ factors: FACTORS.filter((one) => one !== factor) });

  it.each(WORLDS)('is found by questions in other words: $name', ({ name, least }) => {
    const { r5, r10, mrr } = figures(name);
    expect(r5).toBeGreaterThanOrEqual(least.r5);
    expect(r10).toBeGreaterThanOrEqual(least.r10);
    expect(mrr).toBeGreaterThanOrEqual(least.mrr);
  });

  it.each(WORLDS)('is found better by both legs than by either alone: $name', ({ name }) => {
    const both = figures(name);
    for (const mode of ['keyword', 'vector'] as const) {
      const alone = figures(name, { mode, factors: [] });
      expect(both.r5).toBeGreaterThanOrEqual(alone.r5 - 2 * NOISE);
      expect(both.mrr).toBeGreaterThan(alone.mrr);
    }
  });

  it.each(GAINS)('is found better with $factor: $world', ({ factor, world, figure, least }) => {
    expect(figures(world)[figure] - figures(world, without(factor))[figure]).toBeGreaterThanOrEqual(least);
  });

  it.each(FACTORS)('is not found worse with %s, over all worlds', (factor) => {
    const gains = WORLDS.map(({ name }) => {
      const [now, less] = [figures(name), figures(name, without(factor))];
      return now.r5 + now.mrr - less.r5 - less.mrr;
    });
    expect(gains.reduce((sum, gain) => sum + gain, 0) / gains.length).toBeGreaterThanOrEqual(-NOISE);
  });
});

describe('G7: what nobody said', () => {
  const UNTOLD = 4;

  /** The score of the first result. */
  function surest(points: readonly IndexPoint[], text: string, mode: SearchMode): number {
    const question = { text, terms: terms(text), mode, at: NOON, vectors: HASHED };
    const vector = mode === 'keyword' ? null : hashVector(text);
    const ranked = rank(question, scan(points, query({ vector, terms: question.terms, wide: true, limit: LEG })));
    const [first] = scored(question, ranked, judge(question, ranked));
    return first?.score ?? 0;
  }

  /** The chance that one of the first has more than one of the others. */
  const above = (some: readonly number[], others: readonly number[]): number =>
    some.reduce(
      (sum, one) => sum + others.reduce((won, other) => won + (one > other ? 1 : one === other ? 0.5 : 0), 0),
      0,
    ) /
    (some.length * others.length);

  it.each(
    (['english', 'chinese'] as const).flatMap((language) =>
      (['facts', 'messages'] as const).flatMap((of) =>
        (['hybrid', 'keyword'] as const).map((mode) => ({ language, of, mode })),
      ),
    ),
  )('is told from what was said by its score: $language $of, $mode', ({ language, of, mode }) => {
    const talks = SEEDS.map((seed) => talk({ seed, language, untold: UNTOLD }));
    const asked = talks.map((said) => {
      const points = pointsOf(said, of);
      return {
        answered: said.questions.map(({ text }) => surest(points, text, mode)),
        unanswered: said.unanswered.map((text) => surest(points, text, mode)),
      };
    });
    const [answered, unanswered] = [asked.flatMap((one) => one.answered), asked.flatMap((one) => one.unanswered)];
    expect(above(answered, unanswered)).toBeGreaterThanOrEqual(0.86);
  });
});

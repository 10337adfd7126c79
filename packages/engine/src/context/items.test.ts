import { estimatingTokenizer, seeded } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { assembleContext } from './assemble.ts';
import {
  type AssembledContext,
  cutAtWord,
  type KnownFact,
  prepared,
  STALE_TURNS_MAX,
  saySame,
  type ToldFact,
  type ToldLine,
} from './items.ts';

const cut = (text: string, maxTokens: number) => cutAtWord(estimatingTokenizer, text, maxTokens);

test('what fits stays as it is', () => {
  expect(cut('Ann lives in Berlin', 5)).toBe('Ann lives in Berlin');
});

test('a long text ends after a whole word, within its tokens', () => {
  expect(cut('Ann lives in Berlin, near the river', 6)).toBe('Ann lives in Berlin…');
});

test.each([
  ['小明住在上海,喜欢吃辣的火锅', 8],
  ['👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 and more words', 20],
  ['über straße naïve café résumé', 6],
])('no character is cut in two: %s', (text, maxTokens) => {
  for (let tokens = 1; tokens <= maxTokens; tokens += 1) {
    const part = cut(text, tokens);
    if (part === null) continue;
    expect(text.startsWith(part.replace(/…$/u, ''))).toBe(true);
    expect(part).toBe(part.toWellFormed());
    expect(part).not.toMatch(/\u200d…$/u);
    expect(estimatingTokenizer.count(part)).toBeLessThanOrEqual(tokens);
  }
});

test('where not even a word fits there is nothing', () => {
  expect(cut('Donaudampfschifffahrtsgesellschaft', 2)).toBeNull();
  expect(cut('x'.repeat(100_000), 50)).toBeNull();
  expect(cut('Ann lives in Berlin', 0)).toBeNull();
  expect(cut('Ann lives in Berlin', -3)).toBeNull();
});

const same = (a: string, b: string) => saySame(prepared(a), prepared(b));

test.each([
  ['User lives in Oslo', 'user lives in  Oslo.'],
  ['User likes the green tea from Japan', 'User likes green tea from Japan'],
  ['User works as a software engineer at Acme in Oslo', 'User works as software engineer at Acme in Oslo'],
  ['小明住在上海', '小明住在上海。'],
])('"%s" and "%s" tell the same', (a, b) => {
  expect(same(a, b)).toBe(true);
  expect(same(b, a)).toBe(true);
});

test.each([
  ['User eats meat', 'User does not eat meat'],
  ['User eats meat', 'User no longer eats meat'],
  ['小明吃辣', '小明不吃辣'],
  ['Ann loves Bob', 'Bob loves Ann'],
  ['User flies from Oslo to Lisbon on 3 May at 10:40', 'User flies from Oslo to Lisbon on 3 May at 10:50'],
  ['User lives in Oslo', 'User lives in Rome'],
  ['小明住在上海', '小明住在北京'],
  ['??', '!!'],
])('"%s" and "%s" are two facts', (a, b) => {
  expect(same(a, b)).toBe(false);
  expect(same(b, a)).toBe(false);
});

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01T09:00:00Z');

const fact = (text: string, given: Partial<KnownFact> = {}): KnownFact => ({
  ...{ memoryId: `mem_${text}`, version: 1, text, saidAt: START, validFrom: START },
  ...given,
});

interface Turn {
  readonly asked: readonly KnownFact[];
  readonly profile?: readonly KnownFact[];
  readonly summary?: string | null;
  readonly maxTokens?: number;
  /** What does not hold any more. */
  readonly gone?: ReadonlySet<string>;
}

/** One conversation, told turn by turn. */
function conversation() {
  const known = new Map<string, KnownFact>();
  let told: readonly ToldLine[] = [];
  return (turn: Turn): AssembledContext => {
    const { asked, profile = [], summary = null, maxTokens = 1_000, gone = new Set() } = turn;
    for (const one of [...asked, ...profile]) known.set(one.memoryId, one);
    const holding = ({ memoryId, version }: ToldLine): KnownFact | null => {
      const now = known.get(memoryId);
      return now === undefined || now.version !== version || gone.has(memoryId) ? null : now;
    };
    const before = told.map((line): ToldFact => ({ ...line, fact: holding(line) }));
    const parts = { profile, memories: asked, relations: [], summary, task: [], pending: [], told: before };
    const ask = { maxTokens, form: 'text', alternating: false, given: [], now: START } as const;
    const context = assembleContext(estimatingTokenizer, parts, ask);
    told = context.told;
    return context;
  };
}

const linesOf = ({ block }: AssembledContext): readonly string[] => block.split('\n');
const textsOf = ({ citations }: AssembledContext): readonly string[] => citations.map(({ fact: { text } }) => text);

/** The part of a block, in characters, that the next one begins with. */
function sharedPart(before: AssembledContext, after: AssembledContext): number {
  let shared = 0;
  while (shared < before.block.length && before.block[shared] === after.block[shared]) shared += 1;
  return shared / before.block.length;
}

const TEA = fact('User likes green tea');
const OSLO = fact('User lives in Oslo', { validFrom: START - DAY_MS });
const DOG = fact('User has a dog called Rex');
const NAME = fact("User's name is Ana");

describe('what was told', () => {
  test('keeps its place, and what is new comes after it', () => {
    const tell = conversation();
    const first = tell({ asked: [TEA] });
    const second = tell({ asked: [OSLO, TEA] });
    expect(textsOf(second)).toEqual([TEA.text, OSLO.text]);
    expect(linesOf(second).slice(0, 4)).toEqual(linesOf(first).slice(0, 4));
    expect(textsOf(tell({ asked: [DOG] }))).toEqual([TEA.text, OSLO.text, DOG.text]);
  });

  test('stands in the order of dates the first time', () => {
    expect(textsOf(conversation()({ asked: [TEA, OSLO] }))).toEqual([OSLO.text, TEA.text]);
  });

  test('is not moved by what is new in the profile', () => {
    const tell = conversation();
    tell({ asked: [TEA] });
    const next = tell({ asked: [TEA], profile: [NAME] });
    expect(textsOf(next)).toEqual([TEA.text, NAME.text]);
    expect(next.block).not.toContain('# Profile');
    expect(tell({ asked: [], profile: [NAME] }).block.split('# Today')[0]).toBe(next.block.split('# Today')[0]);
  });

  test('is told once, also where other words of it are found', () => {
    const tell = conversation();
    tell({ asked: [TEA, DOG] });
    const again = fact('User likes the green tea', { memoryId: 'mem_again', validFrom: START + DAY_MS });
    expect(textsOf(tell({ asked: [again, DOG] }))).toEqual([DOG.text, TEA.text].toSorted());
  });

  test('goes at once when it was corrected, ended or forgotten, and so does after it what is not asked for', () => {
    const tell = conversation();
    tell({ asked: [TEA] });
    tell({ asked: [OSLO] });
    tell({ asked: [DOG] });
    expect(textsOf(tell({ asked: [NAME], gone: new Set([OSLO.memoryId]) }))).toEqual([TEA.text, NAME.text]);
    const moved = { ...TEA, version: 2, text: 'User likes black tea' };
    expect(textsOf(tell({ asked: [moved] }))).toEqual([moved.text]);
  });

  test('stays for ten turns in which it is not asked for, and no longer', () => {
    const tell = conversation();
    tell({ asked: [TEA] });
    for (let turn = 1; turn <= STALE_TURNS_MAX; turn += 1) {
      expect(textsOf(tell({ asked: [DOG] }))).toContain(TEA.text);
    }
    expect(textsOf(tell({ asked: [DOG] }))).toEqual([DOG.text]);
  });

  test('leaves from its end what takes more than half of the budget', () => {
    const tell = conversation();
    for (const one of FACTS.slice(0, 10)) tell({ asked: [one], maxTokens: 400 });
    const last = tell({ asked: [DOG], maxTokens: 400 });
    const stale = last.told.slice(0, -1).map(({ memoryId }) => memoryId);
    expect(stale).toEqual(FACTS.slice(0, stale.length).map(({ memoryId }) => memoryId));
    expect(stale.length).toBeGreaterThan(4);
    expect(last.tokens).toBeLessThan(400 / 2 + 100);
  });

  test('begins anew to count when it is asked for again', () => {
    const tell = conversation();
    tell({ asked: [TEA] });
    for (let turn = 0; turn < 6; turn += 1) tell({ asked: [DOG] });
    expect(tell({ asked: [TEA] }).told.map(({ turns }) => turns)).toEqual([0, 1]);
    for (let turn = 0; turn < 6; turn += 1) expect(textsOf(tell({ asked: [DOG] }))).toContain(TEA.text);
  });

  test('leaves the summary and the date behind it', () => {
    const tell = conversation();
    const first = tell({ asked: [TEA], summary: 'They talk about drinks' });
    const second = tell({ asked: [TEA, DOG], summary: 'They talk about pets' });
    expect(sharedPart(first, second)).toBeGreaterThan(
      first.block.indexOf('# Conversation') / first.block.length - 0.01,
    );
    expect(linesOf(second).slice(-4)).toEqual([
      '# Conversation so far',
      '> They talk about pets',
      '# Today: 2026-03-01, UTC',
      '</memory>',
    ]);
  });
});

/** Forty memories of many subjects, each about one of some questions. */
const FACTS = Array.from({ length: 40 }, (_, i) =>
  fact(`User told about subject ${i} that word${i * 7} and thing${i * 13} matter`, { validFrom: START + i * DAY_MS }),
);

test.each([1, 2, 3, 4, 5, 6, 7, 8])('whatever is asked, found, corrected and allowed (seed %i)', (seed) => {
  const random = seeded(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const tell = conversation();
  const gone = new Set<string>();
  let before: AssembledContext | null = null;
  for (let turn = 0; turn < 60; turn += 1) {
    const removed = random() < 0.1 ? FACTS[below(FACTS.length)]?.memoryId : undefined;
    if (removed !== undefined) gone.add(removed);
    const asked = Array.from({ length: below(6) }, () => FACTS[below(FACTS.length)] ?? TEA).filter(
      ({ memoryId }, i, all) => !gone.has(memoryId) && all.findIndex((one) => one.memoryId === memoryId) === i,
    );
    const maxTokens = [250, 400, 1_000][below(3)] ?? 400;
    const now = tell({ asked, maxTokens, gone });
    const ids = now.told.map(({ memoryId }) => memoryId);
    const stale = now.told.filter(({ memoryId }) => !asked.some((one) => one.memoryId === memoryId));
    expect(now.tokens).toBeLessThanOrEqual(maxTokens);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => gone.has(id))).toEqual([]);
    expect(stale.every(({ turns }) => turns >= 1 && turns <= STALE_TURNS_MAX)).toBe(true);
    expect(stale.length * estimatingTokenizer.count(`- [m10] 2026-03-01 ${FACTS[10]?.text}\n`)).toBeLessThan(
      maxTokens * 0.6,
    );
    // What is asked for is told as if nothing had been told before.
    const anew = conversation()({ asked, maxTokens });
    expect(now.sections.memories.leftOut).toBe(anew.sections.memories.leftOut);
    // Nobody changes places.
    const kept = before?.told.map(({ memoryId }) => memoryId).filter((id) => ids.includes(id)) ?? [];
    expect(ids.slice(0, kept.length)).toEqual(kept);
    before = now;
  }
});

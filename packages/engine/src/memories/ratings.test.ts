import {
  added,
  confirmed,
  deleted,
  fixedTools,
  home,
  rated,
  retracted,
  scope,
  updated,
} from '@slowwave/engine-testing';
import { type Arbitrary, array, assert as check, constantFrom, integer, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import { type LaneId, type Memory, RATINGS, type Rating } from '../words.ts';
import { liveVersion } from './evolve.ts';
import { withoutFormer } from './former.ts';
import { eventsInApp, inApp } from './in-app.ts';
import { feedbackOf, ratingOf } from './ratings.ts';

const MINUTE = 60_000;

describe('what is thought', () => {
  it.each<{ rating: Rating | null; good: number; bad: number; worth: number }>([
    { rating: null, good: 0, bad: 0, worth: 0 },
    { rating: 'positive', good: 1e9, bad: 0, worth: 1 },
    { rating: 'positive', good: 0, bad: 1e9, worth: 0 },
    { rating: 'negative', good: 0, bad: 1e9, worth: -1 },
    { rating: 'very_negative', good: 1e9, bad: 0, worth: -0.5 },
    { rating: 'very_negative', good: 0, bad: 1e9, worth: -1 },
  ])('of a version rated $rating, with $good good and $bad bad, is worth $worth', ({ rating, good, bad, worth }) => {
    const tools = fixedTools();
    const { memory } = added(tools, home('lane' as LaneId));
    const of = rating === null ? memory : rated(tools, memory, { version: 1, rating }).memory;
    const feedback = feedbackOf(of, [{ memoryId: memory.id, version: 1, good, bad }]);
    expect(feedback(1)).toBeCloseTo(worth, 3);
    expect(feedback(2)).toBe(0);
  });
});

describe('a memory of very many versions', () => {
  it('has its timeline read as often with a rating of all of them as with none', () => {
    const tools = fixedTools();
    const { memory } = added(tools, home('lane' as LaneId), { text: 'Weighs 0 kg' });
    const [said] = memory.timeline;
    if (said?.kind !== 'said') throw new Error('expected what was said');
    const reads = { count: 0 };
    const marks = Array.from({ length: 300 }, (_, i) => {
      const { text: _text, ...mark } = { ...said, revision: i + 1, saidAt: { at: i, seq: i } };
      return Object.defineProperty({ ...mark, text: '' }, 'text', {
        enumerable: true,
        get: () => {
          reads.count += 1;
          return `Weighs ${i} kg`;
        },
      });
    });
    const last = { kind: 'rated', revision: 301, version: 300, rating: 'positive', recordedAt: 0 } as const;
    const feedback = feedbackOf({ ...memory, timeline: [...marks, last] }, []);
    expect(marks.map(({ revision }) => feedback(revision)).filter((worth) => worth !== 0)).toEqual([0.5]);
    expect(reads.count).toBeLessThan(10 * marks.length);
  });
});

describe('any life', () => {
  type Step = {
    readonly kind: 'say' | 'delete' | 'rate' | 'undo';
    readonly word: number;
    readonly at: number;
    readonly of: number;
  };
  const anyStep = record({
    kind: constantFrom('say', 'say', 'delete', 'rate', 'rate', 'undo'),
    word: integer({ min: 0, max: 2 }),
    at: integer({ min: 1, max: 9 }),
    of: nat(),
  }) as Arbitrary<Step>;

  /** The memory of such a life, with its ratings or without: the steps that are left name earlier ones by their place. */
  function lived(steps: readonly Step[], isRated: boolean): Memory {
    const tools = fixedTools();
    let { memory } = added(tools, home('lane' as LaneId), {
      memoryId: 'mem_1',
      text: 'word 0',
      saidAt: { at: 5, seq: 0 },
    });
    const made = new Map([[0, memory.revision]]);
    for (const [i, step] of steps.entries()) {
      const revision = made.get(step.of % (i + 1));
      const change = isRated || step.kind !== 'rate' ? changeOf(tools, memory, { step, seq: i + 1, revision }) : null;
      if (change === null) continue;
      memory = change.memory;
      made.set(i + 1, memory.revision);
    }
    return memory;
  }

  function changeOf(
    tools: ReturnType<typeof fixedTools>,
    memory: Memory,
    { step, seq, revision }: { step: Step; seq: number; revision: number | undefined },
  ): MemoryChange | null {
    const saidAt = { at: step.at, seq };
    if (step.kind === 'say') return updated(tools, memory, { text: `word ${step.word}`, saidAt, validFrom: step.at });
    if (step.kind === 'delete') return deleted(tools, memory, { saidAt });
    if (revision === undefined) return null;
    if (step.kind === 'undo') return retracted(tools, memory, { retracts: [revision] });
    return rated(tools, memory, { version: revision, rating: RATINGS[step.word] ?? null });
  }

  it('says and held the same with its ratings as without them', async () => {
    const read = ({ versions }: Memory) =>
      versions.map(({ text, validFrom, invalidAt }) => ({ text, validFrom, invalidAt }));
    await check(
      property(array(anyStep, { maxLength: 15 }), (steps) => {
        const [with_, without] = [lived(steps, true), lived(steps, false)];
        const sorted = (memory: Memory) =>
          read(memory).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
        expect(sorted(with_)).toEqual(sorted(without));
        expect([liveVersion(with_)?.text, with_.confirmations]).toEqual([
          liveVersion(without)?.text,
          without.confirmations,
        ]);
      }),
    );
  });

  it('has ratings of no version that was not rated', async () => {
    await check(
      property(array(anyStep, { maxLength: 15 }), (steps) => {
        const memory = lived(steps, true);
        const rates = memory.timeline.flatMap((mark) => (mark.kind === 'rated' ? [mark] : []));
        const words = new Map(
          memory.timeline.flatMap((mark) => (mark.kind === 'said' ? [[mark.revision, mark.text]] : [])),
        );
        for (const { number, text } of memory.versions) {
          const rating = ratingOf(memory, number);
          const own = rates.filter(({ version }) => words.get(version) === text).map((mark) => mark.rating);
          expect([null, ...own]).toContain(rating);
        }
      }),
    );
  });
});

describe('an app', () => {
  const tools = fixedTools();
  const under = (appId: string) => ({ agentId: null, runId: null, appId });
  const shop = added(tools, home('lane' as LaneId, { scope: scope({ userId: 'ann', appId: 'shop' }) }));

  it('knows its own ratings and those of who knows all, and no reason but its own', () => {
    const told = confirmed(tools, shop.memory, { under: under('health') });
    const byShop = rated(tools, told.memory, {
      version: 1,
      rating: 'negative',
      under: under('shop'),
      reason: 'in shop',
    });
    const byAll = rated(tools, byShop.memory, { version: 1, rating: 'positive', reason: 'in health' });
    const events = [shop, told, byShop, byAll].flatMap((change: MemoryChange) => change.events);
    const seenBy = (memory: Memory, appId: string) => {
      const known = inApp(memory, appId);
      const [version] = known?.versions ?? [];
      const reasons = eventsInApp(known ?? memory, events, appId).flatMap(({ rated: of, reason }) =>
        of ? reason : [],
      );
      return [known === null || version === undefined ? null : ratingOf(known, version.number), reasons];
    };
    const elsewhere = 'decided with information from other apps';
    expect(seenBy(byShop.memory, 'shop')).toEqual(['negative', ['in shop']]);
    expect(seenBy(byShop.memory, 'health')).toEqual([null, []]);
    expect(seenBy(byAll.memory, 'shop')).toEqual(['positive', ['in shop', elsewhere]]);
    expect(ratingOf(byAll.memory, 1)).toBe('positive');
  });
});

describe('retention', () => {
  it('removes why a version was rated with what it said, and keeps why another one is', () => {
    const tools = fixedTools();
    const first = added(tools, home('lane' as LaneId));
    const second = rated(tools, first.memory, { version: 1, rating: 'negative', reason: 'not Berlin' });
    const third = updated(tools, second.memory, { text: 'Lives in Rome' });
    const fourth = rated(tools, third.memory, { version: 3, rating: 'positive', reason: 'yes, Rome' });
    const events = [first, second, third, fourth].flatMap((change) => change.events);
    tools.advance(MINUTE);
    const emptied = withoutFormer(tools, { memory: fourth.memory, events }, tools.now());
    const reasons = new Map(emptied?.events.map(({ revision, reason }) => [revision, reason]));
    expect([reasons.get(2), reasons.get(4)]).toEqual(['[removed by retention]', undefined]);
    expect(JSON.stringify(emptied?.memory)).not.toContain('Berlin');
  });
});

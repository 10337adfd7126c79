import {
  details,
  echoExtract,
  engineBench,
  expectTrue,
  fakeChat,
  home,
  keyedDecide,
  MORNING,
} from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventIdOf } from '../ids.ts';
import { normaliseText } from '../text/normalise.ts';
import { undoer } from '../undo/undo.ts';
import {
  compareSaid,
  DEFAULT_TENANT,
  type LaneId,
  type Memory,
  type MemoryEvent,
  type MemoryVersion,
} from '../words.ts';
import { deletedAt, evolve, inOrder, liveVersion, newest, saidIds } from './evolve.ts';
import { memoryWriter } from './write.ts';

const HOME = home('lane_1' as LaneId);

/** Few texts and moments, so that repeats, near misses and ties of time happen often. */
const TEXTS = ['Lives in Berlin', 'lives in  berlin.', 'Lives in Rome', 'Lives in Oslo'];
const happening = fc.record({
  kind: fc.constantFrom('UPDATE' as const, 'UPDATE' as const, 'NONE' as const, 'DELETE' as const),
  text: fc.constantFrom(...TEXTS),
  minute: fc.integer({ min: 0, max: 8 }),
  resolved: fc.integer({ min: -4, max: 4 }),
});
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** A life that begins with an ADD. Arrival numbers make every said_at its own. */
const life = fc
  .tuple(happening, fc.array(happening, { maxLength: 9 }))
  .map(([first, rest]) => eventsOf([first, ...rest]));

describe('a memory', () => {
  it('has versions that never hold at the same time', () => {
    fc.assert(
      fc.property(life, (events) => {
        const versions = inSaidOrder(evolve(HOME, null, events));
        const spans = versions.map((version) => [version.validFrom, version.invalidAt ?? Number.POSITIVE_INFINITY]);
        for (const [from, to] of spans) expect(to).toBeGreaterThanOrEqual(from ?? 0);
        const holding = spans.filter(([from, to]) => from !== to);
        const sorted = holding.toSorted(([a = 0], [b = 0]) => a - b);
        for (const [i, span] of sorted.slice(1).entries()) expect(span[0]).toBeGreaterThanOrEqual(sorted[i]?.[1] ?? 0);
      }),
    );
  });

  it('is the same however its events are grouped', () => {
    fc.assert(
      fc.property(life, fc.nat(), (events, cut) => {
        const at = 1 + (cut % events.length);
        const early = evolve(HOME, null, events.slice(0, at));
        expect(evolve(HOME, early, events.slice(at))).toEqual(evolve(HOME, null, events));
      }),
    );
  });

  it('tells the same versions in whatever order its events arrive', () => {
    const shuffled = life.chain((events) =>
      fc.tuple(fc.constant(events), fc.shuffledSubarray([...events], { minLength: events.length })),
    );
    fc.assert(
      fc.property(shuffled, ([events, others]) => {
        expect(told(evolve(HOME, null, renumbered(others)))).toEqual(told(evolve(HOME, null, events)));
      }),
    );
  });

  // With work that grows faster than the square of the changes this would not end within the time of a test.
  it('may change hundreds of times, one event at a time', () => {
    const changes = Array.from({ length: 600 }, (_, i) => ({
      ...{ kind: 'UPDATE' as const, text: `Lives in ${i % 7}`, minute: i, resolved: 0 },
    }));
    let memory: Memory | null = null;
    for (const event of eventsOf(changes)) memory = evolve(HOME, memory, [event]);
    expect(memory?.versions).toHaveLength(600);
    expect(memory && liveVersion(memory)?.text).toBe(`Lives in ${599 % 7}`);
  });

  it('holds what was said last, unless that was its deletion', () => {
    fc.assert(
      fc.property(life, (events) => {
        const memory = evolve(HOME, null, events);
        const last = events.toSorted((a, b) => compareSaid(a.saidAt, b.saidAt)).at(-1);
        const live = liveVersion(memory);
        expect(live === null).toBe(last?.kind === 'DELETE');
        if (live !== null) expect(normaliseText(live.text)).toBe(normaliseText(last?.text ?? ''));
        expect(deletedAt(memory)).toEqual(last?.kind === 'DELETE' ? last.saidAt : null);
      }),
    );
  });

  it('has one open version while it is live, and none once it is deleted', () => {
    fc.assert(
      fc.property(life, (events) => {
        const memory = evolve(HOME, null, events);
        const open = memory.versions.filter((version) => version.invalidAt === null);
        expect(open).toEqual(liveVersion(memory) === null ? [] : [newest(memory)]);
      }),
    );
  });

  it('never takes a version number back or gives it to another text', () => {
    fc.assert(
      fc.property(life, (events) => {
        const before = evolve(HOME, null, events.slice(0, Math.max(1, events.length - 1)));
        const after = new Map(evolve(HOME, null, events).versions.map((version) => [version.number, version.text]));
        for (const { number, text } of before.versions) {
          expect(normaliseText(after.get(number) ?? '')).toBe(normaliseText(text));
        }
      }),
    );
  });

  it('counts every event, and confirmations apart', () => {
    fc.assert(
      fc.property(life, (events) => {
        const memory = evolve(HOME, null, events);
        expect(memory.revision).toBe(events.length);
        expect(memory.confirmations).toBe(events.filter((event) => event.kind === 'NONE').length);
      }),
    );
  });
});

describe('a fact', () => {
  it('that was said before what holds becomes a former version', () => {
    const memory = evolve(HOME, null, eventsOf([say('Lives in Rome', 5), say('Lives in Berlin', 2)]));
    expect(liveVersion(memory)?.text).toBe('Lives in Rome');
    const [rome, berlin] = memory.versions;
    expect(berlin).toMatchObject({ number: 2, invalidAt: rome?.validFrom, supersededBy: 1 });
  });

  it('that was said before the deletion does not bring the memory back, one said after it does', () => {
    const deleted = eventsOf([say('Lives in Rome', 1), { ...say('', 5), kind: 'DELETE' }]);
    const replayed = eventsOf([say('Lives in Rome', 1), { ...say('', 5), kind: 'DELETE' }, say('Lives in Rome', 3)]);
    const again = eventsOf([say('Lives in Rome', 1), { ...say('', 5), kind: 'DELETE' }, say('Lives in Rome', 7)]);
    expect(liveVersion(evolve(HOME, null, deleted))).toBeNull();
    expect(liveVersion(evolve(HOME, null, replayed))).toBeNull();
    expect(liveVersion(evolve(HOME, null, again))).toMatchObject({ number: 3, invalidAt: null });
  });

  it('and its deletion in one and the same message leave nothing that held', () => {
    const [added, removed] = eventsOf([say('Lives in Rome', 1), { ...say('', 1), kind: 'DELETE' }]);
    const same = [added, removed]
      .flatMap((event) => event ?? [])
      .map((event) => ({ ...event, saidAt: { at: MORNING, seq: 1 } }));
    const memory = evolve(HOME, null, same);
    expect(liveVersion(memory)).toBeNull();
    expect(memory.versions[0]?.invalidAt).not.toBeNull();
  });

  it('and others of one message keep their order, also where a later version reads like one of them', () => {
    const [rome, oslo, again] = eventsOf([say('Lives in Rome', 5), say('Lives in Oslo', 2), say('Lives in Rome', 2)]);
    const events = [rome, oslo, again].flatMap((event) => event ?? []);
    const oneMessage = events.map((event, i) => (i === 0 ? event : { ...event, saidAt: { at: MORNING, seq: 0 } }));
    const memory = evolve(HOME, null, oneMessage);
    expect(liveVersion(memory)).toMatchObject({ text: 'Lives in Rome', invalidAt: null });
    expect(inOrder(memory).map(({ text }) => text)).toEqual(['Lives in Oslo', 'Lives in Rome']);
  });

  it('that is said again confirms the version and adds its sources', () => {
    const memory = evolve(
      HOME,
      null,
      eventsOf([say('Lives in Rome', 1), { ...say('lives in rome', 4), kind: 'NONE' }]),
    );
    expect(memory.versions.length).toBe(1);
    expect(memory.versions[0]).toMatchObject({ text: 'Lives in Rome', details: { sourceIds: ['msg_1', 'msg_2'] } });
    expect(memory.confirmations).toBe(1);
  });
});

describe('events', () => {
  it('that skip a revision are refused', () => {
    const [first, second] = eventsOf([say('Lives in Rome', 1), say('Lives in Oslo', 2)]);
    const apart = [first, second]
      .flatMap((event) => event ?? [])
      .map((event, i) => ({ ...event, revision: 1 + 2 * i }));
    expect(() => evolve(HOME, null, apart)).toThrow(/makes revision 3 .* expected 2/);
  });

  it('that are none make no memory', () => {
    expect(() => evolve(HOME, null, [])).toThrow(/at least one event/);
  });
});

const say = (text: string, minute: number): Happening => ({ kind: 'UPDATE', text, minute, resolved: 0 });

function eventsOf(happenings: readonly Happening[]): MemoryEvent[] {
  return happenings.map(({ kind, text, minute, resolved }, i) => {
    const saidAt = { at: MORNING + minute, seq: i + 1 };
    const event = i === 0 ? 'ADD' : kind;
    const sourceIds = [`msg_${i + 1}`];
    return {
      id: eventIdOf('mem_1', i + 1),
      memoryId: 'mem_1',
      revision: i + 1,
      kind: event,
      actor: 'consolidation',
      consolidationId: 'con_1',
      factId: null,
      reason: 'a test says so',
      previous: null,
      saidAt,
      validFrom: saidAt.at + resolved,
      recordedAt: MORNING + 100 + i,
      text: event === 'DELETE' ? null : text,
      details: event === 'DELETE' ? null : details({ sourceIds }),
      sourceIds,
    };
  });
}

/** The same events, arriving in this order. */
const renumbered = (events: readonly MemoryEvent[]): MemoryEvent[] =>
  events.map((event, i) => ({ ...event, revision: i + 1 }));

const inSaidOrder = (memory: Memory): MemoryVersion[] =>
  [...memory.versions].sort((a, b) => compareSaid(a.saidAt, b.saidAt));

/** What the versions say, without what depends on arrival: numbers and times of recording. */
const told = (memory: Memory) =>
  inSaidOrder(memory).map(({ text, saidAt, validFrom, invalidAt, details: told }) => ({
    ...{ text, saidAt, validFrom, invalidAt },
    sourceIds: told.sourceIds,
  }));

const SECOND = 1_000;
const keyOf = (text: string): string => text.split(':')[0] ?? text;
const decided = () =>
  engineBench({ chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }) });

const idsOf = (memory: Memory | undefined): string[] =>
  (memory === undefined ? [] : saidIds(memory)).map(({ kind, id }) => `${kind} ${id}`).sort();

describe('what is said again in another conversation', () => {
  it('stands under the ids of both, and was said last when it was confirmed', async () => {
    const bench = await decided();
    await bench.post(['pet: a cat'], { scope: { appId: 'shop', runId: 'r1' } });
    await bench.run();
    bench.tools.advance(SECOND);
    await bench.post(['pet: a cat'], { scope: { appId: 'health', agentId: 'bot' } });
    await bench.run();
    const [memory, ...others] = await bench.memories();
    expect(others).toEqual([]);
    expect(idsOf(memory)).toEqual(['agent bot', 'app health', 'app shop', 'run r1']);
    const times = new Map((memory === undefined ? [] : saidIds(memory)).map(({ id, last }) => [id, last]));
    expect((times.get('health') ?? 0) - (times.get('shop') ?? 0)).toBe(SECOND);
    await expectTrue(bench.deps.ledger);
  });

  it('stands under the ids of the other alone once its consolidation is undone', async () => {
    const bench = await decided();
    await bench.post(['pet: a cat'], { scope: { appId: 'shop' } });
    await bench.run();
    await bench.post(['pet: a dog'], { scope: { appId: 'health' } });
    await bench.run();
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    expect(idsOf((await bench.memories())[0])).toEqual(['app health', 'app shop']);
    await undoer(bench.deps).undo(DEFAULT_TENANT, results[0]?.id ?? '', { cascade: false, dryRun: false });
    expect(idsOf((await bench.memories())[0])).toEqual(['app shop']);
    await expectTrue(bench.deps.ledger);
  });

  it('is under the ids it was made with where all of it was undone and somebody restores it', async () => {
    const bench = await decided();
    await bench.post(['pet: a cat'], { scope: { appId: 'shop', runId: 'r1' } });
    await bench.run();
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    await undoer(bench.deps).undo(DEFAULT_TENANT, results[0]?.id ?? '', { cascade: false, dryRun: false });
    const [undone] = await bench.memories();
    expect(idsOf(undone)).toEqual([]);
    await memoryWriter(bench.deps).restore(DEFAULT_TENANT, undone?.id ?? '', 1);
    expect(idsOf((await bench.memories())[0])).toEqual(['app shop', 'run r1']);
    expect(await bench.live()).toEqual(['pet: a cat']);
    await expectTrue(bench.deps.ledger);
  });
});

import { details, fixedTools, home, MORNING } from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REMOVED } from '../ports/ledger/erasures.ts';
import { normaliseText } from '../text/normalise.ts';
import type { LaneId, Memory, MemoryEvent } from '../words.ts';
import { deletedAt, evolve, inOrder, lastSaidAt, liveVersion, tombstoneOf } from './evolve.ts';
import { formerSince, foundVersions, historyFrom, isHollow, isRemoved, withoutFormer } from './former.ts';

const HOME = home('lane_1' as LaneId);
const tools = fixedTools();
const MINUTE = 60_000;

/** Few texts and moments, so that repeats, ties and late arrivals happen often. */
const TEXTS = ['Lives in Berlin', 'lives in  berlin.', 'Lives in Rome', 'Lives in Oslo'];
const happening = fc.record({
  kind: fc.constantFrom('UPDATE', 'UPDATE', 'UPDATE', 'NONE', 'DELETE', 'UNDO'),
  text: fc.constantFrom(...TEXTS),
  minute: fc.integer({ min: 0, max: 8 }),
  retracts: fc.nat(),
});
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;
const life = fc.array(happening, { minLength: 1, maxLength: 10 }).map(eventsOf);
/** A life, and a moment between its events. */
const old = fc.tuple(life, fc.nat()).map(([events, cut]) => ({ events, before: recorded(cut % (events.length + 1)) }));

describe('what retention leaves of a memory', () => {
  it('holds, is numbered and ends as before; only what has not held since the moment says nothing', () => {
    fc.assert(
      fc.property(old, ({ events, before }) => {
        const memory = evolve(HOME, null, events);
        const { memory: left } = emptied(memory, events, before);
        expect(liveVersion(left)).toEqual(liveVersion(memory));
        expect(deletedAt(left)).toEqual(deletedAt(memory));
        expect(inOrder(left).map(shape)).toEqual(inOrder(memory).map(shape));
        for (const version of left.versions.filter(isRemoved)) {
          expect(version).toMatchObject({ text: REMOVED, details: { quote: null, metadata: {} } });
        }
        const { revision, confirmations, lastConfirmedAt, updatedAt } = memory;
        expect(left).toMatchObject({ revision, confirmations, lastConfirmedAt, updatedAt });
      }),
      { numRuns: 500 },
    );
  });

  it('removes what nobody has seen to hold since, and nothing else', () => {
    fc.assert(
      fc.property(old, ({ events, before }) => {
        const memory = evolve(HOME, null, events);
        const seen = seenSince(events, before);
        const gone = formerSince(memory, before);
        const said = events.filter(({ text }) => text !== null);
        const young = said.filter(({ recordedAt }) => recordedAt >= before);
        expect(young.filter(({ revision }) => gone.has(revision))).toEqual([]);
        const unseen = said.filter((event) => !young.includes(event) && !seen.has(normaliseText(event.text ?? '')));
        expect(unseen.filter(({ revision }) => !gone.has(revision))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('is found by since when it may have something to remove', () => {
    fc.assert(
      fc.property(old, ({ events, before }) => {
        const memory = evolve(HOME, null, events);
        const from = historyFrom(memory);
        if (formerSince(memory, before).size > 0) expect(from ?? before).toBeLessThan(before);
        expect(historyFrom(emptied(memory, events, recorded(99)).memory)).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('is what its events make of it, and says nothing of what was removed anywhere', () => {
    fc.assert(
      fc.property(old, ({ events, before }) => {
        const memory = evolve(HOME, null, events);
        const left = emptied(memory, events, before);
        expect(evolve(HOME, null, left.events)).toEqual(left.memory);
        const all = emptied(memory, events, recorded(99));
        const live = normaliseText(liveVersion(memory)?.text ?? '');
        for (const text of TEXTS.filter((one) => normaliseText(one) !== live)) {
          expect(JSON.stringify(all)).not.toContain(text);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('blocks what was deleted as before', () => {
    fc.assert(
      fc.property(old, ({ events, before }) => {
        const left = emptied(evolve(HOME, null, events), events, before);
        expect(left.events.flatMap((event) => tombstoneOf(tools, event))).toEqual(
          events.flatMap((event) => tombstoneOf(tools, event)),
        );
      }),
    );
  });

  it('is changed by whatever comes later as if nothing had been removed, or would hold what is gone', () => {
    fc.assert(
      fc.property(old, fc.array(happening, { minLength: 1, maxLength: 4 }), ({ events, before }, more) => {
        const all = eventsOf([...events.map(happeningOf), ...more]);
        const later = all.slice(events.length);
        const memory = evolve(HOME, null, events);
        const whole = evolve(HOME, memory, later);
        const left = evolve(HOME, emptied(memory, events, before).memory, later);
        expect(left.versions.map(shape)).toEqual(whole.versions.map(shape));
        expect(deletedAt(left)).toEqual(deletedAt(whole));
        const [live, expected] = [liveVersion(left), liveVersion(whole)];
        expect(live === null).toBe(expected === null);
        if (live === null || expected === null) return;
        expect(shape(live)).toEqual(shape(expected));
        if (isHollow(left)) expect(later.some(({ kind }) => kind === 'UNDO')).toBe(true);
        else expect(normaliseText(live.text)).toBe(normaliseText(expected.text));
        expect(lastSaidAt(left)).toEqual(lastSaidAt(whole));
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps two neighbours apart that both say nothing any more', () => {
    const events = eventsOf(
      ['Lives in Rome', 'Lives in Oslo', 'Lives in Bern'].map((text, minute) => say(text, minute)),
    );
    const { memory } = emptied(evolve(HOME, null, events), events, recorded(99));
    expect(memory.versions.map(({ text }) => text)).toEqual([REMOVED, REMOVED, 'Lives in Bern']);
    expect(foundVersions(memory).map(({ text }) => text)).toEqual(['Lives in Bern']);
  });

  it('reads again what is said once more of the time when it held', () => {
    const events = eventsOf([say('Lives in Rome', 0), say('Lives in Oslo', 5)]);
    const { memory } = emptied(evolve(HOME, null, events), events, recorded(99));
    const late = eventsOf([say('', 0), say('', 0), say('lives in rome', 1)]).slice(2);
    expect(evolve(HOME, memory, late).versions.map(({ text }) => text)).toEqual(['lives in rome', 'Lives in Oslo']);
  });
});

/** A memory and its events without what is former; as they are where there is nothing. */
function emptied(memory: Memory, events: readonly MemoryEvent[], before: number) {
  const left = withoutFormer(tools, { memory, events }, before);
  const read = new Map(left?.events.map((event) => [event.id, event]));
  return { memory: left?.memory ?? memory, events: events.map((event) => read.get(event.id) ?? event) };
}

/** What held at any time since, the moment included. */
function seenSince(events: readonly MemoryEvent[], before: number): ReadonlySet<string> {
  const states = events.map((_, i) => ({ until: events[i + 1]?.recordedAt ?? before, told: events.slice(0, i + 1) }));
  const texts = states
    .filter(({ until }) => until >= before)
    .flatMap(({ told }) => liveVersion(evolve(HOME, null, told))?.text ?? []);
  return new Set(texts.map(normaliseText));
}

/** All of a version but its contents. */
const shape = ({
  number,
  saidAt,
  validFrom,
  invalidAt,
  supersededBy,
  recordedAt,
  details: told,
}: Memory['versions'][0]) => ({
  ...{ number, saidAt, validFrom, invalidAt, supersededBy, recordedAt, sourceIds: told.sourceIds },
  ...{ immutable: told.immutable, expiresAt: told.expiresAt, category: told.category },
});

function recorded(i: number): number {
  return MORNING + (100 + i) * MINUTE;
}

function say(text: string, minute: number): Happening {
  return { kind: 'UPDATE', text, minute, retracts: 0 };
}

const happenings = new WeakMap<MemoryEvent, Happening>();
const happeningOf = (event: MemoryEvent): Happening => happenings.get(event) ?? say('', 0);

/** A life that begins with an ADD; every event says what it found. */
function eventsOf(all: readonly Happening[]): MemoryEvent[] {
  const events: MemoryEvent[] = [];
  for (const [i, one] of all.entries()) {
    const before = i === 0 ? null : evolve(HOME, null, events);
    const event = eventOf(i, one, before);
    happenings.set(event, one);
    events.push(event);
  }
  return events;
}

function eventOf(i: number, { kind: wanted, text, minute, retracts }: Happening, before: Memory | null): MemoryEvent {
  const kind = before === null ? 'ADD' : (wanted as MemoryEvent['kind']);
  const says = kind !== 'DELETE' && kind !== 'UNDO';
  const saidAt = { at: MORNING + minute * MINUTE, seq: i + 1 };
  const sourceIds = [`msg_${i + 1}`];
  const metadata = { told: text };
  return {
    ...{
      id: `evt_${i + 1}`,
      memoryId: 'mem_1',
      revision: i + 1,
      kind,
      actor: 'api',
      consolidationId: null,
      factId: null,
    },
    reason: `the user said: ${text}`,
    previous: before === null ? null : (liveVersion(before)?.text ?? null),
    ...{ saidAt, validFrom: saidAt.at, recordedAt: recorded(i), sourceIds },
    text: says ? text : null,
    details: says
      ? details({ sourceIds, quote: text, metadata, expiresAt: minute % 3 === 0 ? recorded(500) : null })
      : null,
    ...(kind === 'UNDO' && { reason: 'undone', retraction: { undoId: `und_${i}`, retracts: [1 + (retracts % i)] } }),
  };
}

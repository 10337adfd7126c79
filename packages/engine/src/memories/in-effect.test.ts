import {
  added,
  confirmed,
  deleted,
  type FixedTools,
  fixedTools,
  home,
  MORNING,
  retracted,
  stateHash,
  updated,
} from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import { withdrawalsOf } from '../projection/make-points.ts';
import type { LaneId, Mark, Memory, MemoryEvent } from '../words.ts';
import { deletedAt, evolve, inEffect, liveVersion, newestOrNull } from './evolve.ts';

const HOME = home('lane_1' as LaneId);
const TEXTS = ['Lives in Berlin', 'lives in  berlin.', 'Lives in Rome', 'Lives in Oslo'];

/** Something said, or one of the earlier events taken back; retractions of retractions come about by chance. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ text: fc.constantFrom(...TEXTS), minute: fc.integer({ min: 0, max: 8 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('NONE', 'DELETE'), minute: fc.integer({ min: 0, max: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ retracts: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }) }) },
);
type Step = { text?: string; kind?: string; minute?: number; retracts?: number[] };
const life = fc.array(step as fc.Arbitrary<Step>, { minLength: 1, maxLength: 10 });

describe('an undo', () => {
  it('leaves a memory as if what it takes back had never been said', () => {
    fc.assert(
      fc.property(life, fc.nat(), (steps, which) => {
        const { memory, events } = lived(steps);
        const spoken = events.filter(({ kind }) => kind !== 'UNDO');
        const one = spoken[which % spoken.length]?.revision ?? 1;
        const undone = retracted(tools(), memory, { retracts: [one] }).memory;
        const without = lifeOf(inEffect(memory.timeline).filter(({ revision }) => revision !== one));
        expect(stateHash([undone])).toBe(stateHash(without === null ? [] : [without]));
        expect(liveVersion(undone)?.text ?? null).toBe(without === null ? null : (liveVersion(without)?.text ?? null));
        expect(deletedAt(undone)).toEqual(without === null ? null : deletedAt(without));
        expect(undone.confirmations).toBe(without?.confirmations ?? 0);
      }),
    );
  });

  it('that is undone leaves it as it was, numbers included', () => {
    fc.assert(
      fc.property(life, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), (steps, which) => {
        const { memory } = lived(steps);
        const retracts = which.map((n) => 1 + (n % memory.revision));
        const undone = retracted(tools(), memory, { retracts }).memory;
        const redone = retracted(tools(), undone, { retracts: [undone.revision] }).memory;
        expect(redone.versions).toEqual(memory.versions);
        expect(deletedAt(redone)).toEqual(deletedAt(memory));
        expect([redone.confirmations, redone.lastConfirmedAt]).toEqual([memory.confirmations, memory.lastConfirmedAt]);
      }),
    );
  });

  it('of everything since a moment leaves it as it was then, whatever was undone in between', () => {
    fc.assert(
      fc.property(life, fc.nat(), (steps, cut) => {
        const { memory, events } = lived(steps);
        const then = 1 + (cut % memory.revision);
        const later = events.map(({ revision }) => revision).filter((revision) => revision > then);
        const back = later.length === 0 ? memory : retracted(tools(), memory, { retracts: later }).memory;
        expect(back.versions).toEqual(evolve(HOME, null, events.slice(0, then)).versions);
      }),
    );
  });

  it('makes the same memory however its events are grouped', () => {
    fc.assert(
      fc.property(life, fc.nat(), (steps, cut) => {
        const { memory, events } = lived(steps);
        const early = evolve(HOME, null, events.slice(0, 1 + (cut % events.length)));
        expect(evolve(HOME, early, events.slice(early.revision))).toEqual(memory);
      }),
    );
  });

  it('names every version it took, and none that is there, for the index to withdraw', () => {
    fc.assert(
      fc.property(life, (steps) => {
        const { memory, events } = lived(steps);
        const ever = new Set(events.flatMap((_, i) => numbersOf(evolve(HOME, null, events.slice(0, i + 1)))));
        const withdrawn = new Set(withdrawalsOf(memory).map(({ version }) => version));
        const now = new Set(numbersOf(memory));
        expect([...ever].filter((number) => !now.has(number) && !withdrawn.has(number))).toEqual([]);
        expect([...withdrawn].filter((number) => now.has(number))).toEqual([]);
      }),
    );
  });

  it('of a first and only event leaves a memory without any version', () => {
    const { memory } = added(fixedTools(), HOME);
    const undone = retracted(fixedTools(), memory, { retracts: [1] }).memory;
    expect(undone).toMatchObject({ versions: [], revision: 2 });
    expect([newestOrNull(undone), liveVersion(undone), deletedAt(undone)]).toEqual([null, null, null]);
  });

  it.each([[[]], [[2]], [[0]]])('that takes back %j instead of something earlier is refused', (retracts) => {
    const { memory } = added(fixedTools(), HOME);
    expect(() => retracted(fixedTools(), memory, { retracts })).toThrow(/expected earlier ones/);
  });
});

const tools = () => fixedTools(MORNING + 100_000);
const numbersOf = (memory: Memory): number[] => memory.versions.map(({ number }) => number);

/** A memory after these steps; each takes a second, so that times of recording differ. */
function lived(steps: readonly Step[]): { memory: Memory; events: readonly MemoryEvent[] } {
  const clock = fixedTools();
  const events: MemoryEvent[] = [];
  let memory: Memory | null = null;
  for (const [i, one] of steps.entries()) {
    clock.advance(1_000);
    const change: MemoryChange = changeOf(clock, memory, { ...one, seq: i + 1 });
    memory = change.memory;
    events.push(...change.events);
  }
  if (memory === null) throw new Error('a life has at least one step');
  return { memory, events };
}

function changeOf(clock: FixedTools, memory: Memory | null, step: Step & { seq: number }): MemoryChange {
  const { text = 'Lives in Rome', kind, minute = 0, retracts, seq } = step;
  const saidAt = { at: MORNING + minute, seq };
  if (memory === null) return added(clock, HOME, { text, saidAt });
  if (retracts !== undefined) return retracted(clock, memory, { retracts: earlier(memory, retracts) });
  if (kind === 'DELETE') return deleted(clock, memory, { saidAt });
  return (kind === 'NONE' ? confirmed : updated)(clock, memory, { text, saidAt });
}

const earlier = (memory: Memory, which: readonly number[]): number[] => which.map((n) => 1 + (n % memory.revision));

/** The memory that had only these marks from its beginning; null for none. */
function lifeOf(marks: readonly Mark[]): Memory | null {
  const clock = fixedTools();
  let memory: Memory | null = null;
  for (const mark of marks) {
    if (mark.kind === 'retracted' || mark.kind === 'rated') throw new Error('only what is said makes a memory anew');
    const fields = { memoryId: 'mem_1', saidAt: mark.saidAt };
    const revision: number = (memory?.revision ?? 0) + 1;
    const said: Partial<MemoryEvent> =
      mark.kind === 'said'
        ? { text: mark.text, validFrom: mark.validFrom, kind: mark.confirms ? 'NONE' : 'UPDATE' }
        : { kind: 'DELETE', text: null };
    const base = added(clock, HOME, fields).events[0];
    if (base === undefined) throw new Error('an addition has one event');
    const details = mark.kind === 'said' ? mark.details : null;
    memory = evolve(HOME, memory, [{ ...base, ...said, revision, details, saidAt: mark.saidAt }]);
  }
  return memory;
}

import { added, deleted, fixedTools, home, MORNING, updated } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { liveVersion } from '../memories/evolve.ts';
import { shownVersion } from '../memories/former.ts';
import type { IndexPoint } from '../ports/search-index.ts';
import { visible } from '../search/hits.ts';
import type { LaneId, Memory } from '../words.ts';
import { NOTHING_SAID, pointsOf } from './make-points.ts';

const DAY = 86_400_000;
const tools = fixedTools();

const oslo = () => added(tools, home('l' as LaneId), { text: 'Lives in Oslo' }).memory;
const then = (memory: Memory, text: string, validFrom?: number): Memory =>
  updated(tools, memory, { text, ...(validFrom !== undefined && { validFrom }) }).memory;

const pointsIn = (memory: Memory): readonly IndexPoint[] =>
  pointsOf(memory, { vectorOf: () => new Float32Array(), said: NOTHING_SAID });

/** What is shown at a moment, by a search at that moment; a search for that moment shows the same. */
function shownAt(memory: Memory, at: number): string[] {
  const seenBy = (visibility: Parameters<typeof visible>[1]['visibility']): string[] =>
    pointsIn(memory)
      .filter((point) => visible(point, { visibility, filter: {} }))
      .map(({ text }) => text);
  const now = seenBy({ kind: 'live', now: at });
  expect(seenBy({ kind: 'as_of', at })).toEqual(now);
  if (liveVersion(memory) !== null) expect(now).toEqual([shownVersion(memory, at).text]);
  return now;
}

it('shows what holds until what was said last begins', () => {
  const memory = then(oslo(), 'Lives in Bergen', MORNING + DAY);
  expect(shownAt(memory, MORNING)).toEqual(['Lives in Oslo']);
  expect(shownAt(memory, MORNING + DAY)).toEqual(['Lives in Bergen']);
});

it('shows one version at each moment where several have yet to begin', () => {
  const memory = then(then(oslo(), 'Lives in Bergen', MORNING + DAY), 'Lives in Lima', MORNING + 2 * DAY);
  const moments = [0, 0.5, 1, 1.5, 2, 9].map((days) => shownAt(memory, MORNING + days * DAY));
  expect(moments.map(([one]) => one?.slice('Lives in '.length))).toEqual([
    'Oslo',
    'Oslo',
    'Bergen',
    'Bergen',
    'Lima',
    'Lima',
  ]);
  expect(moments.every((texts) => texts.length === 1)).toBe(true);
});

it('shows what is to come where there was nothing before', () => {
  const { memory } = added(tools, home('l' as LaneId), { text: 'Moves to Oslo', validFrom: MORNING + DAY });
  expect(shownAt(memory, MORNING)).toEqual(['Moves to Oslo']);
  expect(shownAt(memory, MORNING + DAY)).toEqual(['Moves to Oslo']);
});

it('shows nothing of a deleted memory, whatever had yet to begin', () => {
  const { memory } = deleted(tools, then(oslo(), 'Lives in Bergen', MORNING + DAY));
  expect(pointsIn(memory).filter(({ live }) => live)).toEqual([]);
});

it('shows what was said while the clock was ahead as soon as it was said', () => {
  tools.set(MORNING);
  const first = oslo();
  tools.set(MORNING + DAY);
  const memory = then(first, 'Lives in Bergen');
  tools.set(MORNING);
  const now = pointsIn(memory).filter((point) =>
    visible(point, { visibility: { kind: 'live', now: MORNING + 1_000 }, filter: {} }),
  );
  expect(now.map(({ text }) => text)).toEqual(['Lives in Bergen']);
});

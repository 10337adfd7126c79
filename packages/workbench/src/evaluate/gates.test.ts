import { describe, expect, test } from 'vitest';
import { courseOf } from './course.ts';
import type { Evidence, HistoryEvent } from './evidence.ts';
import { type Case, GATES } from './gates.ts';
import { readWorld } from './world.ts';

const [JAN, FEB] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];
const world = readWorld(
  JSON.stringify({
    batches: [
      { at: JAN, messages: [{ content: 'Ann lives in Oslo' }, { content: 'Ann has a cat' }] },
      { at: FEB, messages: [{ content: 'Ann lives in Rome' }, { role: 'assistant', content: 'I see' }] },
      { at: FEB, messages: [{ role: 'assistant', content: 'Anything else?' }] },
    ],
    goldFinal: ['Ann lives in Rome', 'Ann has a cat'],
    questions: [{ q: 'Where does Ann live?', goldTexts: ['Ann lives in Rome'] }],
  }),
);
const course = courseOf(world);
const source = (content: string) => ({ batch_id: 'b0', content, is_source: true });
const stats = { batches: { accepted: 2, pending: 0, consolidating: 0, parked: 0, gap: 0 } };
const home: readonly [HistoryEvent, HistoryEvent] = [
  { event: 'ADD', version: 1, previous: null, memory: 'Ann lives in Oslo', said_at: JAN },
  { event: 'UPDATE', version: 2, previous: 'Ann lives in Oslo', memory: 'Ann lives in Rome', said_at: FEB },
];
const pet: readonly HistoryEvent[] = [
  { event: 'ADD', version: 1, previous: null, memory: 'Ann has a cat', said_at: JAN },
];
const plan = (facts: readonly string[], ids: readonly string[], calls = 2) => ({
  facts: facts.map((text, i) => ({ id: `f${i}`, text })),
  outcomes: facts.map((_, i) => ({ fact: `f${i}`, outcome: 'ADD', reason: 'new' })),
  events: ids.map((memory_id) => ({ memory_id })),
  usage: { calls },
});
const RIGHT: Evidence = {
  live: [
    { id: 'home', memory: 'Ann lives in Rome', said_at: FEB, valid_from: FEB },
    { id: 'pet', memory: 'Ann has a cat', said_at: JAN, valid_from: JAN },
  ],
  histories: new Map([
    ['home', home],
    ['pet', pet],
  ]),
  sources: new Map([
    ['home', [source('Ann lives in Rome')]],
    ['pet', [source('Ann has a cat')]],
  ]),
  consolidations: [
    { id: 'c0', plan: plan(['Ann lives in Oslo', 'Ann has a cat'], ['home', 'pet'], 1), answers: [] },
    { id: 'c1', plan: plan(['Ann lives in Rome'], ['home']), answers: [] },
  ],
  stats,
  answers: world.questions.map((question) => ({ question, found: ['Ann lives in Rome', 'Ann has a cat'] })),
  moments: course.moments.map((moment) => ({ moment, found: [{ id: 'x', memory: moment.holds }] })),
};
const failing = (changed: Partial<Evidence>): readonly string[] => {
  const given: Case = {
    world,
    course,
    evidence: { ...RIGHT, ...changed },
    posted: { batchIds: ['b0'], statsBefore: stats },
    calls: [{ name: 'extract_facts' }],
  };
  return GATES.map((gate) => gate(given)).flatMap(({ gate, passed }) => (passed ? [] : [gate]));
};
const [first, second] = RIGHT.live as [Evidence['live'][0], Evidence['live'][0]];

test('a right outcome passes every gate', () => {
  expect(failing({})).toEqual([]);
});

describe('a gate fails', () => {
  test.each<[string, string, Partial<Evidence>]>([
    [
      'G1',
      'where an outdated text still holds',
      { live: [...RIGHT.live, { ...first, id: 'old', memory: 'Ann lives in Oslo' }] },
    ],
    ['G1', 'where a text is lost', { live: [first] }],
    ['G1', 'where a text holds twice', { live: [...RIGHT.live, { ...second, id: 'again' }] }],
    ['G1', 'where nothing was updated', { histories: new Map([['pet', pet]]) }],
    [
      'G4',
      'where the right text is not found first',
      { answers: world.questions.map((question) => ({ question, found: ['Ann has a cat'] })) },
    ],
    [
      'G4',
      'where the outdated text is',
      { answers: world.questions.map((question) => ({ question, found: ['Ann lives in Oslo'] })) },
    ],
    [
      'G8',
      'where what was undone still holds',
      {
        histories: new Map([
          ...RIGHT.histories,
          ['home', [...home, { ...home[1], event: 'UNDO', version: 3, memory: null, retracts: [2] }]],
        ]),
      },
    ],
    ['G8', 'where events lead elsewhere', { histories: new Map([...RIGHT.histories, ['home', home.slice(0, 1)]]) }],
    [
      'G8',
      'where a change does not say the old text',
      { histories: new Map([...RIGHT.histories, ['home', [home[0], { ...home[1], previous: null }]]]) },
    ],
    ['G9', 'where no message stands behind a memory', { sources: new Map([['home', [source('Ann lives in Rome')]]]) }],
    [
      'G9',
      "where another user's does",
      { sources: new Map([...RIGHT.sources, ['pet', [{ ...source('Ann has a cat'), batch_id: 'b9' }]]]) },
    ],
    ['G14', 'where counts do not add up', { stats: { batches: { ...stats.batches, gap: 1 } } }],
    ['G14', 'where a batch is parked', { stats: { batches: { ...stats.batches, parked: 1 } } }],
    ['G14', 'where a message brought no fact', { consolidations: RIGHT.consolidations.slice(1) }],
    [
      'G17',
      'where a consolidation took more than two calls',
      { consolidations: [{ id: 'c0', plan: plan([], [], 3), answers: [{ step: 'extract' }] }] },
    ],
    ['G18', 'where a memory carries another time', { live: [{ ...first, valid_from: JAN }, second] }],
    [
      'G18',
      'where a time shows what held later',
      { moments: course.moments.map((moment) => ({ moment, found: RIGHT.live })) },
    ],
    [
      'G18',
      'where two versions of a memory hold at once',
      {
        moments: course.moments.map((moment) => ({
          moment,
          found: [
            { id: 'x', memory: moment.holds },
            { id: 'x', memory: 'y' },
          ],
        })),
      },
    ],
  ])('%s %s', (gate, _, changed) => {
    expect(failing(changed)).toContain(gate);
  });
});

import {
  CutOff,
  type EngineBench,
  echoExtract,
  engineBench,
  expectTrue,
  type FakeChat,
  fakeChat,
  type Reply,
  UNUSABLE,
  WRAPPED,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { Batch } from '../ports/ledger/lanes.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';

const CYCLES = 'User cycles to work';
const SEOUL = 'User lives in Seoul';
const BOTH = [CYCLES, SEOUL];
const facts = (value: unknown): string => JSON.stringify({ facts: value });

/** One conversation whose messages are read with this answer. */
async function read(answer: Reply, more: Readonly<Record<string, () => Reply>> = {}) {
  const chat = fakeChat({
    extract_facts: () => answer,
    repair_output: () => answer,
    decide_operations: () => ({ operations: [] }),
    ...more,
  });
  const bench = await engineBench({ chat });
  const id = await bench.post(['I cycle to work', 'Seoul is where I live now']);
  await bench.run();
  await expectTrue(bench.deps.ledger);
  return { bench, chat, live: await bench.live(), batch: await bench.deps.ledger.batches.get(DEFAULT_TENANT, id) };
}

const discards = async (bench: EngineBench): Promise<readonly string[]> => {
  const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
  return ((await bench.deps.ledger.thoughts.plan(results[0]?.id ?? ''))?.discards ?? []).map(({ reason }) => reason);
};

describe('G15: facts are found in an answer', () => {
  it.each(WRAPPED)('%s', async (_class, wrap) => {
    const { live, chat } = await read(wrap(facts(BOTH)));
    expect(live).toEqual(BOTH);
    expect(chat.calls.map(({ name }) => name)).not.toContain('repair_output');
    expect(({} as JsonObject).polluted).toBeUndefined();
  });

  it.each<[string, string, readonly string[]]>([
    ['of objects, each with its own key', facts([{ fact: CYCLES }, { text: SEOUL }]), BOTH],
    ['with other things between', facts([CYCLES, null, 17, false, '', '  ', SEOUL]), BOTH],
    ['as a numbered object', facts({ 0: CYCLES, 1: SEOUL }), BOTH],
    ['under another key', JSON.stringify({ memory: [{ text: CYCLES }, { text: SEOUL }] }), BOTH],
    [
      'that says the same again and again',
      facts([CYCLES, `${CYCLES.toUpperCase()}. `, 'User  cycles to  work', SEOUL]),
      BOTH,
    ],
    ['with half a character', `{"facts":["User \\ud83d cycles","${SEOUL}"]}`, ['User � cycles', SEOUL]],
    ['with a date that tells nothing', facts(['2025-11-03T08:00:00Z', CYCLES]), [CYCLES]],
  ])('%s', async (_class, answer, live) => {
    expect((await read(answer)).live).toEqual([...live].sort());
  });

  it('and an empty list is an answer: nothing is asked again', async () => {
    const { batch, chat } = await read(facts([]));
    expect(batch?.state).toBe('empty');
    expect(chat.calls).toHaveLength(1);
  });

  it('but none of 100,000 characters: it is put aside with a reason, and never embedded', async () => {
    const { bench, live } = await read(facts([`User ${'x'.repeat(100_000)}`, CYCLES]));
    expect(live).toEqual([CYCLES]);
    expect(await discards(bench)).toEqual([expect.stringContaining('longer than')]);
  });
});

describe('G15: what cannot be read of an answer', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['a number for a text', { text: 5 }],
    ['an empty text', { text: '' }],
    ['sources without a text', { source_ids: ['m0'] }],
  ])('is told in the plan beside what can: %s', async (_class, entry) => {
    const { bench, live, batch } = await read(facts([entry, CYCLES]));
    expect(live).toEqual([CYCLES]);
    expect(batch?.state).toBe('consolidated');
    expect(await discards(bench)).toEqual(['cannot be read as a fact']);
  });

  const BETWEEN = 'to from by with at in on off over under and'.split(' ');

  it('is told where there are more facts than an answer may have', async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => [...i.toString(2).padStart(11, '0')])
      .map((bits) => bits.map((bit, at) => `${bit === '0' ? 'cycles' : 'work'} ${BETWEEN[at]}`).join(' '))
      .map((words) => `User ${words}`);
    const { bench, live } = await read(facts(many));
    expect(live).toHaveLength(1_000);
    expect(await discards(bench)).toEqual(Array.from({ length: 200 }, () => 'more than 1000 facts in one answer'));
  });
});

const BROKEN_OFF: readonly [string, Reply] = ['a fact that breaks off', new CutOff('{"facts":["User cyc')];

const UNREADABLE: readonly (readonly [string, Reply])[] = [
  ['a list of nothing', facts([null])],
  ['an object without anything in it', facts({})],
  ['a list of lists of nothing', facts([[[[]]]])],
  ['numbers for texts', facts([{ text: 5 }])],
  ['empty texts', facts([{ text: '' }])],
  ['facts that only have sources', facts([{ source_ids: ['m0'] }])],
  ['a whole answer behind which another breaks off', new CutOff(`${facts([CYCLES])}\n{"facts":["${SEOUL}","User o`)],
];

describe.each<readonly [string, Reply]>([...UNUSABLE, ...UNREADABLE, BROKEN_OFF])(
  'G15: %s is no answer',
  (_class, answer) => {
    it('to read messages by: the batch is tried again, then parked with its messages', async () => {
      const { batch, live, chat } = await read(answer);
      expect(live).toEqual([]);
      expect(batch).toMatchObject({ state: 'parked', attempts: 2, failure: { code: 'model_output_unusable' } });
      expect(chat.calls).toHaveLength(4);
      expect(new Set(chat.calls.map(({ user, again }) => `${again} ${user}`)).size).toBe(4);
    });

    it('and is repaired by another that is one', async () => {
      const { live, chat } = await read(answer, { repair_output: () => ({ facts: BOTH }) });
      expect(live).toEqual(BOTH);
      expect(chat.calls.filter(({ name }) => name !== 'decide_operations')).toHaveLength(2);
    });
  },
);

describe('G15: a repair is read like any answer', () => {
  it.each(WRAPPED)('%s', async (_class, wrap) => {
    expect((await read('no', { repair_output: () => wrap(facts(BOTH)) })).live).toEqual(BOTH);
  });
});

const TURIN = 'User lives in Turin';
const COFFEE = 'User drinks coffee';
const GENOA = 'User moved to Genoa';
const DOG = 'User got a dog';

interface Decided {
  readonly chat: FakeChat;
  readonly batch: Batch | null;
  readonly live: readonly string[];
  readonly operations: readonly (readonly [event: string, before: string | null, after: string | null])[];
  /** Every text there ever was. */
  readonly texts: readonly string[];
}

/** Two memories are known, two facts come; they are decided on with this answer, in which T and C stand for the memories. */
async function decided(answer: string): Promise<Decided> {
  const idIn = (input: JsonObject, text: string): string =>
    (input.memories as { id: string; text: string }[]).find((memory) => memory.text === text)?.id ?? '';
  const shown = (input: JsonObject): string =>
    answer.replaceAll('<T>', idIn(input, TURIN)).replaceAll('<C>', idIn(input, COFFEE));
  const repeat = (input: JsonObject): string => shown(input.input as JsonObject);
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: shown, repair_output: repeat });
  const bench = await engineBench({ chat });
  for (const known of [TURIN, COFFEE]) await bench.post([known], { settings: { mode: 'verbatim' } });
  await bench.run();
  const id = await bench.post([GENOA, DOG]);
  await bench.run();
  await expectTrue(bench.deps.ledger);
  const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
  const plan = await bench.deps.ledger.thoughts.plan(results[0]?.id ?? '');
  return {
    chat,
    batch: await bench.deps.ledger.batches.get(DEFAULT_TENANT, id),
    live: await bench.live(),
    operations: (plan?.operations ?? []).map(({ event, before, after }) => [event, before, after]),
    texts: (await bench.memories()).flatMap(({ versions }) => versions.map(({ text }) => text)),
  };
}

const memory = (...entries: readonly object[]): string => JSON.stringify({ memory: entries });
const MOVED = { id: '<T>', text: GENOA, event: 'UPDATE' };
const ADDED = { event: 'ADD', text: DOG };
const ALL_KEPT = [COFFEE, TURIN, GENOA, DOG];
const UPDATED = [COFFEE, GENOA, DOG];

describe('G15: no decision loses a fact or empties a memory', () => {
  it.each<[string, string, readonly string[]]>([
    ['whole, in the older shape', memory(MOVED, ADDED), UPDATED],
    ['on a memory nobody showed', memory({ ...MOVED, id: '42' }, ADDED), ALL_KEPT],
    ['with a number for an id', memory(MOVED, ADDED).replace('"<T>"', '<T>'), UPDATED],
    ['without an event', memory({ id: '<T>', text: GENOA }, { text: DOG }), UPDATED],
    ['with an empty text', memory({ ...MOVED, text: '' }, ADDED), UPDATED],
    ['twice on the same memory', memory(MOVED, { ...MOVED, text: 'User lives in Genoa' }, ADDED), UPDATED],
    ['that only deletes what is contradicted', memory({ id: '<T>', event: 'DELETE' }, ADDED), UPDATED],
    ['that forgets a fact', memory(ADDED), ALL_KEPT],
    ['as an object by id', JSON.stringify({ memory: { '<T>': { event: 'UPDATE', text: GENOA } } }), UPDATED],
    ['with a text in a text', memory({ ...MOVED, text: { text: GENOA } }, ADDED), UPDATED],
    ['that is empty', '[]', ALL_KEPT],
  ])('%s', async (_class, answer, live) => {
    const { texts, ...after } = await decided(answer);
    expect(after.live).toEqual([...live].sort());
    expect(texts).toEqual(expect.arrayContaining(ALL_KEPT));
    expect(after.batch?.state).toBe('consolidated');
  });

  it.each(WRAPPED)('%s', async (_class, wrap) => {
    expect((await decided(wrap(memory(MOVED, ADDED)))).live).toEqual([...UPDATED].sort());
  });

  it('that deletes everything: the facts are kept, and every text stays in the history', async () => {
    const wiped = await decided(memory({ id: '<T>', event: 'DELETE' }, { id: '<C>', event: 'DELETE' }));
    expect(wiped.live).toEqual([DOG, GENOA].sort());
    expect(wiped.texts.toSorted()).toEqual([...ALL_KEPT].sort());
    const deletes = wiped.operations.filter(([event]) => event === 'DELETE');
    expect(deletes.map(([, before]) => before).sort()).toEqual([COFFEE, TURIN]);
  });

  it.each(UNUSABLE)('%s: nothing changes, and the batch is parked with its facts', async (_class, answer) => {
    const { batch, live } = await decided(answer);
    expect(batch).toMatchObject({ state: 'parked', failure: { code: 'model_output_unusable' } });
    expect(live).toEqual([COFFEE, TURIN].sort());
  });
});

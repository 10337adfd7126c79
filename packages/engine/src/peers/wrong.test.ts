import {
  CutOff,
  type EngineBench,
  echoExtract,
  engineBench,
  fakeChat,
  keyedDecide,
  type Script,
  watched,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import { EXTRACT } from '../models/prompts/consolidation.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';

/** Memories that other systems get wrong, as their code and threads tell. */

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const benchOf = (scripts: Readonly<Record<string, Script>>): Promise<EngineBench> =>
  engineBench({ chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf), ...scripts }) });

/** The first fact gets these operations; whatever else there is, is as it should be. */
const deciding =
  (...operations: readonly JsonObject[]): Script =>
  () => ({
    operations: operations.map((operation) => ({
      fact: 'f0',
      id: null,
      text: null,
      reason: '',
      keep: null,
      ...operation,
    })),
  });

/** Posts one after the other, each consolidated before the next. */
async function told(bench: EngineBench, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    await bench.post([text]);
    await bench.run();
  }
}

describe('mem0 #4536, #4580: a deletion without the new fact empties the store', () => {
  it('here the fact is kept beside what it ended', async () => {
    const bench = await benchOf({ decide_operations: deciding({ event: 'DELETE', id: '0' }) });
    await told(bench, 'pet: a cat', 'pet: no cat any more');
    expect(await bench.live()).toEqual(['pet: no cat any more']);
  });
});

describe('mem0 #1674: a fact that is told twice is deleted', () => {
  it.each(['DELETE', 'UPDATE', 'NONE'])('here it stays, also when the model says %s', async (event) => {
    const bench = await benchOf({ decide_operations: deciding({ event, id: '0' }) });
    await told(bench, 'pet: a cat', 'pet: a cat', 'pet: a cat');
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

describe('mem0 #3931, #4437, #4708: a decision about an id that does not exist loses the fact', () => {
  it.each(['UPDATE', 'DELETE', 'NONE'])(
    'here it is added where %s names nobody, and the plan tells why',
    async (event) => {
      const bench = await benchOf({ decide_operations: deciding({ event, id: '99', text: 'pet: a dog' }) });
      await told(bench, 'pet: a cat');
      const id = await bench.post(['pet: a dog']);
      await bench.run();
      expect(await bench.live()).toEqual(['pet: a cat', 'pet: a dog']);
      expect((await bench.plan(id)).remarks).not.toEqual([]);
    },
  );
});

describe('mem0 #6515, #6531: eight equal additions at once become eight copies', () => {
  it.each(['decide', 'verbatim'] as const)('here they become one memory, in mode %s', async (mode) => {
    const bench = await benchOf({});
    await Promise.all(Array.from({ length: 8 }, () => bench.post(['pet: a cat'], { settings: { mode } })));
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

describe('mem0 #4573: recalled memories and system prompts are fed back and become memories, 668 times', () => {
  it('here what an assistant recites and what a system prompt tells never becomes one more', async () => {
    const all: Script = (input) => ({
      facts: (input.messages as { id: string; content: string }[]).map(({ id, content }) => ({
        text: content,
        source_ids: [id],
      })),
    });
    const bench = await benchOf({ extract_facts: all });
    await told(bench, 'Ana likes figs a lot');
    for (let turn = 0; turn < 5; turn += 1) {
      await bench.post([
        { role: 'system', content: 'You help Ana, who keeps bees in Lisbon' },
        { role: 'assistant', content: 'Ana likes figs a lot' },
        { role: 'user', content: `Ana went for walk number ${turn}` },
      ]);
      await bench.run();
    }
    const live = await bench.live();
    expect(live.filter((text) => text.includes('figs'))).toEqual(['Ana likes figs a lot']);
    expect(live.filter((text) => text.includes('bees'))).toEqual([]);
  });
});

describe('mem0 #5428: an answer that breaks off costs what was known before', () => {
  it('here nothing that was there is touched, and the batch is parked instead of half applied', async () => {
    const half = '{"facts":[{"text":"pet: a cat","source_ids":["m0"]},{"text":"lives: in Os';
    const bench = await benchOf({
      extract_facts: (input, nth) => (nth === 1 ? echoExtract(input, nth) : new CutOff(half)),
      repair_output: () => new CutOff(half),
    });
    await told(bench, 'works: at sea');
    const id = await bench.post(['pet: a cat', 'lives: in Oslo']);
    await bench.run();
    expect(await bench.live()).toEqual(['works: at sea']);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'parked' });
  });
});

describe('mnemosyne #722: what a model thinks is stored as a memory', () => {
  it('here thoughts are taken away before anything is read', async () => {
    const bench = await benchOf({
      extract_facts: (input, nth) =>
        `<think>I could answer {"facts":[{"text":"a thought","source_ids":["m0"]}]}</think>${JSON.stringify(echoExtract(input, nth))}`,
    });
    await told(bench, 'pet: a cat');
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

describe('empty messages make a model invent', () => {
  it('here it is not asked about them', async () => {
    const invents: Script = () => ({ facts: [{ text: 'User likes surprises', source_ids: ['m0'] }] });
    const bench = await benchOf({ extract_facts: invents });
    const id = await bench.post(['   ', '\n']);
    await bench.run();
    expect(await bench.live()).toEqual([]);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'empty' });
    expect((await bench.deps.ledger.overview.usage(DEFAULT_TENANT)).calls).toBe(0);
  });
});

describe('mem0 #3206, #3707, #6312: what is said in Chinese is stored in English, names translated', () => {
  it('here the words stay as they were, through extraction, update and history', async () => {
    const bench = await benchOf({ decide_operations: keyedDecide((text) => text.slice(0, 3)) });
    await told(bench, '小明住在上海', '小明住在北京');
    expect(await bench.live()).toEqual(['小明住在北京']);
    const [memory] = await bench.memories();
    expect(memory?.versions.map(({ text }) => text)).toEqual(['小明住在上海', '小明住在北京']);
  });

  it('and the model is told so', () => {
    expect(EXTRACT.system).toMatch(/language/i);
    expect(EXTRACT.system).toMatch(/never translate/i);
  });
});

describe('honcho #725: a conclusion that was deleted comes back from the same messages', () => {
  it('here it stays deleted when they are read again, and comes back when it is said anew', async () => {
    const bench = await benchOf({});
    const writer = memoryWriter(bench.deps);
    await told(bench, 'pet: a cat');
    const said = bench.tools.now();
    const [memory] = await bench.memories();
    bench.tools.advance(1_000);
    await writer.remove(DEFAULT_TENANT, memory?.id ?? '');
    bench.tools.advance(1_000);
    await bench.post(['pet: a cat'], { at: said });
    await bench.run();
    expect(await bench.live()).toEqual([]);
    bench.tools.advance(1_000);
    await told(bench, 'pet: a cat');
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

describe('mem0 #4896, #4904, #4956, #5576, #5867: what contradicts a memory is put beside it', () => {
  it('here it takes its place, and the history tells what was before', async () => {
    const bench = await benchOf({});
    await told(bench, 'lives: in Oslo', 'lives: in Rome', 'lives: in Bonn');
    expect(await bench.live()).toEqual(['lives: in Bonn']);
    const [memory] = await bench.memories();
    expect(memory?.versions.map(({ text }) => text)).toEqual(['lives: in Oslo', 'lives: in Rome', 'lives: in Bonn']);
  });
});

/** To find, read, write, and tell the index; a second slice would need as many again. */
const STORE_CALLS_MAX = 12;

describe('mem0: deleting the 60 memories of a user takes 302 calls of its stores', () => {
  it('here it takes a handful', async () => {
    const bench = await benchOf({});
    await bench.post(Array.from({ length: 60 }, (_, i) => `thing ${i}: is there`));
    await bench.run();
    expect(await bench.live()).toHaveLength(60);
    const { deps, calls } = watched(bench.deps, (_nth, call) => call());
    const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
    expect(await memoryWriter(deps).removeAll(DEFAULT_TENANT, scope)).toMatchObject({ kind: 'written', count: 60 });
    expect(calls.length).toBeLessThanOrEqual(STORE_CALLS_MAX);
    expect(await bench.live()).toEqual([]);
  });
});

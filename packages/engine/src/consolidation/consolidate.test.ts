import { CutOff, echoExtract, engineBench, fakeChat, keyedDecide, replay, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { memoryWriter } from '../memories/write.ts';
import type { Paged } from '../ports/ledger/ledger.ts';
import { DEFAULT_TENANT, type LaneId, type Memory } from '../words.ts';

/** "lives: Oslo" is about "lives". */
const keyOf = (text: string): string => text.split(':')[0] ?? text;
const model = (scripts: Record<string, Script> = {}) =>
  fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf), ...scripts });
const DAY = 86_400_000;

describe('a conversation becomes memories', () => {
  it('new facts are added, changed ones updated, repeated ones confirmed', async () => {
    const chat = model();
    const bench = await engineBench({ chat });
    await bench.post(['lives: in Oslo', 'pet: a cat']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);

    await bench.post(['lives: in Bergen', 'pet: a cat']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Bergen', 'pet: a cat']);
    const memories = await bench.memories();
    expect(memories).toHaveLength(2);
    expect(memories.map((memory) => memory.confirmations).sort()).toEqual([0, 1]);
    const home = memories.find((memory) => memory.versions.length === 2);
    expect(home?.versions.map((version) => version.text)).toEqual(['lives: in Oslo', 'lives: in Bergen']);
    expect(home?.versions[0]?.invalidAt).toBe(home?.versions[1]?.validFrom);
  });

  it('no decision is asked for where nothing is known yet', async () => {
    const chat = model();
    const bench = await engineBench({ chat });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    expect(chat.calls.map((call) => call.name)).toEqual(['extract_facts']);
  });

  it('a fact replaces an earlier fact of the same consolidation: one memory, two versions', async () => {
    const bench = await engineBench({ chat: model() });
    await bench.post(['lives: in Oslo', 'lives: in Bergen', 'lives: in Oslo']);
    await bench.run();
    const memories = await bench.memories();
    expect(memories).toHaveLength(1);
    expect(memories[0]?.versions.map((version) => version.text)).toEqual([
      'lives: in Oslo',
      'lives: in Bergen',
      'lives: in Oslo',
    ]);
    expect(await bench.live()).toEqual(['lives: in Oslo']);
  });

  it('what was said last counts, not what came last', async () => {
    const bench = await engineBench({ chat: model() });
    const said = bench.tools.now();
    await bench.post(['lives: in Bergen'], { at: said + DAY });
    await bench.run();
    await bench.post(['lives: in Oslo'], { at: said });
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Bergen']);
    const [memory] = await bench.memories();
    const oslo = memory?.versions.find((version) => version.text === 'lives: in Oslo');
    expect(oslo?.invalidAt).toBe(said + DAY);
  });

  it('nothing of one user reaches another', async () => {
    const chat = model();
    const bench = await engineBench({ chat });
    await bench.post(['lives: in Oslo'], { userId: 'ann' });
    await bench.run();
    await bench.post(['lives: in Bergen'], { userId: 'bob' });
    await bench.run();
    expect(await bench.live('ann')).toEqual(['lives: in Oslo']);
    expect(await bench.live('bob')).toEqual(['lives: in Bergen']);
    expect(chat.calls.every((call) => call.name === 'extract_facts')).toBe(true);
  });

  it('a wish to forget deletes what it is about, and is never remembered itself', async () => {
    const wish: Script = (input, nth) => {
      const text = JSON.stringify(input.messages);
      const facts = [{ text: 'User wants it forgotten that they smoke', category: 'forget' }];
      return text.includes('forget') ? { facts } : echoExtract(input, nth);
    };
    const forget: Script = (input) => {
      const [memory] = input.memories as { id: string }[];
      return {
        operations: [{ fact: 'f0', event: 'DELETE', id: memory?.id ?? null, text: null, reason: 'asked', keep: null }],
      };
    };
    const bench = await engineBench({ chat: model({ extract_facts: wish, decide_operations: forget }) });
    await bench.post(['forget that I smoke']);
    await bench.run();
    expect(await bench.memories()).toEqual([]);
    await bench.post(['tobacco: every day']);
    await bench.run();
    const id = await bench.post(['forget that I smoke']);
    await bench.run();
    expect(await bench.live()).toEqual([]);
    const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
    const plan = await bench.deps.ledger.thoughts.plan(batch?.consolidationId ?? '');
    expect(plan?.outcomes).toMatchObject([{ outcome: 'DROPPED', reason: 'the user asked to forget' }]);
  });

  it.each([
    ['hides its words', false, [{ withheld: 'forgotten' }]],
    ['leaves its words shown where the memory must not be deleted', true, ['forget that I smoke']],
  ])('a wish to forget %s', async (_name, immutable, shown) => {
    const extract: Script = () => ({ facts: [{ text: 'User wants it forgotten', category: 'forget' }] });
    const decide: Script = () => ({
      operations: [{ fact: 'f0', event: 'DELETE', id: '0', text: null, reason: 'asked', keep: null }],
    });
    const bench = await engineBench({ chat: model({ extract_facts: extract, decide_operations: decide }) });
    const { ledger } = bench.deps;
    const ann = { userId: 'ann', agentId: null, runId: null, appId: null };
    const smokes = { scope: ann, text: 'User smokes', metadata: {}, category: null, immutable };
    await memoryWriter(bench.deps).add(DEFAULT_TENANT, { ...smokes, validFrom: null, expiresAt: null });
    bench.tools.advance(1_000);
    await bench.post(['forget that I smoke']);
    await bench.run();
    expect(await bench.live()).toEqual(immutable ? ['User smokes'] : []);
    const lane = await ledger.lanes.find(DEFAULT_TENANT, { kind: 'user', id: 'ann' });
    expect((await ledger.contents.messages(lane?.id ?? ('' as LaneId), 0, 10)).map(({ content }) => content)).toEqual(
      shown,
    );
  });

  it('messages without a fact leave an empty batch', async () => {
    const bench = await engineBench({ chat: model({ extract_facts: () => ({ facts: [] }) }) });
    const id = await bench.post(['hello there']);
    await bench.run();
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'empty', stage: 'done' });
  });

  it('verbatim messages are stored without any model, repeats once', async () => {
    const chat = model();
    const bench = await engineBench({ chat });
    await bench.post(['The sky is blue', { role: 'system', content: 'be kind' }, 'The sky is blue'], {
      settings: { mode: 'verbatim' },
    });
    await bench.run();
    expect(await bench.live()).toEqual(['The sky is blue']);
    expect(chat.calls).toHaveLength(0);
  });
});

describe('a model that fails loses nothing', () => {
  it('an answer with a fault is repaired once, and the repaired answer is kept', async () => {
    const chat = model({
      extract_facts: () => 'I am sorry, I cannot',
      repair_output: (input) => echoExtract(input.input as never, 1),
    });
    const bench = await engineBench({ chat });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Oslo']);
    expect(chat.calls.map((call) => call.name)).toEqual(['extract_facts', 'repair_output']);
  });

  it('an unusable answer is asked for again later, the step before it is not', async () => {
    const decide: Script = (input, nth) => (nth === 1 ? 'nonsense' : keyedDecide(keyOf)(input, nth));
    const chat = model({ decide_operations: decide, repair_output: () => 'more nonsense' });
    const bench = await engineBench({ chat });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    await bench.post(['lives: in Bergen']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Bergen']);
    expect(chat.calls.map((call) => call.name)).toEqual([
      'extract_facts',
      'extract_facts',
      'decide_operations',
      'repair_output',
      'decide_operations',
    ]);
  });

  it('a truncated answer is completed before it counts', async () => {
    const chat = model({
      extract_facts: () => new CutOff('{"facts":[{"text":"lives: in Oslo"},{"text":"pet: a c'),
      repair_output: (input) => echoExtract(input.input as never, 1),
    });
    const bench = await engineBench({ chat });
    await bench.post(['lives: in Oslo', 'pet: a cat']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);
  });

  it('a model that is down parks the batch after its attempts, with the reason; a replay consolidates it', async () => {
    let down = true;
    const fail = new EngineError('the model answered 500', { code: 'model_server_error', retryable: true });
    const chat = model({ extract_facts: (input, nth) => (down ? fail : echoExtract(input, nth)) });
    const bench = await engineBench({ chat });
    const id = await bench.post(['lives: in Oslo']);
    const verdicts = await bench.run();
    expect(verdicts.map((verdict) => verdict.kind)).toEqual(['later', 'later', 'parked']);
    const { batches } = bench.deps.ledger;
    expect(await batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'parked',
      attempts: 3,
      failure: { code: 'model_server_error', message: 'the model answered 500' },
    });
    down = false;
    await replay(bench.deps, [id]);
    await bench.run();
    expect(await batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'consolidated' });
    expect(await bench.live()).toEqual(['lives: in Oslo']);
  });

  it('a poison batch parks alone; its neighbours go on', async () => {
    const extract: Script = (input, nth) => {
      if (JSON.stringify(input.messages).includes('poison'))
        throw new EngineError('choked', { code: 'model_rejected', retryable: false });
      return echoExtract(input, nth);
    };
    const bench = await engineBench({ chat: model({ extract_facts: extract }) });
    const ids = [];
    for (const text of ['a: 1', 'b: 2', 'poison: 3', 'c: 4', 'd: 5']) ids.push(await bench.post([text]));
    await bench.run();
    expect(await bench.live()).toEqual(['a: 1', 'b: 2', 'c: 4', 'd: 5']);
    const counts = await bench.deps.ledger.overview.batches(DEFAULT_TENANT);
    expect(counts).toMatchObject({ accepted: 5, parked: 1, consolidated: 4 });
  });
});

describe('memories of one consolidation', () => {
  it('are listed in the order in which they were said, the last one first, page by page', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
    const texts = ['Ann has a cat', 'tea is what she drinks', 'Bergen in May', 'plays chess', 'an aunt in Rome'];
    await bench.post(texts, { settings: { mode: 'add_only' } });
    await bench.run();
    const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
    const found: string[] = [];
    for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
      const page: Paged<Memory> = await bench.deps.ledger.memories.list(DEFAULT_TENANT, scope, bench.tools.now(), {
        ...{ limit: 2, cursor },
      });
      found.push(...page.results.map(({ versions }) => versions[0]?.text ?? ''));
      cursor = page.nextCursor;
    }
    expect(found).toEqual(texts.toReversed());
  });
});

it.each(['add_only', 'verbatim'] as const)('in the mode %s a fact is added without a decision', async (mode) => {
  const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  const batch = await bench.post(['I live in Oslo'], { settings: { mode } });
  await bench.run();
  const { operations } = await bench.plan(batch);
  expect(operations).toMatchObject([{ event: 'ADD', reason: 'added without a decision' }]);
});

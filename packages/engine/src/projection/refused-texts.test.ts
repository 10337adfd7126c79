import {
  createMemoryIndex,
  createMemoryLedger,
  type EngineBench,
  echoExtract,
  emptyIndex,
  engineBench,
  type FakeEmbedder,
  fakeChat,
  fakeEmbedder,
  fixedTools,
  keyedDecide,
  NEVER,
  scope,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { memoryWriter } from '../memories/write.ts';
import type { Embedder } from '../ports/models.ts';
import type { NewMemory } from '../ports/writers.ts';
import { terms } from '../text/terms.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { adoptIndex, sweepOutbox } from './project.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const newMemory = (text: string, userId = 'ann'): NewMemory => ({
  ...{ scope: scope({ userId }), text, metadata: {}, category: null, immutable: false },
  ...{ validFrom: null, expiresAt: null },
});
const isBad = (text: string): boolean => text.includes('bad');

describe('a text that the embedding model refuses for good', () => {
  let embedder: FakeEmbedder;
  let bench: EngineBench;
  const startWith = async (given: Embedder): Promise<void> => {
    bench = await engineBench({
      chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }),
      embedder: given,
    });
  };
  beforeEach(async () => {
    embedder = fakeEmbedder(64, isBad);
    await startWith(embedder);
  });

  const add = (text: string, userId = 'ann') => memoryWriter(bench.deps).add(DEFAULT_TENANT, newMemory(text, userId));
  const foundByWords = async (question: string, id = 'ann'): Promise<string[]> => {
    const owner = { kind: 'user', id } as const;
    const lane = await bench.deps.ledger.memories.laneOf(DEFAULT_TENANT, owner, bench.tools.now());
    const [hits] = await bench.deps.index.search([
      {
        ...{ tenant: DEFAULT_TENANT, owner, lane, shelf: 'memories', filter: {}, where: null },
        visibility: { kind: 'live', now: bench.tools.now() },
        ...{ vector: null, terms: terms(question), wide: false, limit: 9 },
      },
    ]);
    return (hits ?? []).map(({ point }) => point.text);
  };
  const asked = (): number => embedder.calls.flat().filter(isBad).length;

  it('is written and found by its words', async () => {
    await add('pet: bad cat');
    expect(await foundByWords('cat')).toEqual(['pet: bad cat']);
    expect(await bench.deps.ledger.overview.outbox()).toBe(0);
    expect(await bench.deps.ledger.thoughts.refusedTexts(embedder.fingerprint)).toBe(1);
  });

  it('stops no batch of its owner, and is changed like any other', async () => {
    await add('pet: bad cat');
    bench.tools.advance(1_000);
    await bench.post(['home: Oslo', 'pet: a dog']);
    await bench.run();
    expect(await bench.live()).toEqual(['home: Oslo', 'pet: a dog']);
  });

  it('may be a fact itself, or what is said', async () => {
    await bench.post(['pet: bad cat', 'home: Oslo']);
    await bench.post([{ content: 'so bad', role: 'assistant' }]);
    await bench.run();
    expect(await bench.live()).toEqual(['home: Oslo', 'pet: bad cat']);
    expect(await foundByWords('cat')).toEqual(['pet: bad cat']);
  });

  it('is not asked for again when the index is lost, and stops nobody from being in the new one', async () => {
    await add('pet: bad cat');
    await bench.post(['home: Oslo', { content: 'so bad', role: 'assistant' }]);
    await bench.run();
    await add('home: Rome', 'bob');
    const before = asked();
    await bench.deps.index.clear();
    await adoptIndex(bench.deps);
    while ((await sweepOutbox(bench.deps, NEVER)) > 0);
    expect(asked()).toBe(before);
    expect([await foundByWords('cat'), await foundByWords('rome', 'bob')]).toEqual([['pet: bad cat'], ['home: Rome']]);
  });

  it('is asked for again with another model', async () => {
    await add('pet: bad cat');
    const other = fakeEmbedder(32);
    const deps = { ...bench.deps, embedder: other };
    await adoptIndex(deps);
    while ((await sweepOutbox(deps, NEVER)) > 0);
    expect(other.calls.flat()).toEqual(['pet: bad cat']);
    expect(await bench.deps.ledger.thoughts.refusedTexts(other.fingerprint)).toBe(0);
  });
});

describe('an embedder that is away', () => {
  it('lets what is written be found by its words, in the place of what it said before, until it is back', async () => {
    let away = false;
    const { embed, ...good } = fakeEmbedder(64);
    const embedder: Embedder = {
      ...good,
      embed: (texts, cancel) =>
        away ? Promise.reject(new EngineError('no', { code: 'model_timeout', retryable: true })) : embed(texts, cancel),
    };
    const state = emptyIndex();
    const stores = { ledger: createMemoryLedger({ tools: fixedTools() }), index: createMemoryIndex(state) };
    const bench = await engineBench({ chat: fakeChat({}), embedder, stores });
    const writer = memoryWriter(bench.deps);
    const first = await writer.add(DEFAULT_TENANT, newMemory('home: Oslo'));
    expect(first.kind).toBe('written');
    const id = first.kind === 'written' ? first.memory.id : '';
    away = true;
    bench.tools.advance(1_000);
    expect((await writer.change(DEFAULT_TENANT, id, { text: 'home: Rome' })).kind).toBe('words');
    const held = () =>
      [...state.points.values()]
        .filter(({ live }) => live)
        .map(({ text, vector }) => [text, Math.hypot(...vector) > 0]);
    expect(held()).toEqual([['home: Rome', false]]);
    expect(await bench.deps.ledger.overview.outbox()).toBe(1);
    away = false;
    await sweepOutbox(bench.deps, NEVER);
    expect([held(), await bench.deps.ledger.overview.outbox()]).toEqual([[['home: Rome', true]], 0]);
    away = true;
    expect((await writer.remove(DEFAULT_TENANT, id)).kind).not.toBe('unprojected');
    expect(held()).toEqual([]);
    expect(await bench.deps.ledger.thoughts.refusedTexts(embedder.fingerprint)).toBe(0);
  });

  it('and an index that is away as well are told from each other: nothing is found yet', async () => {
    const failing = (): Promise<never> =>
      Promise.reject(new EngineError('no', { code: 'index_unavailable', retryable: true }));
    const bench = await engineBench({ chat: fakeChat({}) });
    const deps = { ...bench.deps, index: { ...bench.deps.index, upsert: failing } };
    expect((await memoryWriter(deps).add(DEFAULT_TENANT, newMemory('home: Oslo'))).kind).toBe('unprojected');
  });
});

describe('a text on which the embedder fails every time, though it answers others', () => {
  const start = async () => {
    const { embed, ...good } = fakeEmbedder(64);
    const failing: Embedder = {
      ...good,
      embed: (texts, cancel) =>
        texts.some(isBad)
          ? Promise.reject(new EngineError('NaN', { code: 'model_server_error', retryable: true }))
          : embed(texts, cancel),
    };
    const state = emptyIndex();
    const stores = { ledger: createMemoryLedger({ tools: fixedTools() }), index: createMemoryIndex(state) };
    const chat = fakeChat({
      extract_facts: echoExtract,
      decide_operations: keyedDecide(keyOf),
      are_you_there: () => ({ there: true }),
    });
    return { bench: await engineBench({ chat, embedder: failing, stores }), state };
  };

  it('and that the index does not have, parks nothing that its owner says later', async () => {
    const { bench } = await start();
    await memoryWriter(bench.deps).add(DEFAULT_TENANT, newMemory('pet: bad cat'));
    const id = await bench.post(['home: Oslo']);
    await bench.run();
    expect(await bench.live()).toEqual(['home: Oslo', 'pet: bad cat']);
    expect((await bench.deps.ledger.batches.get(DEFAULT_TENANT, id))?.state).toMatch(/consolidat/);
  });

  it('is remembered, and the one text without a vector once it has failed alone', async () => {
    const { bench, state } = await start();
    const id = await bench.post(['home: Oslo', 'pet: bad cat', { content: 'so bad', role: 'assistant' }]);
    await bench.run();
    expect(await bench.live()).toEqual(['home: Oslo', 'pet: bad cat']);
    for (let i = 0; i < 6; i += 1) {
      while ((await sweepOutbox(bench.deps, NEVER)) > 0);
      bench.tools.advance(60_000);
    }
    const held = [...state.points.values()].map(({ shelf, text, vector }) => [shelf, text, Math.hypot(...vector) > 0]);
    expect(held.sort()).toEqual([
      ['memories', 'home: Oslo', true],
      ['memories', 'pet: bad cat', false],
      ['messages', 'home: Oslo', true],
      ['messages', 'pet: bad cat', false],
      ['messages', 'so bad', false],
    ]);
    expect((await bench.deps.ledger.batches.get(DEFAULT_TENANT, id))?.state).toBe('consolidated');
    expect(await bench.deps.ledger.thoughts.refusedTexts(bench.deps.embedder.fingerprint)).toBe(2);
    expect(await bench.deps.ledger.outbox.countAside()).toBe(0);
  });

  it('is not blamed for an embedder that is away: the batch waits', async () => {
    const { bench } = await start();
    const away = () => Promise.reject(new EngineError('away', { code: 'model_unreachable', retryable: true }));
    const deps = { ...bench.deps, embedder: { ...bench.deps.embedder, embed: away } };
    const id = await bench.post(['home: Oslo']);
    for (let i = 0; i < 5; i += 1) {
      const [nudge] = await deps.ledger.lanes.withWork(null, 1);
      bench.tools.advance(60_000);
      if (nudge !== undefined) await takeTurn(deps)(nudge, NEVER);
    }
    expect((await bench.deps.ledger.batches.get(DEFAULT_TENANT, id))?.state).toBe('consolidating');
    await bench.run();
    expect(await bench.live()).toEqual(['home: Oslo']);
    expect(await bench.deps.ledger.thoughts.refusedTexts(bench.deps.embedder.fingerprint)).toBe(0);
  });
});

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
  type IndexState,
  keyedDecide,
  NEVER,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { MessagesInIndex } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { memoryWriter } from '../memories/write.ts';
import type { IndexPoint } from '../ports/search-index.ts';
import { sweepRetention } from '../retention/retain.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DAY_MS } from '../text/dates.ts';
import { terms } from '../text/terms.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT, type LaneId } from '../words.ts';
import { project, sweepOutbox } from './project.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;

describe('what was said, in the index', () => {
  let state: IndexState;
  let bench: EngineBench;
  let embedder: FakeEmbedder;

  const start = async (messagesInIndex: MessagesInIndex = 'hybrid', given: Partial<FakeEmbedder> = {}) => {
    state = emptyIndex();
    embedder = { ...fakeEmbedder(64), ...given };
    bench = await engineBench({
      chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }),
      stores: { ledger: createMemoryLedger({ tools: fixedTools() }), index: createMemoryIndex(state) },
      embedder,
      settings: { messagesInIndex },
    });
  };
  beforeEach(() => start());

  const said = (): IndexPoint[] => [...state.points.values()].filter(({ shelf }) => shelf === 'messages');
  const texts = (): string[] => said().map(({ text }) => text);
  const say = async (...messages: Parameters<EngineBench['post']>[0]): Promise<string> => {
    const id = await bench.post(messages, { metadata: { chat: 'c1' } });
    await bench.run();
    return id;
  };
  const found = async (question: string, wide: boolean): Promise<string[]> => {
    const owner = { kind: 'user', id: 'ann' } as const;
    const lane = await bench.deps.ledger.lanes.find(DEFAULT_TENANT, owner);
    const [hits] = await bench.deps.index.search([
      {
        ...{ tenant: DEFAULT_TENANT, owner, lane: lane?.id as LaneId, shelf: 'messages', filter: {}, where: null },
        ...{
          visibility: { kind: 'live', now: bench.tools.now() },
          vector: null,
          terms: terms(question),
          wide,
          limit: 9,
        },
      },
    ]);
    return (hits ?? []).map(({ point }) => point.text);
  };

  it('is found by its words, and by what was said before it, from the moment its batch is consolidated', async () => {
    const at = bench.tools.now();
    const batch = await say({ content: 'Where do you live?', role: 'assistant' }, { content: 'Oslo', name: 'Ann' });
    expect((await bench.deps.ledger.batches.get(DEFAULT_TENANT, batch))?.state).toBe('consolidated');
    expect(texts()).toEqual(['Where do you live?', 'Oslo']);
    expect(await found('oslo', false)).toEqual(['Oslo']);
    expect(await found('who lives there', false)).toEqual(['Where do you live?']);
    expect((await found('who lives there', true)).sort()).toEqual(['Oslo', 'Where do you live?']);
    expect(said()[1]).toMatchObject({
      ...{ speaker: 'Ann', category: 'user', metadata: { chat: 'c1' }, version: 1, live: true, saidAt: { at, seq: 2 } },
      sourceIds: [said()[1]?.memoryId],
    });
  });

  it('is said by users and assistants, once, and not blank; secrets in it are masked', async () => {
    await say({ content: 'ls', role: 'tool' }, { content: 'Be kind', role: 'system' }, ' ', {
      content: 'hi',
      clientId: 'c',
    });
    await say({ content: 'hi', clientId: 'c' }, 'the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD');
    expect(texts()).toEqual(['hi', 'the key is [secret: API key]']);
    expect(said()[1]?.terms.join(' ')).not.toContain('abcdefgh');
  });

  it('is kept to its first twenty thousand characters', async () => {
    await say(`${'word '.repeat(5_000)}`);
    expect(said()[0]?.text.length).toBe(20_000);
    expect(embedder.calls.flat().every((text) => text.length <= 25_000)).toBe(true);
  });

  it('is found by what is said next in another batch, once that is consolidated and until it is undone', async () => {
    await say({ content: 'Where do you live?', role: 'assistant' });
    await bench.post(['home: Oslo']);
    expect(await found('oslo', true)).toEqual([]);
    await bench.run();
    expect((await found('oslo', true)).sort()).toEqual(['Where do you live?', 'home: Oslo']);
    const tea = await say('tea: green');
    expect((await found('green', true)).sort()).toEqual(['home: Oslo', 'tea: green']);
    const { consolidationId } = (await bench.deps.ledger.batches.get(DEFAULT_TENANT, tea)) ?? {};
    await undoer(bench.deps).undo(DEFAULT_TENANT, consolidationId ?? '', { cascade: false, dryRun: false });
    expect(await found('green', true)).toEqual([]);
    expect(texts()).toEqual(['Where do you live?', 'home: Oslo']);
  });

  it('is found by the same words, however a conversation is divided into batches', async () => {
    const lines = ['home: Oslo', 'pet: cat', 'tea: green', 'car: blue', 'sport: chess'];
    const contexts = (): unknown => said().map(({ text, contextTerms }) => [text, contextTerms.toSorted()]);
    await say(...lines);
    const together = contexts();
    await start();
    for (const line of lines) await say(line);
    expect(contexts()).toEqual(together);
  });

  it('brings nothing of a forgotten message back where the batch after it is projected late', async () => {
    await say({ content: 'What do you owe?', role: 'assistant' });
    const { ledger, index } = bench.deps;
    const { upsert } = index;
    // Read before the deletion, written after it.
    const late: Parameters<typeof upsert>[0][] = [];
    index.upsert = async (points) => void late.push(points);
    await say('debt: ten euros for Bo');
    index.upsert = upsert;
    await sweepOutbox(bench.deps, NEVER);
    const debt = (await bench.memories()).find(({ versions }) => versions[0]?.text === 'debt: ten euros for Bo');
    await memoryWriter(bench.deps).remove(DEFAULT_TENANT, debt?.id ?? '');
    await sweepOutbox(bench.deps, NEVER);
    for (const points of late) await upsert(points);
    expect(late.flat().map(({ text }) => text)).toContain('What do you owe?');
    expect(await found('euros', true)).toEqual([]);
    expect(await ledger.speech.unprojected(10)).toEqual([]);
  });

  it('is embedded in the call that embeds the facts, and in no other', async () => {
    await say('home: Oslo', 'pet: cat');
    await say('home: Bergen', 'tea: green');
    expect(embedder.calls.length).toBe(2);
    await bench.post([{ content: 'no fact', role: 'assistant' }]);
    await bench.run();
    expect(texts()).toContain('no fact');
  });

  it('without vectors is found by words alone, and costs no embedding', async () => {
    await start('keyword');
    await say({ content: 'Where do you live?', role: 'assistant' }, 'home: Oslo');
    expect(embedder.calls).toEqual([['home: Oslo']]);
    expect(said().map(({ vector }) => Math.hypot(...vector))).toEqual([0, 0]);
    expect(await found('oslo', false)).toEqual(['home: Oslo']);
  });

  it('can be left out, and batches end all the same', async () => {
    await start('off');
    const batch = await say({ content: 'nothing to remember', role: 'assistant' });
    await say('home: Oslo');
    expect(said()).toEqual([]);
    expect((await bench.deps.ledger.batches.get(DEFAULT_TENANT, batch))?.state).toBe('empty');
    expect(await bench.deps.ledger.overview.outbox()).toBe(0);
  });

  it('that the embedder refuses holds nothing up: it is found by words', async () => {
    await start(
      'hybrid',
      fakeEmbedder(64, (text) => text === 'bad words'),
    );
    await say({ content: 'bad words', role: 'assistant' }, 'home: Oslo');
    expect(await bench.live()).toEqual(['home: Oslo']);
    expect(await found('bad words', false)).toEqual(['bad words']);
  });

  it('goes with an undo, and comes back with what is redone', async () => {
    const batch = await say('home: Oslo');
    const { consolidationId } = (await bench.deps.ledger.batches.get(DEFAULT_TENANT, batch)) ?? {};
    const { undo, redo } = undoer(bench.deps);
    const undone = await undo(DEFAULT_TENANT, consolidationId ?? '', { cascade: false, dryRun: false });
    expect(texts()).toEqual([]);
    const id = undone.kind === 'done' ? (undone.report.undo?.id ?? '') : '';
    await redo(DEFAULT_TENANT, id, { dryRun: false });
    expect(texts()).toEqual(['home: Oslo']);
  });

  it('is told later, once, where the index was away', async () => {
    const { upsert } = bench.deps.index;
    bench.deps.index.upsert = async () => {
      throw new EngineError('away', { code: 'index_unavailable', retryable: true });
    };
    const batch = await say({ content: 'nothing to remember', role: 'assistant' });
    expect((await bench.deps.ledger.batches.get(DEFAULT_TENANT, batch))?.state).toBe('consolidating');
    bench.deps.index.upsert = upsert;
    expect(await sweepOutbox(bench.deps, NEVER)).toBe(1);
    expect(await sweepOutbox(bench.deps, NEVER)).toBe(0);
    expect(texts()).toEqual(['nothing to remember']);
    expect((await bench.deps.ledger.batches.get(DEFAULT_TENANT, batch))?.state).toBe('empty');
  });

  it('is found no more by what is forgotten of the message before it, and again once that is restored', async () => {
    await say('debt: ten euros for Bo');
    await say('rest: he keeps asking', 'tea: green');
    await say('pet: cat');
    const all = ['debt: ten euros for Bo', 'rest: he keeps asking', 'tea: green'];
    expect((await found('euros', true)).sort()).toEqual(all);
    const writer = memoryWriter(bench.deps);
    const debt = (await bench.memories()).find(({ versions }) => versions[0]?.text === all[0]);
    await writer.remove(DEFAULT_TENANT, debt?.id ?? '');
    expect(await found('euros', true)).toEqual([]);
    expect(await found('asking', true)).toEqual(expect.arrayContaining(all.slice(1)));
    await writer.restore(DEFAULT_TENANT, debt?.id ?? '', 1);
    expect((await found('euros', true)).sort()).toEqual(all);
  });

  describe('and removed by retention', () => {
    const remove = async (days = 31): Promise<void> => {
      const retention = { messagesDays: 30, plansDays: null, historyDays: null, forgottenDays: null };
      await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, retention });
      bench.tools.advance(days * DAY_MS);
      await sweepRetention(bench.deps, NEVER);
    };
    const contexts = (): string => JSON.stringify([...state.points.values()].map(({ contextTerms }) => contextTerms));

    it('is found no more, nor are memories found by it', async () => {
      await say({ content: 'Which fjord do you love?', role: 'assistant' }, 'home: Oslo');
      expect(contexts()).toContain('fjord');
      await remove();
      await sweepOutbox(bench.deps, NEVER);
      expect(said()).toEqual([]);
      expect(contexts()).not.toContain('fjord');
      expect([...state.points.values()].map(({ text }) => text)).toEqual(['home: Oslo']);
    });

    it('is in nothing by which what was said next is found', async () => {
      await say('home: Oslo fjord');
      bench.tools.advance(DAY_MS / 2);
      await say('tea: green', 'pet: cat', 'car: blue');
      expect((await found('fjord', true)).sort()).toEqual(['home: Oslo fjord', 'pet: cat', 'tea: green']);
      await remove(29.75);
      await sweepOutbox(bench.deps, NEVER);
      expect(texts()).toEqual(['tea: green', 'pet: cat', 'car: blue']);
      expect(await found('fjord', true)).toEqual([]);
    });

    it('does not come back by somebody who read it before and tells the index late', async () => {
      await say({ content: 'Which fjord do you love?', role: 'assistant' }, 'home: Oslo');
      const { ledger, index } = bench.deps;
      const [memory] = await bench.memories();
      const late = {
        ...index,
        upsert: async (points: readonly IndexPoint[]) => {
          await remove();
          while ((await sweepOutbox(bench.deps, NEVER)) > 0);
          late.upsert = index.upsert;
          await index.upsert(points);
        },
      };
      await ledger.outbox.refill();
      const entries = await ledger.outbox.ofMemories([memory?.id ?? '']);
      const batches = await ledger.speech.unprojected(9);
      await project({ ...bench.deps, index: late }, { entries, batches }, NEVER);
      expect(said()).toEqual([]);
      expect(contexts()).not.toContain('fjord');
    });
  });
});

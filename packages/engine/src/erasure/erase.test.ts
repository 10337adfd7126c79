import {
  createMemoryIndex,
  createMemoryLedger,
  type EngineBench,
  echoExtract,
  emptyIndex,
  engineBench,
  expectConserved,
  type FakeChat,
  fakeChat,
  fixedTools,
  type IndexState,
  keyedDecide,
  NEVER,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { SearchIndex } from '../ports/search-index.ts';
import type { ErasureQueue } from '../ports/writers.ts';
import { sweepOutbox } from '../projection/project.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT, type LaneId } from '../words.ts';
import { eraseOwner, sweepErasures } from './erase.ts';
import { requestErasure } from './request.ts';

const ANN = { kind: 'user', id: 'ann' } as const;

describe('erasing a user', () => {
  let state: IndexState;
  let index: SearchIndex;
  let ledger: Ledger;
  let chat: FakeChat;
  let bench: EngineBench;
  let forgotten: LaneId[];
  let asked: string[];
  let meanwhile: (() => Promise<unknown>) | null;
  const queue: ErasureQueue = {
    erase: async (ids) => void asked.push(...ids),
    forgetLane: async (lane) => void forgotten.push(lane),
  };

  beforeEach(async () => {
    state = emptyIndex();
    const inMemory = createMemoryIndex(state);
    meanwhile = null;
    const pause = async (): Promise<void> => {
      const act = meanwhile;
      meanwhile = null;
      await act?.();
    };
    index = {
      ...inMemory,
      upsert: async (points) => {
        await pause();
        await inMemory.upsert(points);
      },
    };
    ledger = createMemoryLedger({ tools: fixedTools() });
    const extract: typeof echoExtract = (input, nth) => echoExtract(input, nth);
    chat = fakeChat({ extract_facts: extract, decide_operations: keyedDecide((text) => text.split(':')[0] ?? text) });
    bench = await engineBench({ chat, stores: { ledger, index } });
    forgotten = [];
    asked = [];
  });

  const request = (owner: typeof ANN = ANN) => requestErasure(bench.deps, DEFAULT_TENANT, owner);
  const erase = (id: string, settleMs = 0) => eraseOwner({ ...bench.deps, queue, settleMs })(id, NEVER);
  const say = async (text: string, userId = 'ann'): Promise<string> => {
    const id = await bench.post([text], { userId });
    await bench.run();
    return id;
  };
  const textsInIndex = (): string[] => [...state.points.values()].map(({ shelf, text }) => `${shelf} ${text}`).sort();

  it('leaves nothing of the user, and everything of others', async () => {
    const batch = await say('home: Berlin');
    await say('home: Oslo');
    await say('home: Rome', 'bob');
    const lane = await ledger.lanes.find(DEFAULT_TENANT, ANN);
    const { id } = await request();
    expect(await erase(id)).toBeNull();
    expect(textsInIndex()).toEqual(['memories home: Rome', 'messages home: Rome']);
    expect(await bench.live('bob')).toEqual(['home: Rome']);
    expect(await ledger.batches.get(DEFAULT_TENANT, batch)).toBeNull();
    expect(forgotten).toEqual([lane?.id]);
    const over = await ledger.erasures.get(DEFAULT_TENANT, id);
    expect(over).toMatchObject({ state: 'erased', owner: null, counts: { batches: 2, memories: 1 } });
    expect(JSON.stringify(over)).not.toContain('ann');
    await expectConserved(ledger, DEFAULT_TENANT);
  });

  it('waits until nobody can be writing to the index any more', async () => {
    await say('home: Berlin');
    const { id, requestedAt } = await request();
    expect(await erase(id, 5_000)).toBe(requestedAt + 5_000);
    expect(textsInIndex()).toEqual([]);
    bench.tools.advance(5_000);
    expect(await erase(id, 5_000)).toBeNull();
    expect((await ledger.erasures.get(DEFAULT_TENANT, id))?.state).toBe('erased');
  });

  it.each([3_600_000, 86_400_000])('is over within moments of a clock that was %i ms ahead', async (aheadMs) => {
    await say('home: Berlin');
    bench.tools.advance(aheadMs);
    const { id } = await request();
    bench.tools.advance(-aheadMs);
    const work = eraseOwner({ ...bench.deps, queue, settleMs: 5_000 });
    const again = await work(id, NEVER);
    expect(again).toBe(bench.tools.now() + 5_000);
    bench.tools.advance(4_000);
    expect(await work(id, NEVER)).toBe(again);
    bench.tools.advance(1_000);
    expect(await work(id, NEVER)).toBeNull();
    expect((await ledger.erasures.get(DEFAULT_TENANT, id))?.state).toBe('erased');
  });

  it('of many erasures waits for the others, but not for a clock that was ahead', async () => {
    const bob = { kind: 'user', id: 'bob' } as unknown as typeof ANN;
    await say('home: Berlin');
    await say('home: Rome', 'bob');
    await request(bob);
    bench.tools.advance(86_400_000);
    const { id } = await request();
    bench.tools.advance(-86_400_000);
    const work = eraseOwner({ ...bench.deps, queue, settleMs: 0 });
    expect(await work(id, NEVER)).toBe(bench.tools.now() + 2_000);
    bench.tools.advance(60_000);
    expect(await work(id, NEVER)).toBeNull();
  });

  it('takes back what a projection writes that had begun before', async () => {
    meanwhile = async () => erase((await request()).id);
    await say('home: Berlin');
    expect(textsInIndex()).toEqual([]);
  });

  it('takes back what a projection writes while its rows go', async () => {
    await say('home: Berlin');
    const points = [...state.points.values()];
    const { id } = await request();
    const { erasures } = ledger;
    const slowly: typeof erasures = {
      ...erasures,
      slice: async (...slice) => {
        await index.upsert(points);
        bench.tools.advance(5_000);
        return erasures.slice(...slice);
      },
    };
    const deps = { ...bench.deps, ledger: { ...ledger, erasures: slowly } };
    expect(await eraseOwner({ ...deps, queue, settleMs: 5_000 })(id, NEVER)).toBeNull();
    expect(textsInIndex()).toEqual([]);
  });

  it('tells the index of nothing that was said before it, however short that would stay there', async () => {
    meanwhile = async () => Promise.reject(new Error('the index is away'));
    await say('home: Berlin');
    expect(await ledger.outbox.pending(10)).toHaveLength(1);
    await request();
    let told = 0;
    meanwhile = async () => {
      told += 1;
    };
    await sweepOutbox(bench.deps, NEVER);
    expect(told).toBe(0);
    expect(await ledger.outbox.pending(10)).toEqual([]);
  });

  it('keeps a model that is still thinking from writing anything', async () => {
    await bench.post(['home: Berlin']);
    const [nudge] = await ledger.lanes.withWork(null, 1);
    bench.tools.advance(60_000);
    let id = '';
    const thinking: typeof bench.deps.chat = {
      ...chat,
      ask: async (...call) => {
        const answer = await chat.ask(...call);
        id = (await request()).id;
        await erase(id);
        return answer;
      },
    };
    const turn = takeTurn({ ...bench.deps, chat: thinking });
    expect(await turn({ lane: nudge?.lane as LaneId, generation: 1 }, NEVER)).toEqual({ kind: 'done', next: null });
    expect(await bench.live()).toEqual([]);
    expect(textsInIndex()).toEqual([]);
    expect((await ledger.overview.batches(DEFAULT_TENANT)).erased).toBe(1);
    await expectConserved(ledger, DEFAULT_TENANT);
  });

  it('keeps what is said meanwhile, as that of a new user', async () => {
    await say('home: Berlin');
    const { id } = await request();
    const batch = await say('home: Oslo');
    const written = await memoryWriter(bench.deps).add(DEFAULT_TENANT, {
      ...{ text: 'pet: cat', metadata: {}, category: null, immutable: false, validFrom: null, expiresAt: null },
      scope: { userId: 'ann', agentId: null, runId: null, appId: null },
    });
    expect(written.kind).toBe('written');
    expect(await erase(id)).toBeNull();
    expect((await ledger.batches.get(DEFAULT_TENANT, batch))?.state).toBe('consolidated');
    expect(await bench.live()).toEqual(['home: Oslo', 'pet: cat']);
    expect(textsInIndex()).toEqual(['memories home: Oslo', 'memories pet: cat', 'messages home: Oslo']);
  });

  it('can be stopped anywhere, and goes on', async () => {
    for (let i = 0; i < 60; i += 1) await bench.post([`fact ${i}: yes`]);
    await bench.run();
    const { id } = await request();
    let calls = 0;
    const stopping = {
      ...NEVER,
      get aborted() {
        calls += 1;
        return calls > 1;
      },
    };
    await expect(eraseOwner({ ...bench.deps, queue, settleMs: 0 })(id, stopping)).rejects.toThrow('cancelled');
    expect((await ledger.erasures.get(DEFAULT_TENANT, id))?.state).toBe('erasing');
    expect(await erase(id)).toBeNull();
    expect((await ledger.overview.batches(DEFAULT_TENANT)).erased).toBe(60);
  });

  it('is asked for again until it is done, and does nothing the second time', async () => {
    await say('home: Berlin');
    const { id } = await request();
    expect(await sweepErasures(bench.deps, queue)).toBe(1);
    expect(asked).toEqual([id]);
    await erase(id);
    expect(await erase(id)).toBeNull();
    expect(await sweepErasures(bench.deps, queue)).toBe(0);
  });

  it('is compacted together with others, once their rows are gone', async () => {
    await say('home: Berlin');
    await say('home: Rome', 'bob');
    const first = await request();
    const second = await request({ kind: 'user', id: 'bob' as 'ann' });
    expect(await erase(first.id)).toBeGreaterThan(0);
    expect(await erase(second.id)).toBeNull();
    expect(await ledger.erasures.open(10)).toEqual([]);
    expect(await erase(first.id)).toBeNull();
  });

  it('waits for who still reads old pages of a file', async () => {
    await say('home: Berlin');
    const { id } = await request();
    const busy: Ledger = {
      ...ledger,
      erasures: { ...ledger.erasures, compact: async () => ({ done: false, remains: [] }) },
    };
    const again = await eraseOwner({ ...bench.deps, ledger: busy, queue, settleMs: 0 })(id, NEVER);
    expect(again).toBeGreaterThan(bench.tools.now());
    expect((await ledger.erasures.get(DEFAULT_TENANT, id))?.state).toBe('compacting');
    expect(await erase(id)).toBeNull();
  });
});

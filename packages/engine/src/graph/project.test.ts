import {
  createMemoryBuild,
  createMemoryIndex,
  createMemoryLedger,
  type EngineBench,
  echoExtract,
  emptyIndex,
  engineBench,
  fakeChat,
  fixedTools,
  type IndexState,
  NEVER,
  sayGraph,
  user,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { examine } from '../doctor/examine.ts';
import { requestErasure } from '../erasure/request.ts';
import { EngineError } from '../errors.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { IndexPoint } from '../ports/search-index.ts';
import { adoptIndex, sweepOutbox } from '../projection/project.ts';
import { rebuildIndex } from '../projection/rebuild-index.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { projectGraph, projectGraphNow } from './project.ts';

describe('the graph in the index', () => {
  let state: IndexState;
  let bench: EngineBench;
  let ledger: Ledger;

  beforeEach(async () => {
    state = emptyIndex();
    ledger = createMemoryLedger({ tools: fixedTools() });
    bench = await engineBench({
      chat: fakeChat({ extract_facts: echoExtract }),
      stores: { ledger, index: createMemoryIndex(state) },
    });
  });

  const say = (...relations: string[]) => sayGraph(bench.deps, relations);
  const points = (shelf: string): IndexPoint[] => [...state.points.values()].filter((point) => point.shelf === shelf);
  const texts = (shelf: string): string[] =>
    points(shelf)
      .map(({ text, live }) => (live ? text : `${text} (over)`))
      .sort();
  const sweep = (): Promise<number> => sweepOutbox(bench.deps, NEVER);
  const findings = async (): Promise<string[]> =>
    (await examine({ ...bench.deps, ledger }, { depth: 'full', cancel: NEVER })).findings.map(({ what }) => what);

  test('has every relation and entity once it was swept, and then nothing is left to tell', async () => {
    await say('Ana > sister_of > Bea Lind', 'Bea Lind > works_at > Acme');
    expect(await sweep()).toBe(5);
    expect(await sweep()).toBe(0);
    expect(texts('relations')).toEqual(['Ana sister of Bea Lind', 'Bea Lind works at Acme']);
    expect(texts('entities')).toEqual(['Acme', 'Ana', 'Bea Lind']);
    const [first] = points('relations');
    expect(first).toMatchObject({
      version: 1,
      owner: user('ann'),
      scope: { userId: 'ann', agentId: null, runId: null, appId: null },
      metadata: { relationship: 'sister_of', source_name: 'Ana', destination_name: 'Bea Lind' },
    });
    expect(await findings()).toEqual([]);
  });

  test('loses what is denied, keeps what has ended, and shows a merged entity under the one that stays', async () => {
    const { lane, statements } = await say('Ana > works_at > Acme', 'Ana > lives_in > Oslo', 'Anita > likes > tea');
    await projectGraphNow(bench.deps, lane, 'not told');
    const now = bench.tools.now();
    const [works, lives] = statements as readonly { source: string; destination: string }[];
    const said = { saidAt: { at: now, seq: 9 }, recordedAt: now, consolidationId: null };
    const from = { messageIds: [], memoryIds: [], quote: null };
    await ledger.graph.write(DEFAULT_TENANT, lane, {
      entities: [],
      now,
      statements: [
        {
          kind: 'denied',
          id: 'sta_d',
          ...said,
          ...from,
          source: works?.source ?? '',
          relationship: 'works_at',
          destination: works?.destination ?? '',
        },
        {
          kind: 'ended',
          id: 'sta_e',
          ...said,
          ...from,
          source: lives?.source ?? '',
          relationship: 'lives_in',
          destination: lives?.destination ?? '',
          at: now + 5,
          reason: 'moved',
        },
        {
          kind: 'same',
          id: 'sta_s',
          ...said,
          ...from,
          source: `ent_${lane}_Anita`,
          destination: `ent_${lane}_Ana`,
          reason: 'one',
        },
      ],
    });
    expect(await projectGraphNow(bench.deps, lane, 'not told')).toBe('fully');
    expect(texts('relations')).toEqual(['Ana likes tea', 'Ana lives in Oslo (over)']);
    expect(texts('entities').filter((text) => text.startsWith('An'))).toEqual(['Ana, Anita']);
    expect(await findings()).toEqual([]);
  });

  test('is told again where it changed while it was told', async () => {
    const { lane } = await say('Ana > likes > tea');
    const before = await ledger.graph.unprojectedOf(lane, 100);
    await say('Ana > likes > tea');
    await projectGraph(bench.deps, before, NEVER);
    expect((await ledger.graph.unprojectedOf(lane, 100)).length).toBeGreaterThan(0);
    await sweep();
    await projectGraph(bench.deps, before, NEVER);
    expect(points('relations')[0]?.confirmations).toBe(1);
  });

  test('is told once more where the index failed in between', async () => {
    const { lane } = await say('Ana > likes > tea');
    const items = await ledger.graph.unprojectedOf(lane, 100);
    const away = async (): Promise<never> => {
      throw new Error('the disk is full');
    };
    const failing = { ...bench.deps, index: { ...bench.deps.index, upsert: away } };
    expect(await projectGraphNow(failing, lane, 'not told')).toBe('later');
    expect(await ledger.graph.unprojectedOf(lane, 100)).toEqual(items);
    await sweep();
    expect(texts('relations')).toEqual(['Ana likes tea']);
  });

  test('is found by its words while the embedder does not answer, and by its meaning once it was swept', async () => {
    const { lane } = await say('Ana > likes > tea');
    const late = () => Promise.reject(new EngineError('too late', { code: 'model_timeout', retryable: true }));
    const hurried = { ...bench.deps, embedder: { ...bench.deps.embedder, embed: late } };
    expect(await projectGraphNow(hurried, lane, 'not told')).toBe('words');
    const isByMeaning = () =>
      [...points('relations'), ...points('entities')].map(({ vector }) => Math.hypot(...vector) > 0);
    expect([texts('relations'), texts('entities')]).toEqual([['Ana likes tea'], ['Ana', 'tea']]);
    expect(isByMeaning()).toEqual([false, false, false]);
    await sweep();
    expect(isByMeaning()).toEqual([true, true, true]);
    expect(await ledger.thoughts.refusedTexts(bench.deps.embedder.fingerprint)).toBe(0);
    expect(await findings()).toEqual([]);
  });

  test('is not told of a lane that is being erased, and what was on its way is taken back', async () => {
    const { lane } = await say('Ana > likes > tea');
    const items = await ledger.graph.unprojectedOf(lane, 100);
    const index = {
      ...bench.deps.index,
      upsert: async (given: readonly IndexPoint[]) => {
        await bench.deps.index.upsert(given);
        await requestErasure(bench.deps, DEFAULT_TENANT, user('ann'));
      },
    };
    await projectGraph({ ...bench.deps, index }, items, NEVER);
    expect(state.points.size).toBe(0);
    const told: string[] = [];
    const watched = { ...bench.deps.index, upsert: async () => void told.push('not even for a moment') };
    await projectGraph({ ...bench.deps, index: watched }, items, NEVER);
    expect(told).toEqual([]);
  });

  test('is in an index that is built anew, as it is in the ledger by then', async () => {
    await say('Ana > likes > tea', 'Ana > lives_in > Oslo');
    await bench.post(['Ana likes tea']);
    await bench.run();
    await sweep();
    const before = [...state.points.values()].map(({ text, shelf }) => `${shelf}: ${text}`).sort();
    await rebuildIndex(bench.deps, createMemoryBuild(state), { cancel: NEVER });
    expect([...state.points.values()].map(({ text, shelf }) => `${shelf}: ${text}`).sort()).toEqual(before);
    expect(await findings()).toEqual([]);
  });

  test('comes back into an index that was lost', async () => {
    await say('Ana > likes > tea', 'Ana > lives_in > Oslo');
    await sweep();
    const before = [texts('relations'), texts('entities')];
    await bench.deps.index.clear();
    await adoptIndex({ ...bench.deps, ledger });
    await sweep();
    expect([texts('relations'), texts('entities')]).toEqual(before);
    expect(await findings()).toEqual([]);
  });

  test('is examined: points that are missing, and points that say something else', async () => {
    await say('Ana > likes > tea');
    await sweep();
    const [key] = [...state.points].find(([, point]) => point.shelf === 'relations') ?? [];
    const relation = state.points.get(key ?? '');
    if (key === undefined || relation === undefined) throw new Error('the relation is not in the index');
    state.points.set(key, { ...relation, text: 'Ana likes milk' });
    expect(await findings()).toEqual(['1 points that differ from the ledger']);
    state.points.delete(key);
    expect(await findings()).toEqual(['tenant default: the index has 0 points for 1 relations']);
    state.points.set('x', { ...relation, memoryId: 'sta_gone' });
    expect(await findings()).toEqual(['1 points of memories, versions, messages or relations that do not exist']);
  });
});

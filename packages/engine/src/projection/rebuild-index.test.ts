import {
  createMemoryBuild,
  createMemoryIndex,
  createMemoryLedger,
  type EngineBench,
  echoExtract,
  emptyIndex,
  engineBench,
  fakeChat,
  fakeEmbedder,
  fixedTools,
  type IndexState,
  keyedDecide,
  NEVER,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { requestErasure } from '../erasure/request.ts';
import { EngineError } from '../errors.ts';
import { memoryWriter } from '../memories/write.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexBuild } from '../ports/search-index.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { markerOf, sweepOutbox } from './project.ts';
import { type RebuildProgress, rebuildIndex } from './rebuild-index.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const facts = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `fact ${from + i}: yes`);
/** More than one page of the walk. */
const MANY = 450;
/** Longer than what counts as changed since a build began. */
const HOUR_MS = 3_600_000;

/** An embedder that fails on some texts, until it is mended. */
function breaking(isBad: (text: string) => boolean) {
  let broken = true;
  const { embed, ...good } = fakeEmbedder(32);
  const embedder: Embedder = {
    ...good,
    embed: async (given, cancel) => {
      if (broken && given.some(isBad)) throw new EngineError('NaN', { code: 'model_server_error', retryable: true });
      return embed(given, cancel);
    },
  };
  const mend = (): void => {
    broken = false;
  };
  return { embedder, mend };
}

describe('rebuilding an index', () => {
  let state: IndexState;
  let bench: EngineBench;
  let build: IndexBuild;

  beforeEach(async () => {
    state = emptyIndex();
    const tools = fixedTools();
    bench = await engineBench({
      chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }),
      stores: { ledger: createMemoryLedger({ tools }), index: createMemoryIndex(state) },
    });
    build = createMemoryBuild(state);
  });

  const say = async (...texts: string[]): Promise<void> => {
    await bench.post(texts);
    await bench.run();
  };
  const texts = (shelf = 'memories'): string[] =>
    [...state.points.values()]
      .filter((point) => point.shelf === shelf && point.live)
      .map(({ text }) => text)
      .sort();
  const vectorless = (): number =>
    [...state.points.values()].filter(({ vector }) => Math.hypot(...vector) === 0).length;
  /** What the index would be if it had been told everything from the beginning. */
  const ledgerTexts = (): Promise<readonly string[]> => bench.live();

  it('keeps nothing of who is erased while a page of theirs is on its way', async () => {
    await say(...facts(0, 3));
    const late: IndexBuild = {
      ...build,
      write: async (points) => {
        await requestErasure(bench.deps, DEFAULT_TENANT, { kind: 'user', id: 'ann' });
        await build.write(points);
      },
    };
    await rebuildIndex(bench.deps, late, { cancel: NEVER });
    expect(state.points.size).toBe(0);
  });

  it('brings back everything, believed by who made it', async () => {
    await say(...facts(0, MANY));
    const before = state.marker;
    await createMemoryIndex(state).clear();
    const done = await rebuildIndex(bench.deps, build, { cancel: NEVER });
    expect(done).toMatchObject({ memories: MANY, resumed: false });
    expect(texts()).toEqual(await ledgerTexts());
    expect(texts('messages')).toEqual(facts(0, MANY).sort());
    expect(state.marker).toEqual(before);
  });

  it('writes an owner by words on whose texts the embedder fails, and leaves the rest of them to the sweep', async () => {
    await bench.post(['pet: bad cat', 'home: Oslo']);
    await bench.post(['home: Rome'], { userId: 'bob' });
    await bench.run();
    const { embedder, mend } = breaking((text) => text.includes('bad'));
    const deps = { ...bench.deps, embedder };
    expect(await rebuildIndex(deps, build, { cancel: NEVER })).toMatchObject({ byWords: 1 });
    expect([texts().length, vectorless() > 0]).toEqual([3, true]);
    expect(await bench.deps.ledger.thoughts.refusedTexts(embedder.fingerprint), 'nothing is held to be refused').toBe(
      0,
    );
    mend();
    while ((await sweepOutbox(deps, NEVER)) > 0);
    expect([texts().length, vectorless()]).toEqual([3, 0]);
  });

  it('tells an owner who was written by words once more also where it was stopped after that', async () => {
    await bench.post(['pet: bad cat', 'home: Oslo']);
    await bench.run();
    bench.tools.advance(HOUR_MS);
    const { embedder, mend } = breaking((text) => text.includes('bad'));
    const deps = { ...bench.deps, embedder };
    const mortal: IndexBuild = {
      ...build,
      note: async (note) => {
        await build.note(note);
        if (note.afterBatch !== null) throw new Error('killed');
      },
    };
    await expect(rebuildIndex(deps, mortal, { cancel: NEVER })).rejects.toThrow('killed');
    mend();
    expect(await rebuildIndex(deps, build, { cancel: NEVER })).toMatchObject({ byWords: 1, resumed: true });
    while ((await sweepOutbox(deps, NEVER)) > 0);
    expect([texts().length, vectorless()]).toEqual([2, 0]);
  });

  it('stops where the embedder is away, and makes nothing of words alone', async () => {
    await say(...facts(0, 3));
    const { embed: _, ...good } = fakeEmbedder(32);
    const failure = new EngineError('away', { code: 'model_unreachable', retryable: true });
    const deps = { ...bench.deps, embedder: { ...good, embed: () => Promise.reject(failure) } };
    await expect(rebuildIndex(deps, build, { cancel: NEVER })).rejects.toThrow('away');
  });

  it('goes on where it was stopped, and reads nothing twice', async () => {
    await say(...facts(0, MANY));
    let writes = 0;
    const mortal: IndexBuild = {
      ...build,
      note: async (note) => {
        await build.note(note);
        writes += 1;
        if (writes === 2) throw new Error('killed');
      },
    };
    await expect(rebuildIndex(bench.deps, mortal, { cancel: NEVER })).rejects.toThrow('killed');
    const said: RebuildProgress[] = [];
    const done = await rebuildIndex(bench.deps, build, { cancel: NEVER, onProgress: (one) => said.push(one) });
    expect(done).toMatchObject({ memories: MANY, resumed: true });
    expect(said.filter(({ pass }) => pass === 'all').map(({ memories }) => memories)).toEqual([450, 450]);
    expect(texts()).toEqual(await ledgerTexts());
  });

  it('misses nothing that is written while it runs, until the move', async () => {
    await say(...facts(0, 10));
    const busy: IndexBuild = {
      ...build,
      note: async (note) => {
        await build.note(note);
        await say('fact 1: changed behind the first walk', 'fact 20: new');
      },
      takeOver: async () => {
        await say('fact 2: changed before the move', 'fact 3: yes');
        await build.takeOver();
      },
    };
    await rebuildIndex(bench.deps, busy, { cancel: NEVER });
    expect(texts()).toEqual(await ledgerTexts());
    expect(texts()).toEqual(expect.arrayContaining(['fact 1: changed behind the first walk', 'fact 20: new']));
    const confirmed = [...state.points.values()].find(({ text }) => text === 'fact 3: yes');
    expect(confirmed?.confirmations).toBe(1);
  });

  it('goes on among the messages where it was stopped there', async () => {
    for (let i = 0; i < 60; i += 1) await bench.post([`fact ${i}: yes`], { userId: `user ${i}` });
    await bench.run();
    let written = 0;
    const mortal: IndexBuild = {
      ...build,
      note: async (note) => {
        await build.note(note);
        if (note.afterBatch !== null) throw new Error('killed');
      },
    };
    await expect(rebuildIndex(bench.deps, mortal, { cancel: NEVER })).rejects.toThrow('killed');
    const counted: IndexBuild = {
      ...build,
      write: async (points) => {
        written += points.length;
        await build.write(points);
      },
      takeOver: async () => {
        expect(written, 'after the page of fifty that was noted').toBe(10 + 120);
        await build.takeOver();
      },
    };
    await rebuildIndex(bench.deps, counted, { cancel: NEVER });
    expect(texts('messages')).toEqual(facts(0, 60).sort());
  });

  it('keeps nothing of what retention removes while it runs', async () => {
    await bench.post([{ content: 'where: do you live?', role: 'assistant' }, 'home: Oslo']);
    await bench.run();
    const { tools, ledger } = bench.deps;
    const removing: IndexBuild = {
      ...build,
      takeOver: async () => {
        const how = { limit: 10, now: tools.now() };
        expect(await ledger.retention.removeMessages(DEFAULT_TENANT, tools.now() + 1, how)).toBe(1);
        await build.takeOver();
      },
    };
    await rebuildIndex(bench.deps, removing, { cancel: NEVER });
    expect(texts('messages')).toEqual([]);
    expect([...state.points.values()].flatMap(({ contextTerms }) => contextTerms)).not.toContain('live');
    expect(texts()).toEqual(await ledgerTexts());
  });

  it('keeps nothing of what is forgotten while it runs, in what is found by it either', async () => {
    await say('debt: ten euros', 'home: Oslo');
    await say('tea: green');
    bench.tools.advance(HOUR_MS);
    const contexts = () => [...state.points.values()].flatMap(({ contextTerms }) => contextTerms);
    expect(contexts()).toContain('euro');
    const debt = (await bench.memories()).find(({ versions }) => versions[0]?.text === 'debt: ten euros');
    const forgetting: IndexBuild = {
      ...build,
      takeOver: async () => {
        await memoryWriter(bench.deps).remove(DEFAULT_TENANT, debt?.id ?? '');
        await build.takeOver();
      },
    };
    await rebuildIndex(bench.deps, forgetting, { cancel: NEVER });
    expect(contexts()).not.toContain('euro');
    expect(texts()).toEqual(['home: Oslo', 'tea: green']);
    expect(texts('messages')).toEqual(['home: Oslo', 'tea: green']);
  });

  it('with another embedder the index is for that one', async () => {
    await say(...facts(0, 3));
    const embedder = { ...fakeEmbedder(8), fingerprint: 'renewed' };
    await rebuildIndex({ ...bench.deps, embedder }, build, { cancel: NEVER });
    expect(state.marker).toEqual(markerOf({ ...bench.deps, embedder }));
    expect([...state.points.values()].map(({ vector }) => vector.length)).toEqual([8, 8, 8, 8, 8, 8]);
  });
});

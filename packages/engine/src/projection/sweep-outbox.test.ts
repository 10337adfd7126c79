import {
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
  NEVER,
  scope,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { EngineError, type EngineErrorCode } from '../errors.ts';
import { memoryWriter } from '../memories/write.ts';
import type { NewMemory } from '../ports/writers.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { adoptIndex, sweepOutbox } from './project.ts';

const failing = (code: EngineErrorCode) => new EngineError(`${code}!`, { code, retryable: true });
const newMemory = (text: string, userId: string): NewMemory => ({
  ...{ scope: scope({ userId }), text, metadata: {}, category: null, immutable: false },
  ...{ validFrom: null, expiresAt: null },
});

describe('the sweep of what the index missed', () => {
  let bench: EngineBench;
  let index: IndexState;
  /** What the embedder fails with, asked for this text; null: it does not. */
  let fails: (text: string) => EngineError | null;
  let calls: number;

  beforeEach(async () => {
    index = emptyIndex();
    fails = () => null;
    calls = 0;
    const { embed, ...embedder } = fakeEmbedder(32, (text) => text.includes('refused'));
    bench = await engineBench({
      chat: fakeChat({ extract_facts: echoExtract }),
      stores: { ledger: createMemoryLedger({ tools: fixedTools() }), index: createMemoryIndex(index) },
      embedder: {
        ...embedder,
        embed: async (texts, cancel) => {
          calls += 1;
          for (const text of texts) {
            const failure = fails(text);
            if (failure !== null) throw failure;
          }
          return embed(texts, cancel);
        },
      },
    });
  });

  /** Written while the embedder does not answer at all. */
  const write = async (userId: string, ...texts: string[]): Promise<void> => {
    const before = fails;
    fails = () => failing('model_unreachable');
    for (const text of texts) await memoryWriter(bench.deps).add(DEFAULT_TENANT, newMemory(text, userId));
    fails = before;
  };
  const sweep = async (): Promise<void> => {
    while ((await sweepOutbox(bench.deps, NEVER)) > 0);
  };
  const textsOf = (id: string): string[] =>
    [...index.points.values()]
      .filter(({ owner, vector }) => owner.id === id && Math.hypot(...vector) > 0)
      .map(({ text }) => text);
  const aside = () => bench.deps.ledger.outbox.aside(Number.MAX_SAFE_INTEGER, 10);

  it('leaves what was just applied to the turn that is projecting it, and projects it if that did not come to it', async () => {
    const { deps, tools } = bench;
    const { ofConsolidation } = deps.ledger.outbox;
    let swept: number | null = null;
    deps.ledger.outbox.ofConsolidation = async () => {
      swept = await sweepOutbox(deps, NEVER, { leftMs: 3_000 });
      deps.ledger.outbox.ofConsolidation = ofConsolidation;
      throw new Error('the turn goes no further');
    };
    await bench.post(['lives: in Oslo']);
    await bench.run();
    expect([swept, textsOf('ann')]).toEqual([0, []]);
    tools.advance(3_000);
    expect(await sweepOutbox(deps, NEVER, { leftMs: 3_000 })).toBeGreaterThan(0);
    expect(textsOf('ann')).toContain('lives: in Oslo');
  });

  it('tells everybody else, however many older changes of one lane fail', async () => {
    await write('ann', ...Array.from({ length: 150 }, (_, i) => `bad ${i}`));
    await write('bob', 'good');
    fails = (text) => (text.startsWith('bad') ? failing('model_server_error') : null);
    await sweep();
    expect([textsOf('bob'), textsOf('ann')]).toEqual([['good'], []]);
    expect(await aside()).toMatchObject([{ failures: 1, failure: { code: 'model_server_error' } }]);
    expect(await bench.deps.ledger.overview.outbox()).toBe(150);
  });

  it('waits no day for a clock that was set right while it went on', async () => {
    const { tools } = bench;
    await write('ann', 'bad');
    await write('bob', 'worse');
    const right = tools.now();
    tools.advance(86_400_000);
    const failed: string[] = [];
    fails = (text) => {
      if (!['bad', 'worse'].includes(text)) return null;
      if (!failed.includes(text)) failed.push(text);
      if (failed.length === 2) tools.advance(right - tools.now());
      return failing('model_server_error');
    };
    await sweepOutbox(bench.deps, NEVER);
    expect(tools.now()).toBe(right);
    const waits = (await aside()).map(({ notBefore, failure }) => [failure.at - right, notBefore - right < 600_000]);
    expect(waits).toEqual([
      [0, true],
      [0, true],
    ]);
  });

  it('tries what it set aside again, each time later, until it can be told', async () => {
    await write('ann', 'bad');
    fails = () => failing('model_rejected');
    const waits: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      await sweep();
      const before = calls;
      await sweep();
      expect(calls, 'not asked before its time').toBe(before);
      const [one] = await aside();
      waits.push((one?.notBefore ?? 0) - bench.tools.now());
      bench.tools.advance(waits.at(-1) ?? 0);
    }
    expect(waits[3]).toBeGreaterThan((waits[0] ?? 0) * 2);
    fails = () => null;
    await sweep();
    expect([textsOf('ann'), await aside()]).toEqual([['bad'], []]);
  });

  it('forgets that a lane was set aside once somebody else has told all of it', async () => {
    await write('ann', 'bad');
    fails = () => failing('model_server_error');
    await sweepOutbox(bench.deps, NEVER);
    fails = () => null;
    const { outbox } = bench.deps.ledger;
    await outbox.clear(
      {
        seqs: (await outbox.ofLane((await aside())[0]?.lane as never, 9)).map(({ seq }) => seq),
        batches: [],
        from: null,
      },
      0,
    );
    bench.tools.advance(60_000);
    await sweep();
    expect(await aside()).toEqual([]);
  });

  it('asks an embedder that is away for nobody else, and tells those whose vectors are known', async () => {
    await write('ann', 'known');
    await sweep();
    for (let i = 0; i < 20; i += 1) await write(`user ${i}`, `new ${i}`);
    await bench.deps.index.clear();
    await adoptIndex(bench.deps);
    fails = () => failing('model_unreachable');
    calls = 0;
    await sweep();
    expect(textsOf('ann')).toEqual(['known']);
    expect(calls, 'one question, and one that anything answers').toBe(2);
    fails = () => null;
    bench.tools.advance(10_000);
    await sweep();
    expect([textsOf('user 7'), await aside()]).toEqual([['new 7'], []]);
  });

  it('believes no index of which the ledger has not noted all that it lacks', async () => {
    await write('ann', 'tea');
    await sweep();
    await bench.deps.index.clear();
    const { ledger } = bench.deps;
    const outbox = { ...ledger.outbox, refill: () => Promise.reject(failing('ledger_unavailable')) };
    await expect(adoptIndex({ ...bench.deps, ledger: { ...ledger, outbox } })).rejects.toThrow('ledger_unavailable');
    await adoptIndex(bench.deps);
    await sweep();
    expect(textsOf('ann')).toEqual(['tea']);
  });

  it('sets nobody aside where the index is away: that is said, and all is told when it is back', async () => {
    await write('ann', 'tea');
    const { upsert } = bench.deps.index;
    bench.deps.index.upsert = () => Promise.reject(failing('index_unavailable'));
    await expect(sweepOutbox(bench.deps, NEVER)).rejects.toMatchObject({ code: 'index_unavailable' });
    expect(await aside()).toEqual([]);
    bench.deps.index.upsert = upsert;
    await sweep();
    expect(textsOf('ann')).toEqual(['tea']);
  });

  it('leaves a point that the index refuses to its own lane', async () => {
    await write('ann', 'tea');
    await write('bob', 'milk');
    const { upsert } = bench.deps.index;
    bench.deps.index.upsert = (points) =>
      points.some(({ text }) => text === 'tea')
        ? Promise.reject(new EngineError('bad point', { code: 'index_unavailable', retryable: false }))
        : upsert(points);
    await sweep();
    expect([textsOf('bob'), (await aside()).length]).toEqual([['milk'], 1]);
  });

  it.each([1, 2, 3, 4, 5])('ends complete, whatever texts are refused and lanes fail on the way (%i)', async (seed) => {
    const random = randomOf(seed);
    const users = Array.from({ length: 12 }, (_, i) => `user ${i}`);
    const all = new Map<string, string[]>(users.map((user) => [user, []]));
    for (let i = 0; i < 80; i += 1) {
      const user = users[Math.floor(random() * users.length)] ?? '';
      const text = `${random() < 0.2 ? 'refused ' : ''}thing ${i} of ${user}`;
      await write(user, text);
      all.get(user)?.push(text);
    }
    const bad = new Set(users.filter(() => random() < 0.4));
    const codes: EngineErrorCode[] = ['model_timeout', 'model_server_error', 'internal', 'model_rejected'];
    const isOfBad = (text: string): boolean => [...bad].some((user) => text.endsWith(`of ${user}`));
    fails = (text) => (isOfBad(text) && random() < 0.9 ? failing(codes[Math.floor(random() * 4)] ?? 'internal') : null);
    const told = (user: string): string[] =>
      [...index.points.values()]
        .filter(({ owner }) => owner.id === user)
        .map(({ text }) => text)
        .sort();
    await sweep();
    for (const user of users.filter((one) => !bad.has(one))) expect(told(user)).toEqual(all.get(user)?.toSorted());
    fails = () => null;
    bench.tools.advance(60_000);
    await sweep();
    for (const user of users) expect(told(user)).toEqual(all.get(user)?.toSorted());
    expect([await aside(), await bench.deps.ledger.overview.outbox()]).toEqual([[], 0]);
  });
});

/** Park and Miller's: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed * 7_919;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

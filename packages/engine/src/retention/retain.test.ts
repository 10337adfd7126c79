import {
  type EngineBench,
  echoExtract,
  engineBench,
  expectConserved,
  type FakeChat,
  fakeChat,
  keyedDecide,
  NEVER,
  scope,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import { DEFAULT_SETTINGS, type TenantSettings } from '../settings.ts';
import { DAY_MS } from '../text/dates.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { previewRetention, sweepRetention } from './retain.ts';

describe('retention and forgetting', () => {
  let bench: EngineBench;
  let chat: FakeChat;

  beforeEach(async () => {
    const decide = keyedDecide((text) => text.split(':')[0] ?? text);
    chat = fakeChat({ extract_facts: echoExtract, decide_operations: decide });
    bench = await engineBench({ chat });
  });

  const choose = (rules: Partial<TenantSettings>) =>
    bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, ...rules });
  const preview = (rules: Partial<TenantSettings>) =>
    previewRetention(bench.deps, DEFAULT_TENANT, { ...DEFAULT_SETTINGS, ...rules });
  const sweep = () => sweepRetention(bench.deps, NEVER);
  const say = async (...texts: string[]): Promise<void> => {
    await bench.post(texts);
    await bench.run();
  };
  const days = (count: number): void => bench.tools.advance(count * DAY_MS);
  const pin = async (text: string, pinned = true): Promise<void> => {
    const memory = (await bench.memories()).find(({ versions }) => versions.some((one) => one.text === text));
    await memoryWriter(bench.deps).change(DEFAULT_TENANT, memory?.id ?? '', { pinned });
  };
  const historyOf = async (text: string) => {
    const memory = (await bench.memories()).find(({ versions }) => versions.some((one) => one.text === text));
    return bench.deps.ledger.memories.history(DEFAULT_TENANT, memory?.id ?? '', { limit: 9, cursor: null });
  };

  it('keeps everything for ever, unless the tenant says otherwise', async () => {
    await say('home: Oslo');
    days(10_000);
    await sweep();
    await choose({});
    await sweep();
    expect(await bench.live()).toEqual(['home: Oslo']);
    expect(await preview({})).toEqual({
      ...{ batches: 0, consolidations: 0, histories: 0, forgotten: 0 },
      memories: { age: 0, unconfirmed: 0, budget: 0 },
    });
  });

  it('removes old messages and plans, shows before what would go, and leaves the memories', async () => {
    await say('home: Oslo');
    days(40);
    await say('pet: cat');
    const rules = { retention: { messagesDays: 30, plansDays: 30, historyDays: null, forgottenDays: null } };
    expect(await preview(rules)).toMatchObject({ batches: 1, consolidations: 1 });
    await choose(rules);
    await sweep();
    expect(await preview(rules)).toMatchObject({ batches: 0, consolidations: 0 });
    expect(await bench.live()).toEqual(['home: Oslo', 'pet: cat']);
    await expectConserved(bench.deps.ledger, DEFAULT_TENANT);
    await say('home: Rome');
    expect(JSON.stringify(chat.calls.at(-1))).not.toMatch(/removed by retention|withheld/u);
    expect(await bench.live()).toEqual(['home: Rome', 'pet: cat']);
  });

  it('forgets what was not changed for too long, with who did it and why', async () => {
    await say('home: Oslo');
    days(20);
    await say('pet: cat');
    days(20);
    const rules = { forgetting: { maxAgeDays: 30, unconfirmedDays: null, maxMemories: null } };
    expect((await preview(rules)).memories).toEqual({ age: 1, unconfirmed: 0, budget: 0 });
    await choose(rules);
    await sweep();
    expect(await bench.live()).toEqual(['pet: cat']);
    const { results } = await historyOf('home: Oslo');
    expect(results.at(-1)).toMatchObject({ kind: 'DELETE', actor: 'policy', previous: 'home: Oslo' });
    expect(results.at(-1)?.reason).toContain('forgotten: not changed');
  });

  it('keeps what was said again, where only the unconfirmed are forgotten', async () => {
    await say('home: Oslo', 'pet: cat');
    days(20);
    await say('pet: cat');
    days(20);
    await choose({ forgetting: { maxAgeDays: null, unconfirmedDays: 30, maxMemories: null } });
    await sweep();
    expect(await bench.live()).toEqual(['pet: cat']);
  });

  it('keeps no more than the budget of each owner: the least confirmed go, then the oldest', async () => {
    await say('a: 1', 'b: 1');
    days(1);
    await say('a: 1', 'c: 1');
    days(1);
    await say('d: 1');
    await bench.post(['x: 1', 'y: 1'], { userId: 'bob' });
    await bench.run();
    const rules = { forgetting: { maxAgeDays: null, unconfirmedDays: null, maxMemories: 2 } };
    expect((await preview(rules)).memories).toEqual({ age: 0, unconfirmed: 0, budget: 2 });
    await choose(rules);
    await sweep();
    expect(await bench.live()).toEqual(['a: 1', 'd: 1']);
    expect(await bench.live('bob')).toEqual(['x: 1', 'y: 1']);
  });

  it('counts what is pinned within the budget: other memories go for it', async () => {
    await say('a: 1', 'b: 1');
    await pin('a: 1');
    await pin('b: 1');
    days(1);
    await say('c: 1', 'd: 1');
    const rules = { forgetting: { maxAgeDays: null, unconfirmedDays: null, maxMemories: 3 } };
    expect((await preview(rules)).memories).toEqual({ age: 0, unconfirmed: 0, budget: 1 });
    await choose(rules);
    await sweep();
    expect(await bench.live()).toEqual(expect.arrayContaining(['a: 1', 'b: 1']));
    expect(await bench.live()).toHaveLength(3);
  });

  it('never forgets what is pinned, also after it was told anew, until it is unpinned', async () => {
    await say('home: Oslo', 'pet: cat');
    await pin('home: Oslo');
    await say('home: Rome');
    await choose({ forgetting: { maxAgeDays: 30, unconfirmedDays: 30, maxMemories: 1 } });
    days(100);
    await sweep();
    expect(await bench.live()).toEqual(['home: Rome']);
    await pin('home: Rome', false);
    days(100);
    await sweep();
    expect(await bench.live()).toEqual([]);
  });

  it('pins from the beginning what is written so', async () => {
    const added = await memoryWriter(bench.deps).add(DEFAULT_TENANT, {
      ...{ text: 'allergy: nuts', metadata: {}, category: null, immutable: false, validFrom: null, expiresAt: null },
      ...{ scope: scope(), pinned: true },
    });
    expect(added.kind).toBe('written');
    await choose({ forgetting: { maxAgeDays: 1, unconfirmedDays: null, maxMemories: null } });
    days(10);
    await sweep();
    expect(await bench.live()).toEqual(['allergy: nuts']);
  });

  it('what is forgotten can be told again', async () => {
    await say('home: Oslo');
    await choose({ forgetting: { maxAgeDays: 30, unconfirmedDays: null, maxMemories: null } });
    days(40);
    await sweep();
    expect(await bench.live()).toEqual([]);
    days(1);
    await say('home: Oslo');
    expect(await bench.live()).toEqual(['home: Oslo']);
  });
});

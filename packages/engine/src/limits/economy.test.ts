import { echoExtract, engineBench, fakeChat, NEVER, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { questionsOf, refreshSummary, sweepEconomies } from '../index.ts';
import type { SummaryRefresh } from '../ports/schedule.ts';
import { type Budgets, DEFAULT_SETTINGS, type EconomySettings } from '../settings.ts';
import { DAY_MS, dayOf } from '../text/dates.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { climb, type Economy, largerDue, rungAt } from './economy.ts';

const SEEN = { day: 9, softLimit: 0.7, limits: 'one' };
const at = (rung: number, more: Partial<Economy> = {}): Economy => ({
  ...{ day: 9, rung, highest: rung, limits: 'one', since: 5 },
  ...more,
});

describe('the rungs', () => {
  it.each([
    [0, 0],
    [0.69, 0],
    [0.7, 1],
    [0.79, 1],
    [0.81, 2],
    [0.91, 3],
    [0.999, 3],
    [1, 4],
    [7, 4],
  ])('at %d of a budget with a soft limit of 0.7: %d', (share, rung) => {
    expect(rungAt(share, 0.7)).toBe(rung);
  });

  it('are none but the last where no soft limit is set', () => {
    expect([0, 0.99, 1].map((share) => rungAt(share, null))).toEqual([0, 0, 4]);
  });

  it('are told once each, on the way up and at the end', () => {
    expect(climb(null, { ...SEEN, share: 0.75 }, 5)).toEqual({ economy: at(1), told: true });
    expect(climb(at(1), { ...SEEN, share: 0.76 }, 6)).toEqual({ economy: at(1), told: false });
    expect(climb(at(1), { ...SEEN, share: 1 }, 7)).toEqual({ economy: at(4, { since: 7 }), told: true });
    expect(climb(at(3), { ...SEEN, share: 0, day: 10 }, 8)).toEqual({ economy: null, told: true });
    expect(climb(null, { ...SEEN, share: 0, day: 10 }, 8)).toEqual({ economy: null, told: false });
  });

  it('are not left because an estimate was too high, but work goes on as soon as there is room', () => {
    const below = climb(at(4), { ...SEEN, share: 0.2 }, 7).economy;
    expect(below).toEqual(at(3, { highest: 4, since: 7 }));
    expect(climb(below, { ...SEEN, share: 1 }, 8)).toEqual({ economy: at(4, { since: 8 }), told: false });
  });

  it('follow a raised budget and a new day at once', () => {
    expect(climb(at(3), { ...SEEN, share: 0.75, limits: 'more' }, 7).economy).toMatchObject({ rung: 1, highest: 1 });
    expect(climb(at(3), { ...SEEN, share: 0.1, limits: 'more' }, 7).economy).toBeNull();
  });

  it('let lanes wait for twice as much, and half an hour longer at most', () => {
    const usual = { tokens: 100, exchanges: 4, idleMs: 1_000, maxAgeMs: DAY_MS };
    expect(largerDue(usual, 0)).toBe(usual);
    expect(largerDue(usual, 1)).toEqual({ tokens: 200, exchanges: 8, idleMs: 2_000, maxAgeMs: DAY_MS + 1_800_000 });
  });
});

const keep: Script = ({ facts }) => ({
  operations: (facts as unknown as { id: string }[]).map(({ id }) => ({ fact: id, event: 'NONE', id: '0' })),
});
const SCRIPTS = { extract_facts: echoExtract, decide_operations: keep, refresh_summary: () => ({ summary: 'chat' }) };
const model = (name: string) => ({ ...fakeChat(SCRIPTS), name });
const BUDGET = 1_000_000;

async function bench(economy: Partial<EconomySettings> = {}) {
  const [usual, cheap] = [model('usual'), model('cheap')];
  const refreshes: SummaryRefresh[] = [];
  const engine = await engineBench({
    chat: usual,
    otherChat: (name) => (name === 'cheap' ? cheap : null),
    followUps: { summarize: async (one) => void refreshes.push(one), study: async () => {}, sleep: async () => {} },
  });
  const { ledger } = engine.deps;
  const { tools } = engine;
  const choose = (budgets: Partial<Budgets>) =>
    ledger.settings.put(DEFAULT_TENANT, {
      ...DEFAULT_SETTINGS,
      budgets: { ...DEFAULT_SETTINGS.budgets, ...budgets },
      economy: { softLimit: 0.7, models: { extract: 'cheap' }, ...economy },
    });
  await choose({ tokensPerDay: BUDGET });
  const nobody = { tenant: DEFAULT_TENANT, lane: null, consolidationId: null, appId: null, keyId: null } as const;
  let used = 0;
  return {
    ...{ engine, ledger, tools, usual, cheap, refreshes, choose },
    /** As if so much of the budget had been used today, which the next consolidation notices. */
    use: async (share: number) => {
      const promptTokens = Math.round(share * BUDGET) - used;
      used += promptTokens;
      const call = { ...nobody, step: 'other', cause: 'live', model: 'usual', cost: null } as const;
      const usage = { promptTokens, completionTokens: 0 };
      const settled = { outcome: 'answered', noted: null, tookMs: 0, at: tools.now() } as const;
      await ledger.usage.settle([{ ...call, usage, ...settled, id: tools.id('cal') }]);
      await engine.post([`noticed: ${share}`], { userId: 'watch' });
      await engine.run();
    },
    rung: async () => (await ledger.settings.terms(DEFAULT_TENANT)).economy?.rung ?? 0,
  };
}

describe('a tenant whose budget runs out', () => {
  it('consolidates more at once from the soft limit on', async () => {
    const { engine, use, rung } = await bench();
    const long = 'word '.repeat(5_000);
    await use(0.72);
    expect(await rung()).toBe(1);
    const ids = [await engine.post([`a: ${long}`]), await engine.post([`b: ${long}`])];
    await engine.run();
    const [a, b] = await Promise.all(ids.map((id) => engine.plan(id)));
    expect(a?.consolidationId, 'two windows without it').toBe(b?.consolidationId);
    expect(a).toMatchObject({ rung: 1, models: { chat: 'usual' } });
    expect(a?.models).not.toHaveProperty('extract');
  });

  it('asks the cheaper model from the second rung on, and the usual one on the next day', async () => {
    const { engine, use, cheap, ledger, tools } = await bench();
    await use(0.82);
    const id = await engine.post(['lives: in Oslo']);
    await engine.run();
    expect(await engine.plan(id)).toMatchObject({ rung: 2, models: { chat: 'usual', extract: 'cheap' } });
    expect(cheap.calls.map(({ name }) => name)).toContain('extract_facts');
    const { consolidationId } = await engine.plan(id);
    const [consolidation, plan, answers] = await Promise.all([
      ledger.thoughts.get(DEFAULT_TENANT, consolidationId),
      ledger.thoughts.plan(consolidationId),
      ledger.thoughts.answers(consolidationId),
    ]);
    if (consolidation === null) throw new Error('expected the consolidation of the plan, got none');
    const questions = await questionsOf(engine.deps, { consolidation, plan, answers }, NEVER);
    expect([...questions.keys()], 'put together again for the model that was asked').toEqual([...answers]);
    tools.advance(DAY_MS);
    expect(await sweepEconomies(engine.deps)).toBe(1);
    expect(await ledger.limits.economies()).toEqual([]);
    const next = await engine.post(['pet: a cat']);
    await engine.run();
    expect(await engine.plan(next)).not.toHaveProperty('rung');
  });

  it('asks a cheaper model only if it has passed the gate', async () => {
    const { engine, use, cheap, ledger } = await bench();
    const rules = await ledger.settings.get(DEFAULT_TENANT);
    await ledger.settings.put(DEFAULT_TENANT, { ...rules, gate: { suite: 'daily', days: 7 } });
    await use(0.85);
    const id = await engine.post(['lives: in Oslo']);
    await engine.run();
    expect(await engine.plan(id)).toMatchObject({ rung: 2 });
    expect(cheap.calls).toEqual([]);
  });

  it('makes summaries later, and none is lost', async () => {
    const { engine, use, refreshes, usual, tools } = await bench();
    await use(0.95);
    await engine.post(Array.from({ length: 25 }, (_, i) => `chat ${i}`));
    await engine.run();
    const [refresh] = refreshes as [SummaryRefresh];
    const made = () => usual.calls.filter(({ name }) => name === 'refresh_summary').length;
    await expect(refreshSummary(engine.deps)(refresh, NEVER)).rejects.toMatchObject({
      ...{ code: 'budget_exhausted', countsAsTry: false, message: expect.stringContaining('summaries') },
    });
    expect(made()).toBe(0);
    tools.advance(DAY_MS);
    await refreshSummary(engine.deps)(refresh, NEVER);
    expect(made()).toBe(1);
  });

  it('stops economising when the budget is raised, and when it is lifted', async () => {
    const { engine, use, rung, choose, tools } = await bench();
    await use(0.95);
    expect(await rung()).toBe(3);
    await choose({ tokensPerDay: 1.2 * BUDGET });
    expect(await sweepEconomies(engine.deps)).toBe(1);
    expect(await rung()).toBe(1);
    await choose({ tokensPerDay: null });
    await sweepEconomies(engine.deps);
    expect(await rung()).toBe(0);
    expect(dayOf(tools.now())).toBeGreaterThan(0);
  });
});

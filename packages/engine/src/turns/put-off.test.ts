import { type EngineBench, echoExtract, engineBench, fakeChat, NEVER, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import type { SummaryRefresh, Verdict } from '../ports/schedule.ts';
import { type Budgets, DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { refreshSummary, takeTurn } from './take-turn.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const tooEarly = (retryAfterMs?: number) =>
  new EngineError('the provider takes no more calls for now', {
    code: 'rate_limited',
    retryable: true,
    countsAsTry: false,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

describe('work that comes too early for the provider', () => {
  it('waits as long as it takes, is consolidated then, and no try is counted', async () => {
    const limited: Script = (input, nth) => (nth <= 20 ? tooEarly(30_000) : echoExtract(input, nth));
    const bench = await engineBench({ chat: fakeChat({ extract_facts: limited }) });
    const id = await bench.post(['lives: in Oslo']);
    const begun = bench.tools.now();
    expect(await turn(bench)).toEqual({ kind: 'later', at: begun + 30_000 });
    expect(await batch(bench, id)).toMatchObject({ attempts: 0, failure: { code: 'rate_limited' } });
    expect(await bench.run()).toHaveLength(20);
    expect(await batch(bench, id)).toMatchObject({ state: 'consolidated', attempts: 0, failure: null });
    expect(await bench.deps.ledger.overview.usage(DEFAULT_TENANT)).toMatchObject({ calls: 1, failedCalls: 0 });
  });

  it('comes back by itself where nobody says when, and what it thought before is kept', async () => {
    const decide: Script = (_input, nth) => (nth === 1 ? tooEarly() : { operations: [] });
    const chat = fakeChat({ extract_facts: echoExtract, decide_operations: decide });
    const bench = await engineBench({ chat });
    await bench.post(['pet: a cat', 'pet: a dog']);
    const [first] = await bench.run();
    expect(first).toMatchObject({ kind: 'later' });
    expect(chat.calls.map(({ name }) => name)).toEqual(['extract_facts', 'decide_operations', 'decide_operations']);
  });
});

describe('a budget that is used up', () => {
  it('lets nothing more reach a model; what comes waits, says why, and goes on when the budget is raised', async () => {
    const { bench, chat } = await benchWith({ tokensPerDay: 1 });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    expect(chat.calls, 'the first call found the budget unused').toHaveLength(1);
    const id = await bench.post(['pet: a cat']);
    expect(await turn(bench)).toEqual({ kind: 'later', at: bench.tools.now() + 5 * MINUTE });
    const waiting = { state: 'consolidating', attempts: 0, failure: { code: 'budget_exhausted' } };
    expect(await batch(bench, id)).toMatchObject(waiting);
    for (let i = 0; i < 10; i += 1) await turn(bench);
    expect(await batch(bench, id)).toMatchObject(waiting);
    expect(chat.calls).toHaveLength(1);
    await choose(bench, { tokensPerDay: 1_000_000 });
    await bench.run();
    expect(await batch(bench, id)).toMatchObject({ state: 'consolidated', attempts: 0, failure: null });
  });

  it('is fresh the next day', async () => {
    const { bench } = await benchWith({ tokensPerDay: 1 });
    const ids = [await bench.post(['one: 1']), await bench.post(['two: 2'], { settings: { mode: 'add_only' } })];
    const verdicts = await bench.run();
    expect(verdicts.length).toBeLessThan(DAY / (5 * MINUTE) + 3);
    for (const id of ids) expect(await batch(bench, id)).toMatchObject({ state: 'consolidated', attempts: 0 });
  });

  it('of one user holds up nobody else', async () => {
    const { bench } = await benchWith({ userTokensPerDay: 1 });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    const held = await bench.post(['pet: a cat']);
    await turn(bench);
    const free = await bench.post(['pet: a dog'], { userId: 'bob' });
    await turn(bench, 'bob');
    expect(await batch(bench, held)).toMatchObject({ failure: { code: 'budget_exhausted' } });
    expect(await batch(bench, free)).toMatchObject({ state: 'consolidated' });
  });

  it('counts money by the prices of the models', async () => {
    const { bench } = await benchWith({ costPerDay: 0.000001 });
    await bench.deps.ledger.settings.put(DEFAULT_TENANT, {
      ...(await bench.deps.ledger.settings.get(DEFAULT_TENANT)),
      prices: { scripted: { prompt: 1, completion: 1 } },
    });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    const id = await bench.post(['pet: a cat']);
    await turn(bench);
    expect(await batch(bench, id)).toMatchObject({ failure: { message: expect.stringContaining('cost_per_day') } });
  });

  it('counts calls that were paid for without an answer', async () => {
    const slow = new EngineError('no answer in time', { code: 'model_timeout', retryable: true });
    const bench = await engineBench({ chat: fakeChat({ extract_facts: () => slow }) });
    await choose(bench, { tokensPerDay: 1 });
    const id = await bench.post(['lives: in Oslo']);
    await turn(bench);
    await turn(bench);
    expect(await batch(bench, id)).toMatchObject({ attempts: 1, failure: { code: 'budget_exhausted' } });
  });

  it('lets no summary be refreshed, either', async () => {
    const refreshes: SummaryRefresh[] = [];
    const chat = fakeChat({ extract_facts: () => ({ facts: [] }), refresh_summary: () => ({ summary: 'chat' }) });
    const summarize = async (refresh: SummaryRefresh): Promise<void> => void refreshes.push(refresh);
    const bench = await engineBench({ chat, followUps: { summarize, study: async () => {}, sleep: async () => {} } });
    await bench.post(Array.from({ length: 25 }, (_, i) => `chat ${i}`));
    await bench.run();
    await choose(bench, { tokensPerDay: 1 });
    const [refresh] = refreshes as [SummaryRefresh];
    const early = { code: 'budget_exhausted', countsAsTry: false, retryAfterMs: 5 * MINUTE };
    await expect(refreshSummary(bench.deps)(refresh, NEVER)).rejects.toMatchObject(early);
    expect(chat.calls.map(({ name }) => name)).not.toContain('refresh_summary');
  });

  it('does not stop what needs no model', async () => {
    const { bench } = await benchWith({ tokensPerDay: 0 });
    const id = await bench.post(['word for word'], { settings: { mode: 'verbatim' } });
    await bench.run();
    expect(await batch(bench, id)).toMatchObject({ state: 'consolidated' });
  });
});

async function benchWith(budgets: Partial<Budgets>) {
  const chat = fakeChat({ extract_facts: echoExtract });
  const bench = await engineBench({ chat });
  await choose(bench, budgets);
  return { bench, chat };
}

const choose = ({ deps }: EngineBench, budgets: Partial<Budgets>): Promise<void> =>
  deps.ledger.settings.put(DEFAULT_TENANT, {
    ...DEFAULT_SETTINGS,
    budgets: { ...DEFAULT_SETTINGS.budgets, ...budgets },
  });

const batch = ({ deps }: EngineBench, id: string) => deps.ledger.batches.get(DEFAULT_TENANT, id);

/** Takes one turn of a user's lane, once it is due. */
async function turn({ deps, tools }: EngineBench, userId = 'ann'): Promise<Verdict> {
  const lane = await deps.ledger.lanes.find(DEFAULT_TENANT, { kind: 'user', id: userId });
  if (lane === null) throw new Error(`nothing was posted for ${userId}`);
  tools.set(Math.max(tools.now(), lane.dueAt ?? 0));
  return takeTurn(deps)({ lane: lane.id, generation: lane.generation }, NEVER);
}

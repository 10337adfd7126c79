import { type CanaryBench, canaryBench, NEVER, scope } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { reviewer } from '../../memories/review.ts';
import { memoryWriter } from '../../memories/write.ts';
import { isInShare } from '../../ports/ledger/canaries.ts';
import { takeTurn } from '../../turns/take-turn.ts';
import { DEFAULT_TENANT as TENANT } from '../../words.ts';
import { promoteCanary, startCanary, stopCanary, undoCanary } from '../start.ts';
import { FALSE_ALARM, levelOf, watchedFrom } from '../sweep.ts';
import { estimateUndo } from '../take-back.ts';

const TALK = { users: 3, rounds: 3, seed: 5, before: 1, every: 1_000 };
const ALL = [{ share: 100, minMs: 60_000, minConsolidations: 4 }];
const MANY = { limit: 100, cursor: null };

/** Everybody has the changes after the first round. */
async function changed(asked: Parameters<CanaryBench['start']>[1] = {}) {
  const bench = await canaryBench(TALK);
  await bench.talkUntilHalted(() => bench.start('drops negations', { steps: ALL, ...asked }));
  const { id } = await bench.canary();
  const which = { tenant: TENANT, id };
  return { ...bench, which };
}

/** What would hold had there been no canary. */
async function without(): Promise<CanaryBench> {
  const bench = await canaryBench(TALK);
  await bench.talk(TALK.users * TALK.rounds);
  return bench;
}

describe('a canary', () => {
  it('is for the same owners as it grows, and for about as many as its share says', () => {
    const owners = Array.from({ length: 4_000 }, (_, i) => ({ kind: 'user', id: `user ${i}` }) as const);
    const inShare = (share: number, id = 'cny_1') => owners.filter((owner) => isInShare({ id, share }, owner));
    const [few, some, half] = [inShare(1), inShare(10), inShare(50)];
    expect([few, some, half].map(({ length }) => Math.round(length / 100))).toEqual([0, 4, 20]);
    expect(few.filter((owner) => !some.includes(owner))).toEqual([]);
    expect(some.filter((owner) => !half.includes(owner))).toEqual([]);
    expect(inShare(100)).toHaveLength(owners.length);
    expect(inShare(10, 'cny_2')).not.toEqual(some);
  });

  it('stands in the plans that were made with its changes', async () => {
    const { deps, which, canary } = await changed();
    const { results } = await deps.ledger.thoughts.list(TENANT, {}, MANY);
    const plans = await Promise.all(results.map(({ id }) => deps.ledger.thoughts.plan(id)));
    expect(plans.map((plan) => [plan?.variant, plan?.models.chat])).toEqual([
      ...Array(6).fill([which.id, 'drops negations']),
      ...Array(3).fill([undefined, 'good']),
    ]);
    expect(await canary()).toMatchObject({ state: 'running' });
    expect(await startCanary(deps, { ...(await canary()), changes: { model: 'good' } }), 'one at a time').toBeNull();
  });

  it('goes on by time and by number, and waits where somebody has to configure something', async () => {
    const steps = [{ ...ALL[0], share: 99.99, minMs: 3_600_000, minConsolidations: 1 }, ...ALL] as typeof ALL;
    const { deps, tools, look, canary, which } = await changed({ steps, changes: { model: 'good', recallPerFact: 5 } });
    await look();
    expect(await canary(), 'it is too early').toMatchObject({ step: 0 });
    tools.advance(3_600_000);
    await look();
    expect(await canary()).toMatchObject({ state: 'running', step: 1 });
    tools.advance(3_600_000);
    await look();
    expect(await canary(), 'nothing was consolidated in this step').toMatchObject({ state: 'running', step: 1 });
    const { ledger } = deps;
    await ledger.canaries.move(which.id, { from: 'running', to: 'running', dueAt: 0, step: { number: 1, at: 0 } });
    await look();
    expect(await canary()).toMatchObject({ state: 'done', finishedAt: null });
    expect(await promoteCanary(deps, which, { isSet: false, runId: null })).toEqual({
      kind: 'to_set',
      changes: ['recallPerFact'],
    });
    expect(await promoteCanary(deps, which, { isSet: true, runId: null })).toMatchObject({
      kind: 'done',
      canary: { state: 'promoted' },
    });
    expect((await ledger.settings.get(TENANT)).models).toEqual({ extract: 'good', decide: 'good' });
    expect(await undoCanary(deps, which, null)).toMatchObject({ kind: 'refused' });
  });

  it('is compared only when there is more to compare, and wrongly halted at most as often as is said', async () => {
    const bench = await canaryBench({ users: 24, rounds: 4, seed: 5, before: 1, every: 8 });
    await bench.talkUntilHalted(() => bench.start(null));
    await bench.look(); // at what was said after the last look
    const seen = watchedFrom((await bench.canary()).watched);
    expect(seen?.looks).toBeGreaterThan(0);
    for (let i = 0; i < 5; i += 1) await bench.look();
    expect(watchedFrom((await bench.canary()).watched), 'nothing was consolidated since').toEqual(seen);
    const wrong = (look: number): number => (30 * (1 - levelOf(look, 30))) / 2;
    const all = Array.from({ length: 10_000 }, (_, i) => wrong(i + 1)).reduce((sum, one) => sum + one, 0);
    expect(all).toBeLessThanOrEqual(FALSE_ALARM);
    expect(all).toBeGreaterThan(FALSE_ALARM * 0.99);
  });

  it('of settings becomes the settings of its tenant', async () => {
    const bench = await canaryBench(TALK);
    const changes = { instructions: 'Remember allergies.', graph: true, prompts: { decide: 'Decide well.' } };
    await bench.start(null, { steps: [{ ...ALL[0], share: 100, minMs: 0, minConsolidations: 0 }], changes });
    const before = await bench.deps.ledger.settings.get(TENANT);
    await bench.look();
    expect(await bench.canary()).toMatchObject({ state: 'promoted' });
    expect(await bench.deps.ledger.settings.get(TENANT)).toEqual({
      ...before,
      ...{ instructions: changes.instructions, graph: true, prompts: { extract: null, decide: 'Decide well.' } },
    });
  });

  it('waits for the gate of its tenant', async () => {
    const bench = await canaryBench(TALK);
    const { settings } = bench.deps.ledger;
    const gated = { ...(await settings.get(TENANT)), gate: { suite: 'daily', days: 7 } };
    await settings.put(TENANT, gated);
    const steps = [{ share: 100, minMs: 0, minConsolidations: 0 }];
    const { id } = await bench.start(null, { steps, changes: { instructions: 'Remember allergies.' } });
    await bench.look();
    expect(await bench.canary()).toMatchObject({ state: 'done' });
    const which = { tenant: TENANT, id };
    const promoted = await promoteCanary(bench.deps, which, { isSet: true, runId: null });
    expect(promoted).toMatchObject({ kind: 'gated' });
    expect(await settings.get(TENANT)).toEqual(gated);
    await settings.put(TENANT, { ...gated, instructions: 'Remember allergies.' });
    expect(await promoteCanary(bench.deps, which, { isSet: true, runId: null })).toMatchObject({ kind: 'done' });
  });
});

describe('a canary of a model that nobody can ask', () => {
  it('halts once several have waited for it, and what waited is consolidated without it', async () => {
    const talk = { ...TALK, users: 5 };
    const bench = await canaryBench(talk, { otherChat: () => null });
    await bench.talk(talk.users);
    await bench.start(null, { steps: ALL, changes: { model: 'no such model' } });
    for (let i = 0; i < talk.users; i += 1) await bench.post(['I live in Ghent now.'], { userId: `user-${i}` });
    const handle = takeTurn(bench.deps);
    for (const { lane, generation } of await bench.deps.ledger.lanes.withWork(null, 10))
      expect(await handle({ lane, generation }, NEVER)).toMatchObject({ kind: 'later' });
    await bench.look();
    expect(await bench.canary()).toMatchObject({ state: 'running', halt: null });
    bench.tools.advance(16 * 60_000);
    await bench.look();
    expect((await bench.canary()).halt).toMatchObject({ code: 'stuck' });
    await bench.until('undone');
    const { pending, consolidating } = await bench.deps.ledger.overview.batches(TENANT);
    expect({ pending, consolidating }).toEqual({ pending: 0, consolidating: 0 });
    expect((await bench.texts())['user-0']).toContain('User lives in Ghent');
  });
});

describe('the undo of a canary', () => {
  it('is told before it is done', async () => {
    const { deps, canary } = await changed();
    const estimate = await estimateUndo(deps.ledger, await canary());
    expect(estimate).toMatchObject({ owners: 3, consolidations: 6, batches: 6 });
    expect(estimate.expected.calls).toBeGreaterThanOrEqual(6);
  });

  it('leaves what holds as if there had been none, with what is said meanwhile behind', async () => {
    const { deps, canaries, which, look, until, run, post, tools, texts, hashes, canary } = await changed();
    expect(JSON.stringify(await texts())).toContain('User eats');
    await undoCanary(deps, which, null);
    const fresh = { userId: 'user-0', at: tools.now() };
    await post(['I live in Utrecht now.'], fresh);
    expect(await run(), 'nothing is held yet').toHaveLength(1);
    await look();
    await post(['I work as a plumber these days.'], fresh);
    await until('undone');
    const clean = await without();
    await clean.post(['I live in Utrecht now.'], fresh);
    await clean.post(['I work as a plumber these days.'], fresh);
    await clean.run();
    expect(await hashes()).toEqual(await clean.hashes());
    expect(await canaries.ledger.overview.batches(TENANT)).toMatchObject({ pending: 0, undone: 0, parked: 0 });
    expect(await canary()).toMatchObject({ state: 'undone', waiting: null });
    expect((await deps.ledger.canaries.lanes(which.id, { limit: 9 })).map(({ state }) => state)).toEqual([
      ...['done', 'done', 'done'],
    ]);
  });

  it('keeps what people wrote and approved', async () => {
    const bench = await canaryBench(TALK);
    const rules = await bench.deps.ledger.settings.get(TENANT);
    await bench.talk(TALK.users);
    await bench.deps.ledger.settings.put(TENANT, { ...rules, review: ['ADD'] });
    const { id } = await bench.start('drops negations', { steps: ALL });
    await bench.post(['I do not eat walnuts at all.'], { userId: 'user-0' });
    await bench.run();
    const { results } = await bench.deps.ledger.reviews.list(TENANT, { state: 'pending' }, MANY);
    expect(results.map(({ operation }) => operation.after)).toEqual(['User eats walnuts']);
    await reviewer(bench.deps).approve(TENANT, results[0]?.id ?? '');
    await memoryWriter(bench.deps).add(TENANT, written('User sings'));
    await undoCanary(bench.deps, { tenant: TENANT, id }, null);
    await bench.until('undone');
    expect((await bench.texts())['user-0']).toEqual(expect.arrayContaining(['User eats walnuts', 'User sings']));
  });

  it('waits for its budget, and goes on with a larger one', async () => {
    const { deps, which, until, look, run, canary, hashes } = await changed();
    const { expected } = await estimateUndo(deps.ledger, await canary());
    const budget = { calls: null, tokens: Math.ceil(expected.tokens / 2), cost: null };
    await undoCanary(deps, which, budget);
    for (let i = 0; i < 5; i += 1) {
      await look();
      await run();
    }
    const lanes = await deps.ledger.canaries.lanes(which.id, { limit: 9 });
    expect(await canary()).toMatchObject({ state: 'undoing', waiting: { code: 'budget_exhausted' }, budget });
    expect(lanes.filter(({ state }) => state === 'held').length).toBeGreaterThan(0);
    expect(lanes.filter(({ state }) => state === 'done').length).toBeGreaterThan(0);
    const used = lanes.reduce((sum, lane) => sum + lane.used.tokens, 0);
    expect(used).toBeLessThanOrEqual(budget.tokens);
    await undoCanary(deps, which, { ...budget, tokens: 10 * expected.tokens });
    await until('undone');
    expect(await hashes()).toEqual(await (await without()).hashes());
  });

  it('leaves an owner alone whose messages retention has removed', async () => {
    const bench = await canaryBench({ ...TALK, before: 0 });
    await bench.talkUntilHalted(() => bench.start('drops negations', { steps: ALL }));
    const { deps, until, canary, tools } = bench;
    const { id } = await canary();
    expect(await deps.ledger.retention.removeMessages(TENANT, tools.now(), { limit: 1, now: tools.now() })).toBe(1);
    await undoCanary(deps, { tenant: TENANT, id }, null);
    await until('undone');
    expect(await canary()).toMatchObject({ state: 'undone' });
    const lanes = await deps.ledger.canaries.lanes(id, { limit: 9 });
    expect(lanes.map(({ state }) => state).sort()).toEqual(['done', 'done', 'left']);
    expect(lanes.find(({ state }) => state === 'left')).toMatchObject({ consolidations: 0, batches: 0 });
  });
});

describe('a canary that is stopped', () => {
  it('keeps what it wrote, and what was under way begins anew without its changes', async () => {
    const { deps, which, post, look, run, texts, tools } = await changed();
    await post(['I do not eat walnuts at all.'], { userId: 'user-0' });
    const [nudge] = await deps.ledger.lanes.withWork(null, 1);
    const how = { now: tools.now(), window: deps.settings.window, newConsolidationId: tools.id('con', 0 as never) };
    const claim = await deps.ledger.lanes.claim(
      { lane: nudge?.lane as never, generation: nudge?.generation ?? 0 },
      how,
    );
    expect(claim).toMatchObject({ kind: 'claimed', turn: { variant: which.id } });
    expect(await stopCanary(deps, which)).toMatchObject({ kind: 'done', canary: { state: 'stopped' } });
    const verdict = await takeTurn(deps)({ lane: nudge?.lane as never, generation: nudge?.generation ?? 0 }, NEVER);
    expect(verdict, 'its changes hold no more').toMatchObject({ kind: 'later' });
    await look();
    await run();
    const said = JSON.stringify((await texts())['user-0']);
    expect(said).toContain('User does not eat walnuts');
    expect(said).toContain('User eats');
    expect(await stopCanary(deps, which)).toMatchObject({ kind: 'refused' });
  });
});

const written = (text: string) => ({
  ...{ text, scope: scope({ userId: 'user-0' }), category: null, metadata: {}, immutable: false },
  ...{ expiresAt: null, validFrom: null },
});

import { fakeChat, NEVER, type Script, studyBench } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { NO_BUDGET, startCanary, stopCanary } from '../../canaries/start.ts';
import { EngineError } from '../../errors.ts';
import type { ChatCall, ChatModel } from '../../ports/models.ts';
import { DEFAULT_TENANT, type LaneId } from '../../words.ts';
import { type StudyOutcome, studyLane, sweepStudies } from './study-lane.ts';

const TAKE_OVER_MS = 30_000;
const RELATION = {
  ...{ source: 'user', relationship: 'lives_in', destination: 'Oslo', said: 'holds', from: null, until: null },
  ...{ single: true, source_ids: ['m0'], quote: null },
};
const found: Script = () => ({ entities: [], relations: [RELATION] });

async function open(extract: Script, probe: Script = () => ({ there: true })) {
  const chat = fakeChat({
    ...{ extract_facts: () => ({ facts: [] }), extract_graph: extract, repair_output: extract },
    are_you_there: probe,
  });
  const bench = await studyBench({ chat });
  const say = async (text: string, graph?: boolean): Promise<string> => {
    const id = await bench.post([text], { settings: graph === undefined ? {} : { graph } });
    await bench.run();
    return id;
  };
  const studyOf = async (batchId: string) => {
    const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, batchId);
    return bench.deps.ledger.graph.study(DEFAULT_TENANT, batch?.consolidationId ?? '');
  };
  return { bench, chat, say, studyOf };
}

const failing = (facts: Partial<ConstructorParameters<typeof EngineError>[1]>) =>
  new EngineError('busy', { code: 'model_overloaded', retryable: true, ...facts });

describe('a study', () => {
  it('is made of what the tenant or the batch wants in the graph, and of nothing else', async () => {
    const { bench, chat, say, studyOf } = await open(found);
    const ids = [await say('I live in Oslo.'), await say('I live in Oslo, still.', false)];
    await bench.study();
    expect((await Promise.all(ids.map(studyOf))).map((study) => study?.state)).toEqual(['applied', undefined]);
    await bench.deps.ledger.settings.put(DEFAULT_TENANT, {
      ...(await bench.deps.ledger.settings.get(DEFAULT_TENANT)),
      graph: false,
    });
    const wanted = [await say('Do I live in Oslo? I live in Oslo.', true), await say('I live in Oslo, yes.')];
    await bench.study();
    expect((await Promise.all(wanted.map(studyOf))).map((study) => study?.state)).toEqual(['applied', undefined]);
    expect(chat.calls.filter(({ name }) => name === 'extract_graph')).toHaveLength(2);
    const [confirmed] = (
      await bench.deps.ledger.graph.listRelations(
        DEFAULT_TENANT,
        { kind: 'user', id: 'ann' },
        { at: null },
        { limit: 10, cursor: null },
      )
    ).results;
    expect(confirmed?.confirmations).toBe(1);
  });

  it('that fails is tried again, and parked when its tries are used up; the next one is made', async () => {
    const { bench, say, studyOf } = await open((_input, nth) => (nth <= 3 ? failing({}) : { relations: [RELATION] }));
    const ids = [await say('I live in Oslo.'), await say('I live in Oslo, I say.')];
    await bench.study();
    expect(bench.outcomes).toEqual(['retry', 'retry', 'parked', 'applied']);
    expect(await studyOf(ids[0] ?? '')).toMatchObject({
      state: 'parked',
      attempts: 3,
      failure: { code: 'model_overloaded' },
    });
    expect(await studyOf(ids[1] ?? '')).toMatchObject({ state: 'applied', plan: { statements: expect.any(Array) } });
  });

  it('whose question waits for its place until another worker has made it is not asked, and counts no call', async () => {
    const { bench, chat, say } = await open(found);
    await say('I live in Oslo.');
    const calls = async () => (await bench.deps.ledger.overview.usage(DEFAULT_TENANT)).calls;
    const before = await calls();
    const late: ChatModel = {
      ...chat,
      ask: async (call, cancel) => {
        bench.tools.advance(TAKE_OVER_MS + 1);
        await bench.study();
        await call.lastLook?.();
        return chat.ask(call, cancel);
      },
    };
    const outcomes: StudyOutcome[] = [];
    const deps = { ...bench.deps, chat: late, studied: (one: StudyOutcome) => void outcomes.push(one) };
    const [lane] = await bench.deps.ledger.graph.due(bench.tools.now(), 1);
    await studyLane({ ...deps, takeOverMs: TAKE_OVER_MS })(lane as LaneId, NEVER);
    expect([outcomes, bench.outcomes]).toEqual([['fenced'], ['applied']]);
    expect(chat.calls.filter(({ name }) => name === 'extract_graph')).toHaveLength(1);
    expect((await calls()) - before).toBe(1);
  });

  it('whose question waits while nobody else comes is asked', async () => {
    const { bench, chat, say } = await open(found);
    await say('I live in Oslo.');
    const ask: ChatModel['ask'] = async (call, cancel) => {
      await call.lastLook?.();
      return chat.ask(call, cancel);
    };
    const outcomes: StudyOutcome[] = [];
    const deps = { ...bench.deps, chat: { ...chat, ask }, studied: (one: StudyOutcome) => void outcomes.push(one) };
    const [lane] = await bench.deps.ledger.graph.due(bench.tools.now(), 1);
    await studyLane({ ...deps, takeOverMs: TAKE_OVER_MS })(lane as LaneId, NEVER);
    expect(outcomes).toEqual(['applied']);
  });

  it('that was parked is made when it is asked for once more', async () => {
    const { bench, say, studyOf } = await open((_input, nth) =>
      nth === 1 ? failing({ retryable: false }) : { relations: [RELATION] },
    );
    const id = await say('I live in Oslo.');
    await bench.study();
    const parked = await studyOf(id);
    expect(parked?.state).toBe('parked');
    await bench.deps.ledger.graph.request(DEFAULT_TENANT, parked?.consolidationId ?? '', bench.tools.now());
    await bench.study();
    expect(await bench.relations(null)).toEqual(['User lives_in Oslo 2026-03-01..']);
  });

  it('that comes too early for the provider waits, and loses no try', async () => {
    const early = failing({ code: 'rate_limited', countsAsTry: false, retryAfterMs: 5_000 });
    const { bench, say, studyOf } = await open((_input, nth) => (nth <= 9 ? early : { relations: [RELATION] }));
    const id = await say('I live in Oslo.');
    await bench.study();
    expect(bench.outcomes).toEqual([...Array.from({ length: 9 }, () => 'waits'), 'applied']);
    expect(await studyOf(id)).toMatchObject({ attempts: 0 });
  });

  it('waits while the models are away, however long, and loses no last try', async () => {
    const away = failing({ code: 'model_unreachable' });
    let calls = 0;
    const { bench, say, studyOf } = await open(
      (_input, nth) => {
        calls = nth;
        return nth <= 6 ? away : { relations: [RELATION] };
      },
      () => (calls < 6 ? away : { there: true }),
    );
    const id = await say('I live in Oslo.');
    await bench.study();
    expect(bench.outcomes).toEqual(['retry', 'retry', 'waits', 'waits', 'waits', 'applied']);
    expect(await studyOf(id)).toMatchObject({ state: 'applied', attempts: 2 });
  });

  it('waits while the budget of the day is used up', async () => {
    const { bench, chat, say } = await open(found);
    await say('I live in Oslo.');
    const rules = await bench.deps.ledger.settings.get(DEFAULT_TENANT);
    await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...rules, budgets: { ...rules.budgets, tokensPerDay: 1 } });
    const [lane] = await bench.deps.ledger.graph.due(bench.tools.now(), 1);
    const at = await studyLane({ ...bench.deps, studied: () => {}, takeOverMs: 30_000 })(lane as LaneId, NEVER);
    expect(at).toBeGreaterThan(bench.tools.now());
    expect(chat.calls.map(({ name }) => name)).not.toContain('extract_graph');
    await bench.deps.ledger.settings.put(DEFAULT_TENANT, rules);
    await bench.study();
    expect(bench.outcomes).toEqual(['applied']);
  });

  it('of messages that say nothing asks no model', async () => {
    const { bench, chat, say, studyOf } = await open(found);
    const id = await say('Hi!');
    await bench.study();
    expect(await studyOf(id)).toMatchObject({ state: 'applied', plan: { statements: [], prompts: [] } });
    expect(chat.calls.map(({ name }) => name)).not.toContain('extract_graph');
  });

  it('that nobody asked for is found by the sweep', async () => {
    const { bench, say } = await open(found);
    await say('I live in Oslo.');
    const asked: LaneId[] = [];
    const study = async (lanes: readonly LaneId[]): Promise<void> => void asked.push(...lanes);
    expect(await sweepStudies(bench.deps, { study })).toBe(1);
    await bench.study();
    expect(await sweepStudies(bench.deps, { study })).toBe(0);
    expect(asked).toHaveLength(1);
  });
});

describe('a study of what a canary made', () => {
  it('is made with the model and rules of the canary, also once that is over', async () => {
    const script = { extract_facts: () => ({ facts: [] }), extract_graph: found };
    const [usual, tried] = [fakeChat(script), { ...fakeChat(script), name: 'tried' }];
    const bench = await studyBench({ chat: usual, otherChat: (name) => (name === 'tried' ? tried : null) });
    const asked = (calls: readonly ChatCall[]) => calls.filter(({ name }) => name === 'extract_graph');
    const how = { bounds: {}, undo: 'manual', budget: NO_BUDGET } as const;
    const steps = [{ share: 100, minMs: 60_000, minConsolidations: 1_000 }];
    const changes = { model: 'tried', instructions: 'Remember cities.' };
    const canary = await startCanary(bench.deps, { tenant: DEFAULT_TENANT, changes, steps, ...how });
    await bench.post(['I live in Oslo.']);
    await bench.run();
    await stopCanary(bench.deps, { tenant: DEFAULT_TENANT, id: canary?.id ?? '' });
    await bench.post(['I live in Bergen.'], { userId: 'bob' });
    await bench.run();
    await bench.study();
    expect(asked(tried.calls)).toHaveLength(1);
    expect(asked(usual.calls)).toHaveLength(1);
    expect(asked(usual.calls)[0]?.user).toContain('Bergen');
  });
});

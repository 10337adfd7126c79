import { type EngineBench, fakeEmbedder, NEVER, scope, suiteBench, worseIn } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { eraseOwner } from '../erasure/erase.ts';
import { requestErasure } from '../erasure/request.ts';
import type { FigureName } from '../figures/figures.ts';
import { ownerBitsOf, spaceOf } from '../ids.ts';
import { liveVersion } from '../memories/evolve.ts';
import { LEARNT } from '../models/vectors.ts';
import type { Replay, SuiteCase } from '../ports/ledger/replays.ts';
import type { Embedder } from '../ports/models.ts';
import { contentOf } from '../suites/cases.ts';
import { recordSuite } from '../suites/record.ts';
import type { SuiteReport } from '../suites/report.ts';
import { terms } from '../text/terms.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT, type LaneId, type Memory } from '../words.ts';

/** So many that a figure can be worse beyond chance. */
const OWNERS = 16;
/** Where nothing is left to chance. */
const FEW = 6;
const OF_QUESTIONS: readonly FigureName[] = ['recall', 'abstained', 'context_tokens'];
const NO_USE = { promptTokens: 0, completionTokens: 0 };
/** Nothing is like anything else, in an order of its own. */
const axis = (place: number): Float32Array => Float32Array.from({ length: 64 }, (_, i) => (i === place % 64 ? 1 : 0));
const QUEUE = { erase: async () => {}, forgetLane: async () => {} };

test('a suite of what was recorded, run again as it was, passes with the same figures', async () => {
  const { perform, cases } = await suiteBench(FEW);
  const report = await perform();
  expect(cases).toBe(FEW);
  expect(report).toMatchObject({ passed: true, baseline: null, lost: 0, batches: { parked: 0 } });
  // What a search finds was not measured in life: only a run without changes can be held against.
  const measured = report.figures.filter(({ figure }) => !OF_QUESTIONS.includes(figure));
  for (const { figure, baseline, variant } of measured) expect([figure, variant]).toEqual([figure, baseline]);
});

test('stored questions are those that people asked, or follow from what was said, and are found as long as nothing is lost', async () => {
  const { bench, suite, perform } = await suiteBench(OWNERS, { forgetful: { regression: 'halves recall' } });
  const cases = (await bench.deps.ledger.suites.cases(suite.id, { after: -1, limit: 100 })).map(contentOf);
  for (const { questions, stored } of cases) {
    const answered = questions.filter(({ expects }) => expects.length > 0);
    expect(answered.length).toBeGreaterThan(3);
    for (const { expects } of answered) expect(stored?.live).toEqual(expect.arrayContaining([...expects]));
  }
  const before = await perform();
  const after = await perform({ model: 'forgetful' });
  const of = (report: SuiteReport, name: string) => report.figures.find(({ figure }) => figure === name);
  expect(of(before, 'recall')?.variant).toBeGreaterThan(0.9);
  expect(of(after, 'recall')).toMatchObject({ verdict: 'worse', baseline: of(before, 'recall')?.variant });
  expect(of(after, 'recall')?.n.variant).toBe(
    cases.flatMap(({ questions }) => questions.filter(({ expects }) => expects.length > 0)).length,
  );
});

test('questions are asked with another embedder, and nothing else is', async () => {
  const blind = {
    ...fakeEmbedder(),
    embed: async (texts: readonly string[]) => ({ vectors: texts.map((_, i) => axis(i)), usage: NO_USE }),
  };
  const same = fakeEmbedder();
  const embedders = {
    same: { documents: same, queries: same, vectors: LEARNT },
    blind: { documents: blind, queries: blind, vectors: { ...LEARNT, words: 0 } },
  };
  const { bench, start, stored, sweep, perform } = await suiteBench(FEW, {}, { embedders });
  const usual = await perform();
  const of = (report: SuiteReport, name: string) => report.figures.find(({ figure }) => figure === name)?.variant ?? 0;
  const alike = await perform({}, { embedder: 'same' });
  expect(alike).toMatchObject({ passed: true });
  expect(of(alike, 'recall')).toBeGreaterThan(0.9);
  const worse = await perform({}, { embedder: 'blind' });
  expect(of(worse, 'recall')).toBeLessThan(of(usual, 'recall') - 0.2);
  expect(of(worse, 'facts_kept')).toBe(of(usual, 'facts_kept'));
  expect((await perform()).baseline, 'runs with another embedder are no baseline').toBe(worse.baseline);
  const id = await start({}, { embedder: 'gone' });
  await sweep();
  await bench.run();
  await sweep();
  expect(await stored(id)).toMatchObject({ state: 'failed', failure: { code: 'model_misconfigured' } });
});

test('questions are embedded as searches embed them', async () => {
  const asked: string[] = [];
  const usual = fakeEmbedder(512);
  const queries: Embedder = {
    ...usual,
    embed: (texts, cancel) => {
      asked.push(...texts);
      return usual.embed(texts, cancel);
    },
  };
  const { bench, suite, perform } = await suiteBench(2, {}, { queries });
  await perform();
  const cases = await bench.deps.ledger.suites.cases(suite.id, { after: -1, limit: 10 });
  expect(asked).toEqual(cases.flatMap((one) => contentOf(one).questions.map(({ query }) => query)));
});

test('what somebody asked comes before what is made up, and each owner is asked something that nobody told', async () => {
  const { bench } = await suiteBench(2);
  const { ledger } = bench.deps;
  const [memory] = await bench.memories('user-0');
  const text = liveVersion(memory as Memory)?.text ?? '';
  const told = [{ kind: 'memory', id: memory?.id ?? '', version: memory?.versions.at(-1)?.number ?? 1 }] as const;
  await ledger.receipts.append([
    {
      ...{
        id: bench.tools.id(
          'rcp',
          ownerBitsOf(bench.tools, { tenant: DEFAULT_TENANT, owner: { kind: 'user', id: 'user-0' } }),
        ),
        tenant: DEFAULT_TENANT,
        lane: memory?.lane as LaneId,
        at: bench.tools.now(),
        route: 'search',
      },
      ...{
        scope: scope({ userId: 'user-0' }),
        ownApp: false,
        question: 'Where is her home these days?',
        filters: null,
        asOf: null,
      },
      ...{ position: 1, told },
    },
  ]);
  const asked = { tenant: DEFAULT_TENANT, name: 'again', owners: 2, batchesPerOwner: 10, masked: false };
  const made = await recordSuite(bench.deps, asked);
  const suite = made.kind === 'recorded' ? made.suite.id : '';
  const cases = await ledger.suites.cases(suite, { after: -1, limit: 10 });
  const ofFirst = contentOf(cases.find(({ owner }) => owner.id === 'user-0') as SuiteCase).questions;
  expect(ofFirst[0]).toEqual({ query: 'Where is her home these days?', expects: [text] });
  for (const one of cases) {
    const { questions, memories, batches } = contentOf(one);
    const unanswered = questions.filter(({ expects }) => expects.length === 0);
    expect(unanswered).toHaveLength(2);
    const known = new Set(terms(JSON.stringify([memories, batches])));
    expect(unanswered.flatMap(({ query }) => terms(query)).filter((term) => known.has(term))).toEqual([]);
  }
});

// Three of the twelve: `./scripts/prove gate` tries them all, and 200 runs of an unchanged model.
describe('a model is blocked that', () => {
  const tried = [
    ['drops negations', 'negations_kept'],
    ['doubles tokens', 'prompt_tokens'],
    ['adds instead of updating', 'stale'],
  ] as const;
  const models = Object.fromEntries(tried.map(([name]) => [name, { regression: name }]));
  const bench = suiteBench(OWNERS, models);
  test.each(tried)('%s, by %s', async (model, figure) => {
    const { perform } = await bench;
    const report = await perform({ model });
    expect(report.passed).toBe(false);
    expect(worseIn(report)).toContain(figure);
  });
});

test('a model as good as before passes, though five answers of a hundred are not as they should be', async () => {
  const { perform } = await suiteBench(OWNERS, { noisy: { noise: { percent: 5, seed: 1 } } });
  expect(worseIn(await perform({ model: 'noisy' }))).toEqual([]);
});

test('what was known before the first batch of a case can be updated and ended in its runs', async () => {
  const { perform } = await suiteBench(
    OWNERS,
    { worse: { regression: 'updates the wrong one' } },
    { batchesPerOwner: 1 },
  );
  const same = await perform();
  const of = (report: SuiteReport, name: string) => report.figures.find(({ figure }) => figure === name);
  for (const figure of ['targets_hit', 'deletes_kept', 'stale']) {
    expect(of(same, figure)?.n.variant, figure).toBeGreaterThan(3);
    expect([figure, of(same, figure)?.variant]).toEqual([figure, of(same, figure)?.baseline]);
  }
  expect(worseIn(await perform({ model: 'worse' }))).toContain('targets_hit');
});

test('a run that is cut off again and again ends as one that is not', async () => {
  const { bench, sweep, start, stored, perform } = await suiteBench(FEW);
  const whole = await perform();
  const id = await start({});
  for (let looks = 1; (await stored(id)).state === 'preparing'; looks += 7) {
    await sweep(cutOffAfter(looks));
  }
  await bench.run();
  await sweep();
  const report = (await stored(id)).result as unknown as SuiteReport;
  expect(report.cases).toEqual(whole.cases);
});

/** Turns of lanes that may never come to rest. */
async function someTurns({ deps, tools }: EngineBench, count: number): Promise<void> {
  const handle = takeTurn(deps);
  for (let turns = 0; turns < count; turns += 1) {
    const [nudge] = await deps.ledger.lanes.withWork(null, 1);
    if (nudge === undefined) return;
    tools.advance(Math.max(0, nudge.dueAt - tools.now()));
    await handle({ lane: nudge.lane, generation: nudge.generation }, NEVER);
  }
}

/** Aborted once it was looked at so often. */
const cutOffAfter = (looks: number) => {
  let looked = 0;
  return {
    ...NEVER,
    get aborted() {
      looked += 1;
      return looked > looks;
    },
  };
};

test('a run ends where its budget does, and never uses more', async () => {
  const { bench, sweep, start, stored } = await suiteBench(OWNERS);
  const budget = 40_000;
  const id = await start({}, { budget });
  for (let minute = 0; minute < 20 && (await stored(id)).state !== 'failed'; minute += 1) {
    await sweep();
    await someTurns(bench, 40);
  }
  const run = await stored(id);
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'budget_exhausted' } });
  expect(run.spent).toBeGreaterThan(budget / 2);
  expect(run.spent).toBeLessThanOrEqual(budget);
  // What waits of it looks again in a day, not every second.
  const work = () => bench.deps.ledger.lanes.withWork(null, 100);
  bench.tools.advance(60_000);
  for (const { lane, generation } of await work()) await takeTurn(bench.deps)({ lane, generation }, NEVER);
  const waiting = await work();
  expect(waiting.length).toBeGreaterThan(0);
  expect(Math.min(...waiting.map(({ dueAt }) => dueAt)) - bench.tools.now()).toBeGreaterThan(3_600_000);
});

test('what a worker that died had reserved of a budget is free again when it lapses, and the run waits for it', async () => {
  const { bench, sweep, start, stored } = await suiteBench(4);
  const budget = 100_000;
  const id = await start({}, { budget });
  const { replays } = bench.deps.ledger;
  const now = bench.tools.now();
  const dead = { id: 'cal_dead', least: 99_000, most: 99_000, budget, now, until: now + 10 * 60_000 };
  expect(await replays.reserve(id, dead)).toBe(99_000);
  await sweep();
  await someTurns(bench, 40);
  await sweep();
  expect(await stored(id), 'nobody has used it').toMatchObject({ state: 'running', spent: 0 });
  bench.tools.advance(10 * 60_000);
  await bench.run();
  await sweep();
  expect(await stored(id)).toMatchObject({ state: 'done', reserved: [] });
});

test('who finds the budget reserved by others waits for them, also if these have ended by the time that somebody looks', async () => {
  const { bench, sweep, start, stored } = await suiteBench(4);
  const budget = 100_000;
  const id = await start({}, { budget });
  const { replays } = bench.deps.ledger;
  const now = bench.tools.now();
  const other = { id: 'cal_other', least: 99_000, most: 99_000, budget, now, until: now + 10 * 60_000 };
  expect(await replays.reserve(id, other)).toBe(99_000);
  await sweep();
  await someTurns(bench, 40);
  await replays.settle(id, { id: other.id, tokens: 1_000 });
  await sweep();
  expect(await stored(id), 'nearly all of it is left').toMatchObject({ state: 'running', spent: 1_000 });
  await bench.run();
  await sweep();
  expect(await stored(id)).toMatchObject({ state: 'done', reserved: [] });
});

test('who is erased is in no case, no space and no example any more', async () => {
  const { bench, sweep, suite, perform } = await suiteBench(FEW, {
    worse: { regression: 'halves recall' },
  });
  const { lost } = await perform({ model: 'worse' });
  const owner = { kind: 'user', id: 'user-3' } as const;
  const { ledger } = bench.deps;
  const erasure = await requestErasure(bench.deps, DEFAULT_TENANT, owner);
  await eraseOwner({ ...bench.deps, queue: QUEUE, settleMs: 0 })(erasure.id, NEVER);
  const cases = await ledger.suites.cases(suite.id, { after: -1, limit: 100 });
  expect(cases.length).toBe(FEW - 1);
  expect(JSON.stringify(cases)).not.toContain('"user-3"');
  const { results } = await ledger.suites.runs(DEFAULT_TENANT, suite.id, { limit: 10, cursor: null });
  const [run] = results as readonly [Replay];
  const { differences } = run.result as unknown as SuiteReport;
  expect(differences.length).toBeLessThan(lost);
  expect(JSON.stringify(differences)).not.toContain('"user-3"');
  const inSpace = await ledger.lanes.find(spaceOf({ tenant: DEFAULT_TENANT, replay: run.id }), owner);
  expect(inSpace, 'its copy is being erased as well').toBeNull();
  await sweep();
});

import {
  CutOff,
  echoExtract,
  engineBench,
  fakeChat,
  keyedDecide,
  NEVER,
  newBatch,
  type Script,
  summaryBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { spaceOf } from '../ids.ts';
import { memoryWriter } from '../memories/write.ts';
import { SUMMARIZE } from '../models/prompts/consolidation.ts';
import type { ChatModel } from '../ports/models.ts';
import type { SummaryRefresh } from '../ports/schedule.ts';
import type { Cancellation } from '../ports/tools.ts';
import { markerOf } from '../projection/project.ts';
import { estimateTokens } from '../text/normalise.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';
import { refreshSummary, takeTurn } from './take-turn.ts';

const cancelled = new EngineError('the call was cancelled', { code: 'cancelled', retryable: true });

describe('a turn that is cancelled', () => {
  it('because the worker stops goes back at once, and no attempt is counted', async () => {
    const { bench, id, take } = await oneBatch();
    const verdict = await take({ reason: 'closing' });
    expect(verdict).toEqual({ kind: 'later', at: bench.tools.now() });
    expect(await batch(bench, id)).toMatchObject({ state: 'consolidating', attempts: 0, failure: null });
  });

  it('because its time was up has failed: a model that hangs for ever parks its batch', async () => {
    const { bench, id, take } = await oneBatch();
    const reason = new EngineError('a turn was cancelled after 300 s', { code: 'model_timeout', retryable: true });
    const first = await take({ reason });
    expect(first).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ attempts: 1, failure: { code: 'model_timeout' } });
    await take({ reason });
    expect(await take({ reason })).toMatchObject({ kind: 'parked' });
    expect(await batch(bench, id)).toMatchObject({ state: 'parked', attempts: 3, failure: { code: 'model_timeout' } });
  });

  it('because its time was up while it stood in line has not failed: it waits as often as it takes', async () => {
    const inLine = new EngineError('others go first', { code: 'cancelled', retryable: true, countsAsTry: false });
    const { bench, id, take } = await oneBatch(inLine);
    const reason = new EngineError('a turn was cancelled after 300 s', { code: 'model_timeout', retryable: true });
    for (let tries = 0; tries < 10; tries += 1) expect(await take({ reason })).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ attempts: 0, failure: { message: 'others go first' } });
  });
});

it('a turn goes on with what its claim has read, and reads it no second time', async () => {
  const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  const id = await bench.post(['lives: in Oslo']);
  const { ledger } = bench.deps;
  const thoughts = { ...ledger.thoughts, gather: () => Promise.reject(new Error('read a second time')) };
  const take = taker({ ...bench, deps: { ...bench.deps, ledger: { ...ledger, thoughts } } });
  expect(await take(NEVER)).toEqual({ kind: 'done', next: null });
  expect(await batch(bench, id)).toMatchObject({ state: 'consolidated', attempts: 0 });
});

describe('a ledger that fails before a turn has begun to read', () => {
  it('costs a try like any other failure, and parks the batch at the end', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
    const { ledger } = bench.deps;
    const tenant = spaceOf({ tenant: DEFAULT_TENANT, replay: 'rpl_1' });
    const { id } = newBatch(bench.tools, { tenant, flush: true });
    await ledger.batches.append(newBatch(bench.tools, { id, tenant, flush: true }), bench.deps.settings.due);
    const replays = { ...ledger.replays, get: () => Promise.reject(new Error('no such column')) };
    const take = taker({ ...bench, deps: { ...bench.deps, ledger: { ...ledger, replays } } });
    expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await ledger.batches.get(tenant, id)).toMatchObject({ attempts: 1, failure: { message: 'no such column' } });
    await take(NEVER);
    expect(await take(NEVER)).toMatchObject({ kind: 'parked' });
  });

  it('costs a try also where the messages cannot be read', async () => {
    const { bench, id } = await oneBatch();
    const { ledger } = bench.deps;
    const failing = () => Promise.reject(new Error('no such column'));
    const lanes: typeof ledger.lanes = {
      ...ledger.lanes,
      claim: (job, how) => (how.recentCount === undefined ? ledger.lanes.claim(job, how) : failing()),
    };
    const thoughts = { ...ledger.thoughts, gather: failing };
    const take = taker({ ...bench, deps: { ...bench.deps, ledger: { ...ledger, lanes, thoughts } } });
    expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ attempts: 1, failure: { message: 'no such column' } });
  });

  it('is tried again where it fails once', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
    const { ledger } = bench.deps;
    const tenant = spaceOf({ tenant: DEFAULT_TENANT, replay: 'rpl_1' });
    const batch = newBatch(bench.tools, { tenant, flush: true });
    await ledger.batches.append(batch, bench.deps.settings.due);
    const failures = [new Error('busy')];
    const get: typeof ledger.replays.get = (...asked) => {
      const failure = failures.pop();
      return failure === undefined ? ledger.replays.get(...asked) : Promise.reject(failure);
    };
    const take = taker({
      ...bench,
      deps: { ...bench.deps, ledger: { ...ledger, replays: { ...ledger.replays, get } } },
    });
    expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await take(NEVER)).toEqual({ kind: 'done', next: null });
    expect((await ledger.batches.get(tenant, batch.id))?.state).toMatch(/consolidated|empty/);
  });
});

describe('an index that is away', () => {
  it('makes consolidations wait as long as it takes, and parks nothing', async () => {
    const chat = fakeChat({ extract_facts: echoExtract });
    const bench = await engineBench({ chat });
    await bench.deps.index.clear();
    const id = await bench.post(['lives: in Oslo']);
    const take = taker(bench);
    for (let tries = 0; tries < 10; tries += 1) expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ state: 'consolidating', attempts: 0 });
    expect(chat.calls, 'the answer was kept').toHaveLength(1);
    await bench.deps.index.stamp(markerOf(bench.deps));
    expect(await take(NEVER)).toEqual({ kind: 'done', next: null });
    expect(await bench.live()).toEqual(['lives: in Oslo']);
  });
});

type Bench = Awaited<ReturnType<typeof engineBench>>;
const batch = (bench: Bench, id: string) => bench.deps.ledger.batches.get(DEFAULT_TENANT, id);

/** One batch and a model that never answers, so that only a cancellation ends the turn. */
async function oneBatch(error = cancelled) {
  const hanging: ChatModel = { name: 'hanging', ask: () => Promise.reject(error) };
  const bench = await engineBench({ chat: hanging });
  const id = await bench.post(['lives: in Oslo']);
  const take = taker(bench);
  return { bench, id, take: ({ reason }: { reason: unknown }) => take({ ...NEVER, aborted: true, reason }) };
}

/** Takes the lane's turn once it is due. */
const taker = (bench: Bench) => async (cancel: Cancellation) => {
  const [nudge] = await bench.deps.ledger.lanes.withWork(null, 1);
  if (nudge === undefined) throw new Error('no lane has work');
  bench.tools.set(Math.max(bench.tools.now(), nudge.dueAt));
  return takeTurn(bench.deps)(nudge, cancel);
};

const NOTHING: Script = () => ({ facts: [] });
/** Keeps the beginnings of everything said so far. */
const keepAll: Script = (input) => {
  const said = (input.messages as { content: string }[]).map(({ content }) => content);
  return { summary: [input.summary ?? '', ...said].filter((line) => line !== '').join(' / ') };
};
const model = (scripts: Record<string, Script> = {}) =>
  fakeChat({
    extract_facts: NOTHING,
    decide_operations: keyedDecide((text) => text),
    refresh_summary: keepAll,
    ...scripts,
  });
const small = (count: number, from = 1) => Array.from({ length: count }, (_, i) => `chat ${from + i}`);
const usage = (bench: { deps: { ledger: { overview: { usage(tenant: typeof DEFAULT_TENANT): Promise<unknown> } } } }) =>
  bench.deps.ledger.overview.usage(DEFAULT_TENANT);

/** A model that has read what it is given: whose sister is called what, and where she lives. */
const attentive: Script = (input) => {
  const { summary, recent } = input.context as { summary: string | null; recent: { content: string }[] };
  const messages = input.messages as { id: string; content: string }[];
  const known = [summary ?? '', ...recent.map(({ content }) => content)].join(' ');
  const news = messages.map(({ content }) => content).join(' ');
  const pieces = ['my sister', 'is called Mia', 'lives in Oslo'];
  const whole = pieces.every((piece) => `${known} ${news}`.includes(piece));
  const isNew = pieces.some((piece) => news.includes(piece));
  const source = messages.findLast(({ content }) => pieces.some((piece) => content.includes(piece)))?.id;
  return { facts: whole && isNew ? [{ text: "User's sister Mia lives in Oslo", source_ids: [source ?? ''] }] : [] };
};

describe('a fact spread over three posts', () => {
  const sayApart = async (between: number) => {
    const chat = model({ extract_facts: attentive });
    const bench = await summaryBench({ chat });
    const ids: string[] = [];
    for (const piece of ['let me tell you of my sister', 'she is called Mia', 'and she lives in Oslo', 'nice city']) {
      ids.push(await bench.post([piece, ...small(between)]));
      await bench.run();
    }
    const states = await Promise.all(ids.map((id) => bench.deps.ledger.batches.get(DEFAULT_TENANT, id)));
    return { bench, chat, states: states.map((batch) => batch?.state) };
  };

  it('is found once, and only once, by the last messages', async () => {
    const { bench, states } = await sayApart(0);
    expect(await bench.live()).toEqual(["User's sister Mia lives in Oslo"]);
    expect(states).toEqual(['empty', 'empty', 'consolidated', 'empty']);
    expect((await bench.memories())[0]?.confirmations).toBe(0);
  });

  it('is found once, and only once, by the summary when much was said in between', async () => {
    const { bench, states } = await sayApart(30);
    expect(await bench.live()).toEqual(["User's sister Mia lives in Oslo"]);
    expect(states).toEqual(['empty', 'empty', 'consolidated', 'empty']);
    expect((await bench.memories())[0]?.confirmations).toBe(0);
  });
});

describe('the summary of a scope', () => {
  it('is refreshed once per twenty messages at most', async () => {
    const chat = model();
    const bench = await summaryBench({ chat });
    for (let i = 0; i < 60; i += 1) {
      await bench.post([`chat ${i}`]);
      await bench.run();
    }
    const refreshes = chat.calls.filter((call) => call.name === 'refresh_summary');
    expect(refreshes).toHaveLength(3);
    expect(bench.asked.map(({ upTo }) => upTo)).toEqual([20, 40, 60]);
  });

  it('is not waited for by the turn that asks for it, and does not fail it', async () => {
    const never = await engineBench({
      chat: model(),
      followUps: { summarize: () => new Promise(() => {}), study: async () => {}, sleep: async () => {} },
    });
    await never.post(small(25));
    expect(await never.run()).toEqual([{ kind: 'done', next: null }]);
    const down = new EngineError('the queue is away', { code: 'queue_unavailable', retryable: true });
    const failing = await engineBench({
      chat: model(),
      followUps: { summarize: () => Promise.reject(down), study: async () => {}, sleep: async () => {} },
    });
    await failing.post(small(25));
    expect(await failing.run()).toEqual([{ kind: 'done', next: null }]);
  });

  it('is not asked for by messages that are stored word for word', async () => {
    const bench = await summaryBench({ chat: model() });
    await bench.post(small(25), { settings: { mode: 'verbatim' } });
    await bench.run();
    expect(bench.asked).toEqual([]);
  });

  it('is made once when it is asked for twice', async () => {
    const chat = model();
    const bench = await summaryBench({ chat });
    await bench.post(small(25));
    await bench.run();
    const [refresh] = bench.asked as [SummaryRefresh];
    await refreshSummary(bench.deps)(refresh, NEVER);
    expect(chat.calls.filter((call) => call.name === 'refresh_summary')).toHaveLength(1);
  });

  it('is not read any more after a deletion, and comes back without what was deleted', async () => {
    const bench = await summaryBench({ chat: model({ extract_facts: echoExtract }) });
    await bench.post(['I smoke', ...small(24)]);
    await bench.run();
    await bench.post(['one more']);
    await bench.run();
    const smoking = (await bench.memories()).find((memory) => memory.versions[0]?.text === 'I smoke');
    await memoryWriter(bench.deps).remove(DEFAULT_TENANT, smoking?.id ?? '');
    await bench.post(['and another']);
    await bench.run();
    const chat = bench.deps.chat as ReturnType<typeof model>;
    const read = chat.calls.findLast((call) => call.name === 'extract_facts')?.user ?? '';
    expect(read).toContain('"summary":null');
    const refreshed = chat.calls.findLast((call) => call.name === 'refresh_summary')?.user ?? '';
    expect(refreshed).toContain('"summary":null');
    expect(refreshed).not.toContain('I smoke');
    expect(refreshed).toContain('and another');
  });
});

describe('a summary call', () => {
  const inputOf = (chat: ReturnType<typeof model>): JsonObject =>
    JSON.parse(chat.calls.findLast((call) => call.name === 'refresh_summary')?.user.split('\n')[1] ?? '');
  const afterPosting = async (
    messages: Parameters<Awaited<ReturnType<typeof summaryBench>>['post']>[0],
    chat = model(),
  ) => {
    const bench = await summaryBench({ chat });
    await bench.post(messages);
    await bench.run();
    return { bench, chat };
  };

  it('has a short instruction whose first line is its name', () => {
    expect(SUMMARIZE.system.split('\n')[0]).toBe('refresh_summary');
    expect(estimateTokens(SUMMARIZE.system)).toBeLessThanOrEqual(350);
  });

  it('reads who said what and when, without system messages', async () => {
    const { chat } = await afterPosting([
      { role: 'system', content: 'be kind' },
      { role: 'assistant', content: 'hello', at: 0 },
      ...small(20),
    ]);
    const { summary, messages } = inputOf(chat) as { summary: null; messages: JsonObject[] };
    expect(summary).toBeNull();
    expect(messages).toHaveLength(21);
    expect(messages[0]).toEqual({ role: 'assistant', content: 'hello', timestamp: '1970-01-01T00:00:00.000Z' });
  });

  it('neither reads nor keeps a secret', async () => {
    const key = `sk-${'a1B2c3D4'.repeat(4)}`;
    const { bench, chat } = await afterPosting([`my key is ${key}`, ...small(20)], model({ refresh_summary: keepAll }));
    await bench.post(['next']);
    await bench.run();
    expect(chat.calls.find((call) => call.name === 'refresh_summary')?.user).not.toContain(key);
    const blabbing = await afterPosting(
      small(20),
      model({ refresh_summary: () => ({ summary: `her key is ${key}` }) }),
    );
    await blabbing.bench.post(['next']);
    await blabbing.bench.run();
    expect(blabbing.chat.calls.at(-1)?.user).toMatch(/"summary":"her key is \[secret/);
  });

  it('is bounded, however much was said: huge messages are cut, the newest go first', async () => {
    const long = (i: number) => `${i} ${'哈'.repeat(5_000)}`;
    const { chat } = await afterPosting(Array.from({ length: 150 }, (_, i) => long(i)));
    const { messages } = inputOf(chat) as { messages: { content: string }[] };
    const tokens = messages.reduce((sum, { content }) => sum + estimateTokens(content), 0);
    expect(tokens).toBeLessThanOrEqual(6_000);
    expect(messages.every(({ content }) => content.endsWith('…') && estimateTokens(content) <= 300)).toBe(true);
    expect(messages.at(-1)?.content).toMatch(/^149 /);
  });

  it('brings a summary that is bounded too', async () => {
    const { bench } = await afterPosting(
      small(25),
      model({ refresh_summary: () => ({ summary: 'word '.repeat(9_000) }) }),
    );
    await bench.post(['one more']);
    await bench.run();
    const chat = bench.deps.chat as ReturnType<typeof model>;
    expect(estimateTokens(chat.calls.at(-1)?.user ?? '')).toBeLessThan(1_000);
  });

  it.each<[string, Script]>([
    ['fenced', () => '```json\n{"summary": "Ana plans a trip"}\n```'],
    ['with thinking around it', () => '<think>{"summary": "no"}</think> Here: {"summary": "Ana plans a trip",}'],
  ])('is read when the answer comes %s', async (_name, script) => {
    const { bench, chat } = await afterPosting(small(20), model({ refresh_summary: script }));
    await bench.post(['next']);
    await bench.run();
    expect(chat.calls.at(-1)?.user).toContain('"summary":"Ana plans a trip"');
  });

  it('that brings nothing usable is repaired once, and both calls are counted', async () => {
    const script: Script = () => new CutOff('{"summary": "Ana pl');
    const { bench, chat } = await afterPosting(
      small(20),
      model({ refresh_summary: script, repair_output: () => ({ summary: 'Ana plans a trip' }) }),
    );
    expect(chat.calls.map((call) => call.name)).toEqual(['extract_facts', 'refresh_summary', 'repair_output']);
    expect(await usage(bench)).toMatchObject({ calls: 3, failedCalls: 0 });
  });

  it('that fails is counted, and leaves the summary as it was', async () => {
    const busy = new EngineError('busy', { code: 'model_overloaded', retryable: true });
    const bench = await summaryBench({ chat: model({ refresh_summary: () => busy }) });
    await bench.post(small(20));
    await expect(bench.run()).rejects.toBe(busy);
    expect(await usage(bench)).toMatchObject({ calls: 2, failedCalls: 1 });
    const [refresh] = bench.asked as [SummaryRefresh];
    const mended = { ...bench.deps, chat: model() };
    await refreshSummary(mended)(refresh, NEVER);
    expect(mended.chat.calls).toHaveLength(1);
  });

  it.each([['nonsense'], ['{"facts": []}'], ['{"summary": 7}']])(
    'that answers %s twice is tried again',
    async (text) => {
      const bench = await summaryBench({ chat: model({ refresh_summary: () => text, repair_output: () => text }) });
      await bench.post(small(20));
      await expect(bench.run()).rejects.toMatchObject({ code: 'model_output_unusable', retryable: true });
    },
  );
});

import { DEFAULT_TENANT, EngineError } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { searchBench } from '../testing/bench.ts';

type Bench = Awaited<ReturnType<typeof searchBench>>;

async function bench(given: Parameters<typeof searchBench>[0] = {}) {
  const made = await searchBench(given);
  const ask = async (body: object) => made.app.inject({ method: 'POST', url: '/v1/context', payload: body });
  const told = async (body: object) => {
    const answer = await ask({ user_id: 'ann', ...body });
    expect(answer.json()).not.toHaveProperty('code');
    return answer.json();
  };
  return { ...made, ask, told };
}

const consolidate = async ({ engine }: Pick<Bench, 'engine'>, ...texts: string[]): Promise<void> => {
  await engine.post(texts);
  await engine.run();
};

const away = async (): Promise<never> => {
  throw new EngineError('connect ECONNREFUSED 10.0.0.7', { code: 'index_unavailable', retryable: true });
};
const never = () => new Promise<never>(() => {});

describe('a context', () => {
  test('tells the memories that a query asks for, dated and cited, the latest last', async () => {
    const b = await bench();
    await consolidate(b, 'Ann lives in Berlin');
    b.engine.tools.set(b.engine.tools.now() + 86_400_000);
    await consolidate(b, 'Ann likes green tea');
    const { text, citations, memory_ids, tokens, sections, degraded } = await b.told({
      query: 'where does Ann live?',
      cut: 'none',
    });
    expect(text).toContain(
      '# Memories\n- [m1] 2026-03-01 Ann lives in Berlin\n- [m2] 2026-03-02 Ann likes green tea\n',
    );
    expect(citations).toMatchObject([
      { ref: 'm1', section: 'memories', memory_id: memory_ids[0], version: 1, said_at: '2026-03-01T09:00:00.000Z' },
      { ref: 'm2', section: 'memories', memory_id: memory_ids[1], version: 1 },
    ]);
    expect(tokens).toBeLessThanOrEqual(1_000);
    expect(sections.memories).toEqual({ shown: 2, left_out: 0 });
    expect(degraded).toBeUndefined();
  });

  test('keeps to a filter, in the profile as well', async () => {
    const b = await bench();
    const add = (memory: string, place: string) =>
      b.writer.add(DEFAULT_TENANT, {
        scope: { userId: 'ann', agentId: null, runId: null, appId: null },
        text: memory,
        metadata: { place },
        category: null,
        immutable: false,
        pinned: true,
        validFrom: null,
        expiresAt: null,
      });
    await add('Ann lives in Berlin', 'home');
    await add('Ann leads the Berlin office', 'work');
    const told = await b.told({ query: 'Berlin?', filters: { metadata: { place: 'work' } } });
    expect(told.text).toContain('office');
    expect(told.text).not.toContain('lives');
    const wrong = await b.ask({ user_id: 'ann', query: 'x', filters: { nope: 1 } });
    expect(wrong.json()).toMatchObject({ status: 400, errors: [{ path: 'filters.nope' }] });
  });

  test('is empty where nothing is known, and costs nothing', async () => {
    const { told } = await bench();
    const nothing = { tokens: 0, citations: [], memory_ids: [], pending: [], pending_trimmed: false };
    expect(await told({ query: 'anything?' })).toMatchObject({ ...nothing, text: '' });
    expect(await told({ query: 'anything?', format: 'openai' })).toMatchObject({ ...nothing, messages: [] });
    expect(await told({ query: 'x', format: 'anthropic' })).toMatchObject({ ...nothing, system: '', messages: [] });
  });

  test('has what was said and is not consolidated yet, and then no longer', async () => {
    const b = await bench();
    await b.engine.post(['Ann lives in Berlin'], { flush: false });
    const before = await b.told({ query: 'Berlin?' });
    expect(before.text).toContain('# Said recently\n- user, 2026-03-01 09:00: Ann lives in Berlin\n');
    expect(before.pending).toMatchObject([{ role: 'user', content: 'Ann lives in Berlin', cut: false }]);
    b.engine.tools.set(b.engine.tools.now() + 60_000);
    await b.engine.run();
    const after = await b.told({ query: 'Berlin?' });
    expect(after.pending).toEqual([]);
    expect(after.memory_ids).toHaveLength(1);
  });

  test('does not tell again what the caller has in its prompt', async () => {
    const b = await bench();
    await b.engine.post([{ content: 'Ann lives in Berlin' }, { content: 'and Bob too', clientId: 'c2' }], {
      flush: false,
    });
    const messages = [
      { role: 'user', content: 'Ann lives in Berlin' },
      { role: 'user', content: 'and Bob lives there too', id: 'c2' },
    ];
    expect((await b.told({ messages })).pending).toEqual([]);
    expect((await b.told({ messages: messages.slice(1) })).pending).toHaveLength(1);
  });

  test('is asked for by the last messages of the user where there is no query', async () => {
    const asked: string[] = [];
    const b = await bench({
      embedQuery: async ({ text }) => {
        asked.push(text);
        return new Float32Array(512);
      },
    });
    await b.told({
      messages: [
        { role: 'user', content: 'Which city does Ann live in?' },
        { role: 'assistant', content: 'Do you mean Berlin?' },
        { role: 'user', content: 'yes' },
      ],
    });
    expect(asked).toEqual(['Which city does Ann live in?\nyes']);
  });

  test('without a query tells the profile, each fact once', async () => {
    const b = await bench();
    await b.writer.add('default' as never, pinned('Always answer Ann in German'));
    await b.remember('Ann was in Rome');
    const alone = await b.told({});
    expect(alone.text).toContain(
      '# Profile\n- [m1] 2026-03-01 Always answer Ann in German\n# Today: 2026-03-01, UTC\n</memory>',
    );
    expect(Object.keys(alone.sections).sort()).toEqual(['pending', 'profile', 'summary']);
    const asked = await b.told({ query: 'Ann in Rome and German' });
    expect(asked.text.match(/German/g)).toHaveLength(1);
    expect(asked.citations.map(({ section }: { section: string }) => section)).toEqual(['profile', 'memories']);
  });

  test('of another moment tells what held then, and nothing of now', async () => {
    const b = await bench();
    await b.engine.post([{ content: 'Ann lives in Berlin', at: Date.parse('2026-01-01T00:00:00Z') }]);
    await b.engine.run();
    await b.engine.post([{ content: 'Ann lives in Paris', at: Date.parse('2026-02-01T00:00:00Z') }]);
    await b.engine.run();
    await b.engine.post(['Ann lives in Rome'], { flush: false });
    const { text, pending } = await b.told({ query: 'where does she live?', as_of: '2026-01-15T00:00:00Z' });
    expect(text).toContain('Berlin');
    expect(text).not.toMatch(/Paris|Rome/);
    expect(pending).toEqual([]);
  });

  test('tells only the sections that are named', async () => {
    const b = await bench();
    await consolidate(b, 'Ann lives in Berlin');
    await b.engine.post(['Ann likes tea'], { flush: false });
    const { text, sections } = await b.told({ query: 'Berlin', sections: ['pending'] });
    expect(text).not.toContain('Berlin');
    expect(sections).toEqual({ pending: { shown: 1, left_out: 0 } });
  });

  test('says nothing of another owner, and the other ids only filter', async () => {
    const b = await bench();
    await b.engine.post(['Ann lives in Berlin'], { scope: { agentId: 'guide', runId: 'r1' } });
    await b.engine.run();
    await b.engine.post(['Ann likes tea'], { scope: { agentId: 'guide', runId: 'r1' }, flush: false });
    for (const ids of [{ user_id: 'bob' }, { user_id: undefined, agent_id: 'guide' }, { run_id: 'r2' }]) {
      expect(await b.told({ query: 'Berlin', ...ids })).toMatchObject({ text: '', tokens: 0 });
    }
    expect((await b.told({ query: 'Berlin', run_id: 'r1' })).text).toMatch(/Berlin.*tea/s);
  });

  test('works in Chinese', async () => {
    const b = await bench();
    await consolidate(b, '小明住在上海');
    await b.engine.post(['我喜欢吃辣的'], { flush: false });
    const { text } = await b.told({ query: '他住在哪里?' });
    expect(text).toMatch(/\[m1\] 2026-03-01 小明住在上海\n.*: 我喜欢吃辣的\n/s);
  });
});

describe('the task of a run', () => {
  const DOCUMENT = { goal: 'Book a trip', steps: [{ id: 'pay', title: 'Pay', state: 'waiting_for_approval' }] };

  async function withTask(appId: string | null = null) {
    const b = await bench();
    const { ledger, tools } = b.engine.deps;
    const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, tools.now());
    await ledger.taskStates.write({
      ...{
        tenant: DEFAULT_TENANT,
        lane,
        runId: 'trip',
        appId,
        expected: 0,
        document: DOCUMENT,
        ends: false,
        key: null,
      },
      now: tools.now(),
    });
    return b;
  }

  test('is shown on request, of that run alone', async () => {
    const { told } = await withTask();
    const shown = await told({ run_id: 'trip', sections: ['task', 'pending'] });
    expect(shown.text).toContain('# Task of this run\n- goal: Book a trip\n- waiting for approval: Pay\n');
    expect(shown.sections.task).toEqual({ shown: 2, left_out: 0 });
    expect((await told({ run_id: 'trip' })).text).toBe('');
    expect((await told({ run_id: 'other', sections: ['task'] })).text).toBe('');
    expect((await told({ user_id: 'bob', run_id: 'trip', sections: ['task'] })).text).toBe('');
  });

  test('needs a run, and exists for the present alone', async () => {
    const { ask } = await withTask();
    expect((await ask({ user_id: 'ann', sections: ['task'] })).json()).toMatchObject({ errors: [{ path: 'run_id' }] });
    const then = { user_id: 'ann', run_id: 'trip', sections: ['task'], as_of: '2026-01-01T00:00:00Z' };
    expect((await ask(then)).json()).toMatchObject({ errors: [{ path: 'sections' }] });
  });
});

describe('for an API of chat completions', () => {
  const turns = ['Hello', 'I am Ann'];

  test('of OpenAI it is a system message and the pending turns', async () => {
    const b = await bench();
    await consolidate(b, 'Ann lives in Berlin');
    await b.engine.post([{ role: 'system', content: 'Be nice' }, ...turns, { role: 'assistant', content: 'Hi Ann' }], {
      flush: false,
    });
    const { messages, text, system } = await b.told({ query: 'Berlin', format: 'openai' });
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'user', 'assistant']);
    expect(messages[0].content).toContain('[m1] 2026-03-01 Ann lives in Berlin');
    expect(messages[0].content).not.toContain('I am Ann');
    expect(messages.slice(1).map(({ content }: { content: string }) => content)).toEqual([...turns, 'Hi Ann']);
    for (const message of messages) expect(Object.keys(message).sort()).toEqual(['content', 'role']);
    expect([text, system]).toEqual([undefined, undefined]);
  });

  test('of Anthropic it is a system text, and turns that alternate and begin with the user', async () => {
    const b = await bench();
    await b.engine.post([{ role: 'assistant', content: 'Welcome' }, ...turns, { role: 'tool', content: '17 °C' }], {
      flush: false,
    });
    const { messages, system, text } = await b.told({ query: 'Berlin', format: 'anthropic' });
    expect(system).toBe('');
    expect(messages).toEqual([
      { role: 'user', content: '(The conversation before this is not shown.)' },
      { role: 'assistant', content: 'Welcome' },
      { role: 'user', content: 'Hello\n\nI am Ann\n\n(Result of a tool: 17 °C)' },
    ]);
    expect(text).toBeUndefined();
  });
});

describe('a part that is missing', () => {
  test('because it failed is left out and named', async () => {
    const b = await bench();
    await b.engine.post(['Ann lives in Berlin'], { flush: false });
    const { ledger, index, ...deps } = b.engine.deps;
    const { app } = await bench({ ...deps, ledger, index: { ...index, search: away } });
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/context',
      payload: { user_id: 'ann', query: 'Berlin' },
    });
    expect(answer.json()).toMatchObject({
      degraded: ['memories omitted: could not be read (index_unavailable)'],
      pending: [{ content: 'Ann lives in Berlin' }],
    });
    expect(answer.body).not.toContain('10.0.0.7');
  });

  test('because it is late is left out and named', async () => {
    const { told } = await bench({ embedQuery: never });
    const { degraded } = await told({ query: 'Berlin', timeout_ms: 20 });
    expect(degraded).toEqual(['vector search omitted: not done within timeout_ms']);
  });

  test('because nothing of it came in time is left out and named', async () => {
    const b = await bench();
    await b.remember('Ann lives in Berlin');
    const { index, ledger } = b.engine.deps;
    const present = { ...ledger.present, conversation: never };
    const { told } = await bench({ index: { ...index, search: never }, ledger: { ...ledger, present } });
    expect((await told({ query: 'Berlin', timeout_ms: 20 })).degraded).toEqual([
      'memories omitted: not done within timeout_ms',
      'summary and pending omitted: not done within timeout_ms',
    ]);
  });

  test('because the search lacks a leg is told as the search tells it', async () => {
    const { told } = await bench({ embedQuery: away });
    expect((await told({ query: 'Berlin' })).degraded[0]).toContain('keyword search only');
  });

  test('together with all others is an outage', async () => {
    const { engine, remember } = await searchBench();
    await remember('Ann lives in Berlin');
    const { index, ledger } = engine.deps;
    const { ask } = await bench({ ledger, index: { ...index, search: away } });
    const answer = await ask({ user_id: 'ann', query: 'Berlin', sections: ['memories'] });
    expect(answer.json()).toMatchObject({ status: 503, code: 'unavailable' });
  });
});

const question = { user_id: 'ann', query: 'Berlin' };

test.each([
  ['no ids', { query: 'Berlin' }, 'user_id'],
  ['a blank query', { ...question, query: ' \n' }, 'query'],
  ['a number as query', { ...question, query: 5 }, 'query'],
  ['memories without a query', { user_id: 'ann', sections: ['memories'] }, 'query'],
  ['no messages in a list of them', { user_id: 'ann', messages: [] }, 'messages'],
  ['a message without a role', { user_id: 'ann', messages: [{ content: 'hi' }] }, 'messages[0].role'],
  ['too small a budget', { ...question, max_tokens: 10 }, 'max_tokens'],
  ['too large a budget', { ...question, max_tokens: 1_000_000 }, 'max_tokens'],
  ['a budget of half a token', { ...question, max_tokens: 100.5 }, 'max_tokens'],
  ['an unknown format', { ...question, format: 'xml' }, 'format'],
  ['no sections', { ...question, sections: [] }, 'sections'],
  ['an unknown section', { ...question, sections: ['history'] }, 'sections[0]'],
  [
    'pending messages of another moment',
    { ...question, sections: ['pending'], as_of: '2026-01-01T00:00:00Z' },
    'sections',
  ],
  ['no time', { ...question, timeout_ms: 0 }, 'timeout_ms'],
  ['a moment that is none', { ...question, as_of: 'then' }, 'as_of'],
  ['too many memories wanted', { ...question, top_k: 100_000 }, 'top_k'],
  ['a setting that is not honoured', { ...question, language: 'en' }, 'language'],
])('a context with %s is refused, naming the place', async (_name, body, path) => {
  const { ask } = await bench();
  expect((await ask(body)).json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path }] });
});

const pinned = (text: string) => ({
  scope: { userId: 'ann', agentId: null, runId: null, appId: null },
  text,
  metadata: {},
  category: null,
  immutable: false,
  pinned: true,
  validFrom: null,
  expiresAt: null,
});

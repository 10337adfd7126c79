import { readStandaloneConfig } from '@slowwave/adapters/config';
import { FULL_MANNERS, profileName } from '@slowwave/adapters/openai';
import type { JsonObject } from '@slowwave/engine';
import {
  answers,
  delta,
  type EmbeddingScript,
  echoExtractor,
  type ModelServer,
  type Reply,
  type Script,
  startModelServer,
} from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tryModels } from '../src/models/check.ts';
import { budgetOf, type Clock, MINUTE_MS, type Trial, type Trying } from '../src/models/trial.ts';

const works = answers({
  extract_facts: echoExtractor(),
  decide_operations: () => ({ operations: [] }),
  count: () => ({ numbers: [1, 2, 3] }),
  count_minutes: () => ({ minutes: 85 }),
});
const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let server: ModelServer;
let time: ReturnType<typeof handClock>;
beforeEach(async () => {
  time = handClock();
  server = await startModelServer({ script: works });
});
afterEach(() => server.close());

/** Time that passes only where a test says so. */
function handClock(): Clock & { pass(ms: number): void } {
  let now = 0;
  const alarms: { readonly at: number; readonly alarm: AbortController }[] = [];
  return {
    now: () => now,
    after: (ms) => {
      const alarm = new AbortController();
      alarms.push({ at: now + ms, alarm });
      return alarm.signal;
    },
    pass: (ms) => {
      now += ms;
      for (const { at, alarm } of alarms) if (at <= now) alarm.abort();
    },
  };
}

/** A model whose every answer takes so long. */
const slow =
  (msOf: (prompt: string) => number): Script =>
  (call) => {
    time.pass(msOf(JSON.stringify(call.request.messages)));
    return works(call);
  };

interface Given {
  readonly minutes?: number;
  readonly embeddings?: boolean;
  readonly known?: Trying['known'];
}

const settings = (more: Readonly<Record<string, string>> = {}) =>
  readStandaloneConfig({}, { OPENAI_BASE_URL: server.baseUrl, SLOWWAVE_CHAT_MODEL: 'm', ...more });
const NOTHING = { get: async () => null };

async function check({ minutes = 1, embeddings = false, known = NOTHING }: Given = {}) {
  const config = settings({ SLOWWAVE_EMBEDDING_MODEL: embeddings ? 'e' : 'builtin' });
  const cancel = new AbortController().signal;
  const budget = budgetOf(minutes * MINUTE_MS, { clock: time, cancel });
  const trying = { config, log: QUIET, cancel, budget, known };
  return tryModels(trying, { chat: true, embeddings, progress: () => {} });
}
const of = (trials: readonly Trial[], name: string) => trials.find(({ tried }) => tried === name);
const namesOf = (trials: readonly Trial[], verdict: string) =>
  trials.flatMap((trial) => (trial.verdict === verdict ? [trial.tried] : []));

describe('the time that is given', () => {
  test('is kept by a slow model, and what it was not enough for is said with what would be', async () => {
    server.setScript(slow(() => 35_000));
    const trials = await check();
    expect(of(trials, 'answer')).toMatchObject({ verdict: 'ok', came: 'answered in 35 s' });
    expect(of(trials, 'json_schema')).toMatchObject({
      verdict: 'limited',
      came: expect.stringMatching(/^no answer to/),
    });
    expect(server.calls.map(({ name }) => name)).toEqual(['are_you_there', 'count_minutes']);
    expect(namesOf(trials, 'not tried')).toEqual(['output limit', 'context window', 'extraction']);
    expect(of(trials, 'extraction')?.came).toMatch(/^the chat model answers in 35 s; run with --minutes \d+$/);
  });

  test('is enough for all of them where it is what was advised', async () => {
    server.setScript(slow(() => 12_000));
    const { came = '' } = of(await check(), 'context window') ?? {};
    time = handClock();
    const trials = await check({ minutes: Number(/--minutes (\d+)/.exec(came)?.[1]) });
    expect(namesOf(trials, 'not tried')).toEqual([]);
    expect(of(trials, 'extraction')).toMatchObject({ verdict: 'ok', came: expect.stringContaining('4 of 4 found') });
  });

  test('is enough for a fast model, which is asked seven questions', async () => {
    const trials = await check();
    expect(namesOf(trials, 'ok')).toHaveLength(6);
    expect(server.calls.map(({ name }) => name)).toEqual([
      ...['are_you_there', 'count_minutes', 'count', 'extract_facts', 'decide_operations'],
      ...['are_you_there', 'are_you_there'],
    ]);
  });

  test('is not spent on a model that had to be loaded for its first answer', async () => {
    let isLoaded = false;
    server.setScript(
      slow(() => {
        if (isLoaded) return 500;
        isLoaded = true;
        return 30_000;
      }),
    );
    expect(namesOf(await check(), 'not tried')).toEqual([]);
  });

  test('is not spent on longer prompts by a model that takes long to read one', async () => {
    server.setScript(slow((prompt) => prompt.length * 10));
    const trials = await check();
    expect(of(trials, 'extraction')).toMatchObject({
      verdict: 'limited',
      came: expect.stringMatching(/^no answer to about \d+ tokens within \d+ s$/),
      advice: expect.stringContaining('choose a faster one'),
    });
    expect(namesOf(trials, 'not tried')).toEqual(['context window']);
    expect(server.calls.map(({ name }) => name)).toEqual(['are_you_there', 'count_minutes', 'count', 'extract_facts']);
  });

  test('is spent on both models: what one answers at once is not left out because the other one is slow', async () => {
    server.setScript(slow(() => 20_000));
    const trials = await check({ embeddings: true });
    expect(of(trials, 'extraction')?.came).toContain('the chat model answers in 20 s');
    for (const quick of ['embeddings', '64 texts', 'a long text']) expect(of(trials, quick)?.verdict).toBe('ok');
  });

  test('is kept by a slow embedder, too', async () => {
    const aLook: EmbeddingScript = ({ texts }) => {
      time.pass(texts.length * 9_000);
      return null;
    };
    server.setEmbeddingScript(aLook);
    const trials = await check({ embeddings: true });
    expect(namesOf(trials, 'not tried')).toEqual(expect.arrayContaining(['64 texts', 'similarity', 'a long text']));
    expect(of(trials, 'a long text')?.came).toMatch(/^the embedding model answers in 9\.0 s; run with --minutes \d+$/);
    expect(of(trials, 'answer')?.verdict).toBe('ok');
  });
});

describe('how slow a model is', () => {
  /** Its first words come after a while, and the others after that. */
  const dripping = (json: object, [first, rest]: readonly [number, number]): Reply => ({
    events: (async function* () {
      time.pass(first);
      yield delta({ content: '{' });
      time.pass(rest);
      yield delta({ content: JSON.stringify(json).slice(1) }, 'stop');
      yield { ...delta({}), choices: [], usage: { completion_tokens: 40 } };
    })(),
  });

  test('is measured from its first words: one that only writes slowly reads long prompts in time', async () => {
    server.setScript((call) => {
      if (call.name === 'extract_facts') return works(call);
      return dripping(call.name === 'count_minutes' ? { minutes: 85 } : { there: true, numbers: [] }, [100, 9_000]);
    });
    const trials = await check();
    expect(of(trials, 'context window')).toMatchObject({ verdict: 'ok' });
    expect(namesOf(trials, 'not tried')).not.toContain('context window');
  });
});

describe('what the ledger knows already', () => {
  const stored = (more: JsonObject = {}): Trying['known'] => {
    const { chatServer, chatModel } = settings();
    const name = profileName('chat', { ...chatServer, model: chatModel ?? '' });
    const manners = { ...FULL_MANNERS, format: 'json_object', temperature: false };
    return { get: async (asked) => (asked === name ? { takes: { at: Date.now(), manners, ...more } } : null) };
  };
  /** Takes neither a schema nor a temperature. */
  const plain: Script = (call) => {
    const { response_format: format, temperature } = call.request as {
      response_format?: JsonObject;
      temperature?: number;
    };
    if (temperature !== undefined) return { status: 400, body: { error: { message: 'temperature is not supported' } } };
    if (format?.type !== 'json_schema') return works({ ...call, name: /^\w+/.exec(call.system)?.[0] ?? '' });
    return { status: 400, body: { error: { message: 'json_schema is not supported' } } };
  };
  const refused = () => server.calls.filter(({ status }) => status === 400).length;

  test('is not asked again, and shown with since when it is known', async () => {
    server.setScript(plain);
    const trials = await check({ known: stored() });
    expect(refused()).toBe(0);
    const since = expect.stringMatching(/is known since \d{4}-\d\d-\d\d/);
    expect(of(trials, 'answer')).toMatchObject({ came: since });
    expect(of(trials, 'json_schema')).toMatchObject({ came: since, advice: expect.stringContaining('json_object') });
  });

  test('is found out once where nothing is known, or that was long ago', async () => {
    server.setScript(plain);
    const trials = await check();
    expect(refused()).toBe(2);
    expect(of(trials, 'json_schema')?.came).toBe('refused');
    await check({ known: stored({ at: 0 }) });
    expect(refused()).toBe(4);
  });
});

describe('where a model thinks', () => {
  const MINUTES = JSON.stringify({ minutes: 85 });
  const thinking =
    (fields: object, completion_tokens: number): Script =>
    (call) => {
      if (call.name !== 'count_minutes') return works(call);
      const usage = { prompt_tokens: 50, completion_tokens };
      return { events: [delta(fields), { ...delta({}, 'stop'), usage }] };
    };

  test.each([
    [{ reasoning_content: 'Hm.', content: MINUTES }, 'in reasoning_content'],
    [{ reasoning: 'Hm.', content: MINUTES }, 'in reasoning'],
    [{ thinking: 'Hm.', content: MINUTES }, 'in thinking'],
    [{ content: `<think>Hm.</think>${MINUTES}` }, 'between <think> tags in the text of the answer'],
  ])('is named: %j', async (fields, place) => {
    server.setScript(thinking(fields, 700));
    const trials = await check();
    expect(of(trials, 'thinking')).toMatchObject({
      verdict: 'limited',
      came: expect.stringMatching(
        new RegExp(`^reasoned for about 69\\d tokens \\(.*\\) about a small question, ${place}$`),
      ),
    });
    expect(of(trials, 'json_schema')).toMatchObject({ verdict: 'ok' });
  });

  test('is named also where it thinks little', async () => {
    server.setScript(thinking({ reasoning: 'Hm.', content: MINUTES }, 20));
    expect(of(await check(), 'thinking')).toMatchObject({ verdict: 'ok', came: 'reasons briefly, in reasoning' });
  });
});

import { type ChatCall, EngineError } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { CutOff, fakeChat, fakeEmbedder } from './fake-models.ts';

const never = new AbortController().signal;

const call = (input: object, name = 'extract_facts'): ChatCall => ({
  name,
  system: 'Find facts.',
  user: `Known:\n{not json\nNew:\n${JSON.stringify(input, null, 2)}`,
  schema: {},
});

describe('a scripted chat model', () => {
  it('answers each call from the script of its name, and records it', async () => {
    const chat = fakeChat({ extract_facts: (input, nth) => ({ facts: [input.messages ?? null], nth }) });
    const first = await chat.ask(call({ messages: 'hi' }), never);
    const second = await chat.ask(call({}), never);
    expect([first.text, second.text]).toEqual(['{"facts":["hi"],"nth":1}', '{"facts":[null],"nth":2}']);
    expect(chat.calls.length).toBe(2);
  });

  it('may speak plain text, stop midway or fail', async () => {
    const failure = new EngineError('the server is down', { code: 'model_unreachable', retryable: true });
    const replies = ['not json', new CutOff('{"facts":['), failure];
    const chat = fakeChat({ extract_facts: (_, nth) => replies[nth - 1] ?? 'over' });
    expect(await chat.ask(call({}), never)).toMatchObject({ text: 'not json', truncated: false });
    expect(await chat.ask(call({}), never)).toMatchObject({ text: '{"facts":[', truncated: true });
    await expect(chat.ask(call({}), never)).rejects.toBe(failure);
  });

  it('refuses calls without a script, and cancelled ones', async () => {
    const chat = fakeChat({ extract_facts: () => 'over' });
    await expect(chat.ask(call({}, 'decide_operations'), never)).rejects.toThrow(/got decide_operations/);
    await expect(chat.ask(call({}), AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled', retryable: true });
  });
});

describe('the fake embedder', () => {
  it('puts texts that share words nearer than texts that do not', async () => {
    const texts = ['Lives in Berlin', 'lives in Rome', '喜欢绿茶'];
    const { vectors } = await fakeEmbedder(128).embed(texts, never);
    const [berlin, rome, tea] = vectors.map((vector) => [...(vector ?? [])]);
    expect(dot(berlin, rome)).toBeGreaterThan(dot(berlin, tea));
  });

  it('gives the same unit vectors each time, also for texts without words', async () => {
    const embedder = fakeEmbedder(64);
    const { vectors } = await embedder.embed(['Likes tea', '', '!?'], never);
    for (const vector of vectors) expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 5);
    expect((await embedder.embed(['Likes tea'], never)).vectors[0]).toEqual(vectors[0]);
    expect(embedder.calls).toEqual([['Likes tea', '', '!?'], ['Likes tea']]);
  });
});

const dot = (a: readonly number[] = [], b: readonly number[] = []): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

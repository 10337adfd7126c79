import { DEFAULT_TENANT, type Embedder, EngineError, type TenantId, type VectorCache } from '@slowwave/engine';
import { fixedTools } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { queryVectors } from './question.ts';

const NEVER = new AbortController().signal;

interface Options {
  readonly shared?: VectorCache | null;
  readonly keptMax?: number;
  readonly read?: (text: string) => string;
}

function bench({ shared = null, keptMax = 2, read = (text) => text }: Options = {}) {
  const asked: string[] = [];
  const counted: string[] = [];
  const signals: { readonly aborted: boolean }[] = [];
  let gate: Promise<void> = Promise.resolve();
  const embedder: Embedder = {
    fingerprint: 'lengths',
    dimensions: 1,
    embed: async ([text = ''], cancel) => {
      asked.push(text);
      signals.push(cancel);
      await gate;
      if (text === 'bad') throw new EngineError('no', { code: 'model_rejected', retryable: false });
      return { vectors: [Float32Array.of(text.length)], usage: { promptTokens: 0, completionTokens: 0 } };
    },
  };
  const embed = queryVectors({
    embedder,
    shared,
    tools: fixedTools(),
    count: (from) => counted.push(from),
    read,
    keptMax,
  });
  const vector = (text: string, { tenant = DEFAULT_TENANT, cancel = NEVER } = {}) => embed({ tenant, text }, cancel);
  const hold = () => {
    const held = Promise.withResolvers<void>();
    gate = held.promise;
    return held.resolve;
  };
  return { asked, counted, signals, vector, hold };
}

function memoryCache(failing = false): VectorCache & { readonly keys: string[] } {
  const vectors = new Map<string, Float32Array>();
  return {
    get keys() {
      return [...vectors.keys()];
    },
    get: async (key) => (failing ? null : (vectors.get(key) ?? null)),
    put: (key, vector) => void vectors.set(key, vector),
    close: async () => {},
  };
}

test('the same text at the same time is embedded once', async () => {
  const { asked, vector } = bench();
  await Promise.all([vector('a'), vector('a')]);
  expect(asked).toEqual(['a']);
});

test('queries of which the same is read are embedded once', async () => {
  const { asked, vector } = bench({ read: (text) => text.replace('my ', '') });
  await vector('my a');
  await vector('a');
  expect(asked).toEqual(['a']);
});

test('what was used longest ago is forgotten first', async () => {
  const { asked, vector } = bench();
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await vector(text);
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

test('a failure is not kept', async () => {
  const { asked, vector } = bench();
  await expect(vector('bad')).rejects.toThrow('no');
  await expect(vector('bad')).rejects.toThrow('no');
  expect(asked).toEqual(['bad', 'bad']);
});

test('a tenant cannot tell by the time it takes what another has asked', async () => {
  const { asked, vector } = bench();
  await vector('a');
  await vector('a', { tenant: 'other' as TenantId });
  expect(asked).toEqual(['a', 'a']);
});

test('what another process has embedded is taken, and what is new is left for it under a hash', async () => {
  const shared = memoryCache();
  const [one, other] = [bench({ shared }), bench({ shared })];
  await one.vector('where does she live');
  expect(await other.vector('where does she live')).toEqual(Float32Array.of(19));
  await other.vector('where does she live');
  expect(other.asked).toEqual([]);
  expect(one.counted).toEqual(['model']);
  expect(other.counted).toEqual(['shared', 'memory']);
  expect(shared.keys.join()).not.toContain('live');
});

test('a shared vector of another length is not believed', async () => {
  const shared: VectorCache = { ...memoryCache(), get: async () => Float32Array.of(1, 2) };
  const { asked, vector } = bench({ shared });
  expect(await vector('abc')).toEqual(Float32Array.of(3));
  expect(asked).toEqual(['abc']);
});

test('whoever leaves does not take the answer from others, and the last one ends the call', async () => {
  const { signals, vector, hold } = bench();
  const release = hold();
  const [first, second] = [new AbortController(), new AbortController()];
  const leaving = vector('a', { cancel: first.signal });
  const staying = vector('a', { cancel: second.signal });
  await Promise.resolve();
  first.abort();
  await expect(leaving).rejects.toMatchObject({ code: 'cancelled' });
  expect(signals[0]?.aborted).toBe(false);
  second.abort();
  await expect(staying).rejects.toMatchObject({ code: 'cancelled' });
  expect(signals[0]?.aborted).toBe(true);
  release();
});

import {
  createMemoryIndex,
  createMemoryLedger,
  echoExtract,
  engineBench,
  fakeChat,
  fakeEmbedder,
  fixedTools,
  keyedDecide,
  NEVER,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { embedTexts, textHash } from '../models/embed.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexPoint } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { writeBeside, writeIn } from './write-in.ts';

const AWAY = new EngineError('no connection', { code: 'model_unreachable', retryable: true });
const TEXT = 'The piano is in room 7';
const settled = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));

/** An embedder that answers when it is told to, each call by itself. */
function toldEmbedder() {
  const working = fakeEmbedder(64);
  const calls: { readonly texts: readonly string[]; readonly answer: (error?: Error) => void }[] = [];
  const embedder: Embedder = {
    ...working,
    embed: async (texts, cancel) => {
      const told = Promise.withResolvers<void>();
      calls.push({ texts, answer: (error) => (error === undefined ? told.resolve() : told.reject(error)) });
      await told.promise;
      return working.embed(texts, cancel);
    },
  };
  return { embedder, calls, texts: () => calls.flatMap(({ texts }) => texts) };
}

/** A message and the memory of the same text, in an index that is moved to another embedder. */
async function moved() {
  const old = createMemoryIndex();
  const points: IndexPoint[] = [];
  const upsert: typeof old.upsert = async (some) => {
    points.push(...some);
    await old.upsert(some);
  };
  const { deps, post, run } = await engineBench({
    stores: { ledger: createMemoryLedger({ tools: fixedTools() }), index: { ...old, upsert } },
    chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide((text) => text) }),
  });
  await post([TEXT], { settings: { mode: 'verbatim' } });
  await run();
  const of = (shelf: string): readonly IndexPoint[] => points.filter((point) => point.shelf === shelf);
  const index = createMemoryIndex();
  const told = toldEmbedder();
  const space = { index, embedder: told.embedder };
  const lane = of('memories')[0]?.lane;
  if (lane === undefined) throw new Error('nothing was remembered');
  const written = async () => {
    const { points } = await index.page(null, 10);
    const vectors = await index.vectors(points);
    return points.map(({ shelf }, i) => [shelf, vectors[i]?.some((value) => value !== 0) ?? false]).sort();
  };
  return { deps, space, lane, ...told, messages: of('messages'), memories: of('memories'), written };
}

const BOTH = [
  ['memories', true],
  ['messages', true],
];

describe('a text that two write to the new index at the same moment', () => {
  it.each([
    ['a projection', true],
    ['the filling', false],
  ])('is embedded once, %s being first', async (_, isProjectionFirst) => {
    const { deps, space, calls, texts, messages, memories, written } = await moved();
    const project = () => writeIn(deps, { space, points: messages, spoken: 'kept' }, NEVER);
    const fill = () => writeIn(deps, { space, points: memories, spoken: 'shared' }, NEVER);
    const both = isProjectionFirst ? [project(), fill()] : [fill(), project()];
    await expect.poll(texts).toEqual([TEXT]);
    calls[0]?.answer();
    await Promise.all(both);
    expect(texts()).toEqual([TEXT]);
    expect(await written()).toEqual(BOTH);
  });

  it('is embedded once as a message, too, of which nobody keeps the vector', async () => {
    const { deps, space, calls, texts, messages, written } = await moved();
    const twice = [1, 2].map(() => writeIn(deps, { space, points: messages, spoken: 'shared' }, NEVER));
    await expect.poll(texts).toEqual([TEXT]);
    calls[0]?.answer();
    await Promise.all(twice);
    expect(texts()).toEqual([TEXT]);
    expect(await written()).toEqual([['messages', true]]);
  });

  it('is asked for by the second where the first has failed', async () => {
    const { deps, space, calls, texts, messages, memories, written } = await moved();
    const failing = writeIn(deps, { space, points: messages, spoken: 'kept' }, NEVER);
    const filling = writeIn(deps, { space, points: memories, spoken: 'shared' }, NEVER);
    await expect.poll(texts).toEqual([TEXT]);
    calls[0]?.answer(AWAY);
    await expect(failing).rejects.toBe(AWAY);
    await expect.poll(texts).toEqual([TEXT, TEXT]);
    calls[1]?.answer();
    await filling;
    expect(await written()).toEqual([['memories', true]]);
  });

  it('keeps nobody who is in a hurry: it goes by its words, and is caught up with', async () => {
    const { deps, space, calls, lane, messages, memories, written } = await moved();
    const filling = writeIn(deps, { space, points: memories, spoken: 'shared' }, NEVER);
    await expect.poll(() => calls.length).toBe(1);
    const late = new EngineError('too late', { code: 'model_timeout', retryable: true });
    const hurried: Embedder = { ...space.embedder, inTime: () => Promise.reject(late) };
    const beside = { space: { ...space, embedder: hurried }, points: messages, spoken: 'kept' as const };
    expect(await writeBeside(deps, beside, NEVER)).toEqual([lane]);
    expect(await written()).toEqual([['messages', false]]);
    calls[0]?.answer();
    await filling;
    expect(calls).toHaveLength(1);
  });
});

describe('a text that two need at the same moment', () => {
  it('is embedded once, and kept where one of them keeps it', async () => {
    const { deps, space, lane, calls, texts } = await moved();
    const asking = { ...deps, embedder: space.embedder };
    const passing = embedTexts(asking, { lane, texts: [], passing: ['a', 'b'] }, NEVER);
    const lasting = embedTexts(asking, { lane, texts: ['b', 'c'] }, NEVER);
    await expect.poll(texts).toEqual(['a', 'b']);
    await settled();
    expect(texts()).toEqual(['a', 'b']);
    calls[0]?.answer();
    await expect.poll(texts).toEqual(['a', 'b', 'c']);
    calls[1]?.answer();
    expect((await lasting)('b')).toEqual((await passing)('b'));
    const kept = await deps.ledger.thoughts.vectors(lane, space.embedder.fingerprint, [textHash(deps.tools, 'b')]);
    expect([...kept.values()]).toEqual([(await lasting)('b')]);
  });

  it('is left to the others by who is cancelled, and those behind wait on', async () => {
    const { deps, space, lane, calls, texts } = await moved();
    const asking = { ...deps, embedder: space.embedder };
    const leaving = new AbortController();
    const need = (cancel: Cancellation) => embedTexts(asking, { lane, texts: ['a'] }, cancel);
    const [first, second, third] = [need(NEVER), need(leaving.signal), need(NEVER)];
    await expect.poll(texts).toEqual(['a']);
    leaving.abort();
    await expect(second).rejects.toMatchObject({ code: 'cancelled', countsAsTry: false });
    expect(texts()).toEqual(['a']);
    calls[0]?.answer();
    expect((await third)('a')).toEqual((await first)('a'));
    expect(texts()).toEqual(['a']);
  });

  it('is not waited for in a circle', async () => {
    const { deps, space, lane, calls, texts } = await moved();
    const asking = { ...deps, embedder: space.embedder };
    const [one, other] = [
      embedTexts(asking, { lane, texts: ['a', 'b'] }, NEVER),
      embedTexts(asking, { lane, texts: ['b', 'a'] }, NEVER),
    ];
    await expect.poll(texts).toEqual(['a', 'b']);
    calls[0]?.answer();
    await Promise.all([one, other]);
    expect(texts()).toEqual(['a', 'b']);
  });
});

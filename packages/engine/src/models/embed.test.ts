import { echoExtract, engineBench, fakeChat, fakeEmbedder, keyedDecide, NEVER } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import type { Embedder } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { ARE_YOU_THERE } from './away.ts';

const AWAY = new EngineError('no connection', { code: 'model_unreachable', retryable: true });
/** What the user says is remembered; the answers are embedded as messages alone. */
const MESSAGES = Array.from({ length: 20 }, (_, i) => [
  { role: 'user' as const, content: `thing ${i}: a` },
  { role: 'assistant' as const, content: `So thing ${i} is a, and you told me that on another day as well.` },
]).flat();

/** Embeds at most so many texts in one go; each call first asks whether it may. */
function smallEmbedder(most: number, mayEmbed: (call: number) => boolean) {
  const working = fakeEmbedder(512);
  const embedded = new Map<string, number>();
  let calls = 0;
  const embedder: Embedder = {
    ...working,
    embed: async (texts, cancel) => {
      if (texts[0] === ARE_YOU_THERE.user) return working.embed(texts, cancel);
      calls += 1;
      if (!mayEmbed(calls)) throw AWAY;
      const some = texts.slice(0, most);
      for (const text of some) embedded.set(text, (embedded.get(text) ?? 0) + 1);
      return working.embed(some, cancel);
    },
  };
  return { embedder, counts: () => [...new Set(embedded.values())] };
}

const chat = () =>
  fakeChat({ extract_facts: echoExtract, are_you_there: () => ({}), decide_operations: keyedDecide((text) => text) });

describe.each([
  ['verbatim', 'verbatim' as const],
  ['with facts of a model', 'decide' as const],
])('messages that are remembered %s', (_, mode) => {
  it('are embedded once each, whatever part of them an embedder takes in one go', async () => {
    const { embedder, counts } = smallEmbedder(3, () => true);
    const bench = await engineBench({ chat: chat(), embedder });
    await bench.post(MESSAGES, { settings: { mode } });
    await bench.run();
    expect((await bench.live()).length).toBeGreaterThanOrEqual(20);
    expect(counts(), 'how often each text was embedded').toEqual([1]);
  });

  it('are embedded once each, and park nothing, by an embedder that fails in between again and again', async () => {
    const { embedder, counts } = smallEmbedder(3, (call) => call % 3 !== 0);
    const bench = await engineBench({ chat: chat(), embedder });
    const id = await bench.post(MESSAGES, { settings: { mode } });
    await bench.run();
    const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
    expect(batch).toMatchObject({ state: 'consolidated', attempts: 0 });
    expect((await bench.live()).length).toBeGreaterThanOrEqual(20);
    expect(counts(), 'how often each text was embedded').toEqual([1]);
  });
});

it('a turn whose time is up while its texts are embedded goes on later where it was, and no try is counted', async () => {
  const reason = new EngineError('a turn was cancelled after 300 s', { code: 'model_timeout', retryable: true });
  let cancel: Cancellation & { aborted: boolean } = { ...NEVER };
  const { embedder, counts } = smallEmbedder(3, (call) => {
    if (call % 4 !== 0) return true;
    cancel.aborted = true;
    return false;
  });
  const bench = await engineBench({ chat: chat(), embedder });
  const id = await bench.post(MESSAGES, { settings: { mode: 'verbatim' } });
  for (let turn = 0; turn < 20; turn += 1) {
    const [nudge] = await bench.deps.ledger.lanes.withWork(null, 1);
    if (nudge === undefined) break;
    bench.tools.set(Math.max(bench.tools.now(), nudge.dueAt));
    cancel = { ...NEVER, aborted: false, reason };
    await takeTurn(bench.deps)(nudge, cancel);
  }
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  expect(batch).toMatchObject({ state: 'consolidated', attempts: 0 });
  expect(counts(), 'how often each text was embedded').toEqual([1]);
});

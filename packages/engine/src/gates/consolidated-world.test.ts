import {
  batchesOf,
  type EngineBench,
  expectTrue,
  type FakeChat,
  perfectChat,
  play,
  searched,
  world,
  worldBench,
} from '@slowwave/engine-testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_TENANT, type MemoryEvent } from '../words.ts';

const WORLD = world({ seed: 11, facts: 300, updates: 105 });
const BATCHES = batchesOf(WORLD);
const ALL = { limit: 10_000, cursor: null };

describe('a world of facts that change, consolidated with a model that never errs', () => {
  let chat: FakeChat;
  let bench: EngineBench;
  const events = async (): Promise<readonly MemoryEvent[]> => {
    const histories = (await bench.memories()).map(({ id }) =>
      bench.deps.ledger.memories.history(DEFAULT_TENANT, id, ALL),
    );
    return (await Promise.all(histories)).flatMap(({ results }) => results);
  };
  beforeAll(async () => {
    chat = perfectChat(WORLD);
    bench = await worldBench({ chat });
    await play(bench, BATCHES);
  });

  it('G1: what holds in the end is what should, each change an update', async () => {
    expect(await bench.live()).toEqual([...WORLD.gold].sort());
    const updates = (await events()).filter(({ kind }) => kind === 'UPDATE');
    expect(updates).toHaveLength(WORLD.updates);
  });

  it('G4: questions find what holds first, and never something outdated above it', async () => {
    const gold = new Set(WORLD.gold);
    const asked = WORLD.questions.slice(0, 100);
    const answers = await Promise.all(asked.map(({ text }) => searched(bench, text)));
    const right = asked.filter((question, i) => answers[i]?.[0] === question.gold);
    expect(right.length).toBeGreaterThanOrEqual(99);
    expect(answers.flat().filter((text) => !gold.has(text))).toEqual([]);
  });

  it('G8: each change tells the text that was there before', async () => {
    const byMemory = Map.groupBy(await events(), ({ memoryId }) => memoryId);
    for (const life of byMemory.values()) {
      for (const [i, event] of life.entries()) expect(event.previous).toBe(i === 0 ? null : life[i - 1]?.text);
    }
  });

  it('G8, G9, G14, G18: events replay to the memories, each with its sources; no fact is lost, no versions overlap', async () => {
    await expectTrue(bench.deps.ledger);
  });

  it('G9: the message behind a memory is the one that said it', async () => {
    for (const memory of await bench.memories()) {
      for (const { text, details } of memory.versions) {
        const sources = await bench.deps.ledger.memories.messages(DEFAULT_TENANT, details.sourceIds);
        expect([...sources.values()].map(({ content }) => content)).toContain(text);
      }
    }
  });

  it('G17: two model calls per consolidation at the most', async () => {
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, ALL);
    expect(results).toHaveLength(BATCHES.length);
    for (const { id } of results)
      expect((await bench.deps.ledger.thoughts.plan(id))?.usage.calls).toBeLessThanOrEqual(2);
    expect(chat.calls.length).toBeLessThanOrEqual(2 * BATCHES.length);
  });

  it('G18: what held at a time is found for that time, and nothing else of the same', async () => {
    const heldAt = new Map<string, string>();
    for (const { at, texts } of BATCHES) {
      for (const text of texts) heldAt.set(WORLD.keyOf(text), text);
      for (const text of new Set(texts.map((said) => heldAt.get(WORLD.keyOf(said)) ?? said))) {
        const found = await searched(bench, text, at);
        expect(found.filter((other) => WORLD.keyOf(other) === WORLD.keyOf(text))).toEqual([text]);
      }
    }
  });

  it('G18: a memory carries the time at which it was said', async () => {
    const saidAt = new Map(BATCHES.flatMap(({ at, texts }) => texts.map((text) => [text, at] as const)));
    for (const { text, validFrom } of (await bench.memories()).flatMap(({ versions }) => versions)) {
      expect(validFrom).toBe(saidAt.get(text));
    }
  });
});

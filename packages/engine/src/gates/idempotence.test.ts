import {
  batchesOf,
  doomed,
  type EngineBench,
  echoExtract,
  engineBench,
  expectTrue,
  type FakeChat,
  type Fate,
  fakeChat,
  keyedDecide,
  NEVER,
  newBatch,
  newMessage,
  perfectChat,
  stateHash,
  world,
  worldBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { sweepOutbox } from '../projection/project.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';

const ALL = { limit: 10_000, cursor: null };

async function eventCount({ deps, memories }: EngineBench): Promise<number> {
  const histories = (await memories()).map(({ id }) => deps.ledger.memories.history(DEFAULT_TENANT, id, ALL));
  return (await Promise.all(histories)).reduce((sum, { results }) => sum + results.length, 0);
}

describe('G10: what is posted twice is consolidated once', () => {
  const WORLD = world({ seed: 3, facts: 60, updates: 20 });
  const open = async () => {
    const chat = perfectChat(WORLD);
    const bench = await worldBench({ chat });
    const { ledger, settings } = bench.deps;
    const postAll = async (key: (i: number) => string | null) => {
      for (const [i, { at, texts }] of batchesOf(WORLD).entries()) {
        const messages = texts.map((content, j) => newMessage(bench.tools, { content, at, clientId: `${i}.${j}` }));
        const named = key(i);
        const idempotency = named === null ? null : { key: named, bodyHash: texts.join() };
        await ledger.batches.append(newBatch(bench.tools, { messages, flush: true, idempotency }), settings.due);
        await bench.run();
      }
    };
    return { bench, chat, postAll };
  };
  const expectUnchanged = async (again: (i: number) => string | null) => {
    const { bench, chat, postAll } = await open();
    await postAll((i) => `batch ${i}`);
    const before = [stateHash(await bench.memories()), await eventCount(bench), chat.calls.length];
    await postAll(again);
    expect([stateHash(await bench.memories()), await eventCount(bench), chat.calls.length]).toEqual(before);
  };

  it('under the same keys', () => expectUnchanged((i) => `batch ${i}`));

  it('under other keys, with the same message ids', () => expectUnchanged((i) => `again ${i}`));

  it('without keys, with the same message ids', () => expectUnchanged(() => null));
});

describe('G10: a consolidation that breaks off is resumed, and pays for nothing twice', () => {
  const keyOf = (text: string): string => text.split(':')[0] ?? text;
  const open = async () => {
    const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });
    const bench = await engineBench({ chat });
    const at = bench.tools.now();
    await bench.post(['home: Oslo', 'pet: a cat', 'job: nurse'], { at });
    await bench.run();
    await bench.post(['home: Bergen', 'pet: a cat', 'car: none', 'home: Rome'], { at: at + 1 });
    return { chat, bench };
  };

  /** One turn under a fate, then as many good ones as it takes. */
  async function resumed(nth: number, fate: Fate) {
    const { chat, bench } = await open();
    const doom = doomed(bench.deps, nth, fate);
    const [due] = await bench.deps.ledger.lanes.withWork(null, 1);
    if (due === undefined) return expect.unreachable('nothing is due');
    bench.tools.set(due.dueAt);
    await takeTurn(doom.deps)(due, NEVER).catch(() => {}); // whoever is dead answers nobody
    await bench.run();
    await sweepOutbox(bench.deps, NEVER); // as every worker does from time to time
    await expectTrue(bench.deps.ledger);
    return { met: doom.met(), hash: stateHash(await bench.memories()), events: await eventCount(bench), chat };
  }

  const questions = (chat: FakeChat): string[] => chat.calls.map(({ name, user }) => `${name} ${user}`);

  it.each<Fate>(['dies before', 'dies after', 'fails'])('at whichever call of a port it %s', async (fate) => {
    const { chat, bench } = await open();
    await bench.run();
    const clean = { hash: stateHash(await bench.memories()), events: await eventCount(bench), asked: questions(chat) };
    const boundaries: string[] = [];
    for (let nth = 1; ; nth += 1) {
      const { met, hash, events, chat: model } = await resumed(nth, fate);
      expect({ met, hash, events }).toEqual({ met, hash: clean.hash, events: clean.events });
      expect([...new Set(questions(model))]).toEqual(clean.asked);
      const paidTwice = questions(model).length - clean.asked.length;
      // Only an answer that was under way, or not yet stored, is asked for again.
      const mayBeLost = met === 'chat.ask' || (met === 'thoughts.storeAnswer' && fate !== 'dies after');
      expect(paidTwice, `asked again after ${met}`).toBeLessThanOrEqual(mayBeLost ? 1 : 0);
      if (met === null) break;
      boundaries.push(met);
    }
    expect(boundaries).toEqual(
      expect.arrayContaining(['lanes.claim', 'chat.ask', 'thoughts.storeAnswer', 'index.search']),
    );
    expect(boundaries).toEqual(expect.arrayContaining(['memories.apply', 'index.upsert', 'outbox.clear']));
  });
});

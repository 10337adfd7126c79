import { describe, expect, it } from 'vitest';
import { added, home, newMessage, scope, updated } from './builders.ts';
import { type Bench, claimedBatch, OTHER_TENANT, store, TENANT, write } from './ledger-bench.ts';

export function describeSources(bench: () => Bench): void {
  describe('the sources of a memory', () => {
    it('are the messages it came from', async () => {
      const b = bench();
      const { ids, born } = await memoryFrom(b, [1]);
      const sources = await b.ledger.memories.sources(TENANT, born.memory.id, { before: 0, after: 0 });
      expect(sources.map(({ message, isSource }) => [message.id, isSource])).toEqual([[ids[1], true]]);
      expect(sources[0]?.message).toMatchObject({ content: 'text 1', role: 'user', saidAt: { seq: 2 } });
    });

    it('come with their neighbours when asked, each message once and in order', async () => {
      const b = bench();
      const { ids, born } = await memoryFrom(b, [1, 3]);
      const sources = await b.ledger.memories.sources(TENANT, born.memory.id, { before: 1, after: 2 });
      expect(sources.map(({ message, isSource }) => [message.id, isSource])).toEqual([
        [ids[0], false],
        [ids[1], true],
        [ids[2], false],
        [ids[3], true],
        [ids[4], false],
        [ids[5], false],
      ]);
    });

    it('are told with who said them, and each event is found by its id', async () => {
      const b = bench();
      const said = newMessage(b.tools, { content: 'I like tea', role: 'assistant', name: 'Kim' });
      const { batch, turn } = await claimedBatch(b, { messages: [said] });
      const born = added(b.tools, home(turn.lane), { sourceIds: [said.id] });
      await write(b, born);
      const { memories } = b.ledger;
      const speakers = await memories.speakers(TENANT, [said.id, 'msg_none']);
      expect([...speakers]).toEqual([[said.id, { role: 'assistant', name: 'Kim' }]]);
      expect((await memories.speakers(OTHER_TENANT, [said.id])).size).toBe(0);
      const [event] = born.events;
      expect(await memories.event(TENANT, event?.id ?? '')).toEqual(event);
      expect(await memories.event(OTHER_TENANT, event?.id ?? '')).toBeNull();
      expect(await memories.event(TENANT, batch.id)).toBeNull();
    });

    it('include those of former versions', async () => {
      const b = bench();
      const { ids, born } = await memoryFrom(b, [0]);
      await write(b, updated(b.tools, born.memory, { text: 'Lives in Rome', sourceIds: [ids[4] ?? ''] }));
      const sources = await b.ledger.memories.sources(TENANT, born.memory.id, { before: 0, after: 0 });
      expect(sources.map(({ message }) => message.id)).toEqual([ids[0], ids[4]]);
    });

    it('have no neighbours in other lanes', async () => {
      const b = bench();
      const { born } = await memoryFrom(b, [5]);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const sources = await b.ledger.memories.sources(TENANT, born.memory.id, { before: 0, after: 3 });
      expect(sources.length).toBe(1);
    });

    it('are none of another lane, though a memory names them', async () => {
      const b = bench();
      const { ids, born } = await memoryFrom(b, [0]);
      const bobs = newMessage(b.tools, { content: 'I am Bob' });
      await store(b, { scope: scope({ userId: 'bob' }), messages: [bobs] });
      await write(b, updated(b.tools, born.memory, { text: 'Lives in Rome', sourceIds: [ids[4] ?? '', bobs.id] }));
      const sources = await b.ledger.memories.sources(TENANT, born.memory.id, { before: 0, after: 0 });
      expect(sources.map(({ message }) => message.id)).toEqual([ids[0], ids[4]]);
    });

    it('are none for an explicit write or a memory that is not there', async () => {
      const b = bench();
      const { born } = await memoryFrom(b, []);
      const around = { before: 2, after: 2 };
      expect(await b.ledger.memories.sources(TENANT, born.memory.id, around)).toEqual([]);
      expect(await b.ledger.memories.sources(TENANT, 'mem_none', around)).toEqual([]);
    });

    it('can be read for many memories at once by message id', async () => {
      const b = bench();
      const { ids } = await memoryFrom(b, [0]);
      const found = await b.ledger.memories.messages(TENANT, [ids[2] ?? '', 'msg_none', ids[0] ?? '']);
      expect([...found.keys()].sort()).toEqual([ids[0], ids[2]].sort());
      expect(found.get(ids[2] ?? '')?.content).toBe('text 2');
      expect((await b.ledger.memories.messages(TENANT, [])).size).toBe(0);
    });
  });
}

/** Six messages of ann, and a memory that came from some of them. */
async function memoryFrom(b: Bench, sources: readonly number[]) {
  const messages = [0, 1, 2, 3, 4, 5].map((i) => newMessage(b.tools, { content: `text ${i}` }));
  const { turn } = await claimedBatch(b, { messages });
  const ids = messages.map((message) => message.id);
  const born = added(b.tools, home(turn.lane), { sourceIds: sources.map((i) => ids[i] ?? '') });
  await write(b, born);
  return { ids, born };
}

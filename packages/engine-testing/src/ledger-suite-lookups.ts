import { describe, expect, it } from 'vitest';
import { added, bitsOf, deleted, home, newMessage, scope, updated, user } from './builders.ts';
import { ANN, type Bench, claimedBatch, laneOf, OTHER_TENANT, store, TENANT, write } from './ledger-bench.ts';

const REACH = { before: 0, after: 0, appId: null };

/** What searches add to their results. */
export function describeLookups(bench: () => Bench): void {
  describe('looking up many at once', () => {
    it('brings the newest events of each memory, oldest first', async () => {
      const b = bench();
      await store(b);
      const { id: lane } = await laneOf(b);
      const [one, two] = [added(b.tools, home(lane)), added(b.tools, home(lane))];
      await write(b, one, two);
      const changed = updated(b.tools, one.memory, { text: 'Lives in Rome' });
      await write(b, changed);
      await write(b, deleted(b.tools, changed.memory));
      const ids = [one.memory.id, two.memory.id, 'mem_none'];
      const histories = await b.ledger.lookups.histories({ tenant: TENANT, owner: ANN, ids }, 2);
      const kinds = ids.map((id) => histories.get(id)?.map(({ kind }) => kind));
      expect(kinds).toEqual([['UPDATE', 'DELETE'], ['ADD'], undefined]);
    });

    it('brings messages with what was said around them, each stretch for itself', async () => {
      const b = bench();
      const ids = await sixMessages(b);
      const asked = { tenant: TENANT, owner: ANN, ids: [ids[0] ?? '', ids[4] ?? '', 'msg_none'] };
      const around = await b.ledger.lookups.around(asked, { ...REACH, before: 1, after: 2 });
      const found = [...around].map(([id, messages]) => [id, messages.map((message) => message.id)]);
      expect(Object.fromEntries(found)).toEqual({
        [ids[0] ?? '']: ids.slice(0, 3),
        [ids[4] ?? '']: ids.slice(3, 6),
      });
      expect(around.get(ids[0] ?? '')?.[0]).toMatchObject({ content: 'text 0', role: 'user', saidAt: { seq: 1 } });
    });

    it('can keep to what was said in one app', async () => {
      const b = bench();
      const [first = ''] = await sixMessages(b);
      await store(b, { scope: scope({ userId: 'ann', appId: 'web' }), messages: [newMessage(b.tools, {})] });
      const asked = { tenant: TENANT, owner: ANN, ids: [first] };
      const reach = { before: 0, after: 9 };
      expect((await b.ledger.lookups.around(asked, { ...reach, appId: null })).get(first)).toHaveLength(7);
      expect((await b.ledger.lookups.around(asked, { ...reach, appId: 'web' })).get(first)).toHaveLength(1);
    });

    it('says in which scope each message was said, of one tenant, and of no owner who is being erased', async () => {
      const b = bench();
      const [first = ''] = await sixMessages(b);
      const inWeb = scope({ userId: 'ann', runId: 'r1', appId: 'web' });
      const [second, bobs] = [newMessage(b.tools, {}), newMessage(b.tools, {}, bitsOf(b.tools, user('bob')))];
      await store(b, { scope: inWeb, messages: [second] });
      await store(b, { scope: scope({ userId: 'bob' }), messages: [bobs] });
      const ids = [first, second.id, bobs.id, 'msg_none'];
      const scopes = await b.ledger.lookups.scopes(TENANT, ids);
      expect(Object.fromEntries(scopes)).toEqual({
        [first]: scope({ userId: 'ann' }),
        [second.id]: inWeb,
        [bobs.id]: scope({ userId: 'bob' }),
      });
      expect((await b.ledger.lookups.scopes(OTHER_TENANT, ids)).size).toBe(0);
      await b.ledger.erasures.request(TENANT, ANN, { id: 'ers_1', ownerHash: 'hash', now: b.tools.now() });
      expect([...(await b.ledger.lookups.scopes(TENANT, ids)).keys()]).toEqual([bobs.id]);
    });

    it('brings nothing of another owner or tenant', async () => {
      const b = bench();
      const ids = await sixMessages(b);
      const { id: lane } = await laneOf(b);
      const born = added(b.tools, home(lane));
      await write(b, born);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const strangers = [
        { tenant: TENANT, owner: user('bob') },
        { tenant: TENANT, owner: user('nobody') },
        { tenant: OTHER_TENANT, owner: ANN },
      ];
      for (const stranger of strangers) {
        const { lookups } = b.ledger;
        expect((await lookups.around({ ...stranger, ids }, { ...REACH, before: 9 })).size).toBe(0);
        expect((await lookups.histories({ ...stranger, ids: [born.memory.id] }, 9)).size).toBe(0);
      }
    });
  });
}

async function sixMessages(b: Bench): Promise<string[]> {
  const messages = [0, 1, 2, 3, 4, 5].map((i) => newMessage(b.tools, { content: `text ${i}` }));
  await claimedBatch(b, { messages });
  return messages.map((message) => message.id);
}

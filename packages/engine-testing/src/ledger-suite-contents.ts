import { describe, expect, it } from 'vitest';
import { added, deleted, home, newMessage, scope } from './builders.ts';
import { ANN, apply, type Bench, claimedBatch, laneOf, nextTurn, store, TENANT, write } from './ledger-bench.ts';

/** What an export reads. */
export function describeContents(bench: () => Bench): void {
  describe('the contents of a lane', () => {
    it('are its messages in the order of arrival, page by page', async () => {
      const b = bench();
      const first = await store(b);
      const second = await store(b);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const { id } = await laneOf(b);
      const [one, ...rest] = await b.ledger.contents.messages(id, 0, 1);
      expect(rest).toEqual([]);
      expect(one?.batchId).toBe(first.batch.id);
      const more = await b.ledger.contents.messages(id, one?.saidAt.seq ?? 0, 10);
      expect(more.map(({ batchId }) => batchId)).toEqual([second.batch.id]);
    });

    it('are found the same whether they were claimed or not', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b, { messages: [newMessage(b.tools, { content: 'claimed' })] });
      await apply(b, turn);
      const batches = [
        [
          newMessage(b.tools, { content: 'in "quotes"\n\u0000 and \ud800', name: 'A\u0000nn', at: b.tools.now() - 5 }),
          newMessage(b.tools, { role: 'assistant', content: [{ type: 'text', text: 'in parts' }], trust: 'external' }),
        ],
        [newMessage(b.tools, { content: 'with an id', clientId: 'c1' })],
        [newMessage(b.tools, { content: 'long '.repeat(20_000) })],
        [newMessage(b.tools, { content: 'last' })],
      ];
      for (const messages of batches) await store(b, { messages });
      const found = await everythingSaid(b);
      expect(found.all.map(({ saidAt }) => saidAt.seq)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(found.all.slice(1).map(({ id, content, name }) => ({ id, content, name }))).toEqual(
        batches.flat().map(({ id, content, name }) => ({ id, content, name })),
      );
      expect([...found.around].map(([, near]) => near.length)).toEqual([2, 3, 3, 3, 3, 2]);
      while ((await laneOf(b)).pending > 0) await apply(b, await nextTurn(b));
      expect(await everythingSaid(b)).toEqual(found);
    });

    it('are its memories by id, the deleted ones too', async () => {
      const b = bench();
      await store(b);
      const { id: lane } = await laneOf(b);
      const changes = [added(b.tools, home(lane)), added(b.tools, home(lane)), added(b.tools, home(lane))];
      await write(b, ...changes);
      const [gone] = changes;
      if (gone !== undefined) await write(b, deleted(b.tools, gone.memory));
      const ids = changes.map(({ memory }) => memory.id).sort();
      const page = await b.ledger.contents.memories(lane, null, 2);
      expect(page.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      const rest = await b.ledger.contents.memories(lane, page.at(-1)?.id ?? null, 2);
      expect(rest.map(({ id }) => id)).toEqual(ids.slice(2));
    });

    it('are the summaries that were made', async () => {
      const b = bench();
      await store(b);
      const turn = await nextTurn(b);
      expect(await b.ledger.contents.summaries(turn.lane)).toEqual([]);
    });
  });
}

/** All messages of user ann, by each way to them. */
async function everythingSaid(b: Bench) {
  const { id: lane } = await laneOf(b);
  const { contents, memories, lookups } = b.ledger;
  const all = await contents.messages(lane, 0, 100);
  const pages = [];
  for (let after = 0; after < all.length; after += 2) pages.push(await contents.messages(lane, after, 2));
  expect(pages.flat()).toEqual(all);
  const ids = all.map(({ id }) => id);
  const byId = await memories.messages(TENANT, ids);
  expect(ids.map((id) => byId.get(id))).toEqual(all);
  const around = await lookups.around({ tenant: TENANT, owner: ANN, ids }, { before: 1, after: 1, appId: null });
  return {
    all,
    speakers: await memories.speakers(TENANT, ids),
    scopes: await lookups.scopes(TENANT, ids),
    around: new Map(ids.map((id) => [id, around.get(id) ?? []])),
  };
}

import { describe, expect, it } from 'vitest';
import { added, deleted, home, scope } from './builders.ts';
import { type Bench, laneOf, nextTurn, store, write } from './ledger-bench.ts';

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

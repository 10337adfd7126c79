import { type LaneId, ownerBitsOfLane, type Receipt } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { graphLane, relationsOf, say } from './graph-bench.ts';
import { statementsBy } from './graph-statements.ts';
import { type Bench, SECOND, TENANT } from './ledger-bench.ts';
import { create, notices, oneMemory } from './ledger-bench-webhooks.ts';
import { append } from './ledger-suite-receipts.ts';

const SINGLE = { single: true };

/** Relations that answers told. */
export function describeReceiptsOfRelations(bench: () => Bench): void {
  describe('a receipt of relations', () => {
    it('comes back as it was made, whatever ids they have', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const told: Receipt['told'] = [
        { kind: 'relation', id: b.tools.id('sta', ownerBitsOfLane(memory.lane)) },
        { kind: 'memory', id: memory.id, version: 300 },
        { kind: 'relation', id: 'Ana likes tea' },
      ];
      const { id } = await append(b, memory.lane, { told });
      expect((await (await b.reopened()).receipts.get(TENANT, id))?.told).toEqual(told);
    });

    it('loses its question once nothing says any more what it told, and not because that has ended', async () => {
      const b = bench();
      const { holds, ended, denied } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const [job, drink] = [holds('Ana works_at Acme'), holds('Ana likes tea')];
      await say(b, lane, [job, drink]);
      const receipts = [await telling(b, lane, job), await telling(b, lane, drink, job), await telling(b, lane, drink)];
      const questions = async () =>
        (await Promise.all(receipts.map(({ id }) => b.ledger.receipts.get(TENANT, id)))).map((one) => one?.question);
      b.tools.advance(SECOND);
      await say(b, lane, [ended('Ana works_at Acme')]);
      expect(await questions()).toEqual(['who?', 'who?', 'who?']);
      b.tools.advance(SECOND);
      await say(b, lane, [denied('Ana works_at Acme')]);
      expect(await questions()).toEqual([null, null, 'who?']);
      expect((await b.ledger.receipts.get(TENANT, (await telling(b, lane, drink, job)).id))?.question).toBeNull();
    });
  });

  describe('a webhook for what is retracted of a graph', () => {
    const retractions = async (b: Bench) =>
      (await notices(b)).filter(({ type }) => type === 'relation.retracted').map(({ data }) => data);

    it('is notified which answers told what has ended, or what nothing says any more', async () => {
      const b = bench();
      await create(b, { events: ['memory.retracted', 'relation.retracted'] });
      await create(b, { events: ['relation.retracted'], appId: 'shop' });
      const { holds, denied } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const [home, drink, sport] = [
        holds('Ana lives_in Rome', SINGLE),
        holds('Ana likes tea'),
        holds('Ana likes golf'),
      ];
      await say(b, lane, [home, drink, sport]);
      const first = await telling(b, lane, drink, home);
      const second = await telling(b, lane, home);
      b.tools.advance(SECOND);
      await say(b, lane, [holds('Ana lives_in Oslo', SINGLE)]);
      const ann = { user_id: 'ann', agent_id: null, run_id: null, app_id: null };
      const over = { relation_id: home.id, revision: 2, why: 'ended', receipt_ids: [second.id, first.id], more: false };
      expect(await retractions(b)).toEqual([{ ...over, ...ann }]);
      b.tools.advance(SECOND);
      await say(b, lane, [denied('Ana likes tea'), denied('Ana likes golf')]);
      const gone = { relation_id: drink.id, revision: 2, why: 'removed', receipt_ids: [first.id], more: false };
      expect((await retractions(b)).slice(1)).toEqual([{ ...gone, ...ann }]);
    });

    it('hears nothing where what was told is said by another statement, earlier or of the same under another name', async () => {
      const b = bench();
      await create(b, { events: ['relation.retracted'] });
      const { holds, same } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const early = holds('Ana likes tea');
      b.tools.advance(SECOND);
      const [late, other] = [holds('Ana likes tea'), holds('Ann likes tea')];
      await say(b, lane, [late, other]);
      await telling(b, lane, late, other);
      b.tools.advance(SECOND);
      await say(b, lane, [early]);
      b.tools.advance(SECOND);
      await say(b, lane, [same('Ann', 'Ana')]);
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea']);
      expect(await retractions(b)).toEqual([]);
    });
  });
}

/** A receipt of an answer that told these relations. */
const telling = (b: Bench, lane: LaneId, ...relations: readonly { readonly id: string }[]) =>
  append(b, lane, { question: 'who?', told: relations.map(({ id }) => ({ kind: 'relation', id })) });

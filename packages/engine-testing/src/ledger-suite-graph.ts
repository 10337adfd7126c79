import { normaliseText } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { user } from './builders.ts';
import { graphLane, relationsOf, say, sayOf } from './graph-bench.ts';
import { newEntity, statementsBy } from './graph-statements.ts';
import { ANN, type Bench, expectThere, OTHER_TENANT, SECOND, TENANT } from './ledger-bench.ts';

const ALL = { limit: 100, cursor: null };

/** Statements, and the relations, names and merges that follow from them. */
export function describeGraph(bench: () => Bench): void {
  describe('a graph', () => {
    it('has the relations that follow from what was said, with when they held', async () => {
      const b = bench();
      const { holds, ended } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const given = { messageIds: ['msg_1'], memoryIds: ['mem_1'], quote: 'I work at Acme' };
      const first = holds('Ana works_at Acme', given);
      await say(b, lane, [first]);
      const { results } = await b.ledger.graph.listRelations(TENANT, ANN, { at: null }, ALL);
      const now = b.tools.now();
      expect(results).toEqual([
        {
          ...{ id: first.id, tenant: TENANT, lane, owner: ANN },
          ...{ source: 'Ana', relationship: 'works_at', destination: 'Acme' },
          ...{ sourceName: 'Ana', destinationName: 'Acme' },
          ...{ validFrom: now, invalidAt: null, endedBy: null, saidAt: first.saidAt, confirmations: 0, ...given },
          ...{ revision: 1, counts: true, recordedAt: now, updatedAt: now },
        },
      ]);
      b.tools.advance(SECOND);
      const end = ended('Ana works_at Acme', { messageIds: ['msg_2'] });
      await say(b, lane, [end]);
      const later = expectThere(await b.ledger.graph.relation(TENANT, first.id));
      const over = { invalidAt: b.tools.now(), endedBy: end.id, messageIds: ['msg_1', 'msg_2'], revision: 2 };
      expect(later).toMatchObject({ ...over, recordedAt: now, updatedAt: b.tools.now() });
      const again = await b.reopened();
      expect(await again.graph.relation(TENANT, first.id)).toEqual(later);
    });

    it('counts what is said again, ends what has one value only, and forgets what is denied', async () => {
      const b = bench();
      const { holds, denied } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const single = { single: true };
      await say(b, lane, [holds('Ana lives_in Rome', single), holds('Ana likes tea'), holds('Ana likes jazz')]);
      b.tools.advance(SECOND);
      await say(b, lane, [holds('Ana likes tea'), holds('Ana lives_in Oslo', single), denied('Ana likes jazz')]);
      expect(await relationsOf(b, lane)).toEqual(['Ana lives_in Rome (over)', 'Ana likes tea', 'Ana lives_in Oslo']);
      const [tea] = await b.ledger.graph.around(lane, { entities: ['tea'], at: null, limit: 5 });
      expect(tea).toMatchObject({ confirmations: 1, revision: 2 });
    });

    it('is the same in whatever order things are recorded', async () => {
      const b = bench();
      const { holds, ended } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const early = holds('Ana works_at Acme');
      b.tools.advance(SECOND);
      const late = ended('Ana works_at Acme');
      await say(b, lane, [late]);
      expect(await relationsOf(b, lane)).toEqual([]);
      await say(b, lane, [early]);
      expect(await relationsOf(b, lane)).toEqual(['Ana works_at Acme (over)']);
    });

    it('keeps every text as it was said', async () => {
      const b = bench();
      const { holds, named } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const odd = `O'Brien "said" \\ %_ 😀 我`;
      const quote = `zero \0, half \ud800, ${odd}`;
      const entities = [newEntity('ent_1', { name: odd }), newEntity('tea')];
      const statements = [
        holds('ent_1 likes tea', { quote }),
        named('ent_1', `${odd}!`),
        named('ent_1', `also ${odd}`),
      ];
      await sayOf(b, lane, { entities, statements });
      const again = await b.reopened();
      const [kept] = await again.graph.around(lane, { entities: ['tea'], at: null, limit: 5 });
      expect(kept).toMatchObject({ quote, sourceName: odd });
      const [entity] = await again.graph.named(lane, [normaliseText(odd)]);
      expect(entity).toMatchObject({ name: odd, aliases: [`also ${odd}`] });
      const said = await again.graph.statements(lane, { entities: ['ent_1'] });
      expect(said.map(({ statement }) => statement)).toEqual(statements);
    });

    it('takes what was written before under the same id once', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const one = holds('Ana likes tea');
      await say(b, lane, [one]);
      await sayOf(b, lane, { entities: [newEntity('Ana', { name: 'Somebody else' })], statements: [one] });
      const [kept] = await b.ledger.graph.around(lane, { entities: ['Ana'], at: null, limit: 5 });
      expect(kept).toMatchObject({ confirmations: 0, revision: 1, sourceName: 'Ana' });
    });

    it('has one entity of the owner, whoever else makes one', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const made = (id: string) => [newEntity(id, { name: 'I', self: true }), newEntity(`tea of ${id}`)];
      for (const id of ['me', 'myself']) {
        const statements = [holds('? likes ?', { source: id, destination: `tea of ${id}` })];
        await sayOf(b, lane, { entities: made(id), statements });
      }
      expect(await b.ledger.graph.self(lane)).toMatchObject({ id: 'me', self: true, counts: true });
      expect(await b.ledger.graph.entities(TENANT, ['myself'])).toEqual([]);
      expect(await b.ledger.graph.around(lane, { entities: ['me'], at: null, limit: 5 })).toHaveLength(2);
    });

    it('refuses statements about entities of another lane, all or nothing', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const [lane, bobs] = [await graphLane(b), await graphLane(b, user('bob'))];
      await say(b, bobs, [holds('Bob likes tea')]);
      const [own, stray] = [holds('Ana likes Ana'), holds('Ana knows Bob')];
      const writing = sayOf(b, lane, { entities: [newEntity('Ana')], statements: [own, stray] });
      await expect(writing).rejects.toThrow();
      expect(await b.ledger.graph.entities(TENANT, ['Ana'])).toEqual([]);
    });

    it('belongs to one tenant and one owner', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const bobs = await graphLane(b, user('bob'));
      const one = holds('Ana likes tea');
      await say(b, lane, [one]);
      const { graph } = b.ledger;
      const change = { entities: [newEntity('x')], statements: [], now: b.tools.now() };
      expect(await graph.write(OTHER_TENANT, lane, change)).toEqual({ kind: 'conflict' });
      expect(await graph.relation(OTHER_TENANT, one.id)).toBeNull();
      expect(await graph.relations(OTHER_TENANT, [one.id])).toEqual([]);
      const known = expectThere(await graph.relation(TENANT, one.id));
      expect(await graph.relations(TENANT, [one.id, 'sta_none', one.id])).toEqual([known]);
      expect(await graph.entities(OTHER_TENANT, ['Ana'])).toEqual([]);
      expect((await graph.listRelations(OTHER_TENANT, ANN, { at: 'ever' }, ALL)).results).toEqual([]);
      expect((await graph.listEntities(OTHER_TENANT, ANN, {}, ALL)).results).toEqual([]);
      expect(await graph.around(bobs, { entities: ['Ana'], at: 'ever', limit: 5 })).toEqual([]);
      expect(await graph.named(bobs, ['ana'])).toEqual([]);
      expect(await graph.statements(bobs, { entities: ['Ana'] })).toEqual([]);
      expect(await graph.unprojectedOf(bobs, 10)).toEqual([]);
      expect((await graph.listEntities(TENANT, user('bob'), {}, ALL)).results).toEqual([]);
    });
  });
}

import type { Entity } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { graphLane, graphPlan, heldStudy, relationsOf, say, sayOf, studied, toStudy } from './graph-bench.ts';
import { newEntity, statementsBy } from './graph-statements.ts';
import { ANN, type Bench, expectThere, SECOND, TENANT } from './ledger-bench.ts';

const ALL = { limit: 100, cursor: null };

/** What entities are called, which are one, and how they are found. */
export function describeGraphNames(bench: () => Bench): void {
  describe('an entity', () => {
    it('is found by its name and whatever it was called, however it is written', async () => {
      const b = bench();
      const { named, holds } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const entities = [newEntity('ent_1', { name: 'Dr. Anna Smith' }), newEntity('tea')];
      const likes = holds('ent_1 likes tea');
      const names = ['Anna', 'ANNA', 'Dr. Anna Smith', 'Annie'].map((name) => named('ent_1', name));
      await sayOf(b, lane, { entities, statements: [likes, ...names] });
      const { graph } = b.ledger;
      const found = async (...keys: string[]) => (await graph.named(lane, keys)).map(({ id }) => id);
      expect(await found('dr. anna smith')).toEqual(['ent_1']);
      expect(await found('annie', 'anna', 'tea')).toEqual(['ent_1', 'tea']);
      expect(await found('smith')).toEqual([]);
      const [entity] = await graph.entities(TENANT, ['ent_1']);
      const { name, kind, aliases, mergedInto, counts, revision } = expectThere(entity);
      const shown = { name, kind, aliases, mergedInto, counts, revision };
      const wanted = { name: 'Dr. Anna Smith', kind: 'person', aliases: ['Anna', 'Annie'], mergedInto: null };
      expect(shown).toEqual({ ...wanted, counts: true, revision: 1 });
    });

    it('that nothing was said of is shown to nobody', async () => {
      const b = bench();
      const lane = await graphLane(b);
      await sayOf(b, lane, { entities: [newEntity('Ana')], statements: [] });
      expect(await b.ledger.graph.named(lane, ['ana'])).toEqual([]);
      expect((await b.ledger.graph.listEntities(TENANT, ANN, {}, ALL)).results).toEqual([]);
      expect(await b.ledger.graph.entities(TENANT, ['Ana'])).toMatchObject([{ counts: false }]);
    });

    it('is listed by name, page by page, and looked for in its names', async () => {
      const b = bench();
      const { named } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const entities = ['cleo', 'Ana', 'bob'].map((name) => newEntity(`ent_${name}`, { name }));
      const all = entities.map(({ id, name }) => named(id, name));
      await sayOf(b, lane, { entities, statements: [...all, named('ent_bob', 'Robert')] });
      const { graph } = b.ledger;
      const first = await graph.listEntities(TENANT, ANN, {}, { limit: 2, cursor: null });
      expect(first.results.map(({ name }) => name)).toEqual(['Ana', 'bob']);
      const rest = await graph.listEntities(TENANT, ANN, {}, { limit: 2, cursor: first.nextCursor });
      expect(rest).toMatchObject({ results: [{ name: 'cleo' }], nextCursor: null });
      const like = async (text: string) =>
        (await graph.listEntities(TENANT, ANN, { like: text }, ALL)).results.map(({ name }) => name);
      expect(await like('ober')).toEqual(['bob']);
      expect(await like('%')).toEqual([]);
      await expect(graph.listEntities(TENANT, ANN, {}, { limit: 2, cursor: 'x' })).rejects.toThrow('cursor');
    });
  });

  describe('entities that are one', () => {
    it('have their relations and names together, and apart again when they are split', async () => {
      const b = bench();
      const { holds, same, apart, named } = statementsBy(b.tools);
      const lane = await graphLane(b);
      await say(b, lane, [holds('Ana likes tea'), holds('Annie likes tea'), holds('Bob knows Annie')]);
      await say(b, lane, [named('Annie', 'Nan'), same('Annie', 'Ana')]);
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea', 'Bob knows Ana']);
      expect(await entity(b, 'Ana')).toMatchObject({ aliases: ['Nan', 'Annie'], revision: 2 });
      expect(await entity(b, 'Annie')).toMatchObject({ mergedInto: 'Ana', revision: 2 });
      expect((await b.ledger.graph.named(lane, ['nan'])).map(({ id }) => id)).toEqual(['Ana']);
      const [likes] = await b.ledger.graph.around(lane, { entities: ['tea'], at: null, limit: 5 });
      expect(likes).toMatchObject({ source: 'Ana', confirmations: 1 });
      await say(b, lane, [apart('Annie')]);
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea', 'Annie likes tea', 'Bob knows Annie']);
      expect(await entity(b, 'Ana')).toMatchObject({ aliases: [], revision: 3 });
      expect((await b.ledger.graph.named(lane, ['nan', 'annie'])).map(({ id }) => id)).toEqual(['Annie']);
    });

    it('stand for the end of their chain, and never for themselves in a ring', async () => {
      const b = bench();
      const { holds, same } = statementsBy(b.tools);
      const lane = await graphLane(b);
      await say(b, lane, [holds('A likes tea'), holds('B likes jazz'), holds('C likes rain')]);
      await say(b, lane, [same('A', 'B')]);
      await say(b, lane, [same('B', 'C')]);
      await say(b, lane, [same('C', 'A')]);
      expect(await relationsOf(b, lane)).toEqual(['C likes tea', 'C likes jazz', 'C likes rain']);
      expect(await entity(b, 'A')).toMatchObject({ mergedInto: 'C' });
      expect(await entity(b, 'C')).toMatchObject({ mergedInto: null, aliases: ['A', 'B'] });
    });

    it('of the owner stays, whatever else is said to be the same, and the ledger agrees when it looks at itself', async () => {
      const b = bench();
      const { holds, same } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const entities = [newEntity('me', { name: 'I', self: true }), newEntity('A'), newEntity('B'), newEntity('tea')];
      await sayOf(b, lane, { entities, statements: [holds('A likes tea'), same('A', 'me'), same('A', 'B')] });
      expect(await entity(b, 'me')).toMatchObject({ mergedInto: null, aliases: ['A', 'B'] });
      expect(await entity(b, 'B')).toMatchObject({ mergedInto: 'me' });
      expect((await b.ledger.audit.contradictions('relation that does not follow')).examples).toEqual([]);
    });

    it('are related to others, not to themselves', async () => {
      const b = bench();
      const { holds, same } = statementsBy(b.tools);
      const lane = await graphLane(b);
      await say(b, lane, [holds('Ana knows Annie')]);
      await say(b, lane, [same('Annie', 'Ana')]);
      expect(await relationsOf(b, lane)).toEqual([]);
    });

    it('have one value together where only one is possible', async () => {
      const b = bench();
      const { holds, same, apart } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const single = { single: true };
      const rome = holds('Ana lives_in Rome', single);
      b.tools.advance(SECOND);
      await say(b, lane, [rome, holds('Annie lives_in Oslo', single)]);
      await say(b, lane, [same('Annie', 'Ana')]);
      expect(await relationsOf(b, lane)).toEqual(['Ana lives_in Rome (over)', 'Ana lives_in Oslo']);
      await say(b, lane, [apart('Annie')]);
      expect(await relationsOf(b, lane)).toEqual(['Ana lives_in Rome', 'Annie lives_in Oslo']);
    });

    it('bring what was said of either', async () => {
      const b = bench();
      const { holds, same, apart } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const said = [holds('Ana likes tea'), holds('Bob knows Annie'), same('Annie', 'Ana')];
      await say(b, lane, said);
      const ids = async (id: string) =>
        (await b.ledger.graph.statements(lane, { entities: [id] })).map(({ statement }) => statement.id);
      expect(await ids('Ana')).toEqual(said.map(({ id }) => id));
      const split = apart('Annie');
      await say(b, lane, [split]);
      expect(await ids('Ana')).toEqual([said[0]?.id, said[2]?.id]);
    });
  });

  describe('what may be one', () => {
    it('waits for a person until it is one or is said to stand apart', async () => {
      const b = bench();
      const { holds, same, apart } = statementsBy(b.tools);
      const turn = await toStudy(b);
      const study = await heldStudy(b, turn.lane);
      const statements = [holds('Ana likes tea'), holds('Anna likes jazz'), holds('Cleo likes tea')];
      const proposals = [
        { source: 'Ana', destination: 'Anna', likeness: 0.8 },
        { source: 'Cleo', destination: 'Anna', likeness: 0.7 },
      ];
      const plan = graphPlan(study.consolidationId, statements, { proposals });
      await b.ledger.graph.apply(study, plan, b.tools.now());
      const open = async () =>
        (await b.ledger.graph.proposals(TENANT, ANN)).map(
          ({ source, destination, likeness }) => `${source.name} ${destination.name} ${likeness}`,
        );
      expect(await open()).toEqual(['Ana Anna 0.8', 'Cleo Anna 0.7']);
      b.tools.advance(SECOND);
      await say(b, turn.lane, [apart('Cleo')]);
      expect(await open()).toEqual(['Ana Anna 0.8']);
      await say(b, turn.lane, [same('Ana', 'Anna')]);
      expect(await open()).toEqual([]);
    });
  });

  describe('the neighbourhood of entities', () => {
    it('is what holds now, held then, or ever did, the most confirmed and newest first', async () => {
      const b = bench();
      const { holds, ended } = statementsBy(b.tools);
      const begin = b.tools.now();
      const first = [holds('Ana likes tea'), holds('Ana likes jazz'), holds('Ana works_at Acme')];
      b.tools.advance(SECOND);
      const then = [holds('Ana likes tea'), ended('Ana works_at Acme'), holds('Bob knows Ana')];
      const { lane } = await studied(b, [...first, ...then]);
      const texts = async (at: number | null | 'ever', limit = 9) =>
        (await b.ledger.graph.around(lane, { entities: ['Ana', 'jazz'], at, limit })).map(
          (one) => `${one.source} ${one.relationship} ${one.destination}`,
        );
      expect(await texts(null)).toEqual(['Ana likes tea', 'Bob knows Ana', 'Ana likes jazz']);
      expect(await texts('ever')).toEqual(['Ana likes tea', 'Bob knows Ana', 'Ana works_at Acme', 'Ana likes jazz']);
      expect(await texts(begin)).toEqual(['Ana likes tea', 'Ana works_at Acme', 'Ana likes jazz']);
      expect(await texts(begin - 1)).toEqual([]);
      expect(await texts('ever', 2)).toEqual(['Ana likes tea', 'Bob knows Ana']);
    });

    it('is listed in the order of beginning, page by page, by relationship', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const texts = ['Ana likes tea', 'Ana likes jazz', 'Ana knows Bob'];
      const said = texts.map((text, i) => holds(text, { validFrom: 1_000 - i }));
      await say(b, lane, said);
      const { graph } = b.ledger;
      const ids = said.map(({ id }) => id);
      const first = await graph.listRelations(TENANT, ANN, { at: null }, { limit: 2, cursor: null });
      expect(first.results.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
      const rest = await graph.listRelations(TENANT, ANN, { at: null }, { limit: 2, cursor: first.nextCursor });
      expect(rest.results.map(({ id }) => id)).toEqual([ids[0]]);
      const likes = await graph.listRelations(TENANT, ANN, { at: 'ever', relationship: 'likes' }, ALL);
      expect(likes.results.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    });
  });
}

const entity = async (b: Bench, id: string): Promise<Entity> =>
  expectThere((await b.ledger.graph.entities(TENANT, [id]))[0]);

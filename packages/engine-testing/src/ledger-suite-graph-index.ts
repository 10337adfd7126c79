import type { GraphItem, ProjectedItem } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { claimStudy, graphLane, heldStudy, say, studied, toStudy } from './graph-bench.ts';
import { newEntity, statementsBy } from './graph-statements.ts';
import { ANN, type Bench, SECOND, TENANT } from './ledger-bench.ts';

/** What of a graph is to be projected, and what an erasure leaves of it. */
export function describeGraphIndex(bench: () => Bench): void {
  describe('what of a graph is to be projected', () => {
    it('is every change, the oldest first, until it was projected as it is', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const before = await b.ledger.overview.outbox();
      await say(b, lane, [holds('Ana likes tea')]);
      b.tools.advance(SECOND);
      await say(b, lane, [holds('Bob likes rain')]);
      const { graph } = b.ledger;
      const all = await graph.unprojected(100);
      expect(namesOf(all)).toEqual(['Ana', 'tea', 'Ana likes tea', 'Bob', 'rain', 'Bob likes rain'].sort());
      expect(await b.ledger.overview.outbox()).toBe(before + all.length);
      expect(namesOf(all.slice(0, 3))).toEqual(['Ana', 'Ana likes tea', 'tea']);
      expect(await graph.unprojectedOf(lane, 2)).toEqual(all.slice(0, 2));
      const at = b.tools.now();
      const failure = { code: 'internal', message: 'no', at };
      await b.ledger.outbox.setAside([{ lane, failures: 1, notBefore: at, failure }]);
      expect([await graph.unprojected(100), await graph.unprojectedOf(lane, 100)]).toEqual([[], all]);
      await b.ledger.outbox.takeUp([lane]);
      await say(b, lane, [holds('Bob likes rain')]);
      await graph.projected(all.map(projectedOf));
      const rest = await graph.unprojected(100);
      expect(rest).toMatchObject([{ kind: 'relation', relation: { sourceName: 'Bob', revision: 2 } }]);
      await graph.projected(rest.map(projectedOf));
      expect(await b.ledger.overview.outbox()).toBe(before);
      expect(await graph.unprojected(100)).toEqual([]);
    });

    it('is all that counts once it was lost, whatever is projected meanwhile', async () => {
      const b = bench();
      const { holds, denied, same } = statementsBy(b.tools);
      const lane = await graphLane(b);
      await say(b, lane, [holds('Ana likes tea'), holds('Bob likes rain'), holds('Annie likes tea')]);
      await say(b, lane, [denied('Bob likes rain'), same('Annie', 'Ana')]);
      const { graph } = b.ledger;
      const projected = (await graph.unprojected(100)).map(projectedOf);
      await graph.projected(projected);
      expect(await graph.refill()).toBe(5);
      await graph.projected(projected);
      const again = await graph.unprojected(100);
      expect(namesOf(again)).toEqual(['Ana', 'Ana likes tea', 'Bob', 'rain', 'tea']);
    });

    it('can be gone through in the order of ids', async () => {
      const b = bench();
      const { holds, same } = statementsBy(b.tools);
      const lane = await graphLane(b);
      const said = [holds('Ana likes tea'), holds('Bob likes rain'), holds('Annie likes snow')];
      await say(b, lane, [...said, same('Annie', 'Ana')]);
      const { graph } = b.ledger;
      const entities = await graph.every('entity', null, 100);
      expect(namesOf(entities)).toEqual(['Ana', 'Bob', 'rain', 'snow', 'tea']);
      const ids = said.map(({ id }) => id).sort();
      const first = await graph.every('relation', null, 2);
      expect(first.map((one) => projectedOf(one).id)).toEqual(ids.slice(0, 2));
      expect((await graph.every('relation', ids[1] ?? '', 2)).map((one) => projectedOf(one).id)).toEqual([ids[2]]);
    });
  });

  describe('an erasure of a graph', () => {
    it('takes all of it in slices, cuts it off at once, and leaves that of others', async () => {
      const b = bench();
      const { holds, same } = statementsBy(b.tools);
      const ann = await studied(b, [holds('Ana likes tea'), holds('Annie likes jazz'), same('Annie', 'Ana')]);
      const bob = await studied(b, [holds('Bob likes rain')], 'bob');
      const late = await toStudy(b);
      const study = await heldStudy(b, late.lane);
      const { graph, erasures } = b.ledger;
      const [relation] = await graph.around(ann.lane, { entities: ['tea'], at: null, limit: 1 });
      const { id } = await erasures.request(TENANT, ANN, { id: 'ers_1', ownerHash: 'h', now: b.tools.now() });
      const change = { entities: [newEntity('x')], statements: [], now: b.tools.now() };
      expect(await graph.write(TENANT, ann.lane, change)).toEqual({ kind: 'conflict' });
      const answer = { kind: 'fenced' };
      expect(await graph.fail(study, { failure: { code: 'x', message: 'x', at: 1 }, retryAt: null })).toEqual(answer);
      expect(await claimStudy(b, ann.lane)).toEqual({ kind: 'none' });
      expect(await graph.due(b.tools.now(), 10)).toEqual([]);
      expect(await graph.request(TENANT, ann.consolidationId, b.tools.now())).toBeNull();
      expect(namesOf(await graph.unprojected(100))).toEqual(['Bob', 'Bob likes rain', 'rain']);
      expect(await graph.relation(TENANT, relation?.id ?? '')).toBeNull();
      while ((await erasures.slice(id, 1)).more);
      const { counts } = (await erasures.get(TENANT, id)) ?? {};
      expect(counts).toMatchObject({ graph_relations: 2, graph_statements: 3, graph_entities: 4 });
      await erasures.forgetOwner(id);
      expect(await graph.entities(TENANT, ['Ana', 'tea'])).toEqual([]);
      expect(await graph.statements(ann.lane, { entities: ['Ana'] })).toEqual([]);
      expect(await graph.study(TENANT, ann.consolidationId)).toBeNull();
      expect(await graph.around(bob.lane, { entities: ['Bob'], at: null, limit: 5 })).toHaveLength(1);
      expect(await graph.counts()).toEqual({ pending: 0, parked: 0 });
    });
  });
}

function projectedOf(one: GraphItem): ProjectedItem {
  const { id, revision } = one.kind === 'entity' ? one.entity : one.relation;
  return { kind: one.kind, id, revision };
}

const namesOf = (items: readonly GraphItem[]): string[] =>
  items
    .map((one) => {
      if (one.kind === 'entity') return one.entity.name;
      const { sourceName, relationship, destinationName } = one.relation;
      return `${sourceName} ${relationship} ${destinationName}`;
    })
    .sort();

import { describe, expect, it } from 'vitest';
import { scope, settledCall, storedAnswer, user } from './builders.ts';
import { claimStudy, graphPlan, HOLD_MS, heldStudy, relationsOf, studied, toStudy } from './graph-bench.ts';
import { statementsBy } from './graph-statements.ts';
import { ANN, apply, type Bench, claimedBatch, failure, OTHER_TENANT, SECOND, TENANT } from './ledger-bench.ts';

/** Turns of studies. */
export function describeGraphStudies(bench: () => Bench): void {
  describe('a study', () => {
    it('waits from the apply that asks for it, and for no other', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      const { graph } = b.ledger;
      expect(await graph.study(TENANT, turn.consolidationId)).toBeNull();
      expect(await claimStudy(b, turn.lane)).toEqual({ kind: 'none' });
      const asking = await toStudy(b);
      expect(await graph.due(b.tools.now(), 10)).toEqual([asking.lane]);
      const fresh = { state: 'pending', attempts: 0, failure: null, plan: null, appliedAt: null };
      const { consolidationId } = asking;
      const view = { consolidationId, ...fresh, requestedAt: b.tools.now() };
      expect(await graph.study(TENANT, consolidationId)).toEqual(view);
      expect(await graph.study(OTHER_TENANT, consolidationId)).toBeNull();
      expect(await graph.counts()).toEqual({ pending: 1, parked: 0 });
    });

    it('is claimed by one at a time, in the order of applying', async () => {
      const b = bench();
      const first = await toStudy(b);
      const second = await toStudy(b);
      const study = await heldStudy(b, first.lane);
      const { tenant, lane, consolidationId } = first;
      const wanted = { tenant, lane, owner: ANN, scope: scope(), consolidationId, epoch: 1, attempts: 0 };
      expect(study).toEqual(wanted);
      expect(await claimStudy(b, lane)).toEqual({ kind: 'later', at: b.tools.now() + HOLD_MS });
      expect(await b.ledger.graph.due(b.tools.now(), 10)).toEqual([]);
      await b.ledger.graph.apply(study, graphPlan(consolidationId, []), b.tools.now());
      expect((await heldStudy(b, lane)).consolidationId).toBe(second.consolidationId);
    });

    it('is applied once, with its plan, and makes way for nobody who claimed before', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const turn = await toStudy(b);
      const late = await heldStudy(b, turn.lane);
      b.tools.advance(HOLD_MS);
      const study = await heldStudy(b, turn.lane);
      expect(study.epoch).toBe(2);
      const plan = graphPlan(study.consolidationId, [holds('Ana likes tea')]);
      const { graph } = b.ledger;
      const now = b.tools.now();
      expect(await graph.apply(late, plan, now)).toEqual({ kind: 'fenced' });
      expect(await graph.apply(study, plan, now)).toEqual({ kind: 'applied' });
      expect(await graph.apply(study, plan, now)).toEqual({ kind: 'fenced' });
      expect(await relationsOf(b, turn.lane)).toEqual(['Ana likes tea']);
      const kept = { state: 'applied', plan, appliedAt: now, failure: null };
      const again = await b.reopened();
      expect(await again.graph.study(TENANT, study.consolidationId)).toMatchObject(kept);
      expect(await again.graph.counts()).toEqual({ pending: 0, parked: 0 });
    });

    it('keeps its answers among those of the consolidation, and counts them once', async () => {
      const b = bench();
      const turn = await toStudy(b);
      const study = await heldStudy(b, turn.lane);
      const answer = storedAnswer(b.tools, { step: 'extract_graph' });
      const { graph, thoughts, overview } = b.ledger;
      const call = settledCall(b.tools, turn, { step: 'graph', cause: 'graph' });
      for (const _ of [1, 2]) expect(await graph.storeAnswer(study, answer, call)).toEqual({ kind: 'stored' });
      expect(await thoughts.answer(turn.consolidationId, 'extract_graph', answer.inputHash)).toEqual(answer);
      expect((await overview.usage(TENANT)).calls).toBe(1);
      const late = graph.storeAnswer({ ...study, epoch: 9 }, answer, settledCall(b.tools, turn));
      expect(await late).toEqual({ kind: 'fenced' });
      expect((await overview.usage(TENANT)).calls).toBe(2);
      expect(await graph.holds(study)).toBe(true);
      expect(await graph.holds({ ...study, epoch: 9 })).toBe(false);
    });

    it('that fails waits for its time, and the later ones of its lane with it', async () => {
      const b = bench();
      const turn = await toStudy(b);
      await toStudy(b);
      const study = await heldStudy(b, turn.lane);
      const retryAt = b.tools.now() + 10 * SECOND;
      const why = failure(b.tools.now());
      const { graph } = b.ledger;
      expect(await graph.fail(study, { failure: why, retryAt })).toEqual({ kind: 'noted' });
      expect(await graph.fail(study, { failure: why, retryAt })).toEqual({ kind: 'fenced' });
      expect(await claimStudy(b, turn.lane)).toEqual({ kind: 'later', at: retryAt });
      expect(await graph.due(retryAt - 1, 10)).toEqual([]);
      expect(await graph.study(TENANT, study.consolidationId)).toMatchObject({ attempts: 1, failure: why });
      expect(await graph.due(retryAt, 10)).toEqual([turn.lane]);
      b.tools.set(retryAt);
      expect(await heldStudy(b, turn.lane)).toMatchObject({ attempts: 1, epoch: 2 });
    });

    it('that is parked lets the next one go, until somebody asks for it again', async () => {
      const b = bench();
      const first = await toStudy(b);
      const second = await toStudy(b);
      const { graph } = b.ledger;
      const study = await heldStudy(b, first.lane);
      await graph.fail(study, { failure: failure(b.tools.now()), retryAt: null });
      expect(await graph.counts()).toEqual({ pending: 1, parked: 1 });
      const { consolidationId } = study;
      const parked = { consolidationId, scope: scope(), attempts: 1, failure: failure(b.tools.now()) };
      expect(await graph.parked(TENANT, 10)).toMatchObject([parked]);
      expect(await graph.parked(OTHER_TENANT, 10)).toEqual([]);
      const next = await heldStudy(b, first.lane);
      expect(next.consolidationId).toBe(second.consolidationId);
      await graph.apply(next, graphPlan(next.consolidationId, []), b.tools.now());
      expect(await claimStudy(b, first.lane)).toEqual({ kind: 'none' });
      expect(await graph.request(OTHER_TENANT, study.consolidationId, b.tools.now())).toBeNull();
      expect(await graph.request(TENANT, study.consolidationId, b.tools.now())).toBe(first.lane);
      expect(await heldStudy(b, first.lane)).toMatchObject({ consolidationId: study.consolidationId, attempts: 0 });
      expect(await graph.parked(TENANT, 10)).toEqual([]);
      expect(await graph.request(TENANT, study.consolidationId, b.tools.now())).toBeNull();
    });

    it('is given back unharmed', async () => {
      const b = bench();
      const turn = await toStudy(b);
      const study = await heldStudy(b, turn.lane);
      const at = b.tools.now() + SECOND;
      await b.ledger.graph.release(study, at);
      expect(await claimStudy(b, turn.lane)).toEqual({ kind: 'later', at });
      b.tools.set(at);
      expect(await heldStudy(b, turn.lane)).toMatchObject({ attempts: 0 });
    });

    it('can be asked for afterwards, of what was applied', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const { graph } = b.ledger;
      expect(await graph.request(TENANT, turn.consolidationId, b.tools.now())).toBeNull();
      await apply(b, turn);
      expect(await graph.request(TENANT, turn.consolidationId, b.tools.now())).toBe(turn.lane);
      expect(await graph.request(TENANT, turn.consolidationId, b.tools.now())).toBeNull();
      expect((await heldStudy(b, turn.lane)).consolidationId).toBe(turn.consolidationId);
    });

    it('of one lane waits for none of another', async () => {
      const b = bench();
      const [ann, bob] = [await toStudy(b), await toStudy(b, 'bob')];
      await heldStudy(b, ann.lane);
      expect(await b.ledger.graph.due(b.tools.now(), 10)).toEqual([bob.lane]);
      expect((await heldStudy(b, bob.lane)).owner).toEqual(user('bob'));
    });

    it('loses its plan to retention, and none of its relations', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const turn = await studied(b, [holds('Ana likes tea')]);
      const now = b.tools.now();
      await b.ledger.retention.removePlans(TENANT, now + 1, { limit: 10, now });
      expect(await b.ledger.graph.study(TENANT, turn.consolidationId)).toMatchObject({ state: 'applied', plan: null });
      expect(await relationsOf(b, turn.lane)).toEqual(['Ana likes tea']);
    });
  });
}

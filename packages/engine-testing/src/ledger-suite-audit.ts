import { CONTRADICTIONS, ORPHAN_KINDS } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, home, newPlan, scope, storedAnswer, updated, user } from './builders.ts';
import {
  ANN,
  apply,
  type Bench,
  claimedBatch,
  expectThere,
  fail,
  laneOf,
  MINUTE,
  nextTurn,
  OTHER_TENANT,
  project,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

const NONE = { count: 0, examples: [] };

/** What a ledger finds when it looks at itself. That it finds what is broken, each adapter shows with its own means. */
export function describeAudit(bench: () => Bench): void {
  describe('looking at itself, a ledger', () => {
    const expectSound = async ({ ledger }: Bench): Promise<void> => {
      for (const kind of ORPHAN_KINDS) expect(await ledger.audit.orphans(kind), kind).toEqual(NONE);
      for (const kind of CONTRADICTIONS) expect(await ledger.audit.contradictions(kind), kind).toEqual(NONE);
    };

    it('finds nothing wrong while it is empty', async () => {
      const b = bench();
      await expectSound(b);
      expect(await b.ledger.audit.tenants()).toEqual([]);
      expect(await b.ledger.audit.memories()).toBe(0);
      expect(await b.ledger.audit.parked()).toEqual([]);
      expect(await b.ledger.audit.overdue(b.tools.now())).toEqual(NONE);
    });

    it('finds nothing wrong at any step of the life of batches, memories and lanes', async () => {
      const b = bench();
      await store(b);
      await expectSound(b);
      const turn = await nextTurn(b);
      await expectSound(b);
      await b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools));
      await b.ledger.thoughts.storePlan(turn, newPlan(turn));
      const change = added(b.tools, home(turn.lane));
      await apply(b, turn, { changes: [change] });
      await expectSound(b);
      await project(b);
      await expectSound(b);
      const later = updated(b.tools, change.memory, { text: 'Lives in Rome' });
      await write(b, later);
      await write(b, deleted(b.tools, later.memory));
      const { turn: next } = await claimedBatch(b);
      await store(b);
      await fail(b, next);
      await expectSound(b);
      await fail(b, await nextTurn(b), { retryable: false });
      await expectSound(b);
      expect(await b.ledger.audit.memories()).toBe(1);
      expect(await b.ledger.audit.sample(10)).toEqual([{ tenant: TENANT, id: change.memory.id }]);
      expect(await b.ledger.audit.sample(0)).toEqual([]);
    });

    it('names every tenant', async () => {
      const b = bench();
      await store(b);
      await store(b, { tenant: OTHER_TENANT });
      expect(await b.ledger.audit.tenants()).toEqual([TENANT, OTHER_TENANT].sort());
    });

    it('counts what is parked by tenant and reason', async () => {
      const b = bench();
      for (const code of ['model_timeout', 'model_timeout', 'unsupported_content']) {
        const { turn } = await claimedBatch(b);
        await fail(b, turn, { retryable: false, code });
      }
      await store(b, { tenant: OTHER_TENANT });
      await fail(b, await nextTurn(b, { tenant: OTHER_TENANT }), { retryable: false });
      expect(await b.ledger.audit.parked()).toEqual([
        { tenant: TENANT, code: 'model_timeout', batches: 2 },
        { tenant: TENANT, code: 'unsupported_content', batches: 1 },
        { tenant: OTHER_TENANT, code: 'model_timeout', batches: 1 },
      ]);
    });

    it('names lanes that should have been worked on long ago, whether or not somebody had begun', async () => {
      const b = bench();
      await store(b, { flush: true });
      await store(b, { flush: true, scope: scope({ userId: 'bob' }) });
      await nextTurn(b, { owner: user('bob') });
      const due = expectThere((await laneOf(b, ANN)).dueAt);
      expect(await b.ledger.audit.overdue(due)).toEqual(NONE);
      const lanes = [(await laneOf(b, ANN)).id, (await laneOf(b, user('bob'))).id].sort();
      expect(await b.ledger.audit.overdue(due + 10 * MINUTE)).toEqual({ count: 2, examples: lanes });
    });
  });
}

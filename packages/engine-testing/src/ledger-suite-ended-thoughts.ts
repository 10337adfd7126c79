import { liveVersion, type UsageAsked } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, home, newPlan, sentCall, settledCall, storedAnswer } from './builders.ts';
import { apply, type Bench, claimedBatch, expectThere, laneOf, TENANT, write } from './ledger-bench.ts';

const DAY = 86_400_000;

export function describeEndedThoughts(bench: () => Bench): void {
  describe('what was thought, once it has ended', () => {
    it('is read as it was while it was open, and what it was charged for is counted once', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const { consolidationId: id } = turn;
      const known = added(b.tools, home((await laneOf(b)).id), { text: 'Has a cat named Miso' });
      await write(b, known);
      const version = expectThere(liveVersion(known.memory));
      const shown = { shortId: '0', version: 1, standing: 'live', immutable: false, saidAt: version.saidAt } as const;
      const candidates = [
        { ...shown, memoryId: known.memory.id, revision: 1, text: version.text, recalledBy: [] },
        { ...shown, shortId: '7', memoryId: 'mem_elsewhere', revision: 4, text: 'Said "half \ud83d"', recalledBy: [] },
      ];
      const answers = ['extract', 'decide'].map((step) =>
        storedAnswer(b.tools, { step, text: step === 'decide' ? '{"operations":[]}' : '{ "facts": [] }' }),
      );
      const calls = [settledCall(b.tools, turn, { appId: 'shop' }), settledCall(b.tools, turn, { cost: null })];
      for (const [i, answer] of answers.entries()) await b.ledger.thoughts.storeAnswer(turn, answer, calls[i]);
      for (const round of [1, 2])
        await b.ledger.thoughts.storePlan(turn, newPlan(turn, { round, candidates, timings: { extract: 12 } }));
      const open = sentCall(b.tools, turn, { step: 'summary' });
      await b.ledger.usage.note(open);
      const from = b.tools.now() - (b.tools.now() % DAY);
      const report = (asked: Partial<UsageAsked>) =>
        b.ledger.usage.report(TENANT, { groups: [], from, to: from + DAY, ...asked }, { limit: 10, offset: 0 });
      const read = () =>
        Promise.all([
          b.ledger.thoughts.plan(id),
          b.ledger.thoughts.answers(id),
          b.ledger.thoughts.answer(id, 'decide', answers[1]?.inputHash ?? ''),
          b.ledger.thoughts.answer(id, 'decide', 'another'),
          b.ledger.overview.usageOf(id),
          b.ledger.overview.usageOfDay({ lane: turn.lane }, b.tools.now()),
          report({ groups: ['hour', 'user', 'app', 'key', 'step'] }),
          report({ groups: ['app'], appId: 'shop' }),
        ]);
      const before = await read();
      expect(before[0]?.candidates).toEqual(candidates);
      expect(before[4]).toMatchObject({ calls: 3, failedCalls: 1 });
      await apply(b, turn);
      expect(await read()).toEqual(before);
      // Whoever was too slow to hear that it was counted counts nothing again.
      await b.ledger.usage.settle(calls);
      for (const call of calls) await b.ledger.usage.note(call);
      expect(await read()).toEqual(before);
    });
  });
}

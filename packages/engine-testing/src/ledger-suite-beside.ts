import { describe, expect, it } from 'vitest';
import { added, home, newMessage, scope } from './builders.ts';
import { apply, applyOnly, type Bench, claimedBatch, clear, hear, nextTurn, replay } from './ledger-bench.ts';
import { beside, inTalk, message, said, spoken, takeBack } from './ledger-suite-speech.ts';

/** By what was said beside them messages and memories are found. */
export function describeBeside(bench: () => Bench): void {
  describe('messages and what was said beside them', () => {
    it('know what was said beside each of their messages, also in batches before and after, as far as those count', async () => {
      const b = bench();
      await said(b, ['user', 'never applied']);
      const first = await spoken(b, [['assistant', 'one']]);
      const second = await spoken(b, [
        ['tool', 'printed'],
        ['user', 'two'],
        ['assistant', 'three'],
      ]);
      const third = await spoken(b, [['user', 'four']]);
      await said(b, ['user', 'waits']);
      expect(await beside(b, [first, second, third])).toEqual([
        ['one', 'never applied', null, 'two'],
        ['printed', 'one', 'never applied', 'two'],
        ['two', 'one', 'never applied', 'three'],
        ['three', 'two', 'one', 'four'],
        ['four', 'three', 'two', null],
      ]);
    });

    it('are projected with the last message of the batch that they go on, as that one is by then', async () => {
      const b = bench();
      const elsewhere = { scope: scope({ userId: 'ann', runId: 'r1' }) };
      const first = await spoken(b, [
        ['user', 'one'],
        ['assistant', 'two'],
        ['tool', 'printed'],
      ]);
      await spoken(b, [['user', 'elsewhere']], elsewhere);
      const { turn } = await claimedBatch(b, {
        messages: [message(b, ['tool', 'here']), message(b, ['user', 'three'])],
      });
      await applyOnly(b, turn);
      const [next] = await b.ledger.speech.unprojected(10);
      expect(next?.goesOn).toMatchObject({ id: first, revision: 2, counts: true, scope: scope() });
      expect(next?.goesOn?.messages.map(inTalk)).toEqual([['two', 'one', null, 'three']]);
      await hear(b, next === undefined ? [] : [next]);
      const [before, undone] = await takeBack(b, { number: 1, undone: [turn.consolidationId], redone: [] });
      expect(before).toMatchObject({ id: first, counts: true });
      expect(undone).toMatchObject({ counts: false, goesOn: { id: first } });
      expect(undone?.goesOn?.messages.map(inTalk)).toEqual([['two', 'one', null, null]]);
      const [start] = await b.ledger.speech.batches([first]);
      expect(start?.goesOn).toBeNull();
    });

    it('raise the revision of the one that they go on, whose last message is projected with them', async () => {
      const b = bench();
      const first = await spoken(b, [['user', 'first']]);
      const [read] = await b.ledger.speech.batches([first]);
      const { turn } = await claimedBatch(b, { messages: [message(b, ['user', 'next'])] });
      await applyOnly(b, turn);
      const [next, ...others] = await b.ledger.speech.unprojected(10);
      expect(others).toEqual([]);
      expect(next?.goesOn?.revision).toBeGreaterThan(read?.revision ?? 0);
      expect(await b.ledger.speech.batches([first])).toMatchObject([{ projected: true }]);
      await applyOnly(b, (await claimedBatch(b, { messages: [message(b, ['user', 'last'])] })).turn);
      // It was not projected yet: all of it still is to be.
      expect(await b.ledger.speech.batches(turn.batchIds)).toMatchObject([{ projected: false }]);
    });

    it('are not projected with one that does not count', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      await takeBack(b, { number: 1, undone: [turn.consolidationId], redone: [] });
      const next = await spoken(b, [['user', 'next']]);
      expect(await b.ledger.speech.batches([next])).toMatchObject([{ goesOn: null }]);
    });

    it('are found by nothing that is undone, nor are memories, until it is redone, or replayed and applied again', async () => {
      const b = bench();
      const first = await spoken(b, [['user', 'first']]);
      const { turn, batch } = await claimedBatch(b, { messages: [message(b, ['user', 'undone'])] });
      await apply(b, turn);
      const source = newMessage(b.tools, { content: 'next' });
      const { turn: later } = await claimedBatch(b, { messages: [source] });
      const change = added(b.tools, home(turn.lane), { sourceIds: [source.id] });
      await apply(b, later, { changes: [change] });
      const second = await spoken(b, [['user', 'next but one']]);
      const third = await spoken(b, [['user', 'third']]);
      const found = async () => {
        const { said: sources } = await b.ledger.speech.said(turn.lane, [source.id]);
        const talk = await beside(b, [first, ...later.batchIds, second, third]);
        return { talk, sources: sources.map(({ before }) => before?.content ?? null) };
      };
      const toProject = async () => {
        const batches = await b.ledger.speech.unprojectedIn(turn.lane, 10);
        const entries = await b.ledger.outbox.ofLane(turn.lane, 10);
        await hear(b, batches);
        await clear(
          b,
          entries.map(({ seq }) => seq),
        );
        return { batches: batches.map(({ id }) => id).sort(), memories: entries.map(({ memoryId }) => memoryId) };
      };
      const whole = {
        talk: [
          ['first', null, null, 'undone'],
          ['next', 'undone', 'first', 'next but one'],
          ['next but one', 'next', 'undone', 'third'],
          ['third', 'next but one', 'next', null],
        ],
        sources: ['undone'],
      };
      const without = {
        talk: [
          ['first', null, null, null],
          ['next', null, null, 'next but one'],
          ['next but one', 'next', null, 'third'],
          ['third', 'next but one', 'next', null],
        ],
        sources: [null],
      };
      const after = [batch.id, ...later.batchIds, second];
      const all = { batches: [first, ...after].sort(), memories: [change.memory.id] };
      await toProject();
      expect(await found()).toEqual(whole);
      await takeBack(b, { number: 1, undone: [turn.consolidationId], redone: [] });
      expect(await found()).toEqual(without);
      const from = { lane: turn.lane, messageIds: [source.id], saying: 2, memoryIds: [], credits: [] };
      expect(await b.ledger.outbox.clear({ seqs: [], batches: [], from }, b.tools.now()), 'read before').toBeNull();
      expect(await toProject()).toEqual(all);
      await takeBack(b, { number: 2, undone: [], redone: [turn.consolidationId] });
      expect(await found()).toEqual(whole);
      expect(await toProject()).toEqual(all);
      await takeBack(b, { number: 3, undone: [turn.consolidationId], redone: [] });
      await toProject();
      await replay(b, [batch.id]);
      expect(await found()).toEqual(without);
      await toProject();
      await applyOnly(b, await nextTurn(b));
      expect(await found()).toEqual(whole);
      // The last message of the first goes with what is said next.
      expect(await toProject()).toEqual({ ...all, batches: after.sort() });
    });
  });
}

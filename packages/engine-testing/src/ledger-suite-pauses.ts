import { type NewBatch, ownerOf } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { bitsOf, newBatch, newMessage, scope } from './builders.ts';
import {
  ANN,
  append,
  type Bench,
  claimedBatch,
  expectKind,
  expectThere,
  laneOf,
  MINUTE,
  nextTurn,
  OTHER_TENANT,
  SECOND,
  TENANT,
} from './ledger-bench.ts';

/** What an owner says who wants nothing remembered for a while. */
export function describePauses(bench: () => Bench): void {
  const setPaused = async (paused: boolean) => {
    const b = bench();
    const id = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
    return expectThere(await b.ledger.lanes.pause(id, { paused, now: b.tools.now() }));
  };
  /** Posts a batch, and answers with what of it is kept. */
  const post = async (given: Partial<NewBatch> = {}) => {
    const b = bench();
    b.tools.advance(SECOND);
    const batch = newBatch(b.tools, given);
    const { paused } = expectKind(await append(b, batch), 'stored');
    const ids = batch.messages.map(({ id }) => id);
    const kept = await b.ledger.memories.messages(batch.tenant, ids);
    return { batch, paused, contents: ids.map((id) => expectThere(kept.get(id)).content) };
  };
  const saying = (...texts: string[]) => ({
    messages: texts.map((content) => newMessage(bench().tools, { content, name: 'Ann' })),
  });
  const NOTHING = { withheld: 'paused' };

  describe('a pause', () => {
    it('is of whoever has said nothing yet, too, counts once, and lasts over a restart', async () => {
      const b = bench();
      const { pausedAt } = await setPaused(true);
      expect(pausedAt).toBe(b.tools.now());
      b.tools.advance(MINUTE);
      expect((await setPaused(true)).pausedAt).toBe(pausedAt);
      const { lanes } = await b.reopened();
      expect(await lanes.find(TENANT, ANN)).toMatchObject({ pausedAt });
    });

    it('keeps nothing of what is posted while it goes on, and everything before and after', async () => {
      const b = bench();
      expect(await post(saying('before'))).toMatchObject({ paused: 'none', contents: ['before'] });
      await setPaused(true);
      const { batch, ...meanwhile } = await post({ ...saying('a secret', 'another'), metadata: { mood: 'bad' } });
      expect(meanwhile).toEqual({ paused: 'all', contents: [NOTHING, NOTHING] });
      const messages = await b.ledger.memories.messages(
        TENANT,
        batch.messages.map(({ id }) => id),
      );
      expect([...messages.values()].map(({ name }) => name)).toEqual([null, null]);
      expect((await b.ledger.batches.get(TENANT, batch.id))?.metadata).toEqual({});
      await setPaused(false);
      expect((await laneOf(b)).pausedAt).toBeNull();
      expect(await post(saying('after'))).toMatchObject({ paused: 'none', contents: ['after'] });
    });

    it('is of one owner alone', async () => {
      const b = bench();
      await setPaused(true);
      for (const given of [
        { scope: scope({ userId: 'bob' }), tenant: TENANT },
        { scope: scope({ agentId: 'ann' }), tenant: TENANT },
        { scope: scope(), tenant: OTHER_TENANT },
      ]) {
        const bits = bitsOf(b.tools, ownerOf(given.scope), given.tenant);
        const messages = [newMessage(b.tools, { content: 'kept' }, bits)];
        expect(await post({ ...given, messages })).toMatchObject({ paused: 'none', contents: ['kept'] });
      }
      const withAgent = scope({ userId: 'ann', agentId: 'bot' });
      expect(await post({ scope: withAgent, ...saying('not kept') })).toMatchObject({ paused: 'all' });
    });

    it('keeps nothing that was said in it and comes when it is over, or that is sent again then', async () => {
      const b = bench();
      await setPaused(true);
      const from = b.tools.now();
      await post({ messages: [newMessage(b.tools, { clientId: 'm1', content: 'a secret' })] });
      b.tools.advance(MINUTE);
      await setPaused(false);
      const until = b.tools.now();
      const said = (content: string, at: number) => newMessage(b.tools, { content, at });
      const late = [said('before', from - 1), said('begin', from), said('end', until - 1), said('after', until)];
      expect(await post({ messages: late })).toMatchObject({
        paused: 'some',
        contents: ['before', NOTHING, NOTHING, 'after'],
      });
      const again = newMessage(b.tools, { clientId: 'm1', content: 'a secret' });
      await post({ messages: [again] });
      expect((await b.ledger.memories.messages(TENANT, [again.id])).get(again.id)?.resent).toBe(true);
    });

    it('does not hold up what was said before it: that goes on, also while it is worked on', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b, saying('said before'));
      await setPaused(true);
      const { messages } = await b.ledger.thoughts.gather(turn, 10);
      expect(messages.map(({ content }) => content)).toEqual(['said before']);
      const next = await post(saying('a secret'));
      expect(next.paused).toBe('all');
      expect(await b.ledger.lanes.find(TENANT, ANN)).toMatchObject({ state: 'consolidating', pending: 1 });
    });

    it('is nobody’s whose lane is cut off; whoever comes after is not paused', async () => {
      const b = bench();
      await post(saying('before'));
      await setPaused(true);
      const { id } = await laneOf(b);
      const now = b.tools.now();
      await b.ledger.erasures.request(TENANT, ANN, { id: b.tools.id('ers'), ownerHash: 'h', now });
      expect(await b.ledger.lanes.pause(id, { paused: false, now })).toBeNull();
      expect(await post(saying('afresh'))).toMatchObject({ paused: 'none' });
    });

    it('leaves nothing to think of in a turn', async () => {
      const b = bench();
      await setPaused(true);
      await post(saying('a secret'));
      const turn = await nextTurn(b);
      const { messages } = await b.ledger.thoughts.gather(turn, 10);
      expect(messages.map(({ content }) => content)).toEqual([NOTHING]);
    });
  });
}

import { describe, expect, it } from 'vitest';
import type { NewMessage } from '../ports/ledger/batches.ts';
import { newMessage, scope } from './builders.ts';
import { type Bench, laneOf, store } from './ledger-bench.ts';

export function describeSpeech(bench: () => Bench): void {
  describe('messages with the one before', () => {
    it('the one before is the last that a user or an assistant said in the same scope', async () => {
      const b = bench();
      const ids = await said(b, ['user', 'first'], ['assistant', 'second'], ['tool', 'third'], ['user', 'fourth']);
      expect(await priors(b, ids)).toEqual([
        ['first', null],
        ['second', 'first'],
        ['third', 'second'],
        ['fourth', 'second'],
      ]);
    });

    it('the one before may be of an earlier batch, and is of no other scope', async () => {
      const b = bench();
      await said(b, ['user', 'earlier']);
      await store(b, { scope: scope({ userId: 'ann', runId: 'r1' }), messages: [message(b, ['user', 'elsewhere'])] });
      await store(b, { scope: scope({ userId: 'bob' }), messages: [message(b, ['user', 'somebody else'])] });
      expect(await priors(b, await said(b, ['user', 'later']))).toEqual([['later', 'earlier']]);
    });

    it('a resent copy is before nothing', async () => {
      const b = bench();
      await said(b, ['user', 'once', 'c1']);
      await said(b, ['assistant', 'in between']);
      expect(await priors(b, await said(b, ['user', 'once', 'c1'], ['user', 'new']))).toEqual([
        ['once', 'in between'],
        ['new', 'in between'],
      ]);
    });

    it('messages of other lanes, and unknown ones, are left out', async () => {
      const b = bench();
      const [mine] = await said(b, ['user', 'mine']);
      const theirs = message(b, ['user', 'theirs']);
      await store(b, { scope: scope({ userId: 'bob' }), messages: [theirs] });
      expect(await priors(b, [mine ?? '', theirs.id, 'msg_none', mine ?? ''])).toEqual([['mine', null]]);
      expect(await priors(b, [])).toEqual([]);
    });
  });
}

type Line = readonly [role: NewMessage['role'], content: string, clientId?: string | null];

const message = (b: Bench, [role, content, clientId = null]: Line): NewMessage =>
  newMessage(b.tools, { role, content, clientId });

/** One batch of user ann. */
async function said(b: Bench, ...lines: readonly Line[]): Promise<readonly string[]> {
  const messages = lines.map((line) => message(b, line));
  await store(b, { messages });
  return messages.map(({ id }) => id);
}

/** What was said, each with what was said before, in the order of the lane. */
async function priors(b: Bench, ids: readonly string[]) {
  const { id: lane } = await laneOf(b);
  const found = await b.ledger.speech.said(lane, ids);
  return found
    .toSorted((one, other) => one.message.saidAt.seq - other.message.saidAt.seq)
    .map(({ message: { content }, before }) => [content, before?.content ?? null]);
}

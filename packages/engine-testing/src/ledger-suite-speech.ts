import { type NewBatch, type NewMessage, NOT_KEPT, type SpokenMessage, type Undo } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, home, newMessage, scope, settings } from './builders.ts';
import {
  ANN,
  apply,
  applyOnly,
  type Bench,
  batchOf,
  claimedBatch,
  clear,
  hear,
  laneOf,
  nextTurn,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

export function describeSpeech(bench: () => Bench): void {
  describe('messages with the one before', () => {
    it('the one before is the last that a user or an assistant said in the same scope', async () => {
      const b = bench();
      const ids = await told(b, ['user', 'first'], ['assistant', 'second'], ['tool', 'third'], ['user', 'fourth']);
      expect(await priors(b, ids)).toEqual([
        ['first', null],
        ['second', 'first'],
        ['third', 'second'],
        ['fourth', 'second'],
      ]);
    });

    it('the one before may be of an earlier batch, and is of no other scope', async () => {
      const b = bench();
      await told(b, ['user', 'earlier']);
      await store(b, { scope: scope({ userId: 'ann', runId: 'r1' }), messages: [message(b, ['user', 'elsewhere'])] });
      await apply(b, await nextTurn(b));
      await store(b, { scope: scope({ userId: 'bob' }), messages: [message(b, ['user', 'somebody else'])] });
      expect(await priors(b, await told(b, ['user', 'later']))).toEqual([['later', 'earlier']]);
    });

    it('a resent copy is before nothing', async () => {
      const b = bench();
      await told(b, ['user', 'once', 'c1']);
      await told(b, ['assistant', 'in between']);
      expect(await priors(b, await told(b, ['user', 'once', 'c1'], ['user', 'new']))).toEqual([
        ['once', 'in between'],
        ['new', 'in between'],
      ]);
    });

    it('messages of other lanes, and unknown ones, are left out', async () => {
      const b = bench();
      const [mine] = await told(b, ['user', 'mine']);
      const theirs = message(b, ['user', 'theirs']);
      await store(b, { scope: scope({ userId: 'bob' }), messages: [theirs] });
      expect(await priors(b, [mine ?? '', theirs.id, 'msg_none', mine ?? ''])).toEqual([['mine', null]]);
      expect(await priors(b, [])).toEqual([]);
    });
  });
}

export function describeSpokenBatches(bench: () => Bench): void {
  describe('batches whose messages are projected', () => {
    it('are those that were applied, with all that is said of their messages', async () => {
      const b = bench();
      const before = newMessage(b.tools, { content: 'first' });
      const messages = [before, newMessage(b.tools, { content: 'second', role: 'assistant', name: 'Bot' })];
      const given = { messages, metadata: { chat: 'c1' }, settings: settings({ expiresAt: 99_000_000_000_000 }) };
      const { batch, turn } = await claimedBatch(b, given);
      expect(await b.ledger.speech.unprojected(10)).toEqual([]);
      await applyOnly(b, turn);
      await store(b);
      const [spoken, ...others] = await b.ledger.speech.unprojected(10);
      expect(others).toEqual([]);
      expect(spoken).toMatchObject({ id: batch.id, tenant: TENANT, lane: turn.lane, owner: ANN, scope: scope() });
      expect(spoken).toMatchObject({
        revision: 1,
        counts: true,
        acceptedAt: batch.acceptedAt,
        metadata: { chat: 'c1' },
      });
      expect(spoken?.expiresAt).toBe(99_000_000_000_000);
      expect(spoken?.messages.map(({ message, before: prior }) => [message.content, prior?.content])).toEqual([
        ['first', undefined],
        ['second', 'first'],
      ]);
      expect(spoken?.messages[1]?.message).toMatchObject({ role: 'assistant', name: 'Bot' });
      expect(await b.ledger.speech.unprojectedOf([turn.consolidationId])).toEqual([spoken]);
      expect(await b.ledger.speech.unprojectedOf(['con_none'])).toEqual([]);
      expect(await b.ledger.speech.batches([batch.id, 'bat_none'])).toEqual([spoken]);
    });

    it('are projected again when what is said up to two messages before is removed, in whichever batch', async () => {
      const b = bench();
      const removed = await spoken(b, [['user', 'removed']]);
      const next = await spoken(b, [['user', 'next']]);
      const second = await spoken(b, [['user', 'next but one']]);
      const third = await spoken(b, [['user', 'third']]);
      const given = { limit: 1, now: b.tools.now() };
      expect(await b.ledger.retention.removeMessages(TENANT, b.tools.now(), given)).toBe(1);
      const batches = await b.ledger.speech.batches([removed, next, second, third]);
      expect(batches.map(({ revision }) => revision)).toEqual([3, 3, 3, 1]);
    });

    it('end only when both their messages and the memories made of them are projected', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await applyOnly(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      expect(await b.ledger.overview.outbox()).toBe(2);
      const seqs = (await b.ledger.outbox.pending(10)).map(({ seq }) => seq);
      expect(await clear(b, seqs)).toEqual([]);
      expect((await batchOf(b, batch.id)).state).toBe('consolidating');
      const unprojected = await b.ledger.speech.unprojected(10);
      expect(await hear(b, unprojected)).toEqual([batch.acceptedAt]);
      expect((await batchOf(b, batch.id)).state).toBe('consolidated');
      expect(await hear(b, unprojected)).toEqual([]);
      expect(await b.ledger.overview.outbox()).toBe(0);
      expect(await b.ledger.speech.points(TENANT)).toBe(1);
    });

    it('are projected again when they are undone, and redone', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await apply(b, turn);
      const [early] = await b.ledger.speech.batches([batch.id]);
      const undone = await takeBack(b, { number: 1, undone: [turn.consolidationId], redone: [] });
      expect(undone).toMatchObject([{ id: batch.id, revision: 2, counts: false }]);
      // Somebody who has read it before projects it late.
      await hear(b, early === undefined ? [] : [early]);
      expect(await b.ledger.speech.unprojected(10)).toEqual(undone);
      await hear(b, undone);
      const redone = await takeBack(b, { number: 2, undone: [], redone: [turn.consolidationId] });
      expect(redone).toMatchObject([{ id: batch.id, revision: 3, counts: true }]);
    });

    it('are projected again when retention removes what was said before them, in their scope alone', async () => {
      const b = bench();
      const elsewhere = { scope: scope({ userId: 'ann', runId: 'r1' }) };
      const removed = await spoken(b, [['user', 'removed']]);
      await spoken(b, [['user', 'elsewhere']], elsewhere);
      await spoken(b, [['tool', 'printed']]);
      const next = await spoken(b, [
        ['user', 'next'],
        ['user', 'after next'],
      ]);
      await spoken(b, [['user', 'later']]);
      const given = { limit: 1, now: b.tools.now() };
      expect(await b.ledger.retention.removeMessages(TENANT, b.tools.now(), given)).toBe(1);
      const again = await b.ledger.speech.unprojected(10);
      expect(again.map(({ id, revision, counts }) => [id, revision, counts])).toEqual([
        [removed, 4, false],
        [next, 3, true],
      ]);
    });

    it('are projected again when retention removes what they say, as are the memories found by it', async () => {
      const b = bench();
      const { ids, turn } = await spokenTwice(b);
      const [first, next, last] = await Promise.all(
        ids.map(async (id) => {
          const change = added(b.tools, home(turn.lane), { sourceIds: [id] });
          await write(b, change);
          return change.memory.id;
        }),
      );
      await clear(
        b,
        (await b.ledger.outbox.pending(10)).map(({ seq }) => seq),
      );
      const [batch] = await b.ledger.speech.every({ after: null, limit: 1, changedSince: null });
      const now = b.tools.now();
      const before = (batch?.acceptedAt ?? 0) + 1;
      expect(await b.ledger.retention.removeMessages(TENANT, before, { limit: 10, now })).toBe(1);
      expect(await b.ledger.speech.unprojected(10)).toMatchObject([
        { id: batch?.id, revision: 3, counts: false },
        { id: turn.batchIds[0], revision: 2, counts: true },
      ]);
      const again = (await b.ledger.outbox.pending(10)).map(({ memoryId }) => memoryId);
      expect(again.sort()).toEqual([first, next].sort());
      expect(await b.ledger.speech.hearers([batch?.id ?? ''])).toEqual([first, next].sort());
      expect(again).not.toContain(last);
      const { said } = await b.ledger.speech.said(turn.lane, ids.slice(0, 2));
      expect(said.map(({ message, before: prior }) => [message.content, prior?.content]).sort()).toEqual([
        [NOT_KEPT, undefined],
        ['said 1', undefined],
      ]);
    });

    it('are cleared as projected only if they still say what that was made from, and their lane stands', async () => {
      const b = bench();
      const { ids, turn } = await spokenTwice(b);
      const change = added(b.tools, home(turn.lane), { sourceIds: ids.slice(0, 2) });
      await write(b, change);
      const seqs = (await b.ledger.outbox.pending(10)).map(({ seq }) => seq);
      const from = { lane: turn.lane, messageIds: ids.slice(0, 2), saying: 3, memoryIds: [], credits: [] };
      const clearing = (given: typeof from) => b.ledger.outbox.clear({ seqs, batches: [], from: given }, b.tools.now());
      const [batch] = await b.ledger.speech.every({ after: null, limit: 1, changedSince: null });
      const how = { limit: 10, now: b.tools.now() };
      expect(await b.ledger.retention.removeMessages(TENANT, (batch?.acceptedAt ?? 0) + 1, how)).toBe(1);
      expect(await clearing(from), 'less is left').toBeNull();
      expect((await b.ledger.outbox.pending(10)).map(({ seq }) => seq)).toEqual(expect.arrayContaining(seqs));
      expect(await clearing({ ...from, saying: 1 })).toEqual([]);
      const left = await b.ledger.outbox.pending(10);
      expect(left.map(({ seq }) => seq)).not.toEqual(expect.arrayContaining(seqs));
      expect(left, 'what changed meanwhile has an entry of its own').toMatchObject([{ memoryId: change.memory.id }]);
    });

    it('are all projected again when the index was lost, after what is new', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await apply(b, turn);
      const [known] = await b.ledger.speech.batches([batch.id]);
      await b.ledger.outbox.refill();
      const { batch: young, turn: next } = await claimedBatch(b);
      await applyOnly(b, next);
      expect((await b.ledger.speech.unprojected(10)).map(({ id }) => id)).toEqual([young.id, batch.id]);
      expect((await b.ledger.speech.unprojected(1)).map(({ id }) => id)).toEqual([young.id]);
      // Projected to the index that was lost, by somebody who is late.
      await hear(b, known === undefined ? [] : [known]);
      await hear(b, await b.ledger.speech.unprojected(10));
      expect((await batchOf(b, batch.id)).state).toBe('empty');
    });

    it('can be walked through page by page, or only those that changed since', async () => {
      const b = bench();
      const { turn } = await spokenTwice(b);
      const all = await b.ledger.speech.every({ after: null, limit: 10, changedSince: null });
      expect(all.length).toBe(2);
      const [first] = await b.ledger.speech.every({ after: null, limit: 1, changedSince: null });
      const rest = await b.ledger.speech.every({ after: first?.id ?? '', limit: 10, changedSince: null });
      expect([first?.id, ...rest.map(({ id }) => id)]).toEqual(all.map(({ id }) => id));
      b.tools.advance(SECOND);
      const since = { after: null, limit: 10, changedSince: b.tools.now() };
      expect(await b.ledger.speech.every(since)).toEqual([]);
      await takeBack(b, { number: 1, undone: [turn.consolidationId], redone: [] });
      // The one before it was found by it.
      expect(await b.ledger.speech.every(since)).toMatchObject([{ counts: true }, { counts: false }]);
    });

    it('go with their owner, and are not walked through from the moment the erasure is asked for', async () => {
      const b = bench();
      await spokenTwice(b);
      const { id } = await b.ledger.erasures.request(TENANT, ANN, { id: 'ers_1', ownerHash: 'h', now: b.tools.now() });
      expect(await b.ledger.speech.every({ after: null, limit: 10, changedSince: null })).toEqual([]);
      while ((await b.ledger.erasures.slice(id, 10)).more);
      expect(await b.ledger.speech.points(TENANT)).toBe(0);
      expect(await b.ledger.speech.unprojected(10)).toEqual([]);
    });
  });
}

/** A batch that is applied and projected; answers with its id. */
export async function spoken(b: Bench, lines: readonly Line[], given: Partial<NewBatch> = {}): Promise<string> {
  const { batch, turn } = await claimedBatch(b, { messages: lines.map((line) => message(b, line)), ...given });
  await apply(b, turn);
  b.tools.advance(SECOND);
  return batch.id;
}

export const inTalk = ({ message, before, earlier, next }: SpokenMessage) =>
  [message, before, earlier, next].map((one) => one?.content ?? null);

/** What is said in batches: each message, the one before, the one before that, and the next. */
export const beside = async (b: Bench, ids: readonly string[]) =>
  (await b.ledger.speech.batches(ids)).flatMap(({ messages }) => messages.map(inTalk));

/** Two batches, each applied and projected: one message, and two hours later two. The turn is of the second. */
async function spokenTwice(b: Bench) {
  const message = (i: number) => newMessage(b.tools, { content: `said ${i}` });
  const messages = [0, 1, 2].map(message);
  const { turn: first } = await claimedBatch(b, { messages: messages.slice(0, 1) });
  await apply(b, first);
  b.tools.advance(7_200 * SECOND);
  const { turn } = await claimedBatch(b, { messages: messages.slice(1) });
  await apply(b, turn);
  return { ids: messages.map(({ id }) => id), turn };
}

/** An undo of whole consolidations that changed no memory. Answers with what is to be projected then. */
export async function takeBack(
  b: Bench,
  how: { number: number; undone: readonly string[]; redone: readonly string[] },
) {
  const { number, undone, redone } = how;
  const { id: lane } = await laneOf(b);
  const undo: Undo = {
    ...{ id: `und_${number}`, tenant: TENANT, lane, owner: ANN, number, kind: 'undo', to: null },
    ...{ consolidations: undone, undos: [], memories: 0, at: b.tools.now() },
  };
  const written = await b.ledger.undos.write(TENANT, { undo, changes: [], tombstones: [], undone, redone });
  expect(written).toEqual({ kind: 'written' });
  return b.ledger.speech.unprojected(10);
}

type Line = readonly [role: NewMessage['role'], content: string, clientId?: string | null];

export const message = (b: Bench, [role, content, clientId = null]: Line): NewMessage =>
  newMessage(b.tools, { role, content, clientId });

/** One batch of user ann. */
export async function said(b: Bench, ...lines: readonly Line[]): Promise<readonly string[]> {
  const messages = lines.map((line) => message(b, line));
  await store(b, { messages });
  return messages.map(({ id }) => id);
}

/** The same, applied. */
async function told(b: Bench, ...lines: readonly Line[]): Promise<readonly string[]> {
  const ids = await said(b, ...lines);
  await apply(b, await nextTurn(b));
  return ids;
}

/** What was said, each with what was said before, in the order of the lane. */
async function priors(b: Bench, ids: readonly string[]) {
  const { id: lane } = await laneOf(b);
  const { said: found } = await b.ledger.speech.said(lane, ids);
  return found
    .toSorted((one, other) => one.message.saidAt.seq - other.message.saidAt.seq)
    .map(({ message: { content }, before }) => [content, before?.content ?? null]);
}

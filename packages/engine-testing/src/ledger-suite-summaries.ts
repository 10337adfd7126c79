import { DEFAULT_SETTINGS, type LaneId, type SummaryBasis, type SummaryRefresh, type Turn } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, home, newMessage, scope, settledCall } from './builders.ts';
import {
  apply,
  type Bench,
  expectThere,
  fail,
  laneOf,
  nextTurn,
  OTHER_TENANT,
  store,
  summaryDue,
  TENANT,
  write,
} from './ledger-bench.ts';

const EVERY = 3;
const HOW = { every: EVERY, limit: 10 };

export function describeSummaries(bench: () => Bench): void {
  describe('a summary', () => {
    it('is due when enough messages of its scope were consolidated since', async () => {
      const b = bench();
      expect(await summaryDue(b, await consolidated(b, ['one', 'two']), EVERY)).toBeNull();
      const elsewhere = await consolidated(b, ['other'], 'r1');
      const turn = await consolidated(b, ['three']);
      expect((await b.ledger.outbox.ofConsolidation(turn, null)).summary, 'never asked for').toBeNull();
      const due = expectThere(await summaryDue(b, turn, EVERY));
      expect(due).toMatchObject({ lane: turn.lane, upTo: 4 });
      expect(due.scope).not.toContain('ann');
      expect(await summaryDue(b, elsewhere, EVERY)).toBeNull();
      await refresh(b, due, 'so far');
      expect(await summaryDue(b, turn, EVERY)).toBeNull();
      expect(await summaryDue(b, await consolidated(b, ['four', 'five']), EVERY)).toBeNull();
      expect(await summaryDue(b, await consolidated(b, ['six']), EVERY)).toMatchObject({ upTo: 7 });
    });

    it('is not due for what waits, is parked, or was sent again', async () => {
      const b = bench();
      const turn = await consolidated(b, ['one', 'two']);
      await store(b, { messages: [newMessage(b.tools, { content: 'parked' })] });
      await fail(b, await nextTurn(b), { retryable: false });
      await consolidated(b, ['two']);
      await store(b, { messages: [newMessage(b.tools, { content: 'waits' })] });
      expect(await summaryDue(b, turn, EVERY)).toBeNull();
    });

    it('is made from the one before and what was said since, oldest first', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      const first = expectThere(await b.ledger.summaries.read(due, HOW));
      expect(first).toMatchObject({ summary: null, upTo: 3 });
      expect(textsOf(first)).toEqual(['one', 'two', 'three']);
      await refresh(b, due, 'so far');
      const turn = await consolidated(b, ['four', 'two', 'five', 'six']);
      const again = expectThere(await summaryDue(b, turn, EVERY));
      const later = await b.reopened();
      const second = expectThere(await later.summaries.read(again, HOW));
      expect(second).toMatchObject({ summary: 'so far', upTo: 7 });
      expect(textsOf(second)).toEqual(['four', 'five', 'six']);
    });

    it('is read with what holds for its tenant', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      await b.ledger.settings.putCeilings(OTHER_TENANT, { tokensPerDay: 1, costPerDay: 1 });
      const { rules, ceilings } = expectThere(await b.ledger.summaries.read(due, HOW));
      expect([rules, ceilings]).toEqual([DEFAULT_SETTINGS, null]);
      const chosen = { ...DEFAULT_SETTINGS, graph: true };
      await b.ledger.settings.put(TENANT, chosen);
      await b.ledger.settings.putCeilings(TENANT, { tokensPerDay: 9, costPerDay: null });
      const basis = expectThere(await b.ledger.summaries.read(due, HOW));
      expect([basis.rules, basis.ceilings]).toEqual([chosen, { tokensPerDay: 9, costPerDay: null }]);
    });

    it('covers what is there when its refresh begins, and reads the newest there is room for', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      await consolidated(b, ['four']);
      const basis = expectThere(await b.ledger.summaries.read(due, { every: EVERY, limit: 2 }));
      expect(basis.upTo).toBe(4);
      expect(textsOf(basis)).toEqual(['three', 'four']);
    });

    it('names the first and the last message that it was made of, until it is forgotten', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      await refresh(b, due, 'so far');
      const turn = await consolidated(b, ['four', 'five', 'six']);
      const again = expectThere(await summaryDue(b, turn, EVERY));
      const basis = expectThere(await b.ledger.summaries.read(again, HOW));
      const [one, three] = [1, 3];
      expect(basis).toMatchObject({ from: one, count: three });
      await b.ledger.summaries.store(again, { ...basis, summary: 'up to six', count: 6 });
      const messages = await b.ledger.contents.messages(turn.lane, 0, 10);
      const covers = { firstMessageId: messages[0]?.id, lastMessageId: messages[5]?.id, messages: 6 };
      const asked = { ...scope(), runId: null };
      const present = await b.ledger.present.conversation(TENANT, asked, { messages: 9, longest: 99 });
      expect(present).toMatchObject({ summary: 'up to six', covers });
      expect(await b.ledger.contents.summaries(turn.lane)).toMatchObject([{ summary: 'up to six', covers }]);
      await deleteOne(b, turn.lane);
      const left = await b.ledger.present.conversation(TENANT, asked, { messages: 9, longest: 99 });
      expect(left).toMatchObject({ summary: null, covers: null });
    });

    it('that covers enough already is not refreshed once more', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      await refresh(b, due, 'so far');
      await consolidated(b, ['four']);
      expect(await b.ledger.summaries.read(due, HOW)).toBeNull();
    });

    it('is stored once by two refreshes at the same time', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      const early = expectThere(await b.ledger.summaries.read(due, HOW));
      await consolidated(b, ['four']);
      const late = expectThere(await b.ledger.summaries.read(due, HOW));
      expect(await b.ledger.summaries.store(due, { ...late, summary: 'up to four' })).toEqual({ kind: 'stored' });
      expect(await b.ledger.summaries.store(due, { ...early, summary: 'up to three' })).toEqual({ kind: 'overtaken' });
      expect(await summaryRead(b)).toBe('up to four');
    });

    it('reaches nobody else: not another scope, not by another lane', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      const foreign = { ...due, lane: 'lane_x' as LaneId };
      const basis = expectThere(await b.ledger.summaries.read(due, HOW));
      expect(await b.ledger.summaries.read(foreign, HOW)).toBeNull();
      expect(await b.ledger.summaries.store(foreign, { ...basis, summary: 'x' })).toEqual({ kind: 'overtaken' });
      await refresh(b, due, 'so far');
      expect(await summaryRead(b, 'r1')).toBeNull();
      expect(await summaryRead(b)).toBe('so far');
    });

    it('is read with the least sure of what summaries of its scope were ever made of', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      const basis = expectThere(await b.ledger.summaries.read(due, HOW));
      expect(basis.trust).toBeNull();
      await b.ledger.summaries.store(due, { ...basis, summary: 'so far', trust: 'external' });
      await store(b, { messages: [newMessage(b.tools)] });
      const turn = await nextTurn(b);
      const later = await b.reopened();
      const read = { summary: 'so far', summaryTrust: 'external' };
      expect(await later.thoughts.gather(turn, 0)).toMatchObject(read);
      expect(await later.thoughts.context(turn.lane, turn.scope, 0)).toMatchObject(read);
      await deleteOne(b, turn.lane);
      expect(expectThere(await b.ledger.summaries.read(due, HOW))).toMatchObject({ summary: null, trust: 'external' });
      expect(await b.ledger.thoughts.gather(turn, 0), 'a later try').toMatchObject(read);
    });

    it('is read by a consolidation as it stood at its begin, also on a later try', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      await store(b, { messages: [newMessage(b.tools)] });
      const turn = await nextTurn(b);
      await refresh(b, due, 'so far');
      await fail(b, turn);
      const again = await nextTurn(b);
      expect((await b.ledger.thoughts.gather(again, 0)).summary).toBeNull();
      await apply(b, again);
      expect(await summaryRead(b)).toBe('so far');
    });
  });

  describe('a forgotten summary', () => {
    it('is not read any more, and is due again', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      await refresh(b, due, 'so far');
      await deleteOne(b, due.lane);
      expect(await summaryRead(b)).toBeNull();
      const basis = expectThere(await b.ledger.summaries.read(due, HOW));
      expect(basis.summary).toBeNull();
      expect(textsOf(basis).slice(0, 3)).toEqual(['one', 'two', 'three']);
    });

    it('is not brought back by a refresh that was under way', async () => {
      const b = bench();
      const due = await dueAfter(b, ['one', 'two', 'three']);
      const basis = expectThere(await b.ledger.summaries.read(due, HOW));
      await deleteOne(b, due.lane);
      expect(await b.ledger.summaries.store(due, { ...basis, summary: 'x' })).toEqual({ kind: 'overtaken' });
    });

    it.each(['tried again', 'studied'])('is not read by a consolidation that began with it and is %s', async (how) => {
      const b = bench();
      const due = await dueAfter(b, ['I smoke', 'two', 'three']);
      const smokes = added(b.tools, home(due.lane), { text: 'Smokes' });
      const job = added(b.tools, home(due.lane), { text: 'Works at Acme' });
      await write(b, smokes, job);
      await refresh(b, due, 'smokes');
      await store(b, { messages: [newMessage(b.tools)] });
      const turn = await nextTurn(b);
      if (how === 'tried again') await fail(b, turn);
      else await apply(b, turn, { graph: true });
      const read = async () => (await b.ledger.thoughts.gather(turn, 0)).summary;
      await write(b, deleted(b.tools, job.memory));
      expect(await read(), 'what ended is not forgotten').toBe('smokes');
      await write(b, deleted(b.tools, smokes.memory, { forgets: true }));
      expect(await read()).toBeNull();
    });

    it('comes of a deletion, and is made without the messages behind what was deleted', async () => {
      const b = bench();
      const due = await dueAfter(b, ['I smoke', 'two', 'forget that I smoke']);
      const sources = expectThere(await b.ledger.summaries.read(due, HOW)).messages.map((message) => message.id);
      const lane = await laneOf(b);
      const smokes = added(b.tools, home(lane.id), { text: 'Smokes', sourceIds: sources.slice(0, 1) });
      const other = added(b.tools, home(lane.id), { text: 'Two', sourceIds: sources.slice(1, 2) });
      await write(b, smokes, other);
      await refresh(b, due, 'smokes');
      await write(b, deleted(b.tools, smokes.memory, { sourceIds: sources.slice(2) }));
      expect(await summaryRead(b)).toBeNull();
      const basis = expectThere(await b.ledger.summaries.read(due, HOW));
      expect(textsOf(basis).slice(0, 2)).toEqual(['two', 'forget that I smoke']);
    });
  });

  it('the call that made a summary counts when it is stored, and when another refresh was faster', async () => {
    const b = bench();
    const due = await dueAfter(b, ['one', 'two', 'three']);
    const basis = expectThere(await b.ledger.summaries.read(due, HOW));
    const usage = { promptTokens: 100, completionTokens: 10 };
    const call = () =>
      settledCall(b.tools, { tenant: TENANT, lane: due.lane, consolidationId: '' }, { step: 'summary', usage });
    const stored = [
      await b.ledger.summaries.store(due, { ...basis, summary: 'first', call: call() }),
      await b.ledger.summaries.store(due, { ...basis, summary: 'second', call: call() }),
    ];
    expect(stored).toEqual([{ kind: 'stored' }, { kind: 'overtaken' }]);
    expect(await summaryRead(b)).toBe('first');
    expect(await b.ledger.overview.usage(TENANT)).toMatchObject({
      ...{ calls: 2, failedCalls: 0 },
      ...{ promptTokens: 200, completionTokens: 20 },
    });
  });
}

/** Says some things as user ann and consolidates them. What is said twice is the same message, sent again. */
async function consolidated(b: Bench, texts: readonly string[], runId: string | null = null): Promise<Turn> {
  const messages = texts.map((content) => newMessage(b.tools, { content, clientId: content }));
  await store(b, { scope: scope({ userId: 'ann', runId }), messages });
  const turn = await nextTurn(b);
  await apply(b, turn);
  return turn;
}

const dueAfter = async (b: Bench, texts: readonly string[]): Promise<SummaryRefresh> =>
  expectThere(await summaryDue(b, await consolidated(b, texts), EVERY));

async function refresh(b: Bench, due: SummaryRefresh, summary: string): Promise<void> {
  const basis = expectThere(await b.ledger.summaries.read(due, HOW));
  const extent = {
    from: basis.from ?? basis.messages[0]?.saidAt.seq ?? null,
    count: basis.count + basis.messages.length,
  };
  expect(await b.ledger.summaries.store(due, { ...basis, ...extent, summary })).toEqual({ kind: 'stored' });
}

/** Whatever is deleted: what summaries of its lane say may no longer hold. */
async function deleteOne(b: Bench, lane: LaneId): Promise<void> {
  const one = added(b.tools, home(lane));
  await write(b, one);
  await write(b, deleted(b.tools, one.memory));
}

/** The summary that a next consolidation of the scope reads. */
async function summaryRead(b: Bench, runId: string | null = null): Promise<string | null> {
  await store(b, { scope: scope({ userId: 'ann', runId }), messages: [newMessage(b.tools)] });
  const turn = await nextTurn(b);
  const { summary } = await b.ledger.thoughts.gather(turn, 0);
  await apply(b, turn);
  return summary;
}

const textsOf = (basis: SummaryBasis): unknown[] => basis.messages.map((message) => message.content);

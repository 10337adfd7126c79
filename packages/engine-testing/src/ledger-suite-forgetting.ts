import {
  type LaneId,
  type Memory,
  type MemoryChange,
  type Millis,
  type Statement,
  type Turn,
  withShownQuotes,
} from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, details, heldOperation, home, newMessage, updated } from './builders.ts';
import { graphPlan, heldStudy, relationsOf } from './graph-bench.ts';
import { statementsBy } from './graph-statements.ts';
import { apply, type Bench, claimedBatch, clear, expectKind, hear, TENANT, write } from './ledger-bench.ts';

/** What goes with a memory that is forgotten, and comes back with it. */
export function describeForgetting(bench: () => Bench): void {
  describe('what is forgotten', () => {
    it('takes the words that say it out of its messages, and all of a message that nothing else leans on', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I like tea. I owe Bo ten euros.', 'Bo will not let it rest']);
      const tea = rememberedFrom(b, { turn, ids: ids.slice(0, 1) }, { text: 'Likes tea', quote: 'I like tea' });
      const debt = rememberedFrom(b, { turn, ids }, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      await apply(b, turn, { changes: [tea, debt] });
      await write(b, deleted(b.tools, debt.memory, { forgets: true }));
      expect(await shown(b, ids)).toEqual(['I like tea. [forgotten].', { withheld: 'forgotten' }]);
      const [batch] = await b.ledger.speech.unprojectedIn(turn.lane, 10);
      expect(batch?.messages.map(({ message }) => message.hidden)).toEqual([true, true]);
    });

    it('leaves what only ended where it was said', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I work at Acme']);
      const job = rememberedFrom(b, { turn, ids }, { text: 'Works at Acme', quote: 'I work at Acme' });
      await apply(b, turn, { changes: [job] });
      await write(b, deleted(b.tools, job.memory));
      expect(await shown(b, ids)).toEqual(['I work at Acme']);
      expect(await unindexed(b, turn.lane, 0)).toHaveLength(1); // it is only to be projected
    });

    it('is all there again when the memory is', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I like tea. I owe Bo ten euros.']);
      const debt = rememberedFrom(b, { turn, ids }, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      await apply(b, turn, { changes: [debt] });
      const gone = deleted(b.tools, debt.memory, { forgets: true });
      await write(b, gone);
      expect(await shown(b, ids)).toEqual([{ withheld: 'forgotten' }]);
      await write(b, updated(b.tools, gone.memory, { text: 'Owes Bo ten euros' }));
      expect(await shown(b, ids)).toEqual(['I like tea. I owe Bo ten euros.']);
    });

    it('is in nothing by which what was said beside it is found, also in another batch, until the memory is there again', async () => {
      const b = bench();
      await apply(b, (await heard(b, ['Any debts?'])).turn);
      const { turn, ids } = await heard(b, ['I owe Bo ten euros']);
      const debt = rememberedFrom(b, { turn, ids }, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      await apply(b, turn, { changes: [debt] });
      const { turn: next } = await heard(b, ['He will not let it rest']);
      await apply(b, next);
      await apply(b, (await heard(b, ['I like tea'])).turn);
      const gone = deleted(b.tools, debt.memory, { forgets: true });
      await write(b, gone);
      expect(await toProject(b, turn.lane)).toEqual([
        ['Any debts?', undefined, 3],
        [{ withheld: 'forgotten' }, 'Any debts?', 3],
        ['He will not let it rest', { withheld: 'forgotten' }, 3],
        ['I like tea', 'He will not let it rest', 2],
      ]);
      await hear(b, await b.ledger.speech.unprojectedIn(turn.lane, 10));
      await write(b, updated(b.tools, gone.memory, { text: 'Owes Bo ten euros' }));
      expect(await toProject(b, turn.lane)).toEqual([
        ['Any debts?', undefined, 4],
        ['I owe Bo ten euros', 'Any debts?', 4],
        ['He will not let it rest', 'I owe Bo ten euros', 4],
        ['I like tea', 'He will not let it rest', 3],
      ]);
    });

    it('hides the wish itself, whatever it could delete, and the summary with it', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['Forget that I owe Bo money. I like tea.', 'Forget Bo']);
      const tea = rememberedFrom(b, { turn, ids: ids.slice(0, 1) }, { text: 'Likes tea', quote: 'I like tea' });
      const wishes = [
        { messageId: ids[0] ?? '', quote: 'Forget that I owe Bo money', memoryId: null },
        { messageId: ids[1] ?? '', quote: 'nobody said so', memoryId: null },
      ];
      await apply(b, turn, { changes: [tea], wishes });
      expect(await shown(b, ids)).toEqual(['[forgotten]. I like tea.', { withheld: 'forgotten' }]);
    });

    it('hides a wish while what it is about is hidden, or a person may have it deleted', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I owe Bo ten euros', 'Forget that I owe Bo']);
      const [said = '', asked = ''] = ids;
      const debt = rememberedFrom(b, { turn, ids: [said] }, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      const { id: memoryId } = debt.memory;
      const wishes = [{ messageId: asked, quote: 'Forget that I owe Bo', memoryId }];
      const reviews = [heldOperation(b.tools, { kind: 'DELETE', memoryId, after: null, forgets: true })];
      await apply(b, turn, { changes: [debt], wishes, reviews });
      const hidden = { withheld: 'forgotten' };
      expect(await shown(b, ids)).toEqual(['I owe Bo ten euros', hidden]);
      const now = b.tools.now();
      await b.ledger.reviews.settle(TENANT, reviews[0]?.id ?? '', { state: 'rejected', now });
      expect(await shown(b, ids)).toEqual(['I owe Bo ten euros', 'Forget that I owe Bo']);
      expect(await toProject(b, turn.lane)).toContainEqual(['Forget that I owe Bo', 'I owe Bo ten euros', 3]);

      const would = await b.ledger.memories.leaning(turn.lane, memoryId);
      expect(would.messages.map(({ id }) => id).sort()).toEqual([...ids].sort());
      const gone = deleted(b.tools, debt.memory, { forgets: true });
      await write(b, gone);
      expect(await shown(b, ids)).toEqual([hidden, hidden]);
      await write(b, updated(b.tools, gone.memory, { text: 'Owes Bo ten euros' }));
      expect(await shown(b, ids)).toEqual(['I owe Bo ten euros', 'Forget that I owe Bo']);
    });

    it('is found for decisions on what was said before, and for no later ones', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I owe Bo ten euros']);
      const debt = rememberedFrom(b, { turn, ids }, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      await apply(b, turn, { changes: [debt] });
      b.tools.advance(1_000);
      await write(b, deleted(b.tools, debt.memory, { forgets: true }));
      const entries = await b.ledger.outbox.ofLane(turn.lane, 10);
      await b.ledger.outbox.clear({ seqs: entries.map(({ seq }) => seq), batches: [], from: null }, b.tools.now());
      const now = b.tools.now();
      expect(await unindexed(b, turn.lane, now)).toHaveLength(1);
      expect(await unindexed(b, turn.lane, now + 1)).toEqual([]);
    });

    it('takes the relations that lean on it alone, and brings them back', async () => {
      const b = bench();
      const { lane, memory } = await taughtDebtAndTea(b);
      const before = await everything(b, lane);
      const gone = deleted(b.tools, memory, { forgets: true });
      await write(b, gone);
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea']);
      expect(await b.ledger.graph.statements(lane, { entities: ['Bo'] })).toEqual([]);
      expect(await b.ledger.graph.named(lane, ['bo', 'bobby'])).toEqual([]);
      await write(b, updated(b.tools, gone.memory, { text: memory.versions[0]?.text ?? '' }));
      expect(await everything(b, lane)).toEqual(before);
    });

    it('weakens what others say as well', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const said = { text: 'Ana likes tea', quote: 'likes tea' };
      const first = await taught(b, said, ({ messageIds }) => [holds('Ana likes tea', { messageIds })]);
      const { lane, messageIds } = await taught(b, said, (of) => [holds('Ana likes tea', of)]);
      await write(b, deleted(b.tools, first.memory, { forgets: true }));
      const [left] = await b.ledger.graph.around(lane, { entities: ['Ana'], at: null, limit: 10 });
      expect(left).toMatchObject({ confirmations: 0, messageIds });
    });

    it('takes the quotes that span its words out of relations that stay, and brings them back', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const text = 'I owe Bo ten euros and I like tea. I have a cat.';
      const of = await heard(b, [text]);
      const debt = rememberedFrom(b, of, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      const tea = rememberedFrom(b, of, { text: 'Ana likes tea', quote: 'I like tea' });
      const cat = rememberedFrom(b, of, { text: 'Ana has cat', quote: 'I have a cat' });
      await apply(b, of.turn, { changes: [debt, tea, cat], graph: true });
      const study = await heldStudy(b, of.turn.lane);
      const plan = graphPlan(of.turn.consolidationId, [
        { ...holds('Ana likes tea', { messageIds: of.ids }), quote: 'Bo ten euros  and I like tea' },
        { ...holds('Ana has cat', { messageIds: of.ids }), quote: 'i have a cat' },
      ]);
      expectKind(await b.ledger.graph.apply(study, plan, b.tools.now()), 'applied');
      const quotes = async () => {
        const around = await b.ledger.graph.around(of.turn.lane, { entities: ['Ana'], at: null, limit: 10 });
        return around.map(({ quote }) => quote).sort();
      };
      const all = ['Bo ten euros  and I like tea', 'i have a cat'];
      expect(await quotes()).toEqual(all);
      const gone = deleted(b.tools, debt.memory, { forgets: true });
      await write(b, gone);
      expect(await quotes()).toEqual(['i have a cat', null]);
      const said = await b.ledger.graph.statements(of.turn.lane, { entities: ['Ana'] });
      expect(JSON.stringify(said)).not.toContain('euros');
      await write(b, updated(b.tools, gone.memory, { text: 'Owes Bo ten euros' }));
      expect(await quotes()).toEqual(all);
    });

    it('stays out of the quotes of relations when retention has removed its messages, whatever else is forgotten or comes back', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const of = await heard(b, ['I owe Bo ten euros and I like tea. I have a cat and a dog.']);
      const debt = rememberedFrom(b, of, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      const tea = rememberedFrom(b, of, { text: 'Ana likes tea', quote: 'I like tea' });
      const cat = rememberedFrom(b, of, { text: 'Ana has cat', quote: 'I have a cat' });
      const dog = rememberedFrom(b, of, { text: 'Ana owns dog', quote: 'a dog' });
      await apply(b, of.turn, { changes: [debt, tea, cat, dog], graph: true });
      const study = await heldStudy(b, of.turn.lane);
      const plan = graphPlan(of.turn.consolidationId, [
        { ...holds('Ana likes tea', { messageIds: of.ids }), quote: 'Bo ten euros  and I like tea' },
        { ...holds('Ana owns dog', { messageIds: of.ids }), quote: 'a cat and a dog' },
      ]);
      expectKind(await b.ledger.graph.apply(study, plan, b.tools.now()), 'applied');
      const quotes = async () => {
        const around = await b.ledger.graph.around(of.turn.lane, { entities: ['Ana'], at: null, limit: 10 });
        return around.map(({ quote }) => quote).sort();
      };
      const gone = deleted(b.tools, debt.memory, { forgets: true });
      await write(b, gone);
      expect(await quotes()).toEqual(['a cat and a dog', null]);
      const entries = await b.ledger.outbox.ofLane(of.turn.lane, 100);
      await hear(b, await b.ledger.speech.unprojectedIn(of.turn.lane, 100));
      await clear(
        b,
        entries.map(({ seq }) => seq),
      );
      b.tools.advance(1_000);
      const now = b.tools.now();
      expect(await b.ledger.retention.removeMessages(TENANT, now, { now, limit: 100 })).toBe(1);
      const catGone = deleted(b.tools, cat.memory, { forgets: true });
      await write(b, catGone);
      expect(await quotes(), 'nobody can say what it spans').toEqual([null, null]);
      await write(b, updated(b.tools, gone.memory, { text: 'Owes Bo ten euros' }));
      await write(b, updated(b.tools, catGone.memory, { text: 'Ana has cat' }));
      expect(await quotes()).toEqual([null, null]);
    });

    it('is in no quote of a review that spans its words, until the memory is there again', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I owe Bo ten euros and I like tea. I have a cat.']);
      const of = { turn, ids };
      const debt = rememberedFrom(b, of, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      const cat = rememberedFrom(b, of, { text: 'Has a cat', quote: 'I have a cat' });
      await apply(b, turn, { changes: [debt, cat] });
      const said = ['Bo ten euros and I like tea', 'i have  a cat'];
      const operations = said.map((quote) => heldOperation(b.tools, { sourceIds: ids, details: details({ quote }) }));
      const [first] = operations;
      const repeat = first === undefined ? [] : [{ ...first, fact: 'f9' }];
      const given = operations.map((operation) => ({ ...operation, repeats: repeat }));
      const quotes = async () =>
        (await withShownQuotes(b, TENANT, given)).map(({ details: own, repeats = [] }) =>
          [own, ...repeats.map((one) => one.details)].map((one) => one?.quote),
        );
      const all = said.map((quote) => [quote, said[0]]);
      expect(await quotes()).toEqual(all);
      const gone = deleted(b.tools, debt.memory, { forgets: true });
      await write(b, gone);
      expect(await quotes()).toEqual([
        [null, null],
        [said[1], null],
      ]);
      await write(b, updated(b.tools, gone.memory, { text: 'Owes Bo ten euros' }));
      expect(await quotes()).toEqual(all);
    });

    it('keeps a study from bringing it back that had read its messages before', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const { turn, ids } = await heard(b, ['Ana owes Bo ten euros']);
      const debt = rememberedFrom(b, { turn, ids }, { text: 'Ana owes Bo ten euros', quote: 'Ana owes Bo' });
      await apply(b, turn, { changes: [debt], graph: true });
      const study = await heldStudy(b, turn.lane);
      await write(b, deleted(b.tools, debt.memory, { forgets: true }));
      const plan = graphPlan(turn.consolidationId, [holds('Ana owes Bo', { messageIds: ids })]);
      expectKind(await b.ledger.graph.apply(study, plan, b.tools.now()), 'applied');
      expect(await relationsOf(b, turn.lane)).toEqual([]);
    });
  });
}

export interface Heard {
  readonly turn: Turn;
  readonly ids: readonly string[];
}

/** Messages of user ann, claimed, with their ids. */
export async function heard(b: Bench, texts: readonly string[]): Promise<Heard> {
  const messages = texts.map((content) => newMessage(b.tools, { content }));
  const { turn } = await claimedBatch(b, { messages });
  return { turn, ids: messages.map(({ id }) => id) };
}

interface Words {
  readonly text: string;
  readonly quote: string;
}

export const rememberedFrom = (b: Bench, { turn, ids }: Heard, { text, quote }: Words): MemoryChange =>
  added(b.tools, home(turn.lane), {
    ...{ text, sourceIds: ids, consolidationId: turn.consolidationId, actor: 'consolidation' },
    details: { quote },
  });

interface Taught {
  readonly lane: LaneId;
  readonly memory: Memory;
  readonly messageIds: readonly string[];
}

/** A memory of a message, and the statements of its study. */
async function taught(
  b: Bench,
  words: Words,
  statements: (of: { readonly messageIds: readonly string[] }) => readonly Statement[],
): Promise<Taught> {
  const of = await heard(b, [words.text]);
  const change = rememberedFrom(b, of, words);
  const { lane, consolidationId } = of.turn;
  await apply(b, of.turn, { changes: [change], graph: true });
  const study = await heldStudy(b, lane);
  const plan = graphPlan(consolidationId, statements({ messageIds: of.ids }));
  expectKind(await b.ledger.graph.apply(study, plan, b.tools.now()), 'applied');
  return { lane, memory: change.memory, messageIds: of.ids };
}

/** A debt, with whom it is owed to and how they are called, and what nobody forgets. */
export async function taughtDebtAndTea(b: Bench): Promise<Taught> {
  const { holds, named } = statementsBy(b.tools);
  const debt = await taught(b, { text: 'Ana owes Bo ten euros', quote: 'Ana owes Bo' }, ({ messageIds }) => [
    holds('Ana owes Bo', { messageIds }),
    named('Bo', 'Bobby', { messageIds }),
  ]);
  const tea = { text: 'Ana likes tea', quote: 'likes tea' };
  await taught(b, tea, ({ messageIds }) => [holds('Ana likes tea', { messageIds })]);
  return debt;
}

const unindexed = async (b: Bench, lane: LaneId, forgottenSince: Millis) =>
  (await b.ledger.memories.unindexed(lane, { forgottenSince, textHashes: [] })).memories;

/** What is to be projected of a lane: what was said, what was said before it, and at which revision. */
const toProject = async (b: Bench, lane: LaneId): Promise<readonly unknown[]> =>
  (await b.ledger.speech.unprojectedIn(lane, 10)).flatMap(({ messages, revision }) =>
    messages.map(({ message, before }) => [message.content, before?.content, revision]),
  );

/** What anybody is shown of messages. */
export async function shown(b: Bench, ids: readonly string[]): Promise<readonly unknown[]> {
  const messages = await b.ledger.memories.messages(TENANT, ids);
  return ids.map((id) => messages.get(id)?.content);
}

export const everything = async (b: Bench, lane: LaneId) => ({
  relations: await relationsOf(b, lane),
  statements: await b.ledger.graph.statements(lane, { entities: ['Ana', 'Bo', 'tea'] }),
  names: (await b.ledger.graph.named(lane, ['ana', 'bobby', 'tea'])).map(({ name, aliases }) => [name, aliases]),
});

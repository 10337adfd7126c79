import type { Memory, PendingMessage, Placement, ToldLine } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, confirmed, deleted, details, home, newMessage, scope, updated, user } from './builders.ts';
import {
  ANN,
  apply,
  type Bench,
  claimedBatch,
  expectThere,
  fail,
  laneOf,
  nextTurn,
  OTHER_TENANT,
  project,
  store,
  summaryDue,
  TENANT,
  write,
} from './ledger-bench.ts';

const LIMITS = { messages: 10, longest: 1_000 };
const ANNS = scope();

/** What is read for prompts. */
export function describePresent(bench: () => Bench): void {
  const present = (asked = ANNS, limits = LIMITS) => bench().ledger.present.conversation(TENANT, asked, limits);
  const texts = (pending: readonly PendingMessage[]) => pending.map(({ content }) => content);
  const say = (content: string, given: Parameters<typeof store>[1] = {}) =>
    store(bench(), { messages: [newMessage(bench().tools, { content })], ...given });

  describe('the present conversation', () => {
    it('is nothing where nothing was said', async () => {
      expect(await present()).toEqual({ summary: null, covers: null, pending: [], more: false });
    });

    it('has what waits and what is being consolidated until it is searchable, in the order it was said', async () => {
      const b = bench();
      await say('first');
      const turn = await nextTurn(b);
      await say('second');
      expect(texts((await present()).pending)).toEqual(['first', 'second']);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      expect(texts((await present()).pending)).toEqual(['first', 'second']);
      await project(b);
      const { pending, more } = await present();
      expect(pending).toMatchObject([{ role: 'user', clientId: null, name: null, content: 'second' }]);
      expect(more).toBe(false);
    });

    it('goes by when things were said, not by when they arrived', async () => {
      const b = bench();
      const at = (minutes: number) => b.tools.now() - minutes * 60_000;
      const later = newMessage(b.tools, { content: 'later', at: at(1) });
      await store(b, { messages: [later] });
      await store(b, { messages: [newMessage(b.tools, { content: 'sooner', at: at(5) })] });
      expect(texts((await present()).pending)).toEqual(['sooner', 'later']);
    });

    it('has the newest where there is not room for all, and says so', async () => {
      for (const text of ['one', 'two', 'three']) await say(text);
      const { pending, more } = await present(ANNS, { ...LIMITS, messages: 2 });
      expect({ texts: texts(pending), more }).toEqual({ texts: ['two', 'three'], more: true });
    });

    it('has what is said now before old conversations that are brought in', async () => {
      await say('now');
      await say('old', { priority: 'backfill' });
      expect(texts((await present(ANNS, { ...LIMITS, messages: 1 })).pending)).toEqual(['now']);
      expect(texts((await present()).pending)).toEqual(['now', 'old']);
    });

    it('shows a message that is too long without its content', async () => {
      await say('x'.repeat(2_000));
      await say('short');
      expect(texts((await present()).pending)).toEqual([null, 'short']);
    });

    it('leaves out what came before, what is parked and what was said elsewhere', async () => {
      const b = bench();
      const again = () => ({ messages: [newMessage(b.tools, { content: 'again', clientId: 'm1' })] });
      await store(b, again());
      await store(b, again());
      expect(texts((await present()).pending)).toEqual(['again']);
      // Both together are split first.
      for (let i = 0; i < 2; i += 1) await fail(b, await nextTurn(b), { retryable: false });
      expect((await present()).pending).toEqual([]);
      await say('of bob', { scope: scope({ userId: 'bob' }) });
      await say('of another tenant', { tenant: OTHER_TENANT });
      await say('of a run', { scope: scope({ userId: null, runId: 'ann' }) });
      expect((await present()).pending).toEqual([]);
    });

    it('is narrowed by the other ids', async () => {
      await say('in r1', { scope: scope({ userId: 'ann', runId: 'r1' }) });
      await say('in r2', { scope: scope({ userId: 'ann', runId: 'r2', agentId: 'guide', appId: 'web' }) });
      expect(texts((await present()).pending)).toEqual(['in r1', 'in r2']);
      expect(texts((await present(scope({ userId: 'ann', runId: 'r1' }))).pending)).toEqual(['in r1']);
      expect(texts((await present(scope({ userId: 'ann', agentId: 'guide', appId: 'web' }))).pending)).toEqual([
        'in r2',
      ]);
      expect((await present(scope({ userId: 'ann', agentId: 'other' }))).pending).toEqual([]);
    });

    it('has the newest summary of the scopes that are meant', async () => {
      const b = bench();
      const summarized = async (runId: string, summary: string): Promise<void> => {
        const { turn } = await claimedBatch(b, { scope: scope({ userId: 'ann', runId }) });
        await apply(b, turn);
        const due = expectThere(await summaryDue(b, turn, 1));
        const basis = expectThere(await b.ledger.summaries.read(due, { every: 1, limit: 10 }));
        await b.ledger.summaries.store(due, { ...basis, summary });
      };
      await summarized('r1', 'about r1');
      await summarized('r2', 'about r2');
      expect((await present()).summary).toBe('about r2');
      expect((await present(scope({ userId: 'ann', runId: 'r1' }))).summary).toBe('about r1');
      expect((await present(scope({ userId: 'ann', runId: 'r3' }))).summary).toBeNull();
      expect((await present(scope({ userId: 'bob' }))).summary).toBeNull();
    });
  });

  it('is nothing of an owner from the moment an erasure was asked for', async () => {
    const b = bench();
    await say('hello');
    const lane = await laneOf(b);
    await write(b, added(b.tools, home(lane.id), { text: 'Is called Ann', details: details({ pinned: true }) }));
    await b.ledger.erasures.request(TENANT, lane.owner, { id: 'ers_1', ownerHash: 'h', now: b.tools.now() });
    expect(await present()).toEqual({ summary: null, covers: null, pending: [], more: false });
    expect(await b.ledger.present.profile(TENANT, ANNS, { at: b.tools.now(), limit: 10 })).toEqual([]);
  });

  describe('the profile', () => {
    const lasting = details({ category: 'personal_details' });
    const profile = async (asked = ANNS, how: { at?: number; limit?: number } = {}) => {
      const { ledger, tools } = bench();
      const facts = await ledger.present.profile(TENANT, asked, { at: tools.now(), limit: 10, ...how });
      return facts.map(({ text }) => text);
    };
    const laneId = async () => {
      await store(bench());
      return (await laneOf(bench())).id;
    };

    it('has what is settled, the most settled first, then what is known longest', async () => {
      const b = bench();
      const at = home(await laneId());
      const often = added(b.tools, at, { text: 'Likes tea' });
      await write(b, added(b.tools, at, { text: 'Is called Ann', details: lasting }));
      b.tools.set(b.tools.now() + 1_000);
      await write(b, added(b.tools, at, { text: 'Lives in Oslo', details: lasting }), often);
      await write(b, added(b.tools, at, { text: 'Was in Rome', details: details({ category: 'travel' }) }));
      await write(b, added(b.tools, at, { text: 'Never call at night', details: details({ pinned: true }) }));
      expect(await profile()).toEqual(['Never call at night', 'Is called Ann', 'Lives in Oslo']);
      let { memory } = often;
      for (let i = 0; i < 4; i += 1) {
        const again = confirmed(b.tools, memory);
        await write(b, again);
        memory = again.memory;
      }
      expect(await profile(ANNS, { limit: 2 })).toEqual(['Never call at night', 'Likes tea']);
    });

    it('has what holds, as it was said last', async () => {
      const b = bench();
      const at = home(await laneId());
      const first = added(b.tools, at, { text: 'Lives in Oslo', details: lasting });
      await write(b, first);
      b.tools.set(b.tools.now() + 1_000);
      const moved = updated(b.tools, first.memory, { text: 'Lives in Bergen', details: lasting });
      await write(b, moved);
      const [fact] = await b.ledger.present.profile(TENANT, ANNS, { at: b.tools.now(), limit: 1 });
      expect(fact).toEqual({
        memoryId: first.memory.id,
        version: 2,
        text: 'Lives in Bergen',
        saidAt: { at: b.tools.now(), seq: 2 },
        validFrom: b.tools.now(),
        category: 'personal_details',
        placed: null,
      });
      expect(await profile(ANNS, { at: b.tools.now() - 500 })).toEqual([]);
      await write(b, deleted(b.tools, moved.memory));
      expect(await profile()).toEqual([]);
    });

    it('says where a fact stands, until it reads otherwise or a person takes it out', async () => {
      const b = bench();
      const first = added(b.tools, home(await laneId()), { text: 'Lives in Oslo', details: lasting });
      await write(b, first);
      const facts = () => b.ledger.present.profile(TENANT, ANNS, { at: b.tools.now(), limit: 10 });
      const place = async (memory: Memory, text: string, placed: Placement | null) => {
        const change = updated(b.tools, memory, { text, details: { ...lasting, ...(placed !== null && { placed }) } });
        await write(b, change);
        return change.memory;
      };
      const byNight = { slot: 'home', by: 'night' } as const;
      const placed = await place(first.memory, 'Lives in Oslo', byNight);
      expect(await facts()).toMatchObject([{ placed: byNight }]);
      const moved = await place(placed, 'Lives in Bergen', null);
      expect(await facts()).toMatchObject([{ text: 'Lives in Bergen', placed: null }]);
      const byPerson = { slot: 'home', by: 'person' } as const;
      const again = await place(await place(moved, 'Lives in Bergen', byPerson), 'Lives in Rome', null);
      expect(await facts()).toMatchObject([{ text: 'Lives in Rome', placed: byPerson }]);
      const { present } = await b.reopened();
      expect((await present.profile(TENANT, ANNS, { at: b.tools.now(), limit: 1 }))[0]?.placed).toEqual(byPerson);
      await place(again, 'Lives in Rome', { slot: null, by: 'person' });
      expect(await facts()).toEqual([]);
    });

    it('has what holds until then while what was said last has yet to begin, each with the local time it was said in', async () => {
      const b = bench();
      const [now, then] = [b.tools.now(), b.tools.now() + 86_400_000];
      const inTokyo = { ...lasting, utcOffset: 540 };
      const first = added(b.tools, home(await laneId()), { text: 'Lives in Oslo', details: inTokyo });
      await write(b, first);
      await write(b, updated(b.tools, first.memory, { text: 'Lives in Bergen', details: lasting, validFrom: then }));
      expect(await profile(ANNS, { at: now })).toEqual(['Lives in Oslo']);
      expect(await profile(ANNS, { at: then })).toEqual(['Lives in Bergen']);
      const [fact] = await b.ledger.present.profile(TENANT, ANNS, { at: now, limit: 1 });
      expect(fact).toMatchObject({ version: 1, utcOffset: 540 });
    });

    it('has nothing that has expired, or is of another owner, tenant or run', async () => {
      const b = bench();
      const lane = await laneId();
      const inRun = scope({ userId: 'ann', runId: 'r1' });
      const until = b.tools.now() + 1_000;
      await write(b, added(b.tools, home(lane), { text: 'For now', details: { ...lasting, expiresAt: until } }));
      await write(b, added(b.tools, home(lane, { scope: inRun }), { text: 'Of the run', details: lasting }));
      expect(await profile()).toEqual(['For now', 'Of the run']);
      expect(await profile(ANNS, { at: until })).toEqual(['Of the run']);
      expect(await profile(inRun)).toEqual(['Of the run']);
      expect(await profile(scope({ userId: 'bob' }))).toEqual([]);
      const elsewhere = await b.ledger.present.profile(OTHER_TENANT, ANNS, { at: b.tools.now(), limit: 10 });
      expect(elsewhere).toEqual([]);
    });
  });

  describe('what a conversation was told', () => {
    const line = (memoryId: string, turns = 0): ToldLine => ({ memoryId, version: 1, section: 'memories', turns });
    const tell = (conversation: string, told: readonly ToldLine[], owner = ANN) =>
      bench().ledger.present.tell(TENANT, owner, { conversation, told, now: bench().tools.now() });
    const told = (conversation: string, { owner = ANN, tenant = TENANT } = {}) =>
      bench().ledger.present.told(tenant, owner, conversation);

    it('is what was told last, in its order, also later', async () => {
      const b = bench();
      await store(b);
      expect(await told("c'1")).toEqual([]);
      await tell("c'1", [line('mem_1')]);
      await tell('c2', [line('mem_9')]);
      await tell("c'1", [line('mem_2'), line('mem_1', 3)]);
      expect(await told("c'1")).toEqual([line('mem_2'), line('mem_1', 3)]);
      const { present } = await b.reopened();
      expect(await present.told(TENANT, ANN, 'c2')).toEqual([line('mem_9')]);
    });

    it('is that of one owner alone, and of one who is there', async () => {
      await store(bench());
      await tell('c1', [line('mem_1')]);
      await tell('c1', [line('mem_2')], user('bob'));
      expect(await told('c1', { owner: user('bob') })).toEqual([]);
      expect(await told('c1', { tenant: OTHER_TENANT })).toEqual([]);
      expect(await told('c1')).toEqual([line('mem_1')]);
    });

    it('goes when it is old, some at a time', async () => {
      const b = bench();
      await store(b);
      for (const id of ['c1', 'c2', 'c3']) await tell(id, [line('mem_1')]);
      b.tools.advance(1_000);
      await tell('c3', [line('mem_2')]);
      expect(await b.ledger.present.forgetTold(b.tools.now(), 1)).toBe(1);
      expect(await b.ledger.present.forgetTold(b.tools.now(), 9)).toBe(1);
      expect(await b.ledger.present.forgetTold(b.tools.now(), 9)).toBe(0);
      expect(await told('c3')).toEqual([line('mem_2')]);
    });

    it('goes with its owner', async () => {
      const b = bench();
      await store(b);
      await tell('c1', [line('mem_1')]);
      const { id } = await b.ledger.erasures.request(TENANT, ANN, { id: b.tools.id('ers'), ownerHash: 'h', now: 1 });
      expect(await told('c1')).toEqual([]);
      await tell('c1', [line('mem_1')]);
      while ((await b.ledger.erasures.slice(id, 100)).more);
      await b.ledger.erasures.forgetOwner(id);
      await store(b);
      expect(await told('c1')).toEqual([]);
    });
  });
}

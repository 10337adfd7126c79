import { InvalidCursorError, type Memory, type MemoryChange, ownerOf, type Page, type Scope } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, bitsOf, confirmed, deleted, type Happening, home, retracted, scope, updated } from './builders.ts';
import { ALL, ANN, type Bench, MINUTE, SECOND, TENANT, write } from './ledger-bench.ts';
import { pick, seeded } from './worlds.ts';

export function describeMemories(bench: () => Bench): void {
  describe('an explicit write', () => {
    it('adds a memory and its first event', async () => {
      const b = bench();
      const born = await writeNew(b);
      expect(await b.ledger.memories.get(TENANT, born.memory.id)).toEqual(born.memory);
      expect((await b.ledger.memories.history(TENANT, born.memory.id, ALL)).results).toEqual(born.events);
    });

    it('is refused as a whole when one memory has changed since', async () => {
      const b = bench();
      const [kept, moved] = [await writeNew(b), await writeNew(b)];
      const late = [updated(b.tools, kept.memory), updated(b.tools, moved.memory)];
      await write(b, updated(b.tools, moved.memory, { text: 'Lives in Oslo' }));
      const answer = await b.ledger.memories.write(TENANT, { changes: late, tombstones: [], now: b.tools.now() });
      expect(answer).toEqual({ kind: 'conflict', memoryIds: [moved.memory.id] });
      expect((await b.ledger.memories.get(TENANT, kept.memory.id))?.revision).toBe(1);
      expect(await b.ledger.overview.outbox()).toBe(3);
    });

    it('is refused when it adds a memory that is there', async () => {
      const b = bench();
      const born = await writeNew(b);
      const answer = await b.ledger.memories.write(TENANT, { changes: [born], tombstones: [], now: b.tools.now() });
      expect(answer).toEqual({ kind: 'conflict', memoryIds: [born.memory.id] });
    });

    it('wins alone when several change one memory at the same time', async () => {
      const b = bench();
      const born = await writeNew(b);
      const writes = ['Rome', 'Oslo', 'Bonn'].map((city) =>
        updated(b.tools, born.memory, { text: `Lives in ${city}` }),
      );
      const answers = await Promise.all(
        writes.map((change) =>
          b.ledger.memories.write(TENANT, { changes: [change], tombstones: [], now: b.tools.now() }),
        ),
      );
      expect(answers.map((answer) => answer.kind).sort()).toEqual(['conflict', 'conflict', 'written']);
      expect((await b.ledger.memories.get(TENANT, born.memory.id))?.revision).toBe(2);
    });

    it.each([1, 2, 3])(
      'leaves a memory as its events make it, in whatever order they were said (walk %i)',
      async (seed) => {
        const b = bench();
        const random = seeded(seed);
        let { memory } = await writeNew(b);
        for (let i = 0; i < 40; i += 1) {
          b.tools.advance(SECOND);
          const change = anyChange(b, memory, random);
          await write(b, change);
          memory = change.memory;
          expect(await b.ledger.memories.get(TENANT, memory.id)).toEqual(memory);
        }
      },
    );

    it('finds the lane of an owner, the same each time', async () => {
      const b = bench();
      const lanes = await Promise.all([1, 2].map(() => b.ledger.memories.laneOf(TENANT, ANN, b.tools.now())));
      expect(lanes[0]).toBe(lanes[1]);
      expect(await b.ledger.lanes.find(TENANT, ANN)).toMatchObject({
        id: lanes[0],
        state: 'idle',
        generation: 0,
        dueAt: null,
      });
    });
  });

  describe('the list of memories', () => {
    it('shows what is live, newest first, page by page', async () => {
      const b = bench();
      const ids: string[] = [];
      for (let i = 0; i < 5; i += 1) ids.push((await writeNew(b)).memory.id);
      const gone = await writeNew(b);
      await write(b, deleted(b.tools, gone.memory));
      const first = await b.ledger.memories.list(TENANT, scope(), b.tools.now(), { limit: 3, cursor: null });
      expect(first.results.map((memory) => memory.id)).toEqual(ids.slice(2).reverse());
      const rest = { limit: 3, cursor: first.nextCursor };
      const second = await b.ledger.memories.list(TENANT, scope(), b.tools.now(), rest);
      expect(second.results.map((memory) => memory.id)).toEqual(ids.slice(0, 2).reverse());
      expect(second.nextCursor).toBeNull();
    });

    it('shows a memory that was said again after its deletion', async () => {
      const b = bench();
      const born = await writeNew(b);
      const gone = deleted(b.tools, born.memory);
      await write(b, gone);
      b.tools.advance(SECOND);
      await write(b, updated(b.tools, gone.memory, { text: 'Lives in Berlin again' }));
      expect(await listed(b, scope())).toEqual([born.memory.id]);
    });

    it('leaves out what has expired, but only that', async () => {
      const b = bench();
      const expiresAt = b.tools.now() + MINUTE;
      const brief = await writeNew(b, { details: { expiresAt } });
      const lasting = await writeNew(b);
      expect(await listed(b, scope())).toEqual([lasting.memory.id, brief.memory.id]);
      b.tools.set(expiresAt);
      expect(await listed(b, scope())).toEqual([lasting.memory.id]);
      expect([...(await b.ledger.memories.liveIds(TENANT, scope()))].sort()).toEqual(
        [brief.memory.id, lasting.memory.id].sort(),
      );
    });

    it('belongs to one owner; the other ids of the scope only filter', async () => {
      const b = bench();
      const ids = { userId: 'ann', agentId: 'helper', runId: 'r1', appId: 'shop' };
      const full = await writeNew(b, {}, scope(ids));
      const plain = await writeNew(b, {}, scope());
      const agents = await writeNew(b, {}, scope({ agentId: 'helper' }));
      expect(await listed(b, scope())).toEqual([plain.memory.id, full.memory.id]);
      expect(await listed(b, scope({ userId: 'ann', agentId: 'helper' }))).toEqual([full.memory.id]);
      expect(await listed(b, scope({ userId: 'ann', runId: 'r2' }))).toEqual([]);
      expect(await listed(b, scope({ userId: 'ann', appId: 'shop' }))).toEqual([full.memory.id]);
      expect(await listed(b, scope({ agentId: 'helper' }))).toEqual([agents.memory.id]);
      expect(await b.ledger.memories.liveIds(TENANT, scope({ userId: 'ann', runId: 'r1' }))).toEqual([full.memory.id]);
    });

    it('around a moment has what held then and ended since, but nothing that is forgotten', async () => {
      const b = bench();
      const changed = await writeNew(b);
      const ended = await writeNew(b);
      const forgotten = await writeNew(b);
      const then = b.tools.now();
      b.tools.advance(MINUTE);
      await write(
        b,
        updated(b.tools, changed.memory, { text: 'Lives in Rome' }),
        deleted(b.tools, ended.memory),
        deleted(b.tools, forgotten.memory, { forgets: true }),
      );
      const later = await writeNew(b);
      const around = async (at: number, inScope = scope(), page: Page = ALL) => {
        const { results, nextCursor } = await b.ledger.memories.around(TENANT, { scope: inScope, at }, page);
        return { ids: results.map(({ id }) => id), nextCursor };
      };
      const [first, second, third] = [changed, ended, later].map(({ memory }) => memory.id);
      expect((await around(then)).ids).toEqual([second, first]);
      expect((await around(b.tools.now())).ids).toEqual([third, first]);
      expect((await around(then - MINUTE)).ids).toEqual([]);
      expect((await around(then, scope({ userId: 'ann', runId: 'r2' }))).ids).toEqual([]);
      const page = await around(then, scope(), { limit: 1, cursor: null });
      expect(page.ids).toEqual([second]);
      expect((await around(then, scope(), { limit: 1, cursor: page.nextCursor })).ids).toEqual([first]);
    });

    it('refuses a cursor it never gave out', async () => {
      const b = bench();
      const page = { limit: 2, cursor: 'no cursor at all' };
      await expect(b.ledger.memories.list(TENANT, scope(), b.tools.now(), page)).rejects.toThrow(InvalidCursorError);
    });
  });

  describe('memories by id', () => {
    it('are those that exist, each once', async () => {
      const b = bench();
      const [one, two] = [await writeNew(b), await writeNew(b)];
      const ids = [one.memory.id, 'mem_none', two.memory.id, one.memory.id];
      const found = await b.ledger.memories.many(TENANT, ids);
      expect(found.map((memory) => memory.id).sort()).toEqual([one.memory.id, two.memory.id].sort());
      expect(await b.ledger.memories.many(TENANT, [])).toEqual([]);
      expect(await b.ledger.memories.get(TENANT, 'mem_none')).toBeNull();
    });

    it('can be walked through in order, deleted ones too', async () => {
      const b = bench();
      const [one, two] = [await writeNew(b), await writeNew(b, {}, scope({ userId: 'bob' }))];
      const gone = await writeNew(b);
      await write(b, deleted(b.tools, gone.memory));
      const ids = [one, two, gone].map(({ memory }) => memory.id).sort();
      const first = await b.ledger.memories.every(null, 2);
      const rest = await b.ledger.memories.every(first.at(-1)?.id ?? null, 2);
      expect([...first, ...rest].map((memory) => memory.id)).toEqual(ids);
      expect(await b.ledger.memories.every(ids.at(-1) ?? null, 2)).toEqual([]);
    });
  });

  describe('the history of a memory', () => {
    it('is shown oldest first, page by page', async () => {
      const b = bench();
      let change = await writeNew(b);
      const events = [...change.events];
      for (const city of ['Rome', 'Oslo', 'Bonn']) {
        b.tools.advance(SECOND);
        change = updated(b.tools, change.memory, { text: `Lives in ${city}` });
        await write(b, change);
        events.push(...change.events);
      }
      const { id } = change.memory;
      const first = await b.ledger.memories.history(TENANT, id, { limit: 3, cursor: null });
      expect(first.results).toEqual(events.slice(0, 3));
      const second = await b.ledger.memories.history(TENANT, id, { limit: 3, cursor: first.nextCursor });
      expect(second).toEqual({ results: events.slice(3), nextCursor: null });
    });

    it('is empty for a memory that is not there', async () => {
      const history = await bench().ledger.memories.history(TENANT, 'mem_none', ALL);
      expect(history).toEqual({ results: [], nextCursor: null });
    });
  });
}

/** A new memory a second later, written. */
async function writeNew(b: Bench, given: Happening = {}, inScope: Scope = scope()) {
  b.tools.advance(SECOND);
  const lane = await b.ledger.memories.laneOf(TENANT, ownerOf(inScope), b.tools.now());
  const born = added(b.tools, home(lane, { scope: inScope }), given);
  await write(b, born);
  return born;
}

async function listed(b: Bench, inScope: Scope): Promise<string[]> {
  const { results } = await b.ledger.memories.list(TENANT, inScope, b.tools.now(), ALL);
  return results.map((memory) => memory.id);
}

/** Something said late or in time, a deletion, or an undo of anything before. */
function anyChange({ tools }: Bench, memory: Memory, random: () => number): MemoryChange {
  const dice = random();
  if (dice < 0.2) return retracted(tools, memory, { retracts: [1 + Math.floor(random() * memory.revision)] });
  const at = tools.now() - Math.floor(random() * 20) * SECOND;
  const when = { saidAt: { at, seq: Math.floor(random() * 50) }, validFrom: at - Math.floor(random() * 3) * MINUTE };
  if (dice < 0.35) return deleted(tools, memory, when);
  const said = {
    ...when,
    text: `Lives in ${pick(['Rome', 'Oslo', 'Bonn'], random)}`,
    sourceIds: [tools.id('msg', bitsOf(tools))],
  };
  return (dice < 0.7 ? updated : confirmed)(tools, memory, said);
}

import {
  type LaneId,
  type Memory,
  type MemoryChange,
  type NamedIds,
  ownerOf,
  type Paged,
  type SaidId,
  saidIds,
  type Under,
  type UsedId,
} from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, confirmed, deleted, home, retracted, scope, updated } from './builders.ts';
import { ANN, type Bench, OTHER_TENANT, SECOND, TENANT, write } from './ledger-bench.ts';

/** One more than the index has of a kind. */
const RUNS = 33;

/** Under which ids memories were said. */
export function describeSaidIds(bench: () => Bench): void {
  const annsLane = (b: Bench): Promise<LaneId> => b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());

  /** A memory said in an app, and what the ledger has of its ids. */
  async function said(b: Bench, ids: Partial<Under>) {
    const lane = await annsLane(b);
    const born = added(b.tools, home(lane, { scope: scope({ userId: 'ann', ...ids }) }));
    await write(b, born);
    return { lane, born };
  }

  const under = (ids: Partial<Under>): Under => ({ agentId: null, runId: null, appId: null, ...ids });

  const stored = async (b: Bench, { memory }: MemoryChange): Promise<string[]> =>
    namesOf(await b.ledger.saidIds.of(TENANT, memory.id));

  describe('the ids of a memory', () => {
    it('are those it was said under, with when for the first and the last time', async () => {
      const b = bench();
      const { born } = await said(b, { agentId: 'bot', appId: "we'b" });
      const at = born.events[0]?.saidAt.at ?? 0;
      expect(await stored(b, born)).toEqual([`agent bot ${at}-${at}`, `app we'b ${at}-${at}`]);
      b.tools.advance(SECOND);
      const again = confirmed(b.tools, born.memory, { under: under({ appId: "we'b", runId: 'r1' }) });
      await write(b, again);
      const later = at + SECOND;
      expect(await stored(b, again)).toEqual([
        `agent bot ${at}-${at}`,
        `app we'b ${at}-${later}`,
        `run r1 ${later}-${later}`,
      ]);
      expect(namesOf(await (await b.reopened()).saidIds.of(TENANT, born.memory.id))).toEqual(await stored(b, again));
    });

    it('say when it was said, not when that was heard', async () => {
      const b = bench();
      const { born } = await said(b, { appId: 'web' });
      const at = born.events[0]?.saidAt.at ?? 0;
      const late = confirmed(b.tools, born.memory, {
        under: under({ appId: 'web' }),
        saidAt: { at: at - SECOND, seq: 9 },
      });
      await write(b, late);
      expect(await stored(b, late)).toEqual([`app web ${at - SECOND}-${at}`]);
    });

    it('go with what is undone, and come back with it', async () => {
      const b = bench();
      const { born } = await said(b, { appId: 'web' });
      b.tools.advance(SECOND);
      const shop = under({ appId: 'shop' });
      const again = updated(b.tools, born.memory, { under: shop, text: 'Lives in Rome' });
      await write(b, again);
      const both = await stored(b, again);
      const undone = retracted(b.tools, again.memory, { retracts: [2] });
      await write(b, undone);
      expect(await stored(b, undone)).toEqual(await stored(b, born));
      expect(await stored(b, undone)).toHaveLength(1);
      const redone = retracted(b.tools, undone.memory, { retracts: [3] });
      await write(b, redone);
      expect(await stored(b, redone)).toEqual(both);
    });

    it('stay as they are where the memory is changed or deleted by nobody in particular', async () => {
      const b = bench();
      const { born } = await said(b, { appId: 'web' });
      const before = await stored(b, born);
      b.tools.advance(SECOND);
      const changed = updated(b.tools, born.memory, { text: 'Lives in Rome' });
      await write(b, changed);
      const gone = deleted(b.tools, changed.memory);
      await write(b, gone);
      expect(await stored(b, gone)).toEqual(before);
    });

    it('are nobody else’s', async () => {
      const b = bench();
      const { born } = await said(b, { appId: 'web' });
      expect(await b.ledger.saidIds.of(OTHER_TENANT, born.memory.id)).toEqual([]);
      expect(await b.ledger.saidIds.of(TENANT, 'mem_nobody')).toEqual([]);
    });

    it('that the index has no room for are found by the ledger, the oldest ones', async () => {
      const b = bench();
      const { lane, born } = await said(b, { runId: 'r0', appId: 'r0' });
      let last: MemoryChange = born;
      for (let i = 1; i < RUNS; i += 1) {
        b.tools.advance(SECOND);
        last = confirmed(b.tools, last.memory, { under: under({ runId: `r${i}` }) });
        await write(b, last);
      }
      const beyond = (ledgers: Bench['ledger'], ...runs: string[]) =>
        ledgers.saidIds.beyondIndex(
          lane,
          runs.map((id) => ({ kind: 'run' as const, id })),
        );
      const first = { kind: 'run', id: 'r0', memoryId: born.memory.id };
      expect(await beyond(b.ledger, 'r0', 'r1', 'r32', 'nobody')).toEqual([first]);
      expect(await b.ledger.saidIds.beyondIndex(lane, [{ kind: 'app', id: 'r0' }])).toEqual([]);
      expect(await b.ledger.saidIds.beyondIndex('lane_other' as LaneId, [{ kind: 'run', id: 'r0' }])).toEqual([]);
      expect(await b.ledger.saidIds.beyondIndex(lane, [])).toEqual([]);
      b.tools.advance(SECOND);
      last = confirmed(b.tools, last.memory, { under: under({ runId: 'r0' }) });
      await write(b, last);
      expect(await beyond(b.ledger, 'r0', 'r1')).toEqual([{ ...first, id: 'r1' }]);
      expect(await b.ledger.saidIds.of(TENANT, born.memory.id)).toHaveLength(RUNS + 1);
      expect(await stored(b, last)).toEqual(namesOf(saidIds(last.memory)));
    });
  });

  describe('an id', () => {
    /** Written for ann, for bob, and by an agent for itself. */
    async function spread(b: Bench) {
      const owners = [{ userId: 'ann' }, { userId: 'bob' }, { agentId: 'bot' }];
      const born: MemoryChange[] = [];
      for (const owner of owners) {
        const of = scope({ ...owner, runId: 'r1' });
        const lane = await b.ledger.memories.laneOf(TENANT, ownerOf(of), b.tools.now());
        const one = added(b.tools, home(lane, { scope: of }));
        await write(b, one);
        born.push(one);
        b.tools.advance(SECOND);
      }
      return born;
    }

    const found = async (b: Bench, named: NamedIds, tenant = TENANT) => {
      const asked = { named, now: b.tools.now() };
      const ids: string[] = [];
      for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
        const page: Paged<Memory> = await b.ledger.saidIds.memories(tenant, asked, { limit: 2, cursor });
        ids.push(...page.results.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      return ids;
    };

    const used = async (b: Bench, tenant = TENANT) => {
      const names: string[] = [];
      for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
        const page: Paged<UsedId> = await b.ledger.saidIds.list(tenant, { limit: 1, cursor });
        names.push(...page.results.map(({ kind, id, memories }) => `${kind} ${id} ${memories}`));
        cursor = page.nextCursor;
      }
      return names;
    };

    it('leads to the memories of all owners that were said under it, page by page', async () => {
      const b = bench();
      const born = await spread(b);
      const ids = born.map(({ memory }) => memory.id).sort();
      expect(await found(b, { runId: 'r1' })).toEqual(ids);
      expect(await found(b, { runId: 'r1', agentId: 'bot' })).toEqual([born[2]?.memory.id]);
      expect(await found(b, { runId: 'r1', appId: 'web' })).toEqual([]);
      expect(await found(b, { runId: 'r1' }, OTHER_TENANT)).toEqual([]);
      await expect(found(b, {})).rejects.toThrow('none');
    });

    it('is listed with how many memories hold under it, and when it was said', async () => {
      const b = bench();
      const [first, , last] = await spread(b);
      expect(await used(b)).toEqual(['agent bot 1', 'run r1 3']);
      expect(await used(b, OTHER_TENANT)).toEqual([]);
      const { results } = await b.ledger.saidIds.list(TENANT, { limit: 9, cursor: null });
      const [from, to] = [first?.events[0]?.saidAt.at, last?.events[0]?.saidAt.at];
      expect(results[1]).toEqual({ kind: 'run', id: 'r1', memories: 3, first: from, last: to });
    });

    it('leads to nothing that was deleted, undone or is being erased, or has expired', async () => {
      const b = bench();
      const [anns, bobs, bots] = await spread(b);
      if (!anns || !bobs || !bots) throw new Error('three were written');
      await write(b, deleted(b.tools, anns.memory));
      await write(b, retracted(b.tools, bobs.memory, { retracts: [1] }));
      expect(await found(b, { runId: 'r1' })).toEqual([bots.memory.id]);
      await b.ledger.erasures.request(TENANT, bots.memory.owner, { id: 'ers_1', ownerHash: 'h', now: b.tools.now() });
      expect([await found(b, { runId: 'r1' }), await used(b)]).toEqual([[], []]);
      const soon = added(b.tools, home(await annsLane(b), { scope: scope({ userId: 'ann', runId: 'r1' }) }), {
        details: { expiresAt: b.tools.now() + SECOND },
      });
      await write(b, soon);
      expect(await found(b, { runId: 'r1' })).toEqual([soon.memory.id]);
      b.tools.advance(2 * SECOND);
      expect(await found(b, { runId: 'r1' })).toEqual([]);
    });
  });
}

const namesOf = (ids: readonly SaidId[]): string[] =>
  ids.map(({ kind, id, first, last, indexed }) => `${kind} ${id} ${first}-${last}${indexed ? '' : ' beyond'}`).sort();

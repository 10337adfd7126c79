import { join } from 'node:path';
import {
  type ColdDeps,
  coolOwner,
  DEFAULT_TENANT,
  deleteSegment,
  eraseOwner,
  type LaneId,
  type Ledger,
  requestErasure,
  type SearchIndex,
  type SegmentStore,
  type StoredLedger,
  sweepCold,
  sweepOutbox,
  terms,
  wakeOwner,
} from '@slowwave/engine';
import {
  createMemoryIndex,
  type EngineBench,
  expectConserved,
  NEVER,
  newBatch,
  scope,
  user,
} from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { folderObjects } from '../src/cold/objects.ts';
import { indexInPlace, ledgerInPlace, openSegment, readingInPlace } from '../src/cold/opened.ts';
import { segmentsIn } from '../src/cold/segments.ts';
import { COOLING } from '../src/ledger/cold.ts';
import { openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';
import { MARKER, twoLives } from './erased-life.ts';
import { type LedgerServer, ledgerServer } from './postgres-ledger-fixture.ts';
import { linesOf } from './travelling.ts';

const OWNER = user(`${MARKER}-user`);
const LONG_AGO = Number.MAX_SAFE_INTEGER;
const HOW = { afterMs: null, keepMs: 0 };
const LATER_MS = 2 * 3_600_000;

let folder: TempDir;
let server: LedgerServer;
let files = 0;

function newName(end: string): string {
  files += 1;
  return `${files}${end}`;
}

beforeAll(async () => {
  folder = await tempDir();
  server = await ledgerServer();
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

const LEDGERS: Readonly<Record<string, () => Promise<StoredLedger>>> = {
  SQLite: () => openSqliteLedger({ path: join(folder.path, newName('.db')), tools: systemTools }),
  PostgreSQL: async () => {
    await server.empty();
    return server.open();
  },
};

describe.each(Object.entries(LEDGERS))('owners that sleep, on %s', (_dialect, open) => {
  let ledger: StoredLedger;
  let index: SearchIndex;
  let bench: EngineBench;
  let segments: SegmentStore;
  let deps: ColdDeps;
  let lane: LaneId;

  const live = async (): Promise<void> => {
    ledger = await open();
    index = createMemoryIndex();
    bench = await twoLives({ ledger, index }, { posts: 20 });
    for (let more = 1; more > 0; ) more = await sweepOutbox(bench.deps, NEVER);
    bench.tools.advance(LATER_MS);
    await bench.run();
    const { results } = await ledger.reviews.list(DEFAULT_TENANT, {}, { limit: 100, cursor: null });
    for (const { id } of results) {
      const settlement = { state: 'rejected', now: bench.tools.now() } as const;
      await ledger.reviews.settle(DEFAULT_TENANT, id, settlement);
    }
    segments = segmentsIn(folderObjects(join(folder.path, newName('-segments'))));
    deps = { ...bench.deps, cold: ledger.cold, bundles: ledger.bundles, segments };
    const found = await ledger.lanes.find(DEFAULT_TENANT, OWNER);
    lane = found?.id as LaneId;
  };

  const cool = () => coolOwner(deps, { tenant: DEFAULT_TENANT, owner: OWNER, lane }, NEVER);
  const objects = async () => (await segments.list(null, 10)).map(({ name }) => name);
  const nameOf = async (): Promise<string> => (await ledger.lanes.get(lane))?.cold ?? '';
  const found = async (from: { index: SearchIndex; ledger: Ledger } = { index, ledger }) => {
    const asked = { tenant: DEFAULT_TENANT, owner: OWNER, lane, filter: {}, where: null, wide: true, limit: 20 };
    const visibility = { kind: 'live', now: bench.tools.now() } as const;
    const vector = new Float32Array(64).map((_, i) => Math.sin(i));
    const shelves = ['memories', 'messages', 'entities', 'relations'] as const;
    const hits = await from.index.search(
      shelves.map((shelf) => ({ ...asked, visibility, vector, terms: terms(`fact ${MARKER} changed`), shelf })),
    );
    const ids = hits.flat().map(({ point }) => point.memoryId);
    const memories = await from.ledger.memories.many(DEFAULT_TENANT, ids);
    const profile = await from.ledger.present.profile(DEFAULT_TENANT, scope({ userId: OWNER.id }), {
      at: bench.tools.now(),
      limit: 20,
    });
    // Whatever comes back begins its revisions anew.
    return JSON.parse(
      JSON.stringify({
        hits: hits.map((of) => of.map(({ point: { revision: __, ...point }, ...hit }) => ({ ...hit, point }))),
        memories,
        profile,
      }),
    );
  };

  describe('and wake as they were', () => {
    beforeAll(live, 120_000);

    it('answer as before while they sleep, and are the same when they woke', async () => {
      const [before, lines] = [await found(), await linesOf(ledger, OWNER)];
      expect(before.hits[0].length).toBeGreaterThan(5);
      expect(await cool()).toMatchObject({ kind: 'cooled' });
      expect(await index.count(DEFAULT_TENANT)).toBeGreaterThan(0);
      for (const { pick } of COOLING) expect(pick).toContain('lane');
      expect((await found()).hits.flat()).toEqual([]);
      await expectConserved(ledger, DEFAULT_TENANT);
      const [segment] = await ledger.cold.list(DEFAULT_TENANT, null, 1);
      if (segment === undefined) throw new Error('expected a segment');
      const content = await segments.get(segment.name);
      if (content === null) throw new Error('expected its object');
      const opened = openSegment(segment, content, systemTools);
      const asleep = { index: indexInPlace(index), ledger: ledgerInPlace(ledger, { wake: async () => {} }) };
      expect(await readingInPlace(opened, () => found(asleep))).toEqual(before);
      expect(await wakeOwner(deps, segment.name, NEVER)).toBe(true);
      expect(await linesOf(ledger, OWNER)).toEqual(lines);
      expect(await found()).toEqual(before);
      expect(await ledger.outbox.ofLane(lane, 10)).toEqual([]);
      await expectConserved(ledger, DEFAULT_TENANT);
      await sweepCold(deps, HOW, NEVER);
      expect(await objects()).toEqual([]);
    });

    it('lose nothing, double nothing and leave nothing, wherever whoever lays them down dies', async () => {
      const [before, lines] = [await found(), await linesOf(ledger, OWNER)];
      const asked = { tenant: DEFAULT_TENANT, owner: OWNER, lane };
      for (let dies = 1, died = true; died; dies += 1) {
        died = await diesAt(dies, deps, (mortal) => coolOwner(mortal, asked, NEVER));
        bench.tools.advance(LATER_MS);
        // Somebody asks for it before the sweep comes, and has it; or nobody does.
        if (dies % 2 === 1) {
          await wakeOwner(deps, await nameOf(), NEVER);
          expect(await nameOf(), `after call ${dies}`).toBe('');
        }
        await sweepCold(deps, HOW, NEVER);
        const name = await nameOf();
        expect(await objects()).toEqual([name].filter((one) => one !== ''));
        await wakeOwner(deps, name, NEVER);
        expect(await linesOf(ledger, OWNER), `after call ${dies}`).toEqual(lines);
        expect(await found()).toEqual(before);
      }
    });

    it('lose nothing, double nothing and leave nothing, wherever whoever wakes them dies', async () => {
      const [before, lines] = [await found(), await linesOf(ledger, OWNER)];
      for (let dies = 1, died = true; died; dies += 1) {
        expect(await cool()).toMatchObject({ kind: 'cooled' });
        const name = await nameOf();
        const few = { ...deps, linesAtOnce: 200 };
        died = await diesAt(dies, few, (mortal) => wakeOwner(mortal, name, NEVER));
        bench.tools.advance(LATER_MS);
        // Somebody asks for it, or nobody does for a while.
        await (dies % 2 === 0 ? sweepCold(deps, HOW, NEVER) : wakeOwner(deps, name, NEVER));
        await wakeOwner(deps, name, NEVER);
        expect(await linesOf(ledger, OWNER), `after call ${dies}`).toEqual(lines);
        expect(await found()).toEqual(before);
        await expectConserved(ledger, DEFAULT_TENANT);
        await sweepCold(deps, HOW, NEVER);
        expect(await objects()).toEqual([]);
      }
    });

    it('take only the lines that were missing when whoever woke them died', async () => {
      const lines = await linesOf(ledger, OWNER);
      await cool();
      const name = await nameOf();
      const given: [number, number][] = [];
      const bundles: ColdDeps['bundles'] = {
        ...ledger.bundles,
        take: async (id, from, some) => {
          given.push([from, some.length]);
          const taken = await ledger.bundles.take(id, from, some);
          if (given.length === 2) throw new Died();
          return taken;
        },
      };
      const few = { ...deps, bundles, linesAtOnce: Math.ceil(lines.length / 4) };
      await expect(wakeOwner(few, name, NEVER)).rejects.toThrow(Died);
      expect(await wakeOwner(few, name, NEVER)).toBe(true);
      expect(await linesOf(ledger, OWNER)).toEqual(lines);
      let next = 0;
      for (const [from, count] of given) {
        expect(from, 'where the one before ended').toBe(next);
        next += count;
      }
    });

    it('are listed, and what is posted for them waits until they woke', async () => {
      const owners = () => ledger.overview.owners(DEFAULT_TENANT, { limit: 10, cursor: null });
      const before = await owners();
      await cool();
      expect(await owners()).toEqual(before);
      expect(await ledger.overview.ownerCount(DEFAULT_TENANT)).toBe(before.results.length);
      await expect(bench.post(['new: yes'], { userId: OWNER.id })).rejects.toThrow('the owner sleeps');
      const wake = async () => void (await wakeOwner(deps, await nameOf(), NEVER));
      const waking = ledgerInPlace(ledger, { wake });
      const batch = newBatch(systemTools, { scope: scope({ userId: OWNER.id }) });
      const answer = await waking.batches.append(batch, { tokens: 1_000, idleMs: 1_000, maxAgeMs: 1_000 });
      expect(answer.kind).toBe('stored');
      expect(await nameOf()).toBe('');
    });
  });

  describe('and do not wake as they were, or not at all', () => {
    beforeEach(live, 120_000);

    it('stay awake while something is left to do, or is written meanwhile', async () => {
      const put: SegmentStore['put'] = async (...given) => {
        await bench.post(['late: yes'], { userId: OWNER.id });
        return segments.put(...given);
      };
      expect(
        await coolOwner(
          { ...deps, segments: { ...segments, put } },
          { tenant: DEFAULT_TENANT, owner: OWNER, lane },
          NEVER,
        ),
      ).toEqual({
        kind: 'kept',
      });
      expect(await cool()).toEqual({ kind: 'kept' });
      await bench.run();
      await sweepCold(deps, HOW, NEVER);
      expect(await objects()).toEqual([]);
      expect(await cool()).toMatchObject({ kind: 'cooled' });
    });

    it('are erased where they are, whatever is just done with them', async () => {
      const states: readonly (() => Promise<unknown>)[] = [
        cool,
        () => diesAt(3, deps, (mortal) => coolOwner(mortal, { tenant: DEFAULT_TENANT, owner: OWNER, lane }, NEVER)),
        async () => {
          await cool();
          const name = await nameOf();
          await diesAt(2, deps, (mortal) => wakeOwner(mortal, name, NEVER));
        },
      ];
      for (const [i, reach] of states.entries()) {
        if (i > 0) {
          await bench.post([`fact ${i}: ${MARKER} again`], { userId: OWNER.id });
          await bench.run();
          lane = (await ledger.lanes.find(DEFAULT_TENANT, OWNER))?.id as LaneId;
        }
        await reach();
        const { id } = await requestErasure(bench.deps, DEFAULT_TENANT, OWNER);
        const erasing = {
          erase: async (of: LaneId, erasure: string) => {
            for (const name of await ledger.cold.ofLane(of)) await deleteSegment(deps, name, erasure);
          },
          remains: async () => ['the bucket has versions'],
        };
        const queue = { erase: async () => {}, forgetLane: async () => {} };
        expect(
          await eraseOwner({ ...bench.deps, ledger, queue, settleMs: 0, segments: erasing })(id, NEVER),
        ).toBeNull();
        const { state, remains, counts } = (await ledger.erasures.get(DEFAULT_TENANT, id)) ?? {};
        expect({ state, segments: counts?.segments }).toEqual({ state: 'erased', segments: 1 });
        expect(remains).toContain('the bucket has versions');
        expect(await objects()).toEqual([]);
        expect(await ledger.lanes.get(lane)).toBeNull();
        await expectConserved(ledger, DEFAULT_TENANT);
      }
    });

    it('wake when retention has something to do, and not before', async () => {
      await cool();
      await ledger.settings.put(DEFAULT_TENANT, {
        ...(await ledger.settings.get(DEFAULT_TENANT)),
        retention: { messagesDays: 10, plansDays: null, historyDays: null, forgottenDays: null },
      });
      bench.tools.advance(2 * 86_400_000);
      await sweepCold(deps, HOW, NEVER);
      expect(await nameOf()).not.toBe('');
      bench.tools.advance(20 * 86_400_000);
      await sweepCold(deps, HOW, NEVER);
      expect(await nameOf()).toBe('');
    });

    it('are found by the time since something was written', async () => {
      const idle = async (before: number) =>
        (await ledger.cold.idle(before, null, 10)).map(({ owner }) => owner.id).sort();
      expect(await idle(LONG_AGO)).toEqual([OWNER.id, 'bob'].sort());
      expect(await idle(1)).toEqual([]);
      const now = systemTools.now() + LATER_MS;
      expect(await idle(now)).toContain(OWNER.id);
      await cool();
      expect(await idle(now)).toEqual(['bob']);
      bench.tools.advance(10 * 365 * 86_400_000);
      await wakeOwner(deps, await nameOf(), NEVER);
      expect(await idle(now)).toEqual(['bob']);
    });
  });
});

class Died extends Error {}

/** Whether the work died just after the nth thing that it does to a store: what it leaves is what it would leave just before the next. */
async function diesAt(nth: number, deps: ColdDeps, work: (deps: ColdDeps) => Promise<unknown>): Promise<boolean> {
  let calls = 0;
  const mortal = <S extends object>(store: S, methods: readonly (keyof S)[]): S => ({
    ...store,
    ...Object.fromEntries(
      methods.map((name) => [
        name,
        async (...given: unknown[]) => {
          calls += 1;
          const dies = calls === nth;
          const answer = await (store[name] as (...given: unknown[]) => Promise<unknown>)(...given);
          if (dies) throw new Died();
          return answer;
        },
      ]),
    ),
  });
  try {
    await work({
      ...deps,
      cold: mortal(deps.cold, ['note', 'cool', 'slice', 'wake', 'woken', 'restore']),
      bundles: mortal(deps.bundles, ['take']),
      segments: mortal(deps.segments, ['put', 'get']),
      index: mortal(deps.index, ['upsert', 'forget']),
    });
    return false;
  } catch (error) {
    if (error instanceof Died) return true;
    throw error;
  }
}

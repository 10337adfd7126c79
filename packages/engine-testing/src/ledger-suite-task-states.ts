import { type LaneId, type NewTaskVersion, type RunPlace, TASK_VERSIONS_KEPT, type TaskState } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { bitsOf, user } from './builders.ts';
import { ALL, ANN, type Bench, expectKind, MINUTE, OTHER_TENANT, TENANT } from './ledger-bench.ts';

export function describeTaskStates(bench: () => Bench): void {
  describe('the state of a run', () => {
    it('has versions that follow each other, and comes back as it was written', async () => {
      const b = bench();
      const place = await runOf(b);
      expect(await b.ledger.taskStates.get(place)).toBeNull();
      const document = {
        goal: 'Book a flight 🛫',
        steps: [{ id: 'a', title: 'Search', state: 'running' }],
        data: { n: 1.5 },
      };
      const first = await written(b, place, { document, appId: 'shop' });
      expect(first).toEqual({
        ...{ ...place, owner: ANN, appId: 'shop', version: 1, document },
        ...{ createdAt: b.tools.now(), writtenAt: b.tools.now(), endedAt: null, paused: false },
      });
      b.tools.advance(MINUTE);
      const second = await written(b, place, { expected: 1, document: { goal: 'Book a train' }, appId: 'other' });
      expect(second).toMatchObject({ version: 2, appId: 'shop', createdAt: first.createdAt, writtenAt: b.tools.now() });
      expect(await b.ledger.taskStates.get(place)).toEqual(second);
      expect((await b.ledger.taskStates.history(place, ALL)).results).toEqual([second, first]);
    });

    it('is not written over what the writer has not read', async () => {
      const b = bench();
      const place = await runOf(b);
      expect(await write(b, place, { expected: 1 })).toEqual({ kind: 'conflict', state: null });
      const state = await written(b, place);
      for (const expected of [0, 2]) {
        expect(await write(b, place, { expected })).toEqual({ kind: 'conflict', state });
      }
      expect(await b.ledger.taskStates.get(place)).toEqual(state);
    });

    it('loses no change of writers who all read and write at once', async () => {
      const b = bench();
      const place = await runOf(b);
      const writers = Array.from({ length: 6 }, async (_, writer) => {
        for (let turn = 0; turn < 5; ) {
          const state = await b.ledger.taskStates.get(place);
          const before = (state?.document.done ?? []) as string[];
          const document = { done: [...before, `${writer}-${turn}`] };
          const answer = await write(b, place, { expected: state?.version ?? 0, document });
          if (answer.kind === 'written') turn += 1;
        }
      });
      await Promise.all(writers);
      const state = await b.ledger.taskStates.get(place);
      const done = (state?.document.done ?? []) as string[];
      expect(state?.version).toBe(30);
      expect(new Set(done).size).toBe(30);
      for (let writer = 0; writer < 6; writer += 1) {
        const own = done.filter((one) => one.startsWith(`${writer}-`));
        expect(own).toEqual([0, 1, 2, 3, 4].map((turn) => `${writer}-${turn}`));
      }
      const { results } = await b.ledger.taskStates.history(place, ALL);
      expect(results.map(({ version }) => version)).toEqual(Array.from({ length: 30 }, (_, i) => 30 - i));
    });

    it('is written once under one key, however often it is sent', async () => {
      const b = bench();
      const place = await runOf(b);
      const key = { key: 'k1', bodyHash: 'h1' };
      const first = await written(b, place, { key });
      await written(b, place, { expected: 1, document: { goal: 'later' } });
      expect(await write(b, place, { key })).toEqual({ kind: 'written', state: first, repeated: true });
      expect(await write(b, place, { key: { ...key, bodyHash: 'h2' } })).toEqual({ kind: 'key_used' });
      expect(await b.ledger.taskStates.get(place)).toMatchObject({ version: 2 });
    });

    it('is news of its owner once it ends, and says for good that some of it was written in a pause', async () => {
      const b = bench();
      const place = await runOf(b);
      const dueIn = () => b.ledger.nights.due(TENANT, { quietSince: b.tools.now(), now: b.tools.now(), limit: 5 });
      const night = { id: b.tools.id('con', bitsOf(b.tools, ANN)), now: b.tools.now(), holdMs: MINUTE };
      const claim = expectKind(await b.ledger.nights.claim(place.lane, night), 'claimed');
      await b.ledger.nights.end(claim.night, {
        ...{ seen: [], nextAt: null, now: b.tools.now(), outcome: { kind: 'rests', refused: 0 } },
      });
      b.tools.advance(MINUTE);
      await b.ledger.lanes.pause(place.lane, { paused: true, now: b.tools.now() });
      expect(await written(b, place)).toMatchObject({ paused: true });
      await b.ledger.lanes.pause(place.lane, { paused: false, now: b.tools.now() });
      expect(await dueIn()).toEqual([]);
      expect(await written(b, place, { expected: 1, ends: true })).toMatchObject({ paused: true });
      expect(await dueIn()).toEqual([place.lane]);
    });

    it('ends once, and nothing comes after it', async () => {
      const b = bench();
      const place = await runOf(b);
      await written(b, place);
      const ended = await written(b, place, { expected: 1, ends: true });
      expect(ended.endedAt).toBe(b.tools.now());
      expect(await write(b, place, { expected: 2 })).toEqual({ kind: 'ended', state: ended });
      await written(b, { ...place, runId: 'another' });
      const list = async (filter: { ended?: boolean }) =>
        (await b.ledger.taskStates.list(TENANT, { lane: place.lane, ...filter }, ALL)).results.map(
          ({ runId }) => runId,
        );
      expect(await list({ ended: true })).toEqual(['run']);
      expect(await list({ ended: false })).toEqual(['another']);
      expect((await list({})).toSorted()).toEqual(['another', 'run']);
    });

    it('keeps its newest versions alone', async () => {
      const b = bench();
      const place = await runOf(b);
      for (let version = 0; version < TASK_VERSIONS_KEPT + 3; version += 1)
        await written(b, place, { expected: version, document: { version } });
      const first = await b.ledger.taskStates.history(place, { limit: 150, cursor: null });
      const rest = await b.ledger.taskStates.history(place, { limit: 150, cursor: first.nextCursor });
      const versions = [...first.results, ...rest.results].map(({ version }) => version);
      expect(versions).toHaveLength(TASK_VERSIONS_KEPT);
      expect([versions[0], versions.at(-1)]).toEqual([TASK_VERSIONS_KEPT + 3, 4]);
      expect(rest.nextCursor).toBeNull();
    });

    it('is of one owner and tenant, and goes with the owner', async () => {
      const b = bench();
      const place = await runOf(b);
      const other = await runOf(b, 'bob');
      await written(b, place);
      const bobs = await written(b, other);
      expect(await b.ledger.taskStates.get({ ...place, tenant: OTHER_TENANT })).toBeNull();
      expect(await write(b, { ...place, tenant: OTHER_TENANT }, { expected: 1 })).toEqual({ kind: 'erased' });
      const id = b.tools.id('ers');
      await b.ledger.erasures.request(TENANT, ANN, { id, ownerHash: 'hash', now: b.tools.now() });
      expect(await b.ledger.taskStates.get(place)).toBeNull();
      expect((await b.ledger.taskStates.history(place, ALL)).results).toEqual([]);
      expect(await write(b, place, { expected: 1 })).toEqual({ kind: 'erased' });
      for (let slices = 0; (await b.ledger.erasures.slice(id, 10)).more; slices += 1) expect(slices).toBeLessThan(100);
      expect((await b.ledger.erasures.get(TENANT, id))?.counts).toMatchObject({ task_states: 1 });
      expect(await b.ledger.taskStates.get(other)).toEqual(bobs);
    });

    it('is dropped once it ended long ago', async () => {
      const b = bench();
      const [old, young, open] = await Promise.all(['old', 'young', 'open'].map((runId) => runOf(b, 'ann', runId)));
      if (old === undefined || young === undefined || open === undefined) throw new Error('three runs');
      await written(b, old);
      await written(b, open);
      await written(b, old, { expected: 1, ends: true });
      b.tools.advance(MINUTE);
      const before = b.tools.now();
      await written(b, young, { ends: true });
      expect(await b.ledger.taskStates.drop(OTHER_TENANT, before, 10)).toBe(0);
      expect(await b.ledger.taskStates.drop(TENANT, before, 10)).toBe(1);
      expect(await b.ledger.taskStates.drop(TENANT, before, 10)).toBe(0);
      expect((await b.ledger.taskStates.history(old, ALL)).results).toEqual([]);
      expect(await b.ledger.taskStates.get(young)).not.toBeNull();
      expect(await b.ledger.taskStates.get(open)).not.toBeNull();
    });
  });
}

async function runOf(b: Bench, userId = 'ann', runId = 'run'): Promise<RunPlace> {
  const lane: LaneId = await b.ledger.memories.laneOf(TENANT, user(userId), b.tools.now());
  return { tenant: TENANT, lane, runId };
}

const write = (b: Bench, place: RunPlace, given: Partial<NewTaskVersion> = {}) =>
  b.ledger.taskStates.write({
    ...{ appId: null, expected: 0, document: {}, ends: false, key: null, now: b.tools.now() },
    ...place,
    ...given,
  });

async function written(b: Bench, place: RunPlace, given: Partial<NewTaskVersion> = {}): Promise<TaskState> {
  return expectKind(await write(b, place, given), 'written').state;
}

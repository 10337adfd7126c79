import { DEFAULT_TENANT, type LaneId, type Ledger, type NewBatch, requestErasure, type Turn } from '@slowwave/engine';
import {
  added,
  bitsOf,
  expectConserved,
  home,
  newBatch,
  newEntity,
  newMessage,
  scope,
  statementsBy,
  storedAnswer,
  user,
} from '@slowwave/engine-testing';
import { spawnService } from '@slowwave/testkit';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openLane } from '../src/ledger/lanes.ts';
import { openPool } from '../src/postgres/index.ts';
import { COLUMN_TYPES } from '../src/postgres/ledger/asking.ts';
import { SCHEMA } from '../src/postgres/ledger/migrate.ts';
import { runScript } from '../src/postgres/ledger/script.ts';
import { type Sql, sqlOf } from '../src/postgres/ledger/sql.ts';
import { systemTools } from '../src/system/system.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';

const POLICY = { tokens: 1_000, idleMs: 0, maxAgeMs: 600_000 };
const WINDOW = { maxTokens: 100_000, maxBatches: 100 };
const ALL = { limit: 1_000, cursor: null };

const shared = await ledgerServer();
afterAll(shared.stop);

let one: Ledger;
let other: Ledger;
beforeEach(async () => {
  await shared.empty();
  [one, other] = [await shared.open(), await shared.open()];
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const batchOf = (userId: string, given: Partial<NewBatch> = {}): NewBatch =>
  newBatch(systemTools, { scope: scope({ userId }), ...given });
const append = (ledger: Ledger, batch: NewBatch = batchOf('ann')) => ledger.batches.append(batch, POLICY);

async function positionsOf(userId: string): Promise<number[]> {
  const { results } = await one.batches.list(DEFAULT_TENANT, { userId }, ALL);
  return results.map((batch) => batch.position).sort((a, b) => a - b);
}

describe('batches posted at the same time', () => {
  it('do not fail with one among them that is refused', async () => {
    const twice = batchOf('ann');
    const batches = [batchOf('ann'), twice, batchOf('bob'), twice, batchOf('ann')];
    const settled = await Promise.allSettled(batches.map((batch) => append(one, batch)));
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await positionsOf('ann')).toEqual([1, 2, 3]);
    await expectConserved(one, DEFAULT_TENANT);
  });

  it('with one idempotency key are stored once, in one process and in two', async () => {
    const keyed = (bodyHash: string): NewBatch => batchOf('ann', { idempotency: { key: 'k', bodyHash } });
    const batches = [keyed('a'), keyed('a'), keyed('b'), keyed('a'), keyed('b'), keyed('a')];
    const answers = await Promise.all(batches.map((batch, i) => append(i % 2 === 0 ? one : other, batch)));
    const kinds = answers.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'stored')).toHaveLength(1);
    const [stored] = (await one.batches.list(DEFAULT_TENANT, {}, ALL)).results;
    for (const answer of answers) {
      if (answer.kind === 'repeated') expect(answer).toMatchObject({ batchId: stored?.id, state: 'pending' });
    }
    expect(kinds).toContain('repeated');
    expect(kinds).toContain('conflict');
    expect(await positionsOf('ann')).toEqual([1]);
    await expectConserved(one, DEFAULT_TENANT);
  });

  it('of one owner get positions without gaps, in the order of the process that posted them', async () => {
    const batches = upTo(80).map(() =>
      batchOf('ann', { messages: [newMessage(systemTools), newMessage(systemTools)] }),
    );
    await Promise.all(batches.map((batch, i) => append(i % 2 === 0 ? one : other, batch)));
    expect(await positionsOf('ann')).toEqual(upTo(80));
    const { results } = await one.batches.list(DEFAULT_TENANT, {}, ALL);
    const positions = new Map(results.map(({ id, position }) => [id, position]));
    const ofOne = batches.filter((_, i) => i % 2 === 0).map(({ id }) => positions.get(id) ?? 0);
    expect(ofOne).toEqual(ofOne.toSorted((a, b) => a - b));
  });

  it('of many owners, in any order, do not wait in a circle', async () => {
    const users = upTo(40).map((i) => `user ${i}`);
    const forth = users.flatMap((user) => [batchOf(user), batchOf(user)]);
    const back = users.toReversed().flatMap((user) => [batchOf(user), batchOf(user)]);
    await Promise.all([...forth.map((batch) => append(one, batch)), ...back.map((batch) => append(other, batch))]);
    for (const user of users) expect(await positionsOf(user)).toEqual([1, 2, 3, 4]);
    await expectConserved(one, DEFAULT_TENANT);
  });

  it('are all answered before the ledger closes', async () => {
    const answers = upTo(50).map(() => append(other));
    await other.close();
    expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(upTo(50).map(() => 'stored'));
    await expect(append(other)).rejects.toThrow(/closed/);
    await expect(other.batches.get(DEFAULT_TENANT, 'x')).rejects.toThrow(/closed/);
  });
});

/** Claims every lane that is due, and applies each turn it got as empty. */
async function workOff(ledger: Ledger): Promise<{ turn: Turn; outcome: string }[]> {
  const nudges = await ledger.lanes.due(Date.now(), 1_000);
  const done = nudges.map(async (nudge) => {
    const claim = await ledger.lanes.claim(nudge, howToClaim());
    if (claim.kind !== 'claimed') return [];
    const { turn } = claim;
    const batches = new Map(turn.batchIds.map((id) => [id, 'empty'] as const));
    const nothing = {
      plan: null,
      changes: [],
      tombstones: [],
      reviews: [],
      wishes: [],
      attacks: [],
      graph: false,
      measured: null,
    };
    const applied = await ledger.memories.apply(turn, { ...nothing, batches, now: Date.now(), policy: POLICY });
    return [{ turn, outcome: applied.kind }];
  });
  return (await Promise.all(done)).flat();
}

describe('two processes with the same due lanes', () => {
  it('carry out each of them once', async () => {
    const users = upTo(30).map((i) => `user ${i}`);
    await Promise.all(users.map((user) => append(one, batchOf(user))));
    const turns = (await Promise.all([workOff(one), workOff(other), workOff(one), workOff(other)])).flat();
    const applied = turns.filter(({ outcome }) => outcome === 'applied');
    expect(new Set(applied.map(({ turn }) => turn.lane)).size).toBe(30);
    expect(applied).toHaveLength(30);
    const spoken = await one.speech.unprojected(100);
    await one.outbox.clear({ seqs: [], batches: spoken.map((batch) => ({ ...batch, points: 1 })), from: null }, 1);
    expect((await one.overview.batches(DEFAULT_TENANT)).empty).toBe(30);
    expect((await one.thoughts.list(DEFAULT_TENANT, {}, ALL)).results).toHaveLength(30);
  });

  it('get different epochs, of which only the last one writes', async () => {
    await append(one);
    const [nudge] = await one.lanes.due(Date.now(), 1);
    if (nudge === undefined) throw new Error('expected a due lane');
    const claims = await Promise.all([one, other, one, other].map((ledger) => ledger.lanes.claim(nudge, howToClaim())));
    const turns = claims.flatMap((claim) => (claim.kind === 'claimed' ? [claim.turn] : []));
    expect(turns.map(({ epoch }) => epoch).sort()).toEqual([1, 2, 3, 4]);
    expect(new Set(turns.map(({ consolidationId }) => consolidationId)).size).toBe(1);
    const stored = await Promise.all(turns.map((turn) => other.thoughts.storeAnswer(turn, storedAnswer(systemTools))));
    expect(stored.map(({ kind }, i) => [turns[i]?.epoch, kind])).toEqual(
      turns.map(({ epoch }) => [epoch, epoch === 4 ? 'stored' : 'fenced']),
    );
  });
});

describe('two processes that project one consolidation', () => {
  it('end its batches, whoever comes last', async () => {
    for (const round of upTo(10)) {
      const batch = batchOf(`user ${round}`);
      await append(one, batch);
      const [nudge] = await one.lanes.due(Date.now(), 1);
      if (nudge === undefined) throw new Error('expected a due lane');
      const claim = await one.lanes.claim(nudge, howToClaim());
      if (claim.kind !== 'claimed') throw new Error('expected a turn');
      const { turn } = claim;
      const changes = [1, 2].map(() => added(systemTools, home(turn.lane, { scope: batch.scope })));
      await one.memories.apply(turn, {
        ...{
          plan: null,
          changes,
          tombstones: [],
          reviews: [],
          wishes: [],
          attacks: [],
          graph: false,
          measured: null,
          now: Date.now(),
          policy: POLICY,
        },
        batches: new Map([[batch.id, 'consolidated']]),
      });
      const [first, second] = (await one.outbox.ofConsolidation(turn, null)).entries;
      if (first === undefined || second === undefined) throw new Error('expected two entries');
      const [spoken] = await one.speech.unprojectedOf([turn.consolidationId]);
      if (spoken === undefined) throw new Error('expected a batch whose messages are to be told');
      const none = { seqs: [], batches: [], from: null };
      await Promise.all([
        one.outbox.clear({ ...none, seqs: [first.seq] }, 1),
        other.outbox.clear({ ...none, seqs: [second.seq] }, 1),
        one.outbox.clear({ ...none, batches: [{ ...spoken, points: 1 }] }, 1),
      ]);
      expect((await one.batches.get(DEFAULT_TENANT, batch.id))?.state).toBe('consolidated');
    }
  });
});

describe('a webhook that is removed while it is to be told of changes', () => {
  const hook = (id: string) => ({
    ...{ id, tenant: DEFAULT_TENANT, name: '', url: 'https://receiver/', events: ['memory.added'] as const },
    ...{ userId: 'ann', appId: null, active: true, secret: 'whsec_1', createdAt: 1 },
  });
  const writeOne = async (ledger: Ledger) => {
    const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, 1);
    const change = added(systemTools, { ...home(lane), scope: scope({ userId: 'ann' }) });
    return ledger.memories.write(DEFAULT_TENANT, { changes: [change], tombstones: [], now: 1 });
  };

  it('goes with all it was to be told, and no change fails for it', async () => {
    for (const round of upTo(20)) {
      const { id } = hook(`whk_${round}`);
      await one.webhooks.create(hook(id), 100);
      const writes = upTo(4).map((i) => writeOne(i % 2 === 0 ? one : other));
      const [removed, ...written] = await Promise.all([one.webhooks.remove(DEFAULT_TENANT, id), ...writes]);
      expect(removed).toBe(true);
      expect(written).toEqual(writes.map(() => ({ kind: 'written' })));
    }
    expect(await one.webhooks.backlog()).toMatchObject({ waiting: 0 });
  });
});

describe('the lane of an owner that is erased right now', () => {
  it('is made anew for who had just found the old one in the way', async () => {
    await append(one);
    const owner = user('ann');
    const old = await one.lanes.find(DEFAULT_TENANT, owner);
    const pool = openPool({ url: shared.url, schema: SCHEMA, max: 1, log: shared.log, types: COLUMN_TYPES });
    const client = await pool.connect();
    const own = sqlOf(client);
    const erase = () => requestErasure({ ledger: other, tools: systemTools }, DEFAULT_TENANT, owner);
    // The old lane is in the way of the new one, and gone before anybody looks for it.
    const ask: Sql['ask'] = async (asks) => {
      const answers = await own.ask(asks);
      const isInsert = asks.some(({ text }) => text.includes('INSERT INTO lanes'));
      if (isInsert && (await one.erasures.standing(old?.id as LaneId)) === true) await erase();
      return answers;
    };
    await client.query('BEGIN');
    const opening = {
      tenant: DEFAULT_TENANT,
      owner,
      newId: systemTools.id('lane', bitsOf(systemTools, owner)) as LaneId,
      now: systemTools.now(),
    };
    const opened = await runScript({ ...own, ask }, openLane(opening));
    await client.query('COMMIT');
    client.release();
    await pool.end();
    expect(opened).toBe(opening.newId);
    expect(await one.erasures.standing(old?.id as LaneId)).toBe(false);
  });
});

describe('a killed process', () => {
  it('loses nothing it had acknowledged', async () => {
    const child = await spawnService({
      main: new URL('./postgres-ledger-crash-child.ts', import.meta.url),
      args: [shared.url, '16'],
    });
    await child.waitForLine(/^ack 200 /);
    await child.kill();
    // The last line may be cut off in the middle.
    const lines = child.output().split('\n').slice(0, -1);
    const acked = lines.flatMap((line) => /^ack \d+ (bat_\w+)$/.exec(line)?.[1] ?? []);
    expect(acked.length).toBeGreaterThanOrEqual(200);
    const found = await Promise.all(acked.map((id) => one.batches.get(DEFAULT_TENANT, id)));
    expect(found.filter((batch) => batch === null)).toEqual([]);
    await append(one);
    const { accepted } = await one.overview.batches(DEFAULT_TENANT);
    expect(await positionsOf('ann')).toEqual(
      upTo(Math.min(accepted, 1_000)).map((i) => i + Math.max(0, accepted - 1_000)),
    );
    await expectConserved(one, DEFAULT_TENANT);
  });
});

describe('two processes with one graph', () => {
  const ANN = { kind: 'user', id: 'ann' } as const;

  it('make each study once, and fence who holds it no longer', async () => {
    await append(one);
    const [turn] = (await workOff(one)).map((done) => done.turn);
    if (turn === undefined) throw new Error('expected a turn');
    const { lane, consolidationId } = turn;
    const asked = await Promise.all([one, other].map(({ graph }) => graph.request(DEFAULT_TENANT, consolidationId, 1)));
    expect(asked.toSorted()).toEqual([lane, null]);
    const claims = await Promise.all([one, other, one, other].map(({ graph }) => graph.claim(lane, HOW)));
    expect(claims.map(({ kind }) => kind).sort()).toEqual(['claimed', 'later', 'later', 'later']);
    const [held] = claims.flatMap((claim) => (claim.kind === 'claimed' ? [claim.study] : []));
    if (held === undefined) throw new Error('expected a study');
    const nothing = { entities: [], statements: [], proposals: [], remarks: [], prompts: [], usage: {} };
    const plan = { consolidationId, ...nothing };
    const applied = await Promise.all([one, other].map(({ graph }) => graph.apply(held, plan, 2)));
    expect(applied.map(({ kind }) => kind).sort()).toEqual(['applied', 'fenced']);
  });

  it('fold what both of them write at the same time', async () => {
    const lane = await one.memories.laneOf(DEFAULT_TENANT, ANN, 1);
    const { holds } = statementsBy(systemTools);
    const says = (i: number, ledger: Ledger) => {
      const entities = [newEntity(`ent_${i}`, { self: true }), newEntity('ent_tea')];
      const statements = [holds(`ent_${i} likes ent_tea`, { saidAt: { at: 1, seq: i } })];
      return ledger.graph.write(DEFAULT_TENANT, lane, { entities, statements, now: 1 });
    };
    const written = await Promise.all(upTo(12).map((i) => says(i, i % 2 === 0 ? one : other)));
    expect(new Set(written.map(({ kind }) => kind))).toEqual(new Set(['written']));
    const { results } = await one.graph.listRelations(DEFAULT_TENANT, ANN, { at: null }, ALL);
    expect(results).toMatchObject([{ confirmations: 11, source: (await other.graph.self(lane))?.id }]);
    expect((await one.audit.contradictions('relation that does not follow')).count).toBe(0);
  });
});

const HOW = { now: 1, holdMs: 60_000 };

const howToClaim = () => ({
  ...{ now: Date.now(), window: WINDOW },
  newConsolidationId: systemTools.id('con', bitsOf(systemTools)),
});

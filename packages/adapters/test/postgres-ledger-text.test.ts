import { DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { added, bitsOf, home, newBatch, newMessage, newPlan, storedAnswer } from '@slowwave/engine-testing';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { systemTools } from '../src/system/system.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';

const POLICY = { tokens: 1_000, idleMs: 0, maxAgeMs: 600_000 };
const WINDOW = { maxTokens: 100_000, maxBatches: 100 };

const shared = await ledgerServer();
afterAll(shared.stop);

let ledger: Ledger;
beforeEach(async () => {
  await shared.empty();
  ledger = await shared.open();
});

/** What PostgreSQL does not store, what it is stored as, and what looks like it. */
const HARD = 'nul \0, half \ud83d a pair \udc4d, mark \u001a0000, "\\u0000", \\\\u001a0000, 👍, 北京';
const claimNext = async () => {
  const [nudge] = await ledger.lanes.due(Date.now(), 1);
  if (nudge === undefined) throw new Error('expected a due lane');
  const how = { now: Date.now(), window: WINDOW, newConsolidationId: systemTools.id('con', bitsOf(systemTools)) };
  const claim = await ledger.lanes.claim(nudge, how);
  if (claim.kind !== 'claimed') throw new Error(`expected a turn, got ${claim.kind}`);
  return claim.turn;
};

describe('text that the database has no place for', () => {
  it('comes back from a batch as it was posted', async () => {
    const batch = newBatch(systemTools, {
      metadata: { [HARD]: [HARD, { deep: HARD }] },
      messages: [
        newMessage(systemTools, { content: HARD, name: HARD }),
        newMessage(systemTools, { content: [{ type: 'text', text: HARD }] }),
      ],
      idempotency: { key: HARD, bodyHash: 'a' },
    });
    expect((await ledger.batches.append(batch, POLICY)).kind).toBe('stored');
    expect(
      (await ledger.batches.append({ ...batch, id: systemTools.id('bat', bitsOf(systemTools)) }, POLICY)).kind,
    ).toBe('repeated');
    expect((await ledger.batches.get(DEFAULT_TENANT, batch.id))?.metadata).toEqual(batch.metadata);
    const { messages } = await ledger.thoughts.gather(await claimNext(), 10);
    expect(messages.map(({ content, name }) => ({ content, name }))).toEqual([
      { content: HARD, name: HARD },
      { content: [{ type: 'text', text: HARD }], name: null },
    ]);
  });

  it('comes back from answers, plans and failures', async () => {
    await ledger.batches.append(newBatch(systemTools), POLICY);
    const turn = await claimNext();
    await ledger.thoughts.storeAnswer(turn, storedAnswer(systemTools, { text: HARD }));
    expect((await ledger.thoughts.answers(turn.consolidationId))[0]?.text).toBe(HARD);
    const plan = newPlan(turn, { discards: [{ text: HARD, reason: HARD }] });
    await ledger.thoughts.storePlan(turn, plan);
    expect(await ledger.thoughts.plan(turn.consolidationId)).toEqual(plan);
    const failure = { code: 'internal', message: HARD, at: 1 };
    await ledger.lanes.fail(turn, { failure, retryable: true, retryAt: 1, maxAttempts: 3, policy: POLICY });
    const [batchId = ''] = turn.batchIds;
    expect((await ledger.batches.get(DEFAULT_TENANT, batchId))?.failure).toEqual(failure);
  });

  it('comes back from memories and their history', async () => {
    const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, 1);
    const change = added(systemTools, home(lane), { text: HARD, details: { quote: HARD, metadata: { [HARD]: HARD } } });
    const written = await ledger.memories.write(DEFAULT_TENANT, { changes: [change], tombstones: [], now: 1 });
    expect(written).toEqual({ kind: 'written' });
    expect(await ledger.memories.get(DEFAULT_TENANT, change.memory.id)).toEqual(change.memory);
    const history = await ledger.memories.history(DEFAULT_TENANT, change.memory.id, { limit: 10, cursor: null });
    expect(history.results).toEqual(change.events);
  });

  it('keeps different ids apart', async () => {
    const ids = ['a\0', 'a', 'a\u001a0000', 'a\ud83d', 'a\ud83e'];
    const owner = (id: string) => ({ kind: 'user', id }) as const;
    const lanes = new Set<string>();
    for (const id of ids) lanes.add(await ledger.memories.laneOf(DEFAULT_TENANT, owner(id), 1));
    expect(lanes.size).toBe(ids.length);
    for (const id of ids) expect((await ledger.lanes.find(DEFAULT_TENANT, owner(id)))?.owner).toEqual(owner(id));
  });
});

describe('ids of the greatest length there is', () => {
  it('fit', async () => {
    const long = (char: string): string => char.repeat(256);
    const scope = { userId: long('北'), agentId: long('京'), runId: long('上'), appId: long('海') };
    const batch = newBatch(systemTools, {
      scope,
      messages: [newMessage(systemTools, { clientId: long('字') })],
      idempotency: { key: long('\0'), bodyHash: 'a' },
    });
    expect((await ledger.batches.append(batch, POLICY)).kind).toBe('stored');
    expect((await ledger.batches.get(DEFAULT_TENANT, batch.id))?.scope).toEqual(scope);
  });
});

import {
  type Appended,
  type Application,
  type Applied,
  type Batch,
  DEFAULT_TENANT,
  type DuePolicy,
  type Failure,
  type Lane,
  type Ledger,
  type MemoryChange,
  type Millis,
  type NewBatch,
  type Nudge,
  type Owner,
  type SpokenBatch,
  type SummaryRefresh,
  type TenantId,
  type Tools,
  type Turn,
  type TurnName,
  type WindowPolicy,
} from '@slowwave/engine';
import { afterEach, beforeEach, expect } from 'vitest';
import { bitsOf, newBatch, user } from './builders.ts';
import { type FixedTools, fixedTools } from './fixed-tools.ts';

/** A ledger opened for one test, on a store of its own. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  /** Closes the ledger and opens its store again; missing where nothing outlives the ledger. */
  reopen?(): Promise<Ledger>;
  close(): Promise<void>;
}
export type OpenLedger = () => Promise<OpenedLedger>;

/** What a test of the suite works with: the ledger, and a clock it alone moves. */
export interface Bench {
  readonly ledger: Ledger;
  readonly tools: FixedTools;
  reopened(): Promise<Ledger>;
}

export const TENANT = DEFAULT_TENANT;
export const OTHER_TENANT = 'other' as TenantId;
export const ANN = user('ann');
export const SECOND = 1_000;
export const MINUTE = 60_000;
export const POLICY: DuePolicy = { tokens: 1_000, idleMs: MINUTE, maxAgeMs: 10 * MINUTE };
/** Wide enough that only tests that narrow it notice it. */
const WINDOW: WindowPolicy = { maxTokens: 100_000, maxBatches: 100 };
export const MAX_ATTEMPTS = 3;
export const ALL = { limit: 200, cursor: null };

/** Of parked and undone batches those with these ids wait again, by a replay that is over then. */
export async function replay(
  { ledger, tools }: { readonly ledger: Ledger; readonly tools: Pick<Tools, 'id' | 'now'> },
  ids: readonly string[],
  tenant = TENANT,
): Promise<{ readonly replayed: readonly string[]; readonly nudges: readonly Nudge[] }> {
  const [id, now] = [tools.id('rpl'), tools.now()];
  const filter = { states: ['parked', 'undone'], ids } as const;
  const live = { kind: 'live', changes: {}, matched: ids.length, batchIds: [], idempotency: null } as const;
  await ledger.replays.create({ id, tenant, filter, ...live, now });
  const { replayed, nudges } = await ledger.replays.advance(id, { limit: ids.length, now });
  await ledger.replays.move(id, { from: 'running', to: 'done', dueAt: null, finishedAt: now });
  return { replayed, nudges };
}

/** Opens a ledger per test, and closes it with nothing lost. */
export function useBench(open: OpenLedger): () => Bench {
  let opened: OpenedLedger | null = null;
  let ledger: Ledger | null = null;
  let tools = fixedTools();
  beforeEach(async () => {
    opened = await open();
    ledger = opened.ledger;
    tools = fixedTools();
  });
  afterEach(async () => {
    if (ledger !== null) for (const tenant of [TENANT, OTHER_TENANT]) await expectConserved(ledger, tenant);
    await opened?.close();
  });
  return () => {
    if (opened === null || ledger === null) throw new Error('no ledger is open; use the bench inside a test');
    const { reopen } = opened;
    const reopened = async () => {
      if (reopen !== undefined) ledger = await reopen();
      return ledger ?? Promise.reject(new Error('reopening brought no ledger'));
    };
    return { ledger, tools, reopened };
  };
}

/** Every batch that was ever accepted is in exactly one state. */
export async function expectConserved(ledger: Ledger, tenant: TenantId): Promise<void> {
  const { accepted, ...states } = await ledger.overview.batches(tenant);
  const sum = Object.values(states).reduce((total, count) => total + count, 0);
  expect(sum, `batches by state: ${JSON.stringify(states)}`).toBe(accepted);
}

/** Asserts which of its kinds an answer is. */
export function expectKind<T extends { readonly kind: string }, K extends T['kind']>(
  answer: T,
  kind: K,
): Extract<T, { kind: K }> {
  expect(answer.kind).toBe(kind);
  return answer as Extract<T, { kind: K }>;
}

/** Asserts that something is there. */
export function expectThere<T>(value: T | null | undefined): T {
  expect(value ?? null).not.toBeNull();
  return value as T;
}

export const append = (bench: Bench, batch: NewBatch): Promise<Appended> => bench.ledger.batches.append(batch, POLICY);

/** Stores a batch of user ann, unless said otherwise. */
export async function store(
  bench: Bench,
  given: Partial<NewBatch> = {},
): Promise<{ batch: NewBatch; nudge: Nudge | null }> {
  const batch = newBatch(bench.tools, given);
  const { nudge } = expectKind(await append(bench, batch), 'stored');
  return { batch, nudge };
}

export async function laneOf(bench: Bench, owner: Owner = ANN, tenant: TenantId = TENANT): Promise<Lane> {
  return expectThere(await bench.ledger.lanes.find(tenant, owner));
}

export async function batchOf(bench: Bench, id: string, tenant: TenantId = TENANT): Promise<Batch> {
  return expectThere(await bench.ledger.batches.get(tenant, id));
}

interface ClaimHow extends Partial<WindowPolicy> {
  readonly recentCount?: number;
}

export const claim = (bench: Bench, job: TurnName, { recentCount, ...window }: ClaimHow = {}) =>
  bench.ledger.lanes.claim(job, {
    now: bench.tools.now(),
    window: { ...WINDOW, ...window },
    newConsolidationId: bench.tools.id('con', bitsOf(bench.tools)),
    ...(recentCount !== undefined && { recentCount }),
  });

/** Waits until the lane is due and claims its current generation. */
export async function nextTurn(bench: Bench, given: { owner?: Owner; tenant?: TenantId } = {}): Promise<Turn> {
  const lane = await laneOf(bench, given.owner, given.tenant);
  bench.tools.set(Math.max(bench.tools.now(), lane.dueAt ?? 0));
  return expectKind(await claim(bench, { lane: lane.id, generation: lane.generation }), 'claimed').turn;
}

/** One stored batch of user ann, claimed. */
export async function claimedBatch(
  bench: Bench,
  given: Partial<NewBatch> = {},
): Promise<{ batch: NewBatch; turn: Turn }> {
  const { batch } = await store(bench, given);
  return { batch, turn: await nextTurn(bench) };
}

/** Applies a turn, of which the index takes the messages at once. */
export async function apply(bench: Bench, turn: Turn, given: Partial<Application> = {}): Promise<Applied> {
  const applied = await applyOnly(bench, turn, given);
  await hear(bench, await bench.ledger.speech.unprojectedOf([turn.consolidationId]));
  return applied;
}

/** Applies a turn; its batches end as consolidated when they change something, as empty when not. */
export function applyOnly(bench: Bench, turn: Turn, given: Partial<Application> = {}): Promise<Applied> {
  const changes: readonly MemoryChange[] = given.changes ?? [];
  const outcome = changes.length > 0 ? 'consolidated' : 'empty';
  return bench.ledger.memories.apply(turn, {
    plan: null,
    changes,
    tombstones: [],
    reviews: [],
    wishes: [],
    attacks: [],
    batches: new Map(turn.batchIds.map((id) => [id, outcome])),
    graph: false,
    measured: null,
    now: bench.tools.now(),
    policy: POLICY,
    ...given,
  });
}

/** Writes changes as a caller of the API does, and asserts that they were taken. */
export async function write(bench: Bench, ...changes: readonly MemoryChange[]): Promise<void> {
  const tenant = changes[0]?.memory.tenant ?? TENANT;
  const written = await bench.ledger.memories.write(tenant, { changes, tombstones: [], now: bench.tools.now() });
  expect(written).toEqual({ kind: 'written' });
}

export const failure = (at: Millis, code = 'model_timeout'): Failure => ({ code, message: 'the model was slow', at });

/** A failed try; retryable in ten seconds unless said otherwise. */
export function fail(bench: Bench, turn: Turn, given: { retryable?: boolean; code?: string } = {}) {
  const now = bench.tools.now();
  return bench.ledger.lanes.fail(turn, {
    failure: failure(now, given.code),
    retryable: given.retryable ?? true,
    retryAt: now + 10 * SECOND,
    maxAttempts: MAX_ATTEMPTS,
    policy: POLICY,
  });
}

/** The index took everything. */
export async function project(bench: Bench): Promise<void> {
  const entries = await bench.ledger.outbox.pending(ALL.limit);
  await hear(bench, await bench.ledger.speech.unprojected(ALL.limit));
  await clear(
    bench,
    entries.map((entry) => entry.seq),
  );
}

/** The refresh that the turn has left to do. */
export const summaryDue = async ({ ledger }: Bench, turn: Turn, every: number): Promise<SummaryRefresh | null> =>
  (await ledger.outbox.ofConsolidation(turn, every)).summary;

/** The index took these memories. */
export const clear = (bench: Bench, seqs: readonly number[]) =>
  bench.ledger.outbox.clear({ seqs, batches: [], from: null }, bench.tools.now());

/** The index took the messages of these batches. */
export async function hear(bench: Bench, unprojected: readonly SpokenBatch[]) {
  const batches = unprojected.map(({ id, revision, messages }) => ({ id, revision, points: messages.length }));
  return bench.ledger.outbox.clear({ seqs: [], batches, from: null }, bench.tools.now());
}

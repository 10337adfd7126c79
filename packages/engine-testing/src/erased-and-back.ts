import {
  DEFAULT_TENANT,
  type ErasureQueue,
  eraseOwner,
  type LaneId,
  type Ledger,
  type Owner,
  type OwnerKind,
  requestErasure,
  type Scope,
  type SearchIndex,
  type ShownPoint,
  takeTurn,
} from '@slowwave/engine';
import { expect, it } from 'vitest';
import { scope } from './builders.ts';
import { watchedDeps } from './dying-deps.ts';
import { type EngineBench, engineBench, NEVER } from './engine-bench.ts';
import { type FakeChat, fakeChat, fakeEmbedder } from './fake-models.ts';
import { echoExtract, keyedDecide } from './scripts.ts';

/** Stores that all cases share: each case has an owner of its own. */
export interface ErasedAndBackStores {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
}

/** The vectors that the stores' index is opened for. */
export const ERASED_AND_BACK_SPACE = { dimensions: 64, fingerprint: 'fake-64' } as const;

/** More calls of ports than a turn makes: the cases end with the turn's last call. */
const CALLS_MAX = 80;

/** Calls are tried with each of them in turn. */
const KINDS: readonly OwnerKind[] = ['user', 'agent', 'run'];

/** How far the erasure and the new user's life are by the time the erased user's turn goes on. */
const MEANWHILE = [
  'is erased and posts again',
  'is erased, posts again, is consolidated and the erasure is over',
] as const;
type Meanwhile = (typeof MEANWHILE)[number];

/** What holds when an owner is erased and the same id posts at once, at every step of a turn that is under way. */
export function describeErasedAndBack(stores: () => ErasedAndBackStores, { everyNth = 1 } = {}): void {
  // One for all cases: its ids are counted, and what it stores is shared.
  let made: EngineBench | null = null;
  const bench = async (): Promise<EngineBench> => {
    const embedder = fakeEmbedder(ERASED_AND_BACK_SPACE.dimensions);
    made ??= await engineBench({ chat: scripted(), stores: stores(), embedder });
    return made;
  };
  const kinds = MEANWHILE.flatMap((meanwhile) => (['before', 'after'] as const).map((when) => ({ meanwhile, when })));
  for (const [i, { meanwhile, when }] of kinds.entries()) {
    it(`an owner who ${meanwhile} ${when} any call of a turn meets nothing of who had the id before`, {
      timeout: 240_000,
    }, async () => {
      const met: string[] = [];
      // Where not all calls are tried, each kind has others than the one before.
      for (let nth = 1 + (i % everyNth); nth <= CALLS_MAX; nth += everyNth) {
        const call = await tryAt(await bench(), { nth, when, meanwhile });
        if (call === null) break;
        met.push(call);
      }
      expect(met.length).toBeLessThan(CALLS_MAX);
      if (everyNth > 1) return;
      expect(met).toEqual(expect.arrayContaining(['lanes.claim', 'index.search', 'memories.apply', 'index.upsert']));
    });
  }
}

interface Case {
  readonly nth: number;
  readonly when: 'before' | 'after';
  readonly meanwhile: Meanwhile;
}

/** One erasure at one call of the erased user's turn. Answers with that call, or null where the turn had none left. */
async function tryAt(bench: EngineBench, { nth, when, meanwhile }: Case): Promise<string | null> {
  const kind = KINDS[nth % KINDS.length] ?? 'user';
  const life = await formerLife(bench, { kind, id: `owner-${nth}-${when}-${MEANWHILE.indexOf(meanwhile)}` });
  const erasure = { id: '' };
  const act = async (): Promise<void> => {
    erasure.id = (await requestErasure(bench.deps, DEFAULT_TENANT, life.owner)).id;
    await bench.post(['home: in Oslo'], { scope: aloneIn(life.owner) });
    if (meanwhile === MEANWHILE[0]) return;
    await consolidateAnew(life);
    await erase(life, erasure.id);
  };
  const met = await turnWith(life, { nth, when, act });
  if (met === null) await act();
  const where = `${when} ${met}`;
  if (meanwhile === MEANWHILE[0]) await consolidateAnew(life);
  await expectOnlyAnew(life, `${where}, before the erasure is over`);
  await erase(life, erasure.id);
  await expectOnlyAnew(life, `${where}, when the erasure is over`);
  expect(await secretPoints(life)).toEqual([]);
  return met;
}

interface Life {
  readonly bench: EngineBench;
  readonly owner: Owner;
  readonly lane: LaneId;
  /** A word that is in everything the former user said, and in nothing else. */
  readonly secret: string;
}

/** An owner with a memory, and with a batch that is about to be consolidated. */
async function formerLife(bench: EngineBench, owner: Owner): Promise<Life> {
  const secret = `secret-of-${owner.id}`;
  await bench.post([`home: ${secret} in Berlin`], { scope: aloneIn(owner) });
  await bench.run();
  await bench.post([`home: ${secret} in Rome`], { scope: aloneIn(owner) });
  const lane = await bench.deps.ledger.lanes.find(DEFAULT_TENANT, owner);
  if (lane === null) throw new Error(`expected a lane of ${owner.id}`);
  return { bench, owner, lane: lane.id, secret };
}

const aloneIn = ({ kind, id }: Owner): Scope => scope({ [`${kind}Id`]: id });

const scripted = (): FakeChat =>
  fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide((text) => text.split(':')[0] ?? text) });

interface Interruption {
  readonly nth: number;
  readonly when: 'before' | 'after';
  act(): Promise<void>;
}

/** The erased user's turn, with something that happens at its n-th call. It may be fenced, or find nothing to do. */
async function turnWith({ bench, lane }: Life, { nth, when, act }: Interruption): Promise<string | null> {
  let calls = 0;
  let met: string | null = null;
  const deps = watchedDeps(bench.deps, async (name, carryOut) => {
    calls += 1;
    if (calls !== nth) return carryOut();
    met = name;
    const carriedOut = when === 'after' ? await carryOut() : null;
    await act();
    return when === 'after' ? carriedOut : carryOut();
  });
  const generation = (await bench.deps.ledger.lanes.get(lane))?.generation ?? 0;
  bench.tools.advance(60_000);
  await takeTurn(deps)({ lane, generation }, NEVER);
  return met;
}

/** The new user's turn, with an index from which nobody has erased anything yet, unless it is over. */
async function consolidateAnew({ bench, owner, secret }: Life): Promise<void> {
  const chat = scripted();
  const lane = await bench.deps.ledger.lanes.find(DEFAULT_TENANT, owner);
  if (lane === null || lane.state === 'idle') throw new Error('expected work of the new user');
  bench.tools.advance(60_000);
  const verdict = await takeTurn({ ...bench.deps, chat })({ lane: lane.id, generation: lane.generation }, NEVER);
  expect(verdict).toEqual({ kind: 'done', next: null });
  expect(chat.calls.map(({ user }) => user).join('\n')).not.toContain(secret);
}

async function erase({ bench, lane }: Life, id: string): Promise<void> {
  const forgotten: LaneId[] = [];
  const queue: ErasureQueue = { erase: async () => {}, forgetLane: async (one) => void forgotten.push(one) };
  const { ledger, index } = bench.deps;
  // Files are rewritten in tests of their own: here it would be most of the time.
  const compact = async () => ({ done: true, remains: [] });
  const stores = { ledger: { ...ledger, erasures: { ...ledger.erasures, compact } }, index: { ...index, compact } };
  const erase = eraseOwner({ ...bench.deps, ...stores, queue, settleMs: 0 });
  while ((await erase(id, NEVER)) !== null) bench.tools.advance(60_000);
  expect(forgotten.every((one) => one === lane)).toBe(true);
}

/** The new user has what it said, and neither ledger nor index shows it anything else. */
async function expectOnlyAnew(life: Life, when: string): Promise<void> {
  const { bench, owner, secret, lane } = life;
  const { ledger, index } = bench.deps;
  const fresh = await ledger.lanes.find(DEFAULT_TENANT, owner);
  if (fresh === null) throw new Error('expected a lane of the new user');
  expect(fresh.id).not.toBe(lane);
  const page = { limit: 100, cursor: null };
  const { results: memories } = await ledger.memories.list(DEFAULT_TENANT, aloneIn(owner), bench.tools.now(), page);
  expect(
    memories.map(({ versions }) => versions.map(({ text }) => text)),
    when,
  ).toEqual([['home: in Oslo']]);
  const { results } = await ledger.batches.list(DEFAULT_TENANT, {}, page); // newest first
  const batches = results.filter((batch) => batch.lane === fresh.id);
  expect(
    batches.map(({ state }) => state),
    when,
  ).toEqual(['consolidated']);
  const plans = await Promise.all(batches.map(({ consolidationId }) => ledger.thoughts.plan(consolidationId ?? '')));
  expect(JSON.stringify([plans, memories]), when).not.toContain(secret);
  for (const shelf of ['memories', 'messages'] as const) {
    const [hits = []] = await index.search([
      {
        ...{ tenant: DEFAULT_TENANT, owner, lane: fresh.id, shelf, filter: {}, where: null, wide: true, limit: 50 },
        ...{ visibility: { kind: 'every', begunBy: null }, vector: null, terms: ['home', 'secret', 'in'] },
      },
    ]);
    expect(
      hits.map(({ point }) => point.text),
      `${shelf} ${when}`,
    ).toEqual(['home: in Oslo']);
  }
}

/** What the index still has of the former user, in whatever lane. */
async function secretPoints({ bench, secret }: Life): Promise<readonly string[]> {
  const found: ShownPoint[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<SearchIndex['page']>> = await bench.deps.index.page(after, 500);
    found.push(...page.points);
    after = page.next;
  } while (after !== null);
  return found.map((point) => JSON.stringify(point)).filter((text) => text.includes(secret));
}

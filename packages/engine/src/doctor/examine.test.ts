import {
  createMemoryIndex,
  createMemoryLedger,
  type EngineBench,
  echoExtract,
  emptyIndex,
  engineBench,
  fakeChat,
  fixedTools,
  type IndexState,
  keyedDecide,
  NEVER,
} from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { IndexPoint } from '../ports/search-index.ts';
import { sweepOutbox } from '../projection/project.ts';
import { DEFAULT_TENANT, type Memory } from '../words.ts';
import { type Examination, examine } from './examine.ts';
import { CHECKS, type Depth } from './findings.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const MINUTE = 60_000;

describe('the doctor', () => {
  let state: IndexState;
  let bench: EngineBench;
  let ledger: Ledger;

  beforeEach(async () => {
    state = emptyIndex();
    ledger = createMemoryLedger({ tools: fixedTools() });
    bench = await engineBench({
      chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }),
      stores: { ledger, index: createMemoryIndex(state) },
    });
    await bench.post(['lives: in Oslo', 'drinks: tea']);
    await bench.run();
    await bench.post(['lives: in Bergen']);
    await bench.run();
    const [tea] = (await bench.memories()).filter(({ versions }) => versions[0]?.text === 'drinks: tea');
    await memoryWriter(bench.deps).remove(DEFAULT_TENANT, tea?.id ?? '');
  });

  const look = (depth: Depth = 'full', changed: Partial<Ledger> = {}): Promise<Examination> =>
    examine({ ...bench.deps, ledger: { ...ledger, ...changed } }, { depth, cancel: NEVER });
  const whats = async (...given: Parameters<typeof look>): Promise<string[]> =>
    (await look(...given)).findings.map(({ check, severity, what }) => `${check} ${severity}: ${what}`);
  /** The ledger with every memory told otherwise. */
  const telling = (change: (memory: Memory) => Memory): Partial<Ledger> => ({
    memories: {
      ...ledger.memories,
      every: async (...args) => (await ledger.memories.every(...args)).map(change),
      many: async (...args) => (await ledger.memories.many(...args)).map(change),
    },
  });
  const points = (): IndexPoint[] => [...state.points.values()];
  const replace = (change: (point: IndexPoint) => IndexPoint): void => {
    for (const [key, point] of state.points) state.points.set(key, change(point));
  };

  it('finds nothing wrong where nothing is, and tells what it looked at', async () => {
    for (const depth of ['quick', 'usual', 'full'] as const) {
      const examination = await look(depth);
      expect(examination).toMatchObject({ depth, healthy: true, findings: [] });
    }
    const { checks } = await look();
    expect(checks.map(({ check }) => check)).toEqual(CHECKS);
    expect(checks).toContainEqual({ check: 'memories', looked: 2, findings: 0 });
    expect(checks).toContainEqual({ check: 'index', looked: 4, findings: 0 });
  });

  it('counts batches that are in no state', async () => {
    const batches = async (tenant: Parameters<Ledger['overview']['batches']>[0]) => {
      const counts = await ledger.overview.batches(tenant);
      return { ...counts, accepted: counts.accepted + 2 };
    };
    expect(await whats('quick', { overview: { ...ledger.overview, batches } })).toEqual([
      'batches error: tenant default: 2 of 4 accepted batches are in no state',
    ]);
  });

  it('finds memories that are not what their events make of them', async () => {
    const found = await whats(
      'full',
      telling((memory) => ({ ...memory, confirmations: memory.confirmations + 1 })),
    );
    expect(found).toContain('memories error: 2 memories do not match their events');
  });

  it('finds versions that do not follow from the timeline', async () => {
    const versions = ({ versions: [first, ...rest] }: Memory) =>
      first === undefined ? [] : [{ ...first, text: 'something else' }, ...rest];
    const found = await whats(
      'usual',
      telling((memory) => ({ ...memory, versions: versions(memory) })),
    );
    expect(found).toContain('memories error: 2 memories have versions that do not match their timeline');
  });

  it('finds ids of memories that do not follow from their events', async () => {
    const of = async () => [{ kind: 'app' as const, id: 'shop', first: 1, last: 1, indexed: true }];
    const found = await whats('full', { saidIds: { ...ledger.saidIds, of } });
    expect(found).toContain('memories error: 2 memories have ids that do not match their events');
  });

  it('finds deletions that a replay would take back', async () => {
    const tombstones = async () => [];
    expect(await whats('full', { memories: { ...ledger.memories, tombstones } })).toEqual([
      'memories error: 1 memories are deleted, but a replay may bring them back',
    ]);
  });

  it('finds points that are missing', async () => {
    const [first] = state.points.keys();
    state.points.delete(first ?? '');
    expect(await whats('quick')).toEqual([
      'index error: tenant default: the index has 1 points for 2 versions of memories',
    ]);
    expect((await look()).findings[0]).toMatchObject({ count: 1, remedy: 'slowwave rebuild index' });
  });

  it('finds points that say something else, with their names', async () => {
    const [point] = points();
    replace((one) => (one === point ? { ...one, text: 'nonsense' } : one));
    const { findings } = await look('usual');
    expect(findings).toMatchObject([
      { check: 'index', count: 1, examples: [`${point?.memoryId} version ${point?.version}`] },
    ]);
    expect(await whats()).toEqual(['index error: 1 points that differ from the ledger']);
  });

  it('finds points of memories that do not exist', async () => {
    const [point] = points();
    if (point !== undefined) state.points.set('x', { ...point, memoryId: 'mem_gone' });
    expect(await whats()).toEqual([
      'index error: tenant default: the index has 3 points for 2 versions of memories',
      'index error: 1 points of memories, versions, messages or relations that do not exist',
    ]);
  });

  it('finds messages that are missing, that say something else, and that nobody said', async () => {
    const [missing, other] = points().filter(({ shelf }) => shelf === 'messages');
    for (const [key, point] of state.points) if (point === missing) state.points.delete(key);
    replace((one) => (one === other ? { ...one, speaker: 'Mallory' } : one));
    if (missing !== undefined) state.points.set('x', { ...missing, memoryId: 'msg_gone' });
    if (missing !== undefined) state.points.set('y', { ...missing, memoryId: 'msg_gone too' });
    expect(await whats()).toEqual([
      'index error: tenant default: the index has 3 points for 2 messages',
      'index error: 2 points of memories, versions, messages or relations that do not exist',
      'index error: 1 points that differ from the ledger',
    ]);
  });

  it('takes a change that is on its way to the index for what it is, and says when it waits too long', async () => {
    const told = new Map(state.points);
    await bench.post(['lives: in Rome']);
    await bench.run();
    await ledger.outbox.refill();
    state.points = told;
    expect(await whats()).toEqual([]);
    bench.tools.advance(11 * MINUTE);
    expect(await whats('quick')).toEqual([
      'outbox warning: 5 changes are not in the index yet, the oldest for 11 minutes',
    ]);
    expect((await look('quick')).healthy).toBe(true);
    await sweepOutbox(bench.deps, NEVER);
    expect(await whats()).toEqual([]);
  });

  it('says how many texts are found by their words alone, and calls that healthy', async () => {
    const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, bench.tools.now());
    await ledger.thoughts.storeVectors(lane, bench.deps.embedder.fingerprint, new Map([['hash', null]]));
    expect(await whats('quick')).toEqual([
      expect.stringMatching(/^outbox warning: 1 texts are rejected by the embedding model .* only found by keywords$/u),
    ]);
    expect((await look('quick')).healthy).toBe(true);
  });

  it('does not believe an index of another ledger or embedder', async () => {
    state.marker = { ledgerId: 'led_other', fingerprint: bench.deps.embedder.fingerprint };
    expect(await whats()).toEqual([
      'index error: the index was built from another ledger, or with another embedding model',
    ]);
    state.marker = null;
    expect(await whats()).toEqual(['index error: the index is new, or is being built']);
  });

  it('tells of lanes that nobody works on, and of what is parked', async () => {
    await bench.post(['x: 1'], { userId: 'bob' });
    bench.tools.advance(16 * MINUTE);
    expect(await whats('quick')).toEqual(['lanes warning: 1 lanes have been due for more than 15 minutes']);
    const parked = async () => [{ tenant: DEFAULT_TENANT, code: 'model_timeout', batches: 3 }];
    const { findings } = await look('quick', { audit: { ...ledger.audit, parked } });
    expect(findings.at(-1)).toMatchObject({
      severity: 'warning',
      count: 3,
      remedy: expect.stringContaining('slowwave replay'),
    });
  });

  it('says when clocks differ, and nothing of a few seconds', async () => {
    const now = bench.tools.now();
    await ledger.lanes.clockSeen(now + 5_000);
    expect(await whats('quick')).toEqual([]);
    await ledger.lanes.clockSeen(now + 60_000);
    expect(await whats('quick')).toEqual([
      "lanes warning: a worker's clock was 60 s ahead of the clock of this process",
    ]);
  });

  it('reports what refers to nothing, and batches that contradict their lane', async () => {
    const broken = async () => ({ count: 2, examples: ['one', 'two'] });
    const found = await whats('full', { audit: { ...ledger.audit, orphans: broken, contradictions: broken } });
    expect(found).toContain('orphans error: 2 × event without memory');
    expect(found).toContain('lanes error: 2 × batch in no window');
  });
});

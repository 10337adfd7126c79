import {
  anyMood,
  anyText,
  type EngineBench,
  engineBench,
  expectTrue,
  moodyModel,
  replay,
} from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT } from '../words.ts';

/** Whole engines, each with some ten model calls; some three seconds for all. */
const RUNS = 150;
const HOUR = 3_600_000;
const USERS = ['ann', 'bob'] as const;

const anyBatch = fc.record({
  user: fc.constantFrom(...USERS),
  messages: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: anyText },
      {
        weight: 1,
        arbitrary: fc.record({
          role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
          content: fc.oneof(anyText, fc.constantFrom('', '   ', 'Hello!')),
        }),
      },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  hoursAgo: fc.integer({ min: 0, max: 4 }),
  settings: fc.record(
    {
      mode: fc.constantFrom('decide', 'decide', 'decide', 'add_only', 'verbatim'),
    },
    { requiredKeys: [] },
  ),
  /** Whether turns are taken before the next one comes. */
  run: fc.boolean(),
  /** Whether something is undone then, and consolidated again. */
  again: fc.boolean(),
});

/** Explicit writes that come between, by the number of the decision they come before. */
const anyWrite = fc.record({
  decision: fc.nat({ max: 6 }),
  kind: fc.constantFrom('add', 'change', 'remove'),
  pick: fc.nat({ max: 5 }),
  text: anyText,
});
type Write = typeof anyWrite extends fc.Arbitrary<infer W> ? W : never;

describe('for any batches, any answers of a model, any faults, undos, replays and explicit writes between', () => {
  it('no fact vanishes, nothing crosses lanes, events replay to the live set, versions do not overlap', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyBatch, { minLength: 1, maxLength: 6 }),
        anyMood,
        fc.array(anyWrite, { maxLength: 6 }),
        async (batches, mood, writes) => {
          const told: { bench: EngineBench | null } = { bench: null };
          let decisions = 0;
          const between = async (call: string): Promise<void> => {
            if (call !== 'decide_operations') return;
            for (const write of writes.filter(({ decision }) => decision === decisions))
              await writeTo(told.bench, write);
            decisions += 1;
          };
          const bench = await engineBench({ chat: moodyModel(mood, between) });
          told.bench = bench;
          for (const { user, messages, hoursAgo, settings, run, again } of batches) {
            bench.tools.advance(HOUR);
            await bench.post(messages, { userId: user, settings, at: bench.tools.now() - hoursAgo * HOUR });
            if (run) await bench.run();
            if (run && again) await consolidateAgain(bench);
          }
          await bench.run();
          await expectTrue(bench.deps.ledger);
          await expectIndexed(bench);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

async function writeTo(bench: EngineBench | null, { kind, pick, text }: Write): Promise<void> {
  if (bench === null) return;
  const writer = memoryWriter(bench.deps);
  const memories = await bench.memories('ann');
  const id = memories[pick % Math.max(1, memories.length)]?.id ?? '';
  if (kind === 'remove') await writer.remove(DEFAULT_TENANT, id);
  if (kind === 'change') await writer.change(DEFAULT_TENANT, id, { text });
  if (kind === 'add') {
    const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
    const rest = { category: null, metadata: {}, immutable: pick === 0, expiresAt: null, validFrom: null };
    await writer.add(DEFAULT_TENANT, { ...rest, scope, text });
  }
}

/** The newest consolidation that counts is undone, with all that depends on it, and its batches are replayed. */
async function consolidateAgain({ deps, run }: EngineBench): Promise<void> {
  const { thoughts } = deps.ledger;
  const page = { limit: 1, cursor: null };
  const [newest] = (await thoughts.list(DEFAULT_TENANT, { state: 'applied' }, page)).results;
  if (newest === undefined) return;
  const undone = await undoer(deps).undo(DEFAULT_TENANT, newest.id, { cascade: true, dryRun: false });
  expect(undone.kind).toBe('done');
  const { replayed } = await replay(deps, newest.batchIds);
  expect(replayed.length).toBe(newest.batchIds.length);
  const undo = undone.kind === 'done' ? undone.report.undo?.id : undefined;
  expect((await undoer(deps).redo(DEFAULT_TENANT, undo ?? '', { dryRun: false })).kind).toBe('refused');
  await run();
}

/** What the index shows as live is what the ledger holds. */
async function expectIndexed({ deps, live }: EngineBench): Promise<void> {
  for (const id of USERS) {
    const lane = await deps.ledger.lanes.find(DEFAULT_TENANT, { kind: 'user', id });
    if (lane === null) continue;
    const [hits = []] = await deps.index.search([
      {
        tenant: DEFAULT_TENANT,
        owner: { kind: 'user', id },
        lane: lane.id,
        shelf: 'memories',
        filter: {},
        visibility: { kind: 'live', now: deps.tools.now() },
        vector: new Float32Array(deps.embedder.dimensions).fill(1),
        terms: null,
        where: null,
        wide: false,
        limit: 1_000,
      },
    ]);
    expect(hits.map(({ point }) => point.text).sort()).toEqual(await live(id));
  }
}

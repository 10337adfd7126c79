import { echoExtract, engineBench, fakeChat, NEVER, newBatch } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { spaceOf } from '../ids.ts';
import type { ChatModel } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { markerOf } from '../projection/marker.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { takeTurn } from './take-turn.ts';

const cancelled = new EngineError('the call was cancelled', { code: 'cancelled', retryable: true });

describe('a turn that is cancelled', () => {
  it('because the worker stops goes back at once, and no attempt is counted', async () => {
    const { bench, id, take } = await oneBatch();
    const verdict = await take({ reason: 'closing' });
    expect(verdict).toEqual({ kind: 'later', at: bench.tools.now() });
    expect(await batch(bench, id)).toMatchObject({ state: 'consolidating', attempts: 0, failure: null });
  });

  it('because its time was up has failed: a model that hangs for ever parks its batch', async () => {
    const { bench, id, take } = await oneBatch();
    const reason = new EngineError('a turn was cancelled after 300 s', { code: 'model_timeout', retryable: true });
    const first = await take({ reason });
    expect(first).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ attempts: 1, failure: { code: 'model_timeout' } });
    await take({ reason });
    expect(await take({ reason })).toMatchObject({ kind: 'parked' });
    expect(await batch(bench, id)).toMatchObject({ state: 'parked', attempts: 3, failure: { code: 'model_timeout' } });
  });

  it('because its time was up while it stood in line has not failed: it waits as often as it takes', async () => {
    const inLine = new EngineError('others go first', { code: 'cancelled', retryable: true, countsAsTry: false });
    const { bench, id, take } = await oneBatch(inLine);
    const reason = new EngineError('a turn was cancelled after 300 s', { code: 'model_timeout', retryable: true });
    for (let tries = 0; tries < 10; tries += 1) expect(await take({ reason })).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ attempts: 0, failure: { message: 'others go first' } });
  });
});

it('a turn goes on with what its claim has read, and reads it no second time', async () => {
  const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  const id = await bench.post(['lives: in Oslo']);
  const { ledger } = bench.deps;
  const thoughts = { ...ledger.thoughts, gather: () => Promise.reject(new Error('read a second time')) };
  const take = taker({ ...bench, deps: { ...bench.deps, ledger: { ...ledger, thoughts } } });
  expect(await take(NEVER)).toEqual({ kind: 'done', next: null });
  expect(await batch(bench, id)).toMatchObject({ state: 'consolidated', attempts: 0 });
});

describe('a ledger that fails before a turn has begun to read', () => {
  it('costs a try like any other failure, and parks the batch at the end', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
    const { ledger } = bench.deps;
    const tenant = spaceOf({ tenant: DEFAULT_TENANT, replay: 'rpl_1' });
    const { id } = newBatch(bench.tools, { tenant, flush: true });
    await ledger.batches.append(newBatch(bench.tools, { id, tenant, flush: true }), bench.deps.settings.due);
    const replays = { ...ledger.replays, get: () => Promise.reject(new Error('no such column')) };
    const take = taker({ ...bench, deps: { ...bench.deps, ledger: { ...ledger, replays } } });
    expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await ledger.batches.get(tenant, id)).toMatchObject({ attempts: 1, failure: { message: 'no such column' } });
    await take(NEVER);
    expect(await take(NEVER)).toMatchObject({ kind: 'parked' });
  });

  it('costs a try also where the messages cannot be read', async () => {
    const { bench, id } = await oneBatch();
    const { ledger } = bench.deps;
    const failing = () => Promise.reject(new Error('no such column'));
    const lanes: typeof ledger.lanes = {
      ...ledger.lanes,
      claim: (job, how) => (how.recentCount === undefined ? ledger.lanes.claim(job, how) : failing()),
    };
    const thoughts = { ...ledger.thoughts, gather: failing };
    const take = taker({ ...bench, deps: { ...bench.deps, ledger: { ...ledger, lanes, thoughts } } });
    expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ attempts: 1, failure: { message: 'no such column' } });
  });

  it('is tried again where it fails once', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
    const { ledger } = bench.deps;
    const tenant = spaceOf({ tenant: DEFAULT_TENANT, replay: 'rpl_1' });
    const batch = newBatch(bench.tools, { tenant, flush: true });
    await ledger.batches.append(batch, bench.deps.settings.due);
    const failures = [new Error('busy')];
    const get: typeof ledger.replays.get = (...asked) => {
      const failure = failures.pop();
      return failure === undefined ? ledger.replays.get(...asked) : Promise.reject(failure);
    };
    const take = taker({
      ...bench,
      deps: { ...bench.deps, ledger: { ...ledger, replays: { ...ledger.replays, get } } },
    });
    expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await take(NEVER)).toEqual({ kind: 'done', next: null });
    expect((await ledger.batches.get(tenant, batch.id))?.state).toMatch(/consolidated|empty/);
  });
});

describe('an index that is away', () => {
  it('makes consolidations wait as long as it takes, and parks nothing', async () => {
    const chat = fakeChat({ extract_facts: echoExtract });
    const bench = await engineBench({ chat });
    await bench.deps.index.clear();
    const id = await bench.post(['lives: in Oslo']);
    const take = taker(bench);
    for (let tries = 0; tries < 10; tries += 1) expect(await take(NEVER)).toMatchObject({ kind: 'later' });
    expect(await batch(bench, id)).toMatchObject({ state: 'consolidating', attempts: 0 });
    expect(chat.calls, 'the answer was kept').toHaveLength(1);
    await bench.deps.index.stamp(markerOf(bench.deps));
    expect(await take(NEVER)).toEqual({ kind: 'done', next: null });
    expect(await bench.live()).toEqual(['lives: in Oslo']);
  });
});

type Bench = Awaited<ReturnType<typeof engineBench>>;
const batch = (bench: Bench, id: string) => bench.deps.ledger.batches.get(DEFAULT_TENANT, id);

/** One batch and a model that never answers, so that only a cancellation ends the turn. */
async function oneBatch(error = cancelled) {
  const hanging: ChatModel = { name: 'hanging', ask: () => Promise.reject(error) };
  const bench = await engineBench({ chat: hanging });
  const id = await bench.post(['lives: in Oslo']);
  const take = taker(bench);
  return { bench, id, take: ({ reason }: { reason: unknown }) => take({ ...NEVER, aborted: true, reason }) };
}

/** Takes the lane's turn once it is due. */
const taker = (bench: Bench) => async (cancel: Cancellation) => {
  const [nudge] = await bench.deps.ledger.lanes.withWork(null, 1);
  if (nudge === undefined) throw new Error('no lane has work');
  bench.tools.set(Math.max(bench.tools.now(), nudge.dueAt));
  return takeTurn(bench.deps)(nudge, cancel);
};

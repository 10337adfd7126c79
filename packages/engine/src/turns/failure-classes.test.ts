import {
  echoExtract,
  engineBench,
  fakeChat,
  fakeEmbedder,
  type recordingLog,
  recordingMeter,
  type Script,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError, type EngineErrorCode } from '../errors.ts';
import { failuresView, failureView } from '../views/views.ts';
import { DEFAULT_TENANT } from '../words.ts';

const MAX_ATTEMPTS = 3;
/** More often than a batch has tries. */
const STORM = 12;

interface Class {
  readonly code: EngineErrorCode;
  readonly retryable: boolean;
  readonly countsAsTry?: boolean;
  /** What the model says when it is asked whether it is there. */
  readonly there?: boolean;
  readonly becomes: 'parked at once' | 'parked after two tries' | 'parked in the end' | 'waits';
}

/** What each failure of a model means for a batch that always meets it. */
const CLASSES: readonly (readonly [string, Class])[] = [
  ['transient, a server error', { code: 'model_server_error', retryable: true, becomes: 'parked in the end' }],
  ['transient, a timeout', { code: 'model_timeout', retryable: true, becomes: 'parked in the end' }],
  [
    'transient, no usable answer',
    { code: 'model_output_unusable', retryable: true, becomes: 'parked after two tries' },
  ],
  ['transient, a mistake of ours', { code: 'internal', retryable: true, becomes: 'parked in the end' }],
  ['deterministic, too long', { code: 'context_too_long', retryable: false, becomes: 'parked at once' }],
  ['deterministic, refused', { code: 'model_rejected', retryable: false, becomes: 'parked at once' }],
  ['deterministic, nobody for images', { code: 'unsupported_content', retryable: false, becomes: 'parked at once' }],
  ['provider down, unreachable', { code: 'model_unreachable', retryable: true, there: false, becomes: 'waits' }],
  ['provider down, silent', { code: 'model_timeout', retryable: true, there: false, becomes: 'waits' }],
  ['provider down, broken', { code: 'model_server_error', retryable: true, there: false, becomes: 'waits' }],
  [
    'provider down, misconfigured',
    { code: 'model_misconfigured', retryable: true, countsAsTry: false, becomes: 'waits' },
  ],
  ['provider down, left alone', { code: 'circuit_open', retryable: true, countsAsTry: false, becomes: 'waits' }],
  ['too much at once', { code: 'rate_limited', retryable: true, countsAsTry: false, becomes: 'waits' }],
  ['provider says not now', { code: 'model_overloaded', retryable: true, countsAsTry: false, becomes: 'waits' }],
  ['budget', { code: 'budget_exhausted', retryable: true, countsAsTry: false, becomes: 'waits' }],
  ['ledger away', { code: 'ledger_unavailable', retryable: true, countsAsTry: false, becomes: 'waits' }],
];

const EXPECTED = {
  'parked at once': { state: 'parked', attempts: 1, outcomes: ['parked'] },
  'parked after two tries': { state: 'parked', attempts: 2, outcomes: ['retry', 'parked'] },
  'parked in the end': { state: 'parked', attempts: MAX_ATTEMPTS, outcomes: ['retry', 'retry', 'parked'] },
} as const;

describe.each(CLASSES)('a failure of the class "%s"', (_, failing) => {
  it(`means for its batch, its lane and the figures: ${failing.becomes}`, async () => {
    const { bench, meter, mend } = await benchOf(failing);
    const id = await bench.post(['lives: in Oslo']);
    const outcomes = async () => {
      await bench.run();
      return meter.recorded.turns.map(({ outcome }) => outcome);
    };
    if (failing.becomes === 'waits') {
      mend(STORM);
      const all = await outcomes();
      expect(all.at(-1)).toBe('applied');
      expect(all.filter((outcome) => outcome === 'waits').length).toBeGreaterThanOrEqual(STORM - MAX_ATTEMPTS);
      expect(new Set(all).has('parked')).toBe(false);
      const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
      expect(batch?.state).toBe('consolidated');
      expect(batch?.attempts).toBeLessThan(MAX_ATTEMPTS);
      return;
    }
    const { state, attempts, outcomes: expected } = EXPECTED[failing.becomes];
    expect(await outcomes()).toEqual(expected);
    expect(meter.recorded.turns.every(({ reason }) => reason === failing.code)).toBe(true);
    const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
    expect(batch).toMatchObject({ state, attempts, failure: { code: failing.code } });
    expect(batch?.failures.map(({ code }) => code)).toEqual(Array(attempts).fill(failing.code));
    expect(await bench.deps.ledger.lanes.withWork(null, 1)).toEqual([]);
  });
});

describe('poison among others', () => {
  it.each<[string, Class]>([
    ['that the model refuses', { code: 'model_rejected', retryable: false, becomes: 'parked at once' }],
    ['that breaks the model', { code: 'model_server_error', retryable: true, becomes: 'parked in the end' }],
  ])('%s parks alone; its neighbours and what comes later are consolidated', async (_, failing) => {
    const { bench } = await benchOf(failing, 'poison');
    const texts = ['one: 1', 'two: 2', 'poison: 3', 'four: 4', 'five: 5', 'six: 6'];
    const ids: string[] = [];
    for (const text of texts) ids.push(await bench.post([text]));
    await bench.run();
    ids.push(await bench.post(['seven: 7']));
    await bench.run();
    const states = await Promise.all(
      ids.map(async (id) => (await bench.deps.ledger.batches.get(DEFAULT_TENANT, id))?.state),
    );
    expect(states).toEqual(ids.map((_id, i) => (i === 2 ? 'parked' : 'consolidated')));
    expect(await bench.live()).toHaveLength(6);
  });
});

it('a failure is kept and told without the place of what failed; the log has it', async () => {
  const place = 'http://llm.inside:8080/v1';
  const refuses = () => new EngineError(`expected an answer from ${place}, got status 400`, REFUSED);
  const bench = await engineBench({ chat: fakeChat({ extract_facts: refuses }) });
  const id = await bench.post(['lives: in Oslo']);
  await bench.run();
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  const told = 'expected an answer from [address], got status 400';
  expect(batch).toMatchObject({ state: 'parked', failure: { message: told }, failures: [{ message: told }] });
  expect(JSON.stringify((bench.deps.log as ReturnType<typeof recordingLog>).lines)).toContain(place);
  const old = { code: 'model_rejected', message: `from ${place}`, at: 0 };
  expect(failureView(old), 'kept by an earlier release').toMatchObject({ message: 'from [address]' });
  expect(failuresView([old])).toMatchObject([{ message: 'from [address]' }]);
});
const REFUSED = { code: 'model_rejected', retryable: false } as const;

it('an embedder that is down parks nothing, though the chat model answers', async () => {
  const working = fakeEmbedder(512);
  let calls = 0;
  const embedder = {
    ...working,
    embed: async (...asked: Parameters<typeof working.embed>) => {
      calls += 1;
      if (calls <= STORM) throw new EngineError('no connection', { code: 'model_unreachable', retryable: true });
      return working.embed(...asked);
    },
  };
  const bench = await engineBench({
    chat: fakeChat({ extract_facts: echoExtract, are_you_there: () => ({}) }),
    embedder,
  });
  const id = await bench.post(['lives: in Oslo']);
  await bench.run();
  expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'consolidated' });
});

it('waits grow with jitter, and never undercut what the provider asked for', async () => {
  const later = { code: 'model_server_error', retryable: true, retryAfterMs: 60_000 } as const;
  const replies: Script = (input, nth) =>
    nth === 2
      ? new EngineError('later', later)
      : nth < 3
        ? new EngineError('no', { ...later, retryAfterMs: 0 })
        : echoExtract(input, nth);
  const bench = await engineBench({
    chat: fakeChat({ extract_facts: replies }),
    settings: { retryDelayMs: 2_000, retryDelayMaxMs: 300_000 },
  });
  await bench.post(['lives: in Oslo']);
  const begun = bench.tools.now();
  const waits = (await bench.run()).flatMap((verdict) => (verdict.kind === 'later' ? [verdict.at - begun] : []));
  expect(waits[0]).toBeGreaterThanOrEqual(1_000);
  expect(waits[0]).toBeLessThanOrEqual(2_000);
  expect((waits[1] ?? 0) - (waits[0] ?? 0)).toBe(60_000);
});

/** A model that fails so whenever it is asked about `about`, or until it is mended after some calls. */
async function benchOf({ code, retryable, countsAsTry = true, there = true }: Class, about = '') {
  const meter = recordingMeter();
  let left = Number.POSITIVE_INFINITY;
  const failure = () => new EngineError('as ordered', { code, retryable, countsAsTry });
  const extract: Script = (input, nth) => {
    if (!JSON.stringify(input.messages).includes(about) || left <= 0) return echoExtract(input, nth);
    left -= 1;
    return failure();
  };
  const chat = fakeChat({
    extract_facts: extract,
    repair_output: failure,
    decide_operations: () => ({ operations: [] }),
    are_you_there: () => (there || left <= 0 ? { there: true } : failure()),
  });
  const bench = await engineBench({ chat, meter, settings: { maxAttempts: MAX_ATTEMPTS } });
  return {
    bench,
    meter,
    mend: (calls: number) => {
      left = calls;
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_TENANT } from '@slowwave/engine';
import { engineBench, recordingMeter } from '@slowwave/engine-testing';
import { delta, dripping, type ModelServer, type Reply, type Script, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { streamingChat } from './streaming-fixture.ts';

const PEANUTS = 'User is allergic to peanuts';
const FACT = {
  text: PEANUTS,
  source_ids: ['m0'],
  quote: 'I am allergic to peanuts',
  category: 'health',
  language: 'en',
};
const GOOD = JSON.stringify({ facts: [FACT] });
const MAX_ATTEMPTS = 3;
/** How long a model that has begun to write may be silent, … */
const SILENT_MS = 500;
/** … and where it is not to be taken for silent, however busy the machine is. */
const PATIENT_MS = 60_000;
const PIECES = GOOD.match(/.{1,4}/gu) ?? [];
const PIECE_MS = 50;

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

interface Telling {
  /** What it answers when it is asked whether it is there. */
  readonly there?: Script;
  readonly idleTimeoutMs?: number;
}

/** What becomes of a conversation whose model answers so. */
async function told(
  reply: (nth: number) => Reply,
  { there = () => ({ json: { there: true } }), idleTimeoutMs = SILENT_MS }: Telling = {},
) {
  let asked = 0;
  server.setScript((call) => {
    if (call.name === 'are_you_there') return there(call);
    asked += 1;
    return reply(asked);
  });
  const chat = streamingChat(server.baseUrl, { stream: 'auto', timeoutMs: 600_000, idleTimeoutMs });
  const meter = recordingMeter();
  const bench = await engineBench({ chat, meter, settings: { maxAttempts: MAX_ATTEMPTS } });
  const id = await bench.post(['I am allergic to peanuts']);
  await bench.run();
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  const bodies = server.calls.map(({ request }) => JSON.stringify(request));
  return {
    live: await bench.live(),
    state: batch?.state,
    calls: asked,
    reason: batch?.failure?.message ?? null,
    outcomes: meter.recorded.turns.map(({ outcome }) => outcome),
    written: meter.recorded.calls.flatMap(({ failure, usage }) => (failure === null ? [] : [usage.completionTokens])),
    distinct: new Set(bodies).size,
  };
}

const READ = { live: [PEANUTS], state: 'consolidated', reason: null };
const dead: Reply = { events: [delta({ content: GOOD.slice(0, 40) })], end: 'silent' };

test.each<[string, Reply]>([
  ['at once', { text: GOOD }],
  [
    'in one piece, by a server that streams nothing',
    { status: 200, body: { choices: [{ message: { content: GOOD } }] } },
  ],
  ['slowly, for longer than it may be silent', { events: dripping(PIECES, PIECE_MS), end: 'bare' }],
])('what a model writes %s is remembered, with one call', async (_name, reply) => {
  const idleTimeoutMs = (PIECES.length - 1) * PIECE_MS;
  expect(await told(() => reply, { idleTimeoutMs })).toMatchObject({ ...READ, calls: 1 });
});

test.each<[string, Reply]>([
  ['that falls silent', dead],
  ['whose connection breaks', { events: [delta({ content: GOOD.slice(0, 40) })], end: 'drop' }],
  ['that runs out of memory', { events: [delta({ content: '{' }), { error: { message: 'CUDA out of memory' } }] }],
])('a model %s once is asked once more', async (_name, reply) => {
  const { outcomes, ...after } = await told((nth) => (nth === 1 ? reply : { text: GOOD }));
  expect(after).toMatchObject({ ...READ, calls: 2 });
  expect(outcomes).toEqual(['retry', 'applied']);
});

test('a model that falls silent over the same messages, and is there for others, parks these with the reason', async () => {
  // The last try is made once more when it is known that the model is there.
  const calls = MAX_ATTEMPTS + 1;
  const { reason, ...after } = await told(() => dead);
  expect(after).toMatchObject({
    live: [],
    state: 'parked',
    calls,
    outcomes: ['retry', 'retry', 'parked'],
  });
  expect(reason).toMatch(/to continue its answer within 500 ms, got nothing more after about \d+ tokens/u);
  expect(after.written).toHaveLength(calls);
  expect(Math.min(...after.written)).toBeGreaterThan(0);
});

test('a model that falls silent whatever it is asked is away: everything waits for it, and nothing is parked', async () => {
  let probes = 0;
  const { outcomes, ...after } = await told(() => (probes < 3 ? dead : { text: GOOD }), {
    there: () => {
      probes += 1;
      return probes < 3 ? dead : { json: { there: true } };
    },
  });
  expect(after).toMatchObject({ ...READ });
  expect(outcomes.filter((outcome) => outcome === 'waits').length).toBeGreaterThanOrEqual(2);
  expect(outcomes).not.toContain('parked');
});

/** The same without an end, as fast as it is read. */
async function* endless(
  name: 'content' | 'reasoning_content' | 'arguments',
  ...texts: string[]
): AsyncGenerator<object> {
  const [begin = '', again = ''] = texts;
  const piece = (text: string): object =>
    delta(name === 'arguments' ? { tool_calls: [{ index: 0, function: { arguments: text } }] } : { [name]: text });
  yield piece(begin);
  for (;;) {
    await sleep(1);
    yield piece(again);
  }
}
const BEGUN = `{"facts":[${JSON.stringify(FACT)},`;
const LOOPS: readonly (readonly [string, () => AsyncGenerator<object>])[] = [
  ['the same fact', () => endless('content', BEGUN, `${JSON.stringify({ ...FACT, text: 'User likes nuts' })},`)],
  ['the same words in a fact', () => endless('content', `${BEGUN}{"text":"User is`, " not sure. I'm")],
  ['line breaks', () => endless('content', BEGUN, '\n\n\n\n\n\n\n\n')],
  ['the same thought', () => endless('reasoning_content', 'Hm. ', 'But wait, is it an allergy? ')],
  ['the same to a tool', () => endless('arguments', BEGUN, '{"text":"User likes nuts"},')],
];

test.each(LOOPS)(
  'a model that says %s over and over is cut off, four times, each time asked in another way',
  async (_name, loop) => {
    const { written: _none, ...after } = await told(() => ({ events: loop() }), { idleTimeoutMs: PATIENT_MS });
    expect(after).toMatchObject({ live: [], state: 'parked', calls: 4, distinct: 4, outcomes: ['retry', 'parked'] });
    expect(after.reason).toMatch(/got an answer that repeats itself endlessly, twice;.*frequency_penalty/u);
    await expect.poll(() => server.calls.every(({ aborted }) => aborted)).toBe(true);
  },
);

test.each(LOOPS)(
  'a model that says %s over and over once is asked once more, without its loop',
  async (_name, loop) => {
    const after = await told((nth) => (nth === 1 ? { events: loop() } : { text: GOOD }), { idleTimeoutMs: PATIENT_MS });
    expect(after).toMatchObject({ ...READ, calls: 2 });
    const [first, repair] = server.calls.map(({ request }) => JSON.stringify(request));
    expect(repair).toContain('said the same again and again');
    expect(repair?.length).toBeLessThan((first?.length ?? 0) + 4_000);
  },
);

import type { Json, JsonObject } from '@slowwave/engine';
import { echoExtract, fakeChat, keyedDecide, MORNING, pick, seeded } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { ingestBench } from './testing/bench.ts';

const HOUR = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

/** One home per user: what was said last is where somebody lives. */
async function bench() {
  const shown: JsonObject[] = [];
  const extract: typeof echoExtract = (input, nth) => {
    shown.push(input);
    return echoExtract(input, nth);
  };
  const chat = fakeChat({ extract_facts: extract, decide_operations: keyedDecide(() => 'home') });
  return { shown, ...(await ingestBench(undefined, { chat })) };
}

const timesShown = (input: JsonObject): Json[] => [
  ...(input.messages as JsonObject[]).map(({ timestamp }) => timestamp ?? null),
  (input.context as JsonObject).now ?? null,
];

const said = (content: string, timestamp?: string) => ({ role: 'user', content, ...(timestamp && { timestamp }) });

test('a model is shown the day of the speaker, by offset, by the zone of the batch, or by that of the tenant', async () => {
  const { shown, engine, post } = await bench();
  const { ledger } = engine.deps;
  await post({ user_id: 'a', messages: [said('I got promoted yesterday', '2026-03-01T00:30:00+09:00')], flush: true });
  await post({
    user_id: 'b',
    messages: [said('I got promoted yesterday', '2026-02-28T15:30:00Z')],
    timezone: 'Asia/Tokyo',
    flush: true,
  });
  await ledger.settings.put('default' as never, {
    ...(await ledger.settings.get('default' as never)),
    timezone: 'America/New_York',
  });
  engine.tools.advance(5_000); // settings count within a second
  await post({ user_id: 'c', messages: [said('I got promoted yesterday')], flush: true });
  await engine.run();
  expect(shown.map(timesShown)).toEqual([
    ['2026-03-01T00:30:00+09:00', '2026-03-01T00:30:00+09:00'],
    ['2026-03-01T00:30:00+09:00', '2026-03-01T00:30:00+09:00'],
    ['2026-03-01T04:00:05-05:00', '2026-03-01T04:00:05-05:00'],
  ]);
});

test('local time that is sent as UTC is shown as it was given, and counts as said when it was accepted', async () => {
  const { shown, engine, post, acknowledgements } = await bench();
  const answer = await post({
    user_id: 'ann',
    messages: [said('I live in Oslo', iso(MORNING + 3 * HOUR))],
    flush: true,
  });
  await engine.run();
  expect(timesShown(shown[0] ?? {})[0]).toBe(iso(MORNING + 3 * HOUR));
  const [memory] = await engine.memories();
  expect(memory?.versions[0]).toMatchObject({ saidAt: { at: MORNING }, validFrom: MORNING });
  const { remarks } = await engine.plan(answer.json().batch_id);
  expect(remarks).toEqual([
    { asked: expect.stringContaining(iso(MORNING + 3 * HOUR)), did: expect.stringContaining(iso(MORNING)) },
  ]);
  expect(acknowledgements.map(({ fromTheFuture }) => fromTheFuture)).toEqual([1]);
});

test('no timestamp outdates what is said after it', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const { engine, post } = await bench();
    const random = seeded(seed);
    const towns = ['Oslo', 'Bergen', 'Lima', 'Kyiv', 'Lagos', 'Pune'];
    for (const town of towns) {
      engine.tools.advance(1_000 + Math.floor(random() * HOUR));
      const ahead = pick([0, 30_000, HOUR, 9 * HOUR, 24 * HOUR], random);
      const timestamp = random() < 0.5 ? undefined : iso(engine.tools.now() + ahead);
      const messages = [said(`User lives in ${town}`, timestamp)];
      expect((await post({ user_id: 'ann', messages, flush: true })).statusCode).toBe(202);
      if (random() < 0.5) await engine.run();
    }
    await engine.run();
    expect(await engine.live(), `seed ${seed}`).toEqual(['User lives in Pune']);
  }
});

test.each([
  ['of a message', { messages: [said('hi', iso(MORNING + 25 * HOUR))] }, 'messages[0].timestamp'],
  ['of the batch', { messages: [said('hi')], timestamp: '2036-03-01T09:00:00Z' }, 'timestamp'],
])('a timestamp %s more than a day from now is refused, saying what to send', async (_whose, body, path) => {
  const { post } = await bench();
  const answer = await post({ user_id: 'ann', ...body });
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path }] });
  expect(answer.json().detail).toContain('at most 24 hours in the future');
});

test('a zone that does not exist is refused', async () => {
  const { post } = await bench();
  const answer = await post({ user_id: 'ann', messages: [said('hi')], timezone: 'Mars/Base' });
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path: 'timezone' }] });
});

import { type ChatModel, DEFAULT_TENANT, EngineError, type Limiter, type TurnName, takeTurn } from '@slowwave/engine';
import {
  echoExtract,
  engineBench,
  type FakeChat,
  fakeChat,
  NEVER,
  recordingLog,
  recordingMeter,
} from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { limitedChat, memoryLimiter, slots, slottedChat } from './limited.ts';
import { breakingChat, fallbackChat } from './outages.ts';

const CALL = { name: 'extract_facts', system: 'Find.', user: '{"messages":[]}', schema: {} };
const UNLIMITED = { requestsPerMinute: null, tokensPerMinute: null };
const log = recordingLog();

test('a question that waits for the limits while another worker gets its answer is not asked again', async () => {
  const model = fakeChat({ extract_facts: echoExtract });
  const { limiter, waiting, letGo } = slowAtFirst();
  const bench = await twoWorkers(model, (chat) => limitedChat(chat, { limiter, log }));
  const late = bench.take();
  await waiting;
  expect(await bench.take()).toEqual({ kind: 'done', next: null });
  letGo();
  expect(await late).toEqual({ kind: 'done', next: null });
  await expectAskedOnce(bench, model);
});

test('nor is one that waits for a place', async () => {
  const model = fakeChat({ extract_facts: echoExtract });
  const places = slots(1);
  await places.take(NEVER);
  const [here, elsewhere] = [slottedChat(direct(model), places), direct(model)];
  const bench = await twoWorkers(model, () => here);
  const late = bench.take();
  await bench.claimed();
  expect(await bench.take(elsewhere)).toEqual({ kind: 'done', next: null });
  places.giveBack();
  expect(await late).toEqual({ kind: 'done', next: null });
  await expectAskedOnce(bench, model);
});

test('nor is one whose answer is still being stored when another worker takes the turn, and is stored before that one asks', async () => {
  const model = fakeChat({ extract_facts: echoExtract });
  const { limiter, waiting, letGo } = slowAtFirst(2);
  const bench = await twoWorkers(model, (chat) => limitedChat(chat, { limiter, log }));
  const { thoughts } = bench.deps.ledger;
  const [storing, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { storeAnswer } = thoughts;
  thoughts.storeAnswer = async (...given) => {
    thoughts.storeAnswer = storeAnswer;
    storing.resolve();
    await stored.promise;
    return storeAnswer(...given);
  };
  const starved = bench.take();
  await storing.promise;
  const taking = bench.take();
  await waiting;
  stored.resolve();
  await starved;
  letGo();
  expect(await taking).toEqual({ kind: 'done', next: null });
  await expectAskedOnce(bench, model);
});

test('a question that waited while nobody else came is asked', async () => {
  const model = fakeChat({ extract_facts: echoExtract });
  const { limiter, waiting, letGo } = slowAtFirst();
  const bench = await twoWorkers(model, (chat) => limitedChat(chat, { limiter, log }));
  const late = bench.take();
  await waiting;
  letGo();
  expect(await late).toEqual({ kind: 'done', next: null });
  await expectAskedOnce(bench, model);
  expect(bench.looks()).toBe(1);
});

test('a question that waits while the clock is set back is not asked again either', async () => {
  const model = fakeChat({ extract_facts: echoExtract });
  const { limiter, waiting, letGo } = slowAtFirst();
  const bench = await twoWorkers(model, (chat) => limitedChat(chat, { limiter, log }));
  const late = bench.take();
  await waiting;
  expect(await bench.take()).toEqual({ kind: 'done', next: null });
  bench.tools.set(bench.tools.now() - 2_000);
  letGo();
  expect(await late).toEqual({ kind: 'done', next: null });
  await expectAskedOnce(bench, model);
});

test('a question that is not asked after all gives its tokens back', async () => {
  const model = fakeChat({ extract_facts: echoExtract });
  const limiter = memoryLimiter({ requestsPerMinute: null, tokensPerMinute: 500 });
  const chat = limitedChat(model, { limiter, log });
  const lastLook = () => Promise.reject(new Error('somebody has its answer'));
  for (let i = 0; i < 3; i += 1) await expect(chat.ask({ ...CALL, lastLook }, NEVER)).rejects.toThrow('has its answer');
  expect(model.calls).toEqual([]);
  await expect(chat.ask(CALL, NEVER)).resolves.toMatchObject({ truncated: false });
});

test('a model that keeps failing is not seen to answer by a question that nobody asked', async () => {
  const broken = () => new EngineError('broken', { code: 'model_server_error', retryable: true });
  const failing = fakeChat({ extract_facts: broken, are_you_there: broken });
  let now = 0;
  let breaker = (): string => 'closed';
  const policy = { failures: 1, windowMs: 60_000, coolDownMs: 5_000, coolDownMaxMs: 20_000 };
  const { limiter, waiting, letGo } = slowAtFirst(3);
  const bench = await twoWorkers(failing, (chat) => {
    const model = breakingChat(limitedChat(chat, { limiter, log }), {
      log,
      meter: recordingMeter(),
      policy,
      now: () => now,
    });
    breaker = model.breaker;
    return model;
  });
  await bench.deps.chat.ask(CALL, NEVER).catch(() => {});
  now += policy.coolDownMs;
  const late = bench.take();
  await waiting;
  const other = fakeChat({ extract_facts: echoExtract });
  await bench.take(direct(other));
  letGo();
  await late;
  expect(failing.calls.map(({ name }) => name)).toEqual(['extract_facts', 'are_you_there']);
  expect(breaker()).not.toBe('closed');
});

test('a question that passes on to a fallback while another worker gets its answer is not asked again', async () => {
  const gone = new Error('refused', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
  const away = () => new EngineError('away', { code: 'model_unreachable', retryable: true, cause: gone });
  const model = fakeChat({ extract_facts: echoExtract });
  const { limiter, waiting, letGo } = slowAtFirst(2);
  const held = (chat: ChatModel) =>
    breakingChat(limitedChat(chat, { limiter, log }), { log, meter: recordingMeter(), now: () => 0 });
  const first = { ...fakeChat({ extract_facts: away, are_you_there: away }), name: 'first' };
  const bench = await twoWorkers(model, (chat) => fallbackChat([held(first), held(chat)], { log }));
  const late = bench.take();
  await waiting;
  expect(await bench.take({ ...direct(model), name: 'first' })).toEqual({ kind: 'done', next: null });
  letGo();
  expect(await late).toEqual({ kind: 'done', next: null });
  expect(model.calls.filter(({ name }) => name === 'extract_facts')).toHaveLength(1);
});

/** A model that is asked through a limiter that never makes anybody wait. */
const direct = (model: ChatModel): ChatModel => limitedChat(model, { limiter: memoryLimiter(UNLIMITED), log });

/** One batch, and workers that each claim its turn when they take it. */
async function twoWorkers(model: ChatModel, through: (chat: ChatModel) => ChatModel) {
  const bench = await engineBench({ chat: through(model) });
  await bench.post(['lives: in Oslo']);
  const [nudge] = await bench.deps.ledger.lanes.withWork(null, 1);
  if (nudge === undefined) throw new Error('expected one lane with work, got none');
  bench.tools.set(Math.max(bench.tools.now(), nudge.dueAt));
  const turn: TurnName = nudge;
  let looks = 0;
  const { thoughts } = bench.deps.ledger;
  const { lastLook } = thoughts;
  thoughts.lastLook = (...given) => {
    looks += 1;
    return lastLook(...given);
  };
  return {
    ...bench,
    looks: () => looks,
    take: (chat: ChatModel = bench.deps.chat) => takeTurn({ ...bench.deps, chat })(turn, NEVER),
    claimed: () => expect.poll(async () => (await bench.deps.ledger.lanes.get(turn.lane))?.epoch).toBe(1),
  };
}

/** A limiter that lets one reservation wait until it is told, as one does whose server is silent. */
function slowAtFirst(nth = 1): { limiter: Limiter; waiting: Promise<void>; letGo: () => void } {
  const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const limiter = memoryLimiter(UNLIMITED);
  let asked = 0;
  const reserve: Limiter['reserve'] = async (...given) => {
    asked += 1;
    if (asked === nth) {
      reached.resolve();
      await going.promise;
    }
    return limiter.reserve(...given);
  };
  return { limiter: { ...limiter, reserve }, waiting: reached.promise, letGo: () => going.resolve() };
}

async function expectAskedOnce({ deps, live }: Awaited<ReturnType<typeof engineBench>>, model: FakeChat) {
  expect(model.calls.filter(({ name }) => name === 'extract_facts')).toHaveLength(1);
  expect(await live()).toEqual(['lives: in Oslo']);
  expect((await deps.ledger.overview.usage(DEFAULT_TENANT)).calls, 'calls that are counted').toBe(1);
}

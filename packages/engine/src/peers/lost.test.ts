import {
  type BenchOptions,
  echoExtract,
  engineBench,
  expectTrue,
  fakeChat,
  fakeEmbedder,
  keyedDecide,
  mortal,
  NEVER,
  type Reply,
  recordingMeter,
  replay,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { examine } from '../doctor/examine.ts';
import { EngineError } from '../errors.ts';
import type { ChatModel } from '../ports/models.ts';
import { laneSweep } from '../turns/sweep.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';

/** What other memory systems accept and then lose, as their code and threads tell. None of it happens here. */

const WEEK_MS = 7 * 24 * 3_600_000;

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const sound = () => fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });
const failing = (code: 'model_rejected' | 'model_timeout' | 'model_server_error') =>
  new EngineError('no answer', { code, retryable: true });

/** Answers soundly but where `instead` has something for the n-th extract call. */
const extracting = (instead: (nth: number, text: string) => Reply | null) =>
  fakeChat({
    extract_facts: (input, nth) => instead(nth, JSON.stringify(input.messages)) ?? echoExtract(input, nth),
    decide_operations: keyedDecide(keyOf),
    repair_output: () => 'nonsense',
  });

async function benchOf(chat: ChatModel, options: Partial<BenchOptions> = {}) {
  const bench = await engineBench({ chat, ...options });
  const batch = (id: string) => bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  const due = async () => {
    const [nudge] = await bench.deps.ledger.lanes.withWork(null, 1);
    if (nudge === undefined) throw new Error('no lane has work');
    bench.tools.set(Math.max(bench.tools.now(), nudge.dueAt));
    return nudge;
  };
  return { bench, batch, due };
}

describe('agent-memory-server: a model that fails is taken for "nothing to remember", and the messages for read', () => {
  it('here the batch waits for the next try, which finds everything', async () => {
    const { bench, batch, due } = await benchOf(extracting((nth) => (nth === 1 ? failing('model_rejected') : null)));
    const id = await bench.post(['pet: a cat']);
    await takeTurn(bench.deps)(await due(), NEVER);
    expect(await batch(id)).toMatchObject({ state: 'consolidating', failure: { code: 'model_rejected' } });
    await bench.run();
    expect(await batch(id)).toMatchObject({ state: 'consolidated' });
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

describe('agent-memory-server, odysseus #1940: what arrives during a model call is written over by the state before it', () => {
  it('here it is the next turn', async () => {
    const chat = sound();
    const arriving: { post: () => Promise<unknown> } = { post: async () => {} };
    const { bench } = await benchOf({
      name: chat.name,
      ask: async (call, cancel) => {
        const { post } = arriving;
        arriving.post = async () => {};
        await post();
        return chat.ask(call, cancel);
      },
    });
    arriving.post = () => bench.post(['pet: a cat']);
    await bench.post(['lives: in Oslo']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);
  });
});

describe('MemOS: a message is acknowledged although its handler failed, and idle queues go with what they hold', () => {
  it('here a job that ended while its lane did not move on is given anew, and so is one the queue has lost', async () => {
    const { bench, due } = await benchOf(sound());
    await bench.post(['pet: a cat']);
    const lost = await due();
    const nudged: number[] = [];
    const queue = (state: 'finished' | 'absent') => ({
      statesOf: async (turns: readonly unknown[]) => turns.map(() => state),
      nudge: async (nudges: readonly { generation: number }[]) => {
        nudged.push(...nudges.map(({ generation }) => generation));
      },
      hurry: async () => false,
      forgetFailed: async () => {},
      check: async () => {},
      close: async () => {},
    });
    await laneSweep(bench.deps, queue('absent'))();
    await laneSweep(bench.deps, queue('finished'))();
    expect(nudged).toEqual([lost.generation, lost.generation + 1]);
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

describe('graphiti #1707, #1267, #1622: one exception ends the worker, and with it all that waits in memory', () => {
  it('here the others go on, and the one is tried again', async () => {
    const { bench } = await benchOf(
      extracting((nth, text) => (nth < 3 && text.includes('cat') ? new Error('bug') : null)),
    );
    await bench.post(['pet: a cat'], { userId: 'ann' });
    await bench.post(['pet: a dog'], { userId: 'bob' });
    await bench.run();
    expect(await bench.live('ann')).toEqual(['pet: a cat']);
    expect(await bench.live('bob')).toEqual(['pet: a dog']);
  });

  it('here it is seen when nobody works: the doctor and the age of the oldest due work say so', async () => {
    const { bench, due } = await benchOf(sound());
    await bench.post(['pet: a cat'], { userId: 'ann' });
    const { dueAt } = await due();
    bench.tools.advance(3 * WEEK_MS);
    expect(await bench.deps.ledger.overview.oldestDue(bench.tools.now())).toBe(dueAt);
    const { findings } = await examine(bench.deps, { depth: 'quick', cancel: NEVER });
    expect(findings).toMatchObject([{ check: 'lanes', severity: 'warning' }]);
  });
});

describe('memobase #157', () => {
  it('a buffer that failed once is not selected again: here its lane is due again by itself', async () => {
    const { bench, due } = await benchOf(extracting((nth) => (nth === 1 ? failing('model_rejected') : null)));
    await bench.post(['pet: a cat']);
    await takeTurn(bench.deps)(await due(), NEVER);
    expect(await bench.deps.ledger.lanes.due(bench.tools.now() + 60_000, 10)).toHaveLength(1);
  });

  it('a backlog above a limit is cut and deleted as done: here every message of it is read', async () => {
    const { bench } = await benchOf(sound());
    const filler = 'and so on '.repeat(100);
    const texts = Array.from({ length: 150 }, (_, i) => `thing ${i}: of some length ${filler}`);
    for (let i = 0; i < texts.length; i += 10) await bench.post(texts.slice(i, i + 10));
    await bench.run();
    expect(await bench.live()).toEqual(texts.map((text) => text.trim()).sort());
  });

  it('the flush of idle buffers is promised and missing: here a quiet owner is due without anybody asking', async () => {
    const { bench } = await benchOf(sound());
    await bench.post(['pet: a cat'], { flush: false });
    expect(await bench.deps.ledger.lanes.due(bench.tools.now(), 10)).toEqual([]);
    bench.tools.advance(bench.deps.settings.due.idleMs);
    expect(await bench.deps.ledger.lanes.due(bench.tools.now(), 10)).toHaveLength(1);
  });
});

describe('Honcho #963, #728, #1033', () => {
  it('a failure is marked as processed and cannot be replayed: here it is parked with its reason, and a replay reads it', async () => {
    const TRIES = 3; // as many as the bench allows
    const { bench, batch } = await benchOf(extracting((nth) => (nth <= TRIES ? failing('model_rejected') : null)));
    const id = await bench.post(['pet: a cat']);
    await bench.run();
    expect(await batch(id)).toMatchObject({ state: 'parked', failure: { code: 'model_rejected' } });
    await replay(bench.deps, [id]);
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat']);
  });

  it('a retry makes duplicates, because it is not what it repeats: here a turn that died after any step adds nothing twice', async () => {
    for (let at = 0; at < 40; at += 1) {
      const { bench, due } = await benchOf(sound());
      await bench.post(['pet: a cat', 'lives: in Oslo']);
      await takeTurn(mortal(bench.deps, { at, when: 'after' }).deps)(await due(), NEVER).catch(() => null);
      await bench.run();
      expect(await bench.live(), `died after call ${at}`).toEqual(['lives: in Oslo', 'pet: a cat']);
    }
  });
});

describe('mem0 #4540, #4831, #5245, #5509', () => {
  it('an answer that cannot be read is "no facts": here it is an error, and asked for again', async () => {
    const { bench, batch, due } = await benchOf(extracting((nth) => (nth === 1 ? 'I cannot do that' : null)));
    const id = await bench.post(['pet: a cat']);
    await takeTurn(bench.deps)(await due(), NEVER);
    expect(await batch(id)).toMatchObject({ state: 'consolidating', failure: { code: 'model_output_unusable' } });
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat']);
  });

  it('facts that could not be embedded are dropped with a warning: here they wait for the embedder', async () => {
    const embedder = fakeEmbedder();
    let down = true;
    const broken = {
      ...embedder,
      embed: (...given: Parameters<typeof embedder.embed>) =>
        down ? Promise.reject(failing('model_timeout')) : embedder.embed(...given),
    };
    const { bench, due } = await benchOf(sound(), { embedder: broken });
    await bench.post(['pet: a cat']);
    await takeTurn(bench.deps)(await due(), NEVER);
    expect(await bench.live()).toEqual([]);
    down = false;
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

describe('Hindsight #991, #2165, #1470, #1573, #2668', () => {
  it('what a crashed worker had claimed is never claimed again: here the next worker takes it up where it was', async () => {
    const { bench, due } = await benchOf(sound());
    await bench.post(['pet: a cat']);
    const turn = await due();
    await takeTurn(mortal(bench.deps, { at: 5, when: 'after' }).deps)(turn, NEVER).catch(() => null);
    expect((await bench.deps.ledger.lanes.due(bench.tools.now(), 10)).map(({ lane }) => lane)).toEqual([turn.lane]);
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat']);
  });

  it('a failing task burns millions of tokens in half an hour: here the calls it may cost are counted, and so are its tries', async () => {
    const meter = recordingMeter();
    const { bench, batch } = await benchOf(
      extracting(() => 'nonsense'),
      { meter },
    );
    const id = await bench.post(['pet: a cat']);
    await bench.run();
    expect(await batch(id)).toMatchObject({ state: 'parked', attempts: 2 });
    expect(meter.recorded.calls, 'a question and its repair, twice').toHaveLength(4);
    expect(meter.recorded.turns.map(({ outcome }) => outcome)).toEqual(['retry', 'parked']);
  });
});

describe('supermemory #1312, #1203, #1300', () => {
  it('what is queued stays so for ever when its job is gone: here the ledger knows that it is due', async () => {
    const { bench } = await benchOf(sound());
    await bench.post(['pet: a cat']);
    expect(await bench.deps.ledger.lanes.due(bench.tools.now(), 10)).toHaveLength(1);
    await bench.run();
    expect(await bench.deps.ledger.lanes.due(bench.tools.now(), 10)).toEqual([]);
  });

  it('a poisonous document loops for ever: here it is parked alone, and what was posted with it goes on', async () => {
    const poisonous = new EngineError('refused', { code: 'model_rejected', retryable: false });
    const { bench, batch } = await benchOf(extracting((_nth, text) => (text.includes('poison') ? poisonous : null)));
    const ids = [];
    for (const text of ['a: 1', 'b: 2', 'c: poison', 'd: 4', 'e: 5']) ids.push(await bench.post([text]));
    await bench.run();
    const states = await Promise.all(ids.map(async (id) => (await batch(id))?.state));
    expect(states).toEqual(['consolidated', 'consolidated', 'parked', 'consolidated', 'consolidated']);
    expect(await bench.live()).toEqual(['a: 1', 'b: 2', 'd: 4', 'e: 5']);
    await expectTrue(bench.deps.ledger);
  });

  it('a timeout ends as "done" with no memories: here it is a failed try', async () => {
    const { bench, batch, due } = await benchOf(extracting((nth) => (nth === 1 ? failing('model_timeout') : null)));
    const id = await bench.post(['pet: a cat']);
    await takeTurn(bench.deps)(await due(), NEVER);
    expect((await batch(id))?.state).toBe('consolidating');
    await bench.run();
    expect(await batch(id)).toMatchObject({ state: 'consolidated' });
    expect(await bench.live()).toEqual(['pet: a cat']);
  });
});

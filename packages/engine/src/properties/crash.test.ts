import {
  bitsOf,
  deathAfter,
  type EngineBench,
  echoExtract,
  engineBench,
  expectTrue,
  fakeChat,
  keyedDecide,
  mortal,
  NEVER,
  replay,
  type Script,
  watched,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { ChatCall } from '../ports/models.ts';
import { sweepOutbox } from '../projection/project.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT } from '../words.ts';

/** More calls of ports than a turn makes. */
const CALLS_MAX = 60;

describe('a worker that is killed', () => {
  it.each(['for the first time', 'again'])(
    'between any two calls of ports, consolidating %s: the next one ends the same, and asks nothing twice',
    async (which) => {
      const scene = which === 'again' ? sceneAgain : firstScene;
      const clean = await scene();
      await clean.bench.run();
      const expected = await stateOf(clean.bench);
      let calls = 0;
      for (let ended = false; !ended; calls += 1) {
        const { bench, chat, askedTwice } = await scene();
        const process = mortal(bench.deps, deathAfter(calls));
        const verdict = await takeTurn(process.deps)(await turnOf(bench), NEVER).catch(() => null);
        ended = verdict !== null && process.calls.length < calls;
        await bench.run();
        await catchUp(bench);
        const where = `killed after ${process.calls[calls - 1]}`;
        expect(await stateOf(bench), where).toEqual(expected);
        expect(askedTwice(), where).toEqual([]);
        expect(chat.calls.length, where).toBeLessThanOrEqual(clean.chat.calls.length + 1);
        await expectTrue(bench.deps.ledger);
      }
      expect(calls, 'calls of ports in one turn').toBeGreaterThan(15);
      expect(calls).toBeLessThan(CALLS_MAX);
    },
  );
});

describe('a worker that lost its lane', () => {
  it('before any call of a port writes nothing any more but the one answer that it has just paid for', async () => {
    const clean = await firstScene();
    await clean.bench.run();
    const expected = await stateOf(clean.bench);
    let fenced = 0;
    for (let at = 0; at < CALLS_MAX; at += 1) {
      const { bench } = await firstScene();
      const turn = await turnOf(bench);
      let atClaim: Written | null = null;
      const zombie = watched(bench.deps, async (nth, call) => {
        if (nth === at && (await claimAgain(bench, turn))) atClaim = await writtenIn(bench);
        return call();
      });
      const verdict = await takeTurn(zombie.deps)(turn, NEVER);
      if (atClaim !== null && at > 0) {
        fenced += 1;
        expect(verdict, zombie.calls[at]).toEqual({ kind: 'done', next: null });
        const { answers, ...rest } = await writtenIn(bench);
        const { answers: before, ...restBefore } = atClaim as Written;
        expect(rest, zombie.calls[at]).toEqual(restBefore);
        expect(answers, zombie.calls[at]).toEqual(expect.arrayContaining(before));
        expect(answers.length - before.length, zombie.calls[at]).toBeLessThanOrEqual(1);
      }
      await bench.run();
      await catchUp(bench);
      expect(await stateOf(bench), zombie.calls[at]).toEqual(expected);
    }
    expect(fenced, 'turns that were fenced').toBeGreaterThan(10);
  });

  it('before any call of a port to one that finished the turn within the same moment asks no more', async () => {
    const clean = await firstScene();
    await clean.bench.run();
    const expected = await stateOf(clean.bench);
    let overtaken = 0;
    for (let at = 1; at < CALLS_MAX; at += 1) {
      const { bench, askedTwice } = await firstScene();
      const turn = await turnOf(bench);
      let isOver = false;
      const zombie = watched(bench.deps, async (nth, call) => {
        if (nth === at) {
          isOver = true;
          await takeTurn(inAnotherProcess(bench))(turn, NEVER);
        }
        return call();
      });
      await takeTurn(zombie.deps)(turn, NEVER);
      if (isOver) overtaken += 1;
      expect(askedTwice(), zombie.calls[at]).toEqual([]);
      await bench.run();
      await catchUp(bench);
      expect(await stateOf(bench), zombie.calls[at]).toEqual(expected);
    }
    expect(overtaken, 'turns that were overtaken').toBeGreaterThan(10);
  });
});

const keyOf = (text: string): string => text.split(':')[0] ?? text;

/** A turn with everything in it: a repaired answer, additions, updates, a deletion, repeats. */
async function firstScene() {
  const stored = new Set<string>();
  const twice: string[] = [];
  const asking: ChatCall[] = [];
  const extract: Script = (input, nth) => (nth === 2 ? 'nonsense' : echoExtract(input, nth));
  const decide: Script = (input, nth) => {
    const operations = keyedDecide(keyOf)(input, nth) as { operations: { fact: string; id: string | null }[] };
    return { operations: operations.operations.map((one) => (one.id === '1' ? { ...one, event: 'DELETE' } : one)) };
  };
  const repair: Script = (input, nth) => echoExtract(input.input as never, nth);
  const chat = fakeChat({ extract_facts: extract, decide_operations: decide, repair_output: repair });
  const bench = await engineBench({
    chat: {
      name: chat.name,
      ask: async (call, cancel) => {
        await call.lastLook?.();
        if (stored.has(keyOfCall(call))) twice.push(call.name);
        asking.push(call);
        return chat.ask(call, cancel);
      },
    },
  });
  const { thoughts } = bench.deps.ledger;
  const { storeAnswer } = thoughts;
  Object.assign(thoughts, {
    storeAnswer: async (...given: Parameters<typeof storeAnswer>) => {
      const answer = await storeAnswer(...given);
      const last = asking.at(-1);
      if (answer.kind === 'stored' && last !== undefined) stored.add(keyOfCall(last));
      return answer;
    },
  });
  await bench.post(['lives: in Oslo', 'pet: a cat', 'likes: tea']);
  await bench.run();
  await bench.post(['lives: in Bergen', 'pet: no cat any more', 'likes: tea', 'works: at sea', 'works: ashore']);
  return { bench, chat, askedTwice: () => twice };
}

/** The same turn, undone and replayed: nothing has changed, so that nothing is asked. */
async function sceneAgain() {
  const scene = await firstScene();
  const { bench } = scene;
  await bench.run();
  const { ledger } = bench.deps;
  const page = { limit: 1, cursor: null };
  const [newest] = (await ledger.thoughts.list(DEFAULT_TENANT, { state: 'applied' }, page)).results;
  const id = newest?.id ?? '';
  const undone = await undoer(bench.deps).undo(DEFAULT_TENANT, id, { cascade: true, dryRun: false });
  expect(undone.kind).toBe('done');
  bench.tools.advance(1_000);
  await replay(bench.deps, newest?.batchIds ?? []);
  return scene;
}

const keyOfCall = ({ name, user }: ChatCall): string => JSON.stringify([name, user]);

async function turnOf(bench: EngineBench) {
  const [nudge] = await bench.deps.ledger.lanes.withWork(null, 1);
  if (nudge === undefined) throw new Error('no lane has work');
  bench.tools.set(Math.max(bench.tools.now(), nudge.dueAt));
  return { lane: nudge.lane, generation: nudge.generation };
}

/** Another worker takes the same turn; false when the lane has moved on. */
async function claimAgain({ deps, tools }: EngineBench, turn: Awaited<ReturnType<typeof turnOf>>): Promise<boolean> {
  const how = { now: tools.now(), window: deps.settings.window, newConsolidationId: tools.id('con', bitsOf(tools)) };
  return (await deps.ledger.lanes.claim(turn, how)).kind === 'claimed';
}

/** Processes share no tools: what one has under way the other does not wait for. */
const inAnotherProcess = ({ deps, tools }: EngineBench) => ({ ...deps, tools: { ...tools } });

/** All that a fenced worker must not change. */
async function writtenIn({ deps: { ledger }, memories }: EngineBench) {
  const [waiting] = await ledger.lanes.withWork(null, 1);
  const lane = waiting === undefined ? null : await ledger.lanes.get(waiting.lane);
  const { results } = await ledger.thoughts.list('default' as never, {}, { limit: 100, cursor: null });
  const answers = (await Promise.all(results.map(({ id }) => ledger.thoughts.answers(id)))).flat();
  const plans = await Promise.all(results.map(({ id }) => ledger.thoughts.plan(id)));
  return structuredClone({ lane, results, answers, plans, memories: await memories() });
}

type Written = Awaited<ReturnType<typeof writtenIn>>;

async function catchUp(bench: EngineBench): Promise<void> {
  while ((await sweepOutbox(bench.deps, NEVER)) > 0);
}

/** What holds and held, without ids, numbers of versions and confirmations. */
async function stateOf(bench: EngineBench) {
  const { results } = await bench.deps.ledger.batches.list('default' as never, {}, { limit: 100, cursor: null });
  const versions = (await bench.memories()).flatMap((memory) =>
    memory.versions.map(({ text, saidAt, validFrom, invalidAt }) =>
      JSON.stringify({ text, saidAt, validFrom, invalidAt }),
    ),
  );
  return { batches: results.map(({ state, attempts }) => ({ state, attempts })), versions: versions.sort() };
}

import {
  deathAfter,
  fakeChat,
  type GraphTurn,
  graphDecisions,
  graphScript,
  mortal,
  NEVER,
  studyBench,
  watched,
} from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { EngineError } from '../../errors.ts';
import type { ChatCall, ChatModel } from '../../ports/models.ts';
import { DEFAULT_TENANT, ownerOf } from '../../words.ts';
import { studyLane } from '../study/study-lane.ts';

/** More calls of ports than a study makes. */
const CALLS_MAX = 60;

const TALK: readonly GraphTurn[] = [
  {
    day: '',
    says: 'I work at Acme and live in Oslo.',
    statements: ['user | works_at | Acme', 'user | lives_in | Oslo'],
  },
  {
    day: '',
    says: 'I moved to Bergen and work at Globex. My friend is Eva Berg.',
    statements: ['user | works_at | Globex', 'user | lives_in | Bergen', 'user | friend_of | Eva Berg'],
  },
];
const KINDS = { Acme: 'organisation', Globex: 'organisation', Oslo: 'place', Bergen: 'place', 'Eva Berg': 'person' };

/** One consolidation is studied, and the study of a second one is due: with a repaired answer, new names, and a decision. */
async function scene({ nonsense } = { nonsense: true }) {
  const stored = new Set<string>();
  const twice: string[] = [];
  let last: ChatCall | null = null;
  const extract = graphScript(TALK, KINDS);
  const scripted = fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: (input, nth) => (nonsense && nth === 2 ? 'nonsense' : extract(input, nth)),
    decide_graph: graphDecisions({ one: ['works_at'], same: [] }),
    repair_output: (input, nth) => extract(input.input as never, nth),
  });
  const chat: ChatModel = {
    name: 'scripted',
    ask: async (call, cancel) => {
      if (stored.has(keyOf(call))) twice.push(call.name);
      last = call;
      return scripted.ask(call, cancel);
    },
  };
  const bench = await studyBench({ chat });
  const { graph } = bench.deps.ledger;
  const { storeAnswer } = graph;
  Object.assign(graph, {
    storeAnswer: async (...given: Parameters<typeof storeAnswer>) => {
      const answer = await storeAnswer(...given);
      if (answer.kind === 'stored' && last !== null) stored.add(keyOf(last));
      return answer;
    },
  });
  for (const { says } of TALK) {
    await bench.study();
    await bench.post([says]);
    await bench.run();
  }
  const [lane] = await graph.due(bench.tools.now(), 1);
  if (lane === undefined) throw new Error('no study is due');
  return { bench, lane, chat: scripted, askedTwice: () => twice };
}

const keyOf = ({ name, user }: ChatCall): string => JSON.stringify([name, user]);

type Scene = Awaited<ReturnType<typeof scene>>;

/** All that the graph says, without ids. */
async function stateOf({ bench, lane }: Scene) {
  const { graph } = bench.deps.ledger;
  const page = { limit: 1_000, cursor: null };
  const owner = ownerOf({ userId: 'ann', agentId: null, runId: null, appId: null });
  const { results } = await graph.listEntities(DEFAULT_TENANT, owner, {}, page);
  const statements = await graph.statements(lane, { entities: results.map(({ id }) => id) });
  return {
    relations: await bench.relations('ever'),
    entities: results.map(({ name, aliases, kind }) => ({ name, aliases, kind })),
    statements: statements.map(({ statement: { kind, saidAt } }) => ({ kind, saidAt })),
    studies: await graph.counts(),
  };
}

const NOBODY = { studied: () => {}, takeOverMs: 30_000 };

test('a worker that is killed between any two calls of a study: the next one makes the same graph, and asks nothing twice', async () => {
  const clean = await scene();
  await clean.bench.study();
  const expected = await stateOf(clean);
  expect(expected.relations).toHaveLength(5);
  let calls = 0;
  for (let ended = false; !ended; calls += 1) {
    const killed = await scene();
    const process = mortal({ ...killed.bench.deps, ...NOBODY }, deathAfter(calls));
    const answered = await studyLane(process.deps)(killed.lane, NEVER).catch(() => 'killed');
    ended = answered !== 'killed' && process.calls.length < calls;
    await killed.bench.study();
    const where = `killed after ${process.calls[calls - 1]}`;
    expect(await stateOf(killed), where).toEqual(expected);
    expect(killed.askedTwice(), where).toEqual([]);
    expect(killed.chat.calls.length, where).toBeLessThanOrEqual(clean.chat.calls.length + 1);
  }
  expect(calls, 'calls of ports in one study').toBeGreaterThan(15);
  expect(calls).toBeLessThan(CALLS_MAX);
});

/** A try that failed asks again for what was no use; all else it has. */
const PLAIN = { nonsense: false };

test('any call of a study may fail once: it is made all the same, and pays for nothing twice', async () => {
  const clean = await scene(PLAIN);
  await clean.bench.study();
  const expected = await stateOf(clean);
  let at = 0;
  for (let calls = at; at <= calls; at += 1) {
    const failing = await scene(PLAIN);
    const process = watched({ ...failing.bench.deps, ...NOBODY }, async (nth, call) => {
      if (nth === at) throw new EngineError('it failed', { code: 'internal', retryable: true });
      return call();
    });
    await studyLane(process.deps)(failing.lane, NEVER).catch(() => {});
    calls = process.calls.length;
    await failing.bench.study();
    const where = `failed at ${process.calls[at]}`;
    expect(await stateOf(failing), where).toEqual(expected);
    expect(failing.askedTwice(), where).toEqual([]);
    expect(failing.chat.calls.length, where).toBeLessThanOrEqual(clean.chat.calls.length + 1);
  }
  expect(at, 'calls of ports in one study').toBeGreaterThan(15);
});

test('a worker that lost its lane before any call of a study says nothing any more', async () => {
  const clean = await scene();
  await clean.bench.study();
  const expected = await stateOf(clean);
  let fenced = 0;
  const count = (outcome: string): void => {
    if (outcome === 'fenced') fenced += 1;
  };
  for (let at = 1; at < CALLS_MAX; at += 1) {
    const lost = await scene();
    const { tools, deps } = lost.bench;
    let calls = 0;
    const zombie = watched({ ...deps, ...NOBODY, studied: count }, async (nth, call) => {
      calls = nth;
      if (nth === at) {
        tools.advance(120_000);
        await deps.ledger.graph.claim(lost.lane, { now: tools.now(), holdMs: 1 });
      }
      return call();
    });
    await studyLane(zombie.deps)(lost.lane, NEVER);
    await lost.bench.study();
    expect(await stateOf(lost), zombie.calls[at]).toEqual(expected);
    if (calls < at) break;
  }
  expect(fenced, 'studies that were fenced').toBeGreaterThan(8);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelServer, type Script, startModelServer } from '@slowwave/testkit';
import { each } from '../../api.ts';
import { UsageError } from '../../arguments.ts';
import { perfectModel } from '../../perfect-model.ts';
import { ROOT } from '../../programs.ts';
import type { Bench, Given, Progress } from '../bench.ts';
import { cpuTimes, cpuUse, sharedBytes } from '../host.ts';
import { atLeast, atMost, type Comparison, median, quantile } from '../report.ts';
import { type Candidate, DIMENSIONS, hindsight, type Running, slowwave } from './candidates.ts';

/** How much worse than another a row may be before it counts as worse. */
const EQUAL = 1.05;
const THINK_MS = 300;
const EMBED_MS = 50;
/** Users take turns. */
const USERS = 40;
const CONNECTIONS = [1, 8, 64] as const;
const ASKERS = 16;
const TWICE = 8;
const SETTLE_MS = 3_000;
const FOUND_WITHIN_MS = 300_000;
const LOOK_AGAIN_MS = 100;
const SAID_AT_A_TURN = 2;
const SECOND_MS = 1_000;
const MIB = 1_048_576;
const P95 = 0.95;
const P99 = 0.99;

/** The product beside what people would take instead. */
export const peers: Bench = {
  name: 'peers',
  what: 'One process of Slowwave compared with an older version and with Hindsight: the same exchanges and model, one candidate after the other.',
  flags: {
    adds: {
      usual: '400',
      help: 'Exchanges that are added over 8 and over 64 connections each; half as many over one.',
    },
    old: { usual: '', help: 'Folder of an older checkout whose scripts/start has run.' },
    hindsight: {
      usual: '',
      help: 'The program hindsight-api in a Python environment (pip install hindsight-api-slim). The PostgreSQL used by the tests needs pgvector.',
    },
  },
  run: async (given, progress) => {
    const { adds, candidates } = optionsOf(given);
    const all: Measured[] = [];
    for (const candidate of candidates) {
      all.push(await measure(candidate, adds, (text) => progress(`${candidate.name}: ${text}`)));
    }
    return found(adds, all);
  },
};

function optionsOf(given: Given) {
  const [old, other] = [given.path('old'), given.path('hindsight')];
  if (old === null && other === null)
    throw new UsageError('expected --old, --hindsight or both, got none to compare with');
  const candidates: readonly Candidate[] = [
    slowwave('Slowwave', ROOT),
    ...(old === null ? [] : [slowwave('the older one', old)]),
    ...(other === null ? [] : [hindsight(other)]),
  ];
  return { adds: given.number('adds', { min: 16, max: 100_000 }), candidates };
}

interface Row {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  /** Which of two is better; absent where neither is, or only 0 is right. */
  readonly better?: 'less' | 'more';
}

interface Measured {
  readonly name: string;
  readonly rows: readonly Row[];
}

async function measure(candidate: Candidate, adds: number, progress: Progress): Promise<Measured> {
  const model = await startModelServer({ script: everyExchangeIsAFact(), dimensions: DIMENSIONS });
  const began = performance.now();
  progress('starting');
  const running = await candidate.start(model.baseUrl).catch(async (error: unknown) => {
    await model.close();
    throw error;
  });
  const rows: Row[] = [
    { what: 'first start', unit: 's', value: (performance.now() - began) / SECOND_MS, better: 'less' },
  ];
  try {
    await sleep(SETTLE_MS);
    rows.push(await memoryOf(running, 'memory when idle'));
    thinks(model, EMBED_MS);
    for (const connections of CONNECTIONS) {
      const times = connections === 1 ? adds / 2 : adds;
      rows.push(...(await adding({ running, model, connections, adds: Math.floor(times) }, progress)));
    }
    rows.push(await memoryOf(running, 'memory after that'));
    thinks(model, 0);
    rows.push(...(await searching(running, adds, progress)));
    thinks(model, EMBED_MS);
    rows.push(await saidTwice(running, progress), ...(await killed(running, adds, progress)));
    return { name: candidate.name, rows };
  } finally {
    await running.close();
    await model.close();
  }
}

/** Embeddings take a while, as answers of the chat model do. */
const thinks = (model: ModelServer, embedMs: number): void =>
  model.setEmbeddingScript(async () => {
    await sleep(embedMs);
    return null;
  });

async function memoryOf(running: Running, what: string): Promise<Row> {
  return { what, unit: 'MiB', value: (await sharedBytes(await running.pids())) / MIB, better: 'less' };
}

/** What a user says with one exchange: nothing else is like it. */
const textOf = (series: string, i: number): string => `I keep stamp ${series}${i} of the series`;
const userOf = (i: number): string => `user-${i % USERS}`;

interface Adding {
  readonly running: Running;
  readonly model: ModelServer;
  readonly connections: number;
  readonly adds: number;
}

async function adding({ running, model, connections, adds }: Adding, progress: Progress): Promise<Row[]> {
  const [calls, tokens, cpu] = [model.calls.length, promptTokens(model), await cpuTimes(await running.pids())];
  const series = `${connections}x`;
  progress(`adding over ${connections} connections`);
  const began = performance.now();
  const times = await each(
    Array.from({ length: adds }),
    (_, i) => timed(() => running.add(userOf(i), textOf(series, i))),
    connections,
  );
  const postedMs = performance.now() - began;
  const lost = await untilFound(running, { series, adds }, progress);
  const foundMs = performance.now() - began;
  const { ms } = cpuUse(cpu, await cpuTimes(await running.pids()));
  const messages = adds * SAID_AT_A_TURN;
  const at = connections === 1 ? 'one at a time' : `${connections} at a time`;
  return [
    { what: `${at}: acknowledged within, median`, unit: 'ms', value: median(times), better: 'less' },
    { what: `${at}: 95 of 100`, unit: 'ms', value: quantile(times, P95), better: 'less' },
    { what: `${at}: 99 of 100`, unit: 'ms', value: quantile(times, P99), better: 'less' },
    { what: `${at}: acknowledged`, unit: '/s', value: adds / (postedMs / SECOND_MS), better: 'more' },
    { what: `${at}: all found after`, unit: 's', value: foundMs / SECOND_MS, better: 'less' },
    { what: `${at}: never found`, unit: '', value: lost },
    {
      what: `${at}: model calls per message`,
      unit: '',
      value: (model.calls.length - calls) / messages,
      better: 'less',
    },
    {
      what: `${at}: prompt tokens per message`,
      unit: '',
      value: (promptTokens(model) - tokens) / messages,
      better: 'less',
    },
    { what: `${at}: processor time per 1,000 messages`, unit: 's', value: ms / messages, better: 'less' },
  ];
}

const promptTokens = (model: ModelServer): number => model.calls.reduce((sum, call) => sum + call.tokens.prompt, 0);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

interface Series {
  readonly series: string;
  readonly adds: number;
  /** Those that are looked for; all, if it is missing. */
  readonly only?: readonly number[];
}

/** Asks for what was said until all of it is found. Returns how much never was. */
async function untilFound(running: Running, { series, adds, only }: Series, progress: Progress): Promise<number> {
  let missing = only ?? Array.from({ length: adds }, (_, i) => i);
  for (const end = performance.now() + FOUND_WITHIN_MS; missing.length > 0 && performance.now() < end; ) {
    progress(`${missing.length} of ${adds} are not found yet`);
    // The last one said is looked for alone until it is there: asking for all takes processor time from those who work.
    const last = missing.at(-1) ?? 0;
    if (!(await finds(running, series, last))) {
      await sleep(LOOK_AGAIN_MS);
      continue;
    }
    const there = await each(missing, (i) => finds(running, series, i), 4);
    missing = missing.filter((_, at) => there[at] === false);
    if (missing.length > 0) await sleep(LOOK_AGAIN_MS);
  }
  return missing.length;
}

async function finds(running: Running, series: string, i: number): Promise<boolean> {
  const text = textOf(series, i);
  return (await running.search(userOf(i), text)).some((found) => found.includes(text));
}

async function searching(running: Running, adds: number, progress: Progress): Promise<Row[]> {
  progress('searching');
  const ask = (_: unknown, i: number) =>
    timed(() => running.search(userOf(i), `which stamp is ${i % adds} of the series?`));
  const questions = Array.from({ length: adds });
  await each(questions.slice(0, USERS), ask, 1);
  const alone = await each(questions, ask, 1);
  const began = performance.now();
  const together = await each(questions, ask, ASKERS);
  const perSecond = adds / ((performance.now() - began) / SECOND_MS);
  return [
    { what: 'search, one at a time, median', unit: 'ms', value: median(alone), better: 'less' },
    { what: 'search, one at a time, 95 of 100', unit: 'ms', value: quantile(alone, P95), better: 'less' },
    { what: `search, ${ASKERS} at a time`, unit: '/s', value: perSecond, better: 'more' },
    { what: `search, ${ASKERS} at a time, 95 of 100`, unit: 'ms', value: quantile(together, P95), better: 'less' },
  ];
}

/** The same exchange, said several times at once. */
async function saidTwice(running: Running, progress: Progress): Promise<Row> {
  progress('saying the same several times');
  const text = textOf('same', 0);
  await each(Array.from({ length: TWICE }), () => running.add(userOf(0), text), TWICE);
  await untilFound(running, { series: 'same', adds: 1 }, progress);
  await sleep(SETTLE_MS);
  const same = (await running.search(userOf(0), text)).filter((found) => found.includes(text));
  return { what: `memories after ${TWICE} times the same`, unit: '', value: same.length, better: 'less' };
}

async function killed(running: Running, adds: number, progress: Progress): Promise<Row[]> {
  progress('killing it in the middle');
  const series = 'kill';
  const acknowledged: number[] = [];
  const half = adds / 4;
  let crash: Promise<void> | null = null;
  await each(Array.from({ length: adds / 2 }), async (_, i) => {
    if (crash === null && acknowledged.length >= half) crash = running.crash();
    await running.add(userOf(i), textOf(series, i)).then(
      () => void acknowledged.push(i),
      () => {}, // it is down
    );
  });
  await crash;
  const began = performance.now();
  await running.resume();
  const backMs = performance.now() - began;
  const lost = await untilFound(running, { series, adds: acknowledged.length, only: acknowledged }, progress);
  return [
    { what: 'started again after kill -9', unit: 's', value: backMs / SECOND_MS, better: 'less' },
    { what: 'acknowledged before kill -9 and never found', unit: '', value: lost },
  ];
}

/** What the user says is the fact, in the words of whoever asks. */
function everyExchangeIsAFact(): Script {
  const ours = perfectModel({ keyOf: (text) => text });
  return async (call) => {
    await sleep(THINK_MS);
    if (call.name === 'extract_facts' || call.name === 'decide_operations') return ours(call);
    const asked = String((call.request.messages as { content?: unknown }[] | undefined)?.at(-1)?.content ?? '');
    if (asked.includes('Extract facts'))
      return { json: { facts: [...asked.matchAll(/^user: (.*)$/gm)].map(([, text]) => factOf(text)) } };
    return asked.includes('observations') ? { json: { creates: [], updates: [], deletes: [] } } : ours(call);
  };
}

const factOf = (what = '') => {
  const unknown = { when: 'N/A', where: 'N/A', who: 'N/A', why: 'N/A' };
  return { what, ...unknown, fact_type: 'world', entities: [] };
};

function found(adds: number, all: readonly Measured[]) {
  const [ours, ...others] = all;
  return {
    title: `peers: ${adds} exchanges of ${USERS} users, answers of the model after ${THINK_MS} ms, embeddings after ${EMBED_MS} ms, ${DIMENSIONS} dimensions`,
    figures: all.flatMap(({ name, rows }) =>
      rows.map(({ what, value, unit }) => ({ what: `${name}: ${what}`, value, unit })),
    ),
    verdicts: [],
    comparisons: others.flatMap((other) => (ours === undefined ? [] : comparisonsOf(ours, other))),
    remarks: [
      'Each is started alone, on stores of its own that wait for the disk, with the same exchanges one after the other.',
      'Memory is that of all processes, those of PostgreSQL among them. Searches have their questions embedded at once.',
      'The scripted model concludes nothing from what it is told: what others derive in the background costs them calls, and adds nothing here.',
    ],
  };
}

const comparisonsOf = (ours: Measured, other: Measured): Comparison[] =>
  ours.rows.flatMap(({ what, unit, value, better }) => {
    const theirs = other.rows.find((row) => row.what === what)?.value ?? 0;
    if (better === undefined || value === 0 || theirs === 0) return [];
    const sides = { what, unit, ours: { name: ours.name, value }, yardstick: { name: other.name, value: theirs } };
    return [better === 'less' ? atMost(EQUAL, sides) : atLeast(1 / EQUAL, sides)];
  });

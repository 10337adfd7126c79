import { join } from 'node:path';
import {
  admit,
  EngineError,
  factsIn,
  type JsonObject,
  type Ledger,
  readAnswer,
  type SearchIndex,
  spokenOf,
} from '@slowwave/engine';

import { engineBench, fakeChat, recordingMeter } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { product } from '../product.ts';
import type { Bench, Progress } from './bench.ts';
import { quantile } from './report.ts';

/** How long one piece of work may keep others waiting, in ms of the processor: what the machine does besides is not counted. */
const TARGET_MS = 20;
const MICROS = 1_000;
/** The first answers of a process are worked on by code that is not compiled yet. */
const WARM_UP = 3;

/** What an answer costs the others who share a process. */
export const answers: Bench = {
  name: 'answers',
  what: 'The longest time other work waits while a huge model answer is processed, and how much of the answer is remembered.',
  draws: false,
  flags: {
    facts: { usual: '20000', help: 'Facts of one answer.' },
    operations: { usual: '20000', help: 'Operations of one answer.' },
  },
  run: async (given, progress) => {
    const sizes = {
      facts: given.number('facts', { max: 100_000 }),
      operations: given.number('operations', { max: 100_000 }),
    };
    const dir = await tempDir();
    const ledger = await product.openLedger(join(dir.path, 'ledger.db'));
    const index = await product.openIndex([join(dir.path, 'index.db')]);
    try {
      return await measure({ ledger, index, sizes }, progress);
    } finally {
      await index.close();
      await ledger.close();
      await dir.remove();
    }
  },
};

interface Stage {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  readonly sizes: { readonly facts: number; readonly operations: number };
}

/** Answers to the calls of one consolidation. */
interface Answers {
  readonly extract: string;
  readonly decide: string;
}

async function measure(stage: Stage, progress: Progress) {
  const { facts, operations } = stage.sizes;
  const small = { extract: factsOf(20, 'knows'), decide: operationsOf(20) };
  for (let i = 0; i < WARM_UP; i += 1) await consolidate(stage, small, `warm-up-${i}`);
  progress('one answer of many facts');
  const many = await consolidate(stage, { extract: factsOf(facts, 'owns'), decide: operationsOf(0) }, 'facts');
  progress('one answer of many operations');
  const changed = await consolidate(
    stage,
    { extract: factsOf(20, 'sold'), decide: operationsOf(operations) },
    'warm-up-0',
  );
  progress('reading and judging beside parsing');
  const shares = ['facts of a sentence', 'facts of a page'].map((what, i) => ({
    what,
    ...readingBeside(i === 0 ? SENTENCE : PAGE),
  }));
  const worst = Math.max(many.longestMs, changed.longestMs);
  const dearest = Math.max(...shares.flatMap(({ read, cutOff, judged }) => [read, cutOff, judged]));
  return {
    title: `answers: ${facts} facts in one answer, ${operations} operations in another, on files`,
    figures: [
      { what: `longest stretch of ${facts} facts`, value: many.longestMs, unit: 'ms' },
      { what: '  the next longest', value: many.nextMs, unit: 'ms' },
      { what: '  processor time in all, all threads', value: many.cpuMs, unit: 'ms' },
      { what: '  remembered', value: many.live, unit: 'memories' },
      { what: `longest stretch of ${operations} operations`, value: changed.longestMs, unit: 'ms' },
      { what: '  the next longest', value: changed.nextMs, unit: 'ms' },
      { what: '  processor time in all, all threads', value: changed.cpuMs, unit: 'ms' },
      ...shares.flatMap(({ what, read, cutOff, judged, parseMs }) => [
        { what: `${READ_FACTS} ${what}: JSON.parse`, value: parseMs, unit: 'ms' },
        { what: '  reading, parsing included', value: read, unit: 'x' },
        { what: '  reading where it breaks off', value: cutOff, unit: 'x' },
        { what: '  judging', value: judged, unit: 'x' },
      ]),
    ],
    verdicts: [
      {
        what: 'others wait at most',
        reached: `${worst.toFixed(0)} ms of the processor`,
        target: `${TARGET_MS} ms`,
        passed: worst <= TARGET_MS,
        misses: [],
      },
      {
        what: 'reading or judging beside parsing',
        reached: `${dearest.toFixed(1)} x`,
        target: `${BESIDE_PARSING} x`,
        passed: dearest <= BESIDE_PARSING,
        misses: [],
      },
    ],
    remarks: [],
  };
}

/** As many facts as are taken of one answer. */
const READ_FACTS = 1_000;
/** How much of JSON.parse of the same text reading an answer, and judging it, may take each. */
const BESIDE_PARSING = 3;
const SENTENCE = 60;
const PAGE = 1_500;
const ROUNDS = 200;
/** What other work on the machine takes is not counted: of all rounds this share is faster. */
const QUICK = 0.1;

/** What reading and judging an answer take, as multiples of what parsing takes. */
function readingBeside(length: number) {
  const answer = JSON.stringify({ facts: Array.from({ length: READ_FACTS }, (_, i) => factOf(length, i)) });
  const brokenOff = answer.slice(0, answer.lastIndexOf('"about"'));
  const shown = new Map([...Array(MESSAGES).keys()].map((seq) => [`m${seq}`, spokenOf(messageOf(seq))]));
  const judge = () => {
    const { value, json = null } = readAnswer(afresh(answer), factsIn) ?? {};
    const found = [{ raw: value?.items ?? [], json, shown }];
    return () => admit(found, { inferred: true, agent: false, categories: ['misc'], ownOnly: false, before: [] });
  };
  const legs = [
    () => onText(answer, JSON.parse),
    () => onText(answer, (text) => readAnswer(text, factsIn)),
    () => onText(brokenOff, (text) => readAnswer(text, factsIn)),
    judge,
  ];
  const rounds = Array.from({ length: ROUNDS }, () => legs.map((leg) => timed(leg())));
  const quick = legs.map((_, leg) =>
    quantile(
      rounds.map((round) => round[leg] ?? 0),
      QUICK,
    ),
  );
  const [parseMs = 0, ...times] = quick;
  const [read = 0, cutOff = 0, judged = 0] = times.map((ms) => ms / parseMs);
  return { parseMs, read, cutOff, judged };
}

const onText = (text: string, work: (text: string) => unknown) => {
  const own = afresh(text);
  return () => work(own);
};

/** The same text as it comes from a server: nothing is known of it. */
const afresh = (text: string): string => Buffer.from(text).toString();

function timed(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

const MESSAGES = 40;
const NOUNS =
  'kitchen table river bicycle sister garden concert piano neighbour coffee bread window mountain boat'.split(' ');

/** About so many characters; no two begin alike for long. */
function words(length: number, seed: number): string {
  let said = 'User';
  for (let n = seed + 1; said.length < length; n = (n * 48_271) % 0x7fffffff) said += ` ${NOUNS[n % NOUNS.length]}`;
  return said;
}

const factOf = (length: number, i: number) => ({
  text: `${words(length, i)} ${i}`,
  source_ids: [`m${i % MESSAGES}`],
  quote: words(SENTENCE, i % MESSAGES),
  category: 'misc',
  language: 'en',
  valid_from: null,
  about: 'user',
});

const messageOf = (seq: number) => ({
  ...{ id: `message ${seq}`, batchId: 'batch', clientId: null, role: 'user' as const, name: null, resent: false },
  ...{ content: `${words(PAGE, seq)} ${numbersOf(seq)}`, saidAt: { at: seq, seq } },
});

/** What the facts that name a message number. */
const numbersOf = (seq: number): string =>
  Array.from({ length: READ_FACTS / MESSAGES }, (_, i) => seq + i * MESSAGES).join(' or ');

/** As many as are taken of an answer. */
const THINGS = Array.from({ length: READ_FACTS }, (_, i) => `thing ${i}`).join(', ');

const factsOf = (count: number, verb: string): string =>
  JSON.stringify({ facts: Array.from({ length: count }, (_, i) => `User ${verb} thing ${i}`) });

const operationsOf = (count: number): string =>
  JSON.stringify({
    operations: Array.from({ length: count }, (_, i) => ({ fact: `f${i % 20}`, event: 'UPDATE', id: String(i % 40) })),
  });

interface Cost {
  readonly longestMs: number;
  readonly nextMs: number;
  readonly cpuMs: number;
  readonly live: number;
}

/** One consolidation, with these answers: how long it kept the thread at most, in processor time. */
async function consolidate({ ledger, index }: Stage, said: Answers, userId: string): Promise<Cost> {
  const chat = fakeChat({ extract_facts: () => said.extract, decide_operations: () => said.decide, ...NO_REPAIR });
  const embedder = product.embedder();
  const bench = await engineBench({ chat, embedder, stores: { ledger, index }, meter: recordingMeter() });
  const { id, hash, breathe } = product.tools;
  Object.assign(bench.deps.tools, { id, hash, breathe });
  await bench.post([`I have told a lot about what I own, know and sold: ${THINGS}.`], { userId });
  const stretches = watch();
  const before = process.cpuUsage();
  await bench.run();
  const { user, system } = process.cpuUsage(before);
  const [longest = 0, next = 0] = stretches.end();
  return { longestMs: longest, nextMs: next, cpuMs: (user + system) / MICROS, live: (await bench.live(userId)).length };
}

const NO_REPAIR = {
  repair_output: (): JsonObject => {
    throw new EngineError('expected an answer that needs no repair', { code: 'internal', retryable: false });
  },
};

/** The processor time of each turn of the event loop, longest first. */
function watch(): { end(): readonly number[] } {
  const turns: number[] = [];
  let [last, isOn] = [process.threadCpuUsage(), true];
  const turn = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    turns.push((user + system) / MICROS);
    if (isOn) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    end: () => {
      isOn = false;
      return turns.toSorted((a, b) => b - a);
    },
  };
}

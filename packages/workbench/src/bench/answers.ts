import { join } from 'node:path';
import { EngineError, type JsonObject, type Ledger, type SearchIndex } from '@slowwave/engine';

import { engineBench, fakeChat, recordingMeter } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { product } from '../product.ts';
import type { Bench, Progress } from './bench.ts';

/** How long one piece of work may keep others waiting, in ms of the processor: what the machine does besides is not counted. */
const TARGET_MS = 20;
const MICROS = 1_000;
/** The first answers of a process are worked on by code that is not compiled yet. */
const WARM_UP = 3;

/** What an answer costs the others who share a process. */
export const answers: Bench = {
  name: 'answers',
  what: 'How long others wait at most while huge answers of a model are worked on, and what of them is remembered.',
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
  const worst = Math.max(many.longestMs, changed.longestMs);
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
    ],
    verdicts: [
      {
        what: 'others wait at most',
        reached: `${worst.toFixed(0)} ms of the processor`,
        target: `${TARGET_MS} ms`,
        passed: worst <= TARGET_MS,
        misses: [],
      },
    ],
    remarks: [],
  };
}

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
  await bench.post(['I have told a lot about what I own, and what became of it.'], { userId });
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

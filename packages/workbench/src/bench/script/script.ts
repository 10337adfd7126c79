import { join } from 'node:path';
import {
  connectToWrite,
  insertRows,
  migrate,
  runScript,
  type Script,
  type Sql,
  type Step,
} from '@slowwave/adapters/sqlite/inside';
import { tempDir } from '@slowwave/testkit';
import type { Bench, Progress } from '../bench.ts';
import { atMost, type Comparison, type Found } from '../report.ts';
import { bareOf, runBare } from './bare.ts';
import { PHASES, type Phase, type Recorded, recorded } from './record.ts';

const TARGET = 1.05;
/** Calls whose time is taken together: under a millisecond, so that some of many tries meet nobody else. */
const TOGETHER = 5;
const MICROS = 1_000;

/** What running a statement as a step of a script costs beside the statement. */
export const script: Bench = {
  name: 'script',
  what: "SQLite's writer: the statements of posts, claims and applied consolidations as steps of scripts, compared with the bare statements, in turns.",
  flags: {
    users: { usual: '100', help: 'Users, each with four batches that become one consolidation.' },
    rounds: { usual: '30', help: 'Rounds on new ledgers; of each group of calls the fastest counts.' },
  },
  run: async (given, progress) => {
    const [users, rounds] = [given.number('users', { max: 2_000 }), given.number('rounds', { max: 1_000 })];
    const dir = await tempDir();
    try {
      const calls = await withLedger(join(dir.path, 'recorded.db'), (sql) => recorded(sql, users));
      return found(await measured(calls, { folder: dir.path, rounds, progress }), { users, rounds });
    } finally {
      await dir.remove();
    }
  },
};

const SIDES = ['bare', 'script'] as const;
type Side = (typeof SIDES)[number];

/** Of each group of calls and each side the fastest of all rounds, in µs. */
type Fastest = ReadonlyMap<number, Record<Side, number>>;

interface How {
  readonly folder: string;
  readonly rounds: number;
  readonly progress: Progress;
}

interface Measured {
  readonly calls: readonly Recorded[];
  readonly fastest: Fastest;
}

async function measured(calls: readonly Recorded[], { folder, rounds, progress }: How): Promise<Measured> {
  const fastest = new Map<number, Record<Side, number>>();
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    const path = (side: Side): string => join(folder, `${side}-${round}.db`);
    // Whose ledger is opened first changes too: the one opened later was slower by more than one in a hundred, with equal work.
    const [first, second] = round % 4 < 2 ? SIDES : SIDES.toReversed();
    await withLedger(path(first), (one) =>
      withLedger(path(second), (other) => {
        const ledgers = first === 'bare' ? { bare: one, script: other } : { bare: other, script: one };
        oneRound(calls, ledgers, { round, fastest });
      }),
    );
  }
  return { calls, fastest };
}

/** A new ledger with one transaction that is never committed: what a commit costs, both sides pay alike. */
async function withLedger<T>(path: string, use: (sql: Sql) => T | Promise<T>): Promise<T> {
  const sql = connectToWrite(path);
  try {
    migrate(sql, 'led_bench');
    sql.run('BEGIN IMMEDIATE');
    return await use(sql);
  } finally {
    sql.db.close();
  }
}

interface Round {
  readonly round: number;
  readonly fastest: Map<number, Record<Side, number>>;
}

/** Both sides take turns, group by group; who goes first changes. */
function oneRound(calls: readonly Recorded[], ledgers: Readonly<Record<Side, Sql>>, { round, fastest }: Round): void {
  for (const side of SIDES) for (const call of calls) bareOf(ledgers[side], call); // prepares: once for a connection
  for (let start = 0; start < calls.length; start += TOGETHER) {
    const group = calls.slice(start, start + TOGETHER);
    const before = fastest.get(start) ?? { bare: Number.POSITIVE_INFINITY, script: Number.POSITIVE_INFINITY };
    const order = (round + start / TOGETHER) % 2 === 0 ? SIDES : SIDES.toReversed();
    for (const side of order) before[side] = Math.min(before[side], timeOf(ready(ledgers[side], group)[side]));
    fastest.set(start, before);
  }
}

/**
 * A group of calls, ready to be run on either side. Its values are made anew, as the writer makes them right before it writes
 * them: those of the record would first have to come from far memory, and a script has more objects there.
 */
function ready(sql: Sql, group: readonly Recorded[]): Readonly<Record<Side, () => void>> {
  const calls = madeAnew(group);
  const bares = calls.map((call) => bareOf(sql, call));
  return {
    bare: () => {
      for (const bare of bares) runBare(bare);
    },
    script: () => {
      for (const { parts } of calls) runParts(sql, parts);
    },
  };
}

/** The same values in new objects. Texts stay the same ones, as those of statements do. */
function madeAnew<T>(value: T): T {
  if (Array.isArray(value)) return value.map(madeAnew) as T;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const made = { ...value };
  for (const name in made) made[name] = madeAnew(made[name]);
  return made;
}

function timeOf(run: () => void): number {
  const began = performance.now();
  run();
  return (performance.now() - began) * MICROS;
}

/** As the writer runs them. */
function runParts(sql: Sql, parts: Recorded['parts']): void {
  for (const { asked, inserted, steps } of parts) {
    if (asked !== null) sql[asked.kind](asked.text, asked.params);
    else if (inserted !== null) insertRows(sql, inserted.table, inserted.rows);
    else runScript(sql, callOf(steps));
  }
}

/** As scripts are made: a call calls parts, and each part yields what it asks. */
function* callOf(steps: readonly Step[]): Script<void> {
  for (const step of steps) yield* partOf(step);
}

function* partOf(step: Step): Script<unknown> {
  return yield step;
}

function found({ calls, fastest }: Measured, { users, rounds }: { users: number; rounds: number }): Found {
  const comparisons = PHASES.map((phase): Comparison => {
    const value = (side: Side): number => sumOf({ calls, fastest }, phase, side) / countOf(calls, phase);
    return atMost(TARGET, {
      what: phase,
      unit: 'µs a call',
      ours: { name: 'as a script', value: value('script') },
      yardstick: { name: 'bare statements', value: value('bare') },
    });
  });
  const statements = (phase: Phase): number =>
    calls.filter((call) => call.phase === phase).reduce((sum, { operations }) => sum + operations.length, 0);
  return {
    title: `script: what ${users} users post, claim and apply, in SQLite's writer, ${rounds} rounds`,
    figures: PHASES.map((phase) => ({
      what: `statements of one ${phase}`,
      value: statements(phase) / countOf(calls, phase),
      unit: '',
    })),
    verdicts: [],
    comparisons,
    remarks: [
      'Bare: prepared statements, given the values of the same rows and lists as code written for each of them would read them. As a script: generators, looking statements up, values by their names. Preparing, once for a connection, and commits are left out on both sides.',
    ],
  };
}

const countOf = (calls: readonly Recorded[], phase: Phase): number =>
  calls.filter((call) => call.phase === phase).length;

/** Groups belong to the phase of their first call; the few that hold two phases are the same on both sides. */
function sumOf({ calls, fastest }: Measured, phase: Phase, side: Side): number {
  let sum = 0;
  for (const [start, of] of fastest) if (calls[start]?.phase === phase) sum += of[side];
  return sum;
}

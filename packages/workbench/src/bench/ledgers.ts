import { setTimeout as sleep } from 'node:timers/promises';
import type { TestPostgres } from '@slowwave/testkit';
import { type Api, apiAt, each, ServerError } from '../api.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { untilQuiet } from '../fleet/quiet.ts';
import { fleetModel, textOf, userOf } from '../fleet/said.ts';
import type { Bench, Given } from './bench.ts';
import { pinPostgresApart } from './host.ts';
import { costOf } from './load/drive.ts';
import { atLeast, median, shown, type Verdict } from './report.ts';
import { withFleet } from './with-fleet.ts';

/** Of what SQLite does: on the same cores, and with a core of its own for PostgreSQL. */
const TARGETS = { shared: 0.7, own: 0.8 };
const STATEMENTS_MAX = 60;
const COMMITS_MAX = 15;
const SECOND_MS = 1_000;
const IDLE_MS = 3_600_000; // only what is flushed is due
const WITHIN_MS = 300_000;
const MESSAGES_PER_BATCH = 2;
/** Of whom nothing is counted: every connection has prepared its statements, and every process compiled its code. */
const WARM_UP_USERS = 60;
/** An idle connection reports its last commits within 10 s. */
const STATISTICS_MS = 11_000;
/** Statements that are shown are run at least so often a consolidation. */
const SHOWN_FROM = 0.05;
const TEXT_CHARS = 110;

/** What consolidating costs with either ledger. */
export const ledgers: Bench = {
  name: 'ledgers',
  what: 'Consolidations with the ledger in PostgreSQL and in SQLite in turns, with a model that answers at once; then the statements and commits of PostgreSQL.',
  flags: {
    users: { usual: '800', help: 'Users, each with a lane of its own.' },
    batches: { usual: '10', help: 'Batches of each user, which are consolidated together: a message and its answer.' },
    workers: { usual: '2', help: 'Processes that consolidate.' },
    rounds: { usual: '3', help: 'Runs with each ledger.' },
    core: {
      usual: 'shared',
      help: 'own: PostgreSQL alone on the second core and everything else on the first, with either ledger (Linux); shared: scheduled by the system.',
    },
    statements: { usual: 'no', help: 'Whether each statement of a consolidation is listed: yes or no.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const runs: { readonly [Kind in Ledger]: Run[] } = { sqlite: [], postgres: [] };
    for (let round = 0; round < options.rounds; round += 1) {
      for (const ledger of LEDGERS) {
        progress(`round ${round + 1} of ${options.rounds}, ${ledger}`);
        runs[ledger].push(await runOf({ ...options, ledger }));
      }
    }
    progress('counting the statements of PostgreSQL');
    return found(options, runs, await countedOf(options));
  },
};

const LEDGERS = ['sqlite', 'postgres'] as const;
type Ledger = (typeof LEDGERS)[number];

const optionsOf = (given: Given) => ({
  users: given.number('users', { max: 10_000 }),
  batches: given.number('batches', { max: 10 }), // more would not be one consolidation
  workers: given.number('workers', { max: 50 }),
  rounds: given.number('rounds', { max: 20 }),
  core: given.choice('core', ['shared', 'own']),
  statements: given.choice('statements', ['yes', 'no']) === 'yes',
});

type Options = ReturnType<typeof optionsOf>;

interface Run {
  /** Batches. */
  readonly perSecond: number;
  /** Processor time of all programs and servers per 1,000 messages, in s. */
  readonly cpu: number;
  /** The part of the processors that other programs took. */
  readonly others: number;
}

function runOf(options: Options & { readonly ledger: Ledger }): Promise<Run> {
  const { users, batches } = options;
  return withWork(options, async ({ running, ingest, consolidate }) => {
    if (options.core === 'own') await pinPostgresApart(running);
    const began = Date.now();
    const cost = await costOf(await running.allPids(), consolidate);
    const seconds = ((await lastSearchable(ingest, options)) - began) / SECOND_MS;
    const messages = users * batches * MESSAGES_PER_BATCH;
    return { perSecond: (users * batches) / seconds, cpu: cost.ms / messages, others: cost.others };
  });
}

/** In a run of its own: the server takes a tenth longer while it counts. */
function countedOf(options: Options): Promise<Counted> {
  return withWork({ ...options, ledger: 'postgres', counting: true }, async ({ running, consolidate }) => {
    const { postgres } = running;
    if (postgres === null) throw new Error('expected a fleet on PostgreSQL, got one without');
    const before = await beginCounting(postgres);
    await consolidate();
    return countedSince(running, postgres, before);
  });
}

interface Work {
  readonly running: Fleet;
  readonly ingest: Api;
  /** Ends when all is searchable. */
  consolidate(): Promise<void>;
}

/** With processes that are warm, and all batches of users posted but the last one of each, which makes them due. */
function withWork<T>(
  options: Options & { readonly ledger: Ledger; readonly counting?: boolean },
  use: (work: Work) => Promise<T>,
): Promise<T> {
  const { ledger, counting = false, users, batches, workers } = options;
  const settings = { SLOWWAVE_BATCH_IDLE_MS: String(IDLE_MS) };
  const fleet = { ledger, workers, settings, counting };
  return withFleet({ model: { script: fleetModel() }, fleet }, async ({ running }) => {
    const [ingest, search] = [apiAt(running.ingest, null), apiAt(running.search, null)];
    const others = Array.from({ length: WARM_UP_USERS }, (_, i) => users + i);
    for (let batch = 0; batch < batches; batch += 1) await post(ingest, { ...options, of: others }, batch);
    await untilQuiet(search, { withinMs: WITHIN_MS });
    const of = Array.from({ length: users }, (_, user) => user);
    for (let batch = 0; batch < batches - 1; batch += 1) await post(ingest, { ...options, of }, batch);
    const consolidate = async (): Promise<void> => {
      await post(ingest, { ...options, of }, batches - 1);
      await untilQuiet(search, { withinMs: WITHIN_MS, everyMs: SECOND_MS });
    };
    return use({ running, ingest, consolidate });
  });
}

/** One batch of each user; the last one is due, and with it all before. */
async function post(api: Api, { of, batches }: Posting, batch: number): Promise<void> {
  await each(of, (user) => {
    const messages = [
      { role: 'user', content: textOf(user, batch) },
      { role: 'assistant', content: 'I will keep that in mind.' },
    ];
    return api.post('/v1/batches', { user_id: userOf(user), messages, flush: batch === batches - 1 });
  });
}

interface Posting extends Options {
  /** The users, by their numbers. */
  readonly of: readonly number[];
}

async function lastSearchable(api: Api, { users, batches }: Options): Promise<number> {
  const found = await api.all<{ timings: { searchable_at: string | null } }>('/v1/batches');
  const times = found.flatMap(({ timings: { searchable_at: at } }) => (at === null ? [] : [Date.parse(at)]));
  const all = (users + WARM_UP_USERS) * batches;
  if (times.length !== all) throw new ServerError(`of ${all} batches ${times.length} are searchable`);
  return Math.max(...times);
}

/** What the server did in between. */
interface Counted extends Commits {
  readonly statements: readonly Statement[];
}

/** Of a statement alone, too. */
interface Commits {
  readonly commits: number;
  /** Those that had changed something. */
  readonly writes: number;
}

interface Statement {
  readonly text: string;
  readonly calls: number;
  /** In the server, each. */
  readonly ms: number;
}

/** Answers with the commits so far. */
async function beginCounting(postgres: TestPostgres): Promise<Commits> {
  await sleep(STATISTICS_MS);
  await postgres.select('SELECT pg_stat_statements_reset()::text');
  return commitsOf(postgres);
}

async function countedSince(running: Fleet, postgres: TestPostgres, before: Commits): Promise<Counted> {
  const statements = await postgres.select<Statement>(
    'SELECT query AS text, calls, mean_exec_time AS ms FROM pg_stat_statements ORDER BY calls DESC',
  );
  // Connections that end report what they did.
  for (const n of running.workers.keys()) await running.killWorker(n);
  await sleep(SECOND_MS);
  const { commits, writes } = await commitsOf(postgres);
  return { statements, commits: commits - before.commits, writes: writes - before.writes };
}

/** A transaction gets a number with its first change. */
async function commitsOf(postgres: TestPostgres): Promise<Commits> {
  const [row] = await postgres.select<Commits>(
    `SELECT xact_commit AS commits, pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS writes
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  return row ?? { commits: 0, writes: 0 };
}

function found(options: Options, runs: { readonly [Kind in Ledger]: readonly Run[] }, counted: Counted) {
  const { users, batches, workers, rounds, core } = options;
  const of = (ledger: Ledger, part: 'perSecond' | 'cpu' | 'others'): number =>
    median(runs[ledger].map((run) => run[part]));
  const statements = counted.statements.reduce((sum, { calls }) => sum + calls, 0) / users;
  const commits = counted.commits / users;
  const ofBoth = (what: string, unit: string, part: 'perSecond' | 'cpu' | 'others') =>
    LEDGERS.map((ledger) => ({ what: `${what}, ${NAMES[ledger]}`, value: of(ledger, part), unit }));
  return {
    title: `ledgers: ${users} users × ${batches} batches of ${MESSAGES_PER_BATCH} messages, ${workers} workers, ${rounds} rounds${core === 'own' ? ', PostgreSQL on a core of its own' : ''}`,
    figures: [
      ...ofBoth('consolidated', 'batches/s', 'perSecond'),
      ...ofBoth('processor time per 1,000 messages, all programs and servers', 's', 'cpu'),
      ...ofBoth('part of the processors that other programs took', '', 'others'),
      { what: 'statements per consolidation', value: statements, unit: '' },
      { what: 'commits per consolidation, single reads too', value: commits, unit: '' },
      { what: 'of these, commits of changes', value: counted.writes / users, unit: '' },
      ...(options.statements ? byStatement(counted, users) : []),
    ],
    verdicts: [
      below('statements per consolidation', statements, STATEMENTS_MAX),
      below('commits per consolidation', commits, COMMITS_MAX),
    ],
    comparisons: [
      atLeast(TARGETS[options.core], {
        what: 'consolidated',
        unit: 'batches/s',
        ours: { name: NAMES.postgres, value: of('postgres', 'perSecond') },
        yardstick: { name: NAMES.sqlite, value: of('sqlite', 'perSecond') },
      }),
    ],
    remarks: [
      'The queue is in Redis and the model answers at once. Statements and commits are all of the server from the first due batch until all are searchable: sweeps, summaries and the last posts too. BEGIN and COMMIT are no statements here: pg_stat_statements does not list them.',
    ],
  };
}

const NAMES: { readonly [Kind in Ledger]: string } = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

const byStatement = ({ statements }: Counted, users: number) =>
  statements
    .filter(({ calls }) => calls / users >= SHOWN_FROM)
    .map(({ text, calls, ms }) => ({
      what: text.replace(/\s+/g, ' ').trim().slice(0, TEXT_CHARS),
      value: calls / users,
      unit: `of ${shown(ms)} ms`,
    }));

const below = (what: string, value: number, most: number): Verdict => ({
  what,
  reached: shown(value),
  target: `at most ${most}`,
  passed: value <= most,
  misses: [],
});

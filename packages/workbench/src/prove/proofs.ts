import { resolve } from 'node:path';
import type { Report as ChaosReport } from '../chaos/report.ts';
import type { Mode } from '../chaos/stage.ts';
import { type ClientsReport, failuresOf as clientsFailures, figureOf as clientsFigure } from '../clients/report.ts';
import type { RetrievalReport } from '../evaluate/retrieval/report.ts';
import { BUILTIN_MODELS } from '../evaluate/retrieval/retrieval.ts';
import type { FuzzReport } from '../fuzz/fuzz.ts';
import { figureOf, type RealModelsReport } from '../real-models/report.ts';
import { benches } from './benches.ts';
import { npmPackage } from './package.ts';
import type { Flag, Outcome, Proof, Tools } from './proof.ts';
import { suites } from './suites.ts';

const SEED: Flag = { help: 'Repeats the run with this seed (any).' };
const QDRANT_URL: Flag = { help: 'The Qdrant to use, e.g. http://127.0.0.1:6333.', required: true };

const chaos = (mode: Mode, where: string): Proof => ({
  name: `chaos-${mode}`,
  proves: `300 faults lose nothing, double nothing and pay for nothing twice: ${where}.`,
  takes: '30 minutes',
  flags: { faults: { help: 'How many faults.', usual: '300' }, seed: SEED },
  run: ({ faults = '', seed }, tools) => chaosRun(tools, ['--mode', mode, '--faults', faults, ...seedOf(seed)]),
});

const fuzz: Proof = {
  name: 'fuzz',
  proves:
    'Every request gets a response that the API description allows, and a refused request costs at most three times its parsing.',
  takes: '5 minutes',
  flags: { requests: { help: 'How many requests.', usual: '10000' }, seed: SEED },
  run: async ({ requests = '', seed }, tools) => {
    const command = ['scripts/fuzz', '--requests', requests, ...seedOf(seed), '--json'];
    const report = (await tools.json(command)) as FuzzReport & { costs?: { findings: readonly string[] } };
    const costs = report.costs?.findings ?? ['the costs of bodies were not measured: this needs Linux'];
    return {
      figure: `${count(report.requests)} requests, seed ${report.seed}: ${report.succeeded} of ${report.operations} operations succeeded, ${report.findings.length + costs.length} findings`,
      failures: [...report.findings.map(({ request, what }) => `${request}: ${what}`), ...costs],
      report,
    };
  },
};

const qdrant: Proof = {
  name: 'qdrant',
  proves:
    'The index passes its contract tests on a real Qdrant, and the fleet on PostgreSQL and Qdrant survives 50 faults.',
  takes: '20 minutes',
  flags: { 'qdrant-url': QDRANT_URL, faults: { help: 'How many faults.', usual: '50' }, seed: SEED },
  run: async ({ 'qdrant-url': url = '', faults = '', seed }, tools) => {
    const tests = await suites(tools, { QDRANT_URL: url }, ['packages/adapters/test/qdrant', 'apps/cli/test/import']);
    const args = ['--mode', 'postgres', '--qdrant-url', url, '--faults', faults, ...seedOf(seed)];
    const run = await chaosRun(tools, args);
    return {
      figure: `${tests.figure}; ${run.figure}`,
      failures: [...tests.failures, ...run.failures],
      report: { tests: tests.report, chaos: run.report },
    };
  },
};

const forgetting: Proof = {
  name: 'forgetting',
  proves:
    'A forgotten memory is found nowhere, and everything else is as if it had never been said: 1,000 generated lives.',
  takes: '40 minutes',
  flags: { lives: { help: 'How many lives, on each ledger.', usual: '1000' } },
  run: async ({ lives = '' }, tools) => {
    const tests = await suites(tools, { FORGETTING_LIVES: lives }, ['apps/standalone/test/forgetting.test.ts']);
    const each = `${count(Number(lives))} lives on each of SQLite and PostgreSQL, by DELETE, wish, undo and rollback`;
    return { ...tests, figure: `${each}: ${tests.failures.length === 0 ? 'found nowhere' : tests.figure}` };
  },
};

/** Tests that take too long for every change. */
const tests = (name: string, { proves, takes, path }: { proves: string; takes: string; path: string }): Proof => ({
  name,
  proves,
  takes,
  flags: {},
  run: (_given, tools) => suites(tools, {}, [path]),
});

const fleet = tests('fleet', {
  proves:
    'Two workers share Redis and one is killed: nothing is lost or done twice, and every lane stays in order, with the ledger in SQLite and in PostgreSQL.',
  takes: '2 minutes',
  path: 'packages/workbench/proofs/fleet.test.ts',
});

const cluster: Proof = {
  name: 'cluster',
  proves:
    'A master of a six-server Redis Cluster dies under load, with turns spread over four queues: nothing is lost or done twice, and every lane stays in order.',
  takes: '10 minutes',
  flags: {
    users: { help: 'How many users.', usual: '2000' },
    batches: { help: 'How many batches of each.', usual: '20' },
  },
  run: async ({ users = '', batches = '' }, tools) => {
    const env = { CLUSTER_USERS: users, CLUSTER_BATCHES: batches };
    const ran = await suites(tools, env, ['packages/workbench/proofs/cluster.test.ts']);
    const each = `${count(Number(users))} users × ${batches} batches, one master killed`;
    return { ...ran, figure: `${each}: ${ran.failures.length === 0 ? 'nothing lost, nothing doubled' : ran.figure}` };
  },
};

const cells: Proof = {
  name: 'cells',
  proves:
    'Callers post and search while owners move between cells and while cells, routers and movers are killed: across all cells nothing is lost or doubled, each owner is in exactly one cell, and no search comes back empty for an owner with memories.',
  takes: '10 minutes',
  flags: {
    cells: { help: 'How many cells.', usual: '8' },
    owners: { help: 'How many owners for each cell.', usual: '500' },
    moves: { help: 'How many owners are moved individually, in addition to those whose slots move.', usual: '1000' },
    kills: { help: 'How many processes are killed during the run.', usual: '30' },
    callers: { help: 'How many callers post and search.', usual: '16' },
    'pause-ms': { help: 'How long each caller waits between its requests.', usual: '20' },
    seconds: { help: 'Fail if it is not finished after this many seconds.', usual: '5400' },
  },
  run: async (given, tools) => {
    const {
      cells = '',
      owners = '',
      moves = '',
      kills = '',
      callers = '',
      'pause-ms': pause = '',
      seconds = '',
    } = given;
    const size = { CELLS: cells, CELLS_OWNERS: owners, CELLS_MOVES: moves, CELLS_KILLS: kills };
    const env = { ...size, CELLS_CALLERS: callers, CELLS_PAUSE_MS: pause, CELLS_SECONDS: seconds };
    const ran = await suites(tools, env, ['packages/workbench/proofs/cells.test.ts']);
    const each = `${cells} cells × ${count(Number(owners))} owners, ${count(Number(moves))} moves, ${kills} kills`;
    const done = 'nothing lost, nothing doubled, everybody in one cell, searchable throughout';
    return { ...ran, figure: `${each}: ${ran.failures.length === 0 ? done : ran.figure}` };
  },
};

const cold: Proof = {
  name: 'cold',
  proves:
    'A process is killed while it puts owners to sleep or wakes them: nothing is lost or doubled, and searches find every owner after each kill.',
  takes: '5 minutes',
  flags: {
    kills: { help: 'How often it is killed.', usual: '40' },
    owners: { help: 'How many owners.', usual: '8' },
  },
  run: async ({ kills = '', owners = '' }, tools) => {
    const ran = await suites(tools, { COLD_KILLS: kills, COLD_OWNERS: owners }, [
      'packages/workbench/proofs/cold.test.ts',
    ]);
    const done = 'nothing lost, nothing doubled, everybody found after each';
    return { ...ran, figure: `${kills} kills, ${owners} owners: ${ran.failures.length === 0 ? done : ran.figure}` };
  },
};

const calls = tests('calls', {
  proves:
    'With default settings, no setup makes more than one model call per exchange if users pause no longer than the setup waits.',
  takes: '1 minute',
  path: 'packages/workbench/proofs/cost.test.ts',
});

const bill = tests('bill', {
  proves:
    'Four workers, two of them killed, with one call in ten failing: the recorded cost of answered calls equals the provider’s count of them to the token, and the provider’s bill is never below it, nor above it plus the calls without an answer.',
  takes: '3 minutes',
  path: 'packages/workbench/proofs/bill.test.ts',
});

const sleep: Proof = {
  name: 'sleep',
  proves:
    'A lying model changes nothing at night, and nights leave the memories of 2,310 facts and their search results as they are; dated plans read as planned the day after; after each of 1,000 deletions of evidence, no conclusion remains that has too little evidence; killing a worker at any call while it draws conclusions does not change the result; and 2,000 owners get their turns within a share of the budget that is never exceeded.',
  takes: '10 minutes',
  flags: {
    erasures: { help: 'How many deletions.', usual: '1000' },
    owners: { help: 'How many owners share a budget.', usual: '2000' },
  },
  run: async ({ erasures = '', owners = '' }, tools) => {
    const env = { SLEEP_ERASURES: erasures, SLEEP_OWNERS: owners };
    const ran = await suites(tools, env, ['packages/workbench/proofs/sleep']);
    const each = `lies over all acts, gates with nights, ${count(Number(erasures))} deletions, kills at every call, ${count(Number(owners))} owners`;
    return {
      ...ran,
      figure: `${each}: ${ran.failures.length === 0 ? 'none changed by a lie, none hollow, all the same, never passed' : ran.figure}`,
    };
  },
};

const world: Proof = {
  name: 'world',
  proves:
    'On the embedded stores, consolidating 2,310 facts, 837 of them updates, with ten candidates each loses no fact and leaves at most one of 1,473 memories outdated.',
  takes: '1 minute',
  flags: { facts: { help: 'How many facts.', usual: '2310' } },
  run: async ({ facts = '' }, tools) => {
    const ran = await suites(tools, { WORLD_FACTS: facts }, ['packages/adapters/test/gates.test.ts']);
    const done = 'nothing lost, at most one outdated';
    return { ...ran, figure: `${count(Number(facts))} facts: ${ran.failures.length === 0 ? done : ran.figure}` };
  },
};

const gate: Proof = {
  name: 'gate',
  proves:
    'A suite blocks twelve kinds of model regression, and blocks at most one of 200 runs of an unchanged model that gives five noisy answers in a hundred.',
  takes: '8 minutes',
  flags: { runs: { help: 'How many noisy runs.', usual: '200' } },
  run: async ({ runs = '' }, tools) => {
    const ran = await suites(tools, { GATE_RUNS: runs }, ['packages/workbench/proofs/gate.test.ts']);
    const each = `12 regressions, ${count(Number(runs))} noisy runs`;
    return { ...ran, figure: `${each}: ${ran.failures.length === 0 ? 'all blocked, and at most one' : ran.figure}` };
  },
};

const canary: Proof = {
  name: 'canary',
  proves:
    'A canary stops within 200 consolidations for each of twelve models that make memory worse, and its undo leaves every owner as if there had been no canary, even if the process is killed; for an unchanged model with five noisy answers in a hundred, at most three of 40 canaries stop.',
  takes: '6 minutes',
  flags: { unchanged: { help: 'How many canaries of a model that is as good as before.', usual: '40' } },
  run: async ({ unchanged = '' }, tools) => {
    const env = { CANARY_CRASHES: '1', CANARY_UNCHANGED: unchanged };
    const ran = await suites(tools, env, [
      'packages/workbench/proofs/canary.test.ts',
      'apps/standalone/test/canary.test.ts',
    ]);
    const each = `12 regressions, 2 crashes, ${count(Number(unchanged))} canaries of an unchanged model`;
    return {
      ...ran,
      figure: `${each}: ${ran.failures.length === 0 ? 'all halted and undone, at most three false alarms' : ran.figure}`,
    };
  },
};

const modelFaults: Proof = {
  name: 'model-faults',
  proves:
    'slowwave models check, slowwave status and the log each name eight faults of a model server and say what to do.',
  takes: '2 minutes',
  flags: {},
  run: (_given, tools) => suites(tools, { MODEL_FAULTS_ON_SERVERS: '1' }, ['apps/cli/test/models.test.ts']),
};

const indexMove = tests('index-move', {
  proves:
    'The index moves to another embedding model under load, with one process and with four: no search finds less than before, each text is embedded once, and a killed move resumes where it stopped.',
  takes: '5 minutes',
  path: 'apps/standalone/proofs/index-move.test.ts',
});

const bundle: Proof = {
  name: 'bundle',
  proves:
    'Exported and imported owners have the same state and answer every search the same, also for earlier moments; a killed import resumes without duplicates.',
  takes: '5 minutes',
  flags: {
    memories: { help: 'How many memories the killed import has.', usual: '100000' },
    questions: { help: 'How many searches; more than half of them use as_of.', usual: '1000' },
  },
  run: async ({ memories = '', questions = '' }, tools) => {
    const env = { BUNDLE_MEMORIES: memories, BUNDLE_QUESTIONS: questions };
    const ran = await suites(tools, env, ['apps/cli/test/bundle.test.ts']);
    const each = `${count(Number(questions))} searches, a killed import of ${count(Number(memories))} memories`;
    return {
      ...ran,
      figure: `${each}: ${ran.failures.length === 0 ? 'all the same, nothing twice' : ran.figure}`,
    };
  },
};

const models: Proof = {
  name: 'models',
  proves:
    'The models set with OPENAI_API_KEY, OPENAI_BASE_URL and SLOWWAVE_…_MODEL extract and embed well enough to answer questions.',
  takes: 'as long as the models take',
  flags: {
    file: { help: 'Conversations and questions (docs/retrieval.md#measuring-it).', required: true },
    'at-least': { help: 'Figures to reach.', usual: 'r@5=77,r@10=83,r@20=88,mrr=0.71' },
    timeout: { help: 'Seconds that the server may take for all messages.', usual: '7200' },
  },
  run: async ({ file = '', 'at-least': atLeast = '', timeout = '' }, tools) => {
    const command = ['scripts/evaluate', 'retrieval', resolve(file), '--start', '--mode', 'facts', '--json'];
    const report = (await tools.json([...command, '--at-least', atLeast, '--timeout', timeout])) as RetrievalReport;
    const missed = report.targets.filter(({ passed }) => !passed);
    return {
      figure: `${report.name}, ${report.messages} messages, ${report.models}: ${report.targets.map(({ figure, reached }) => `${figure} ${reached.toFixed(3)}`).join(', ')}`,
      failures: [
        ...(report.models === BUILTIN_MODELS ? ['no models are given: set OPENAI_API_KEY or OPENAI_BASE_URL'] : []),
        ...missed.map(({ figure, reached, least }) => `${figure} is ${reached.toFixed(3)}, expected at least ${least}`),
        ...report.degraded.map((reason) => `searches were degraded: ${reason}`),
      ],
      report,
    };
  },
};

const smallModels: Proof = {
  name: 'small-models',
  proves:
    'Two small real models, end to end: no memory that nobody said, a reason for every outcome, and questions in other words find their facts.',
  takes: '15 minutes',
  flags: {},
  run: async (_given, tools) => {
    const report = (await tools.json(['scripts/real-models', '--json'])) as RealModelsReport;
    return { figure: figureOf(report), failures: report.failures, report };
  },
};

const clients: Proof = {
  name: 'clients',
  proves:
    'mem0’s own clients and integrations, as published in their registries, work after changing only the host: at least 95% of each client’s calls.',
  takes: '10 minutes',
  flags: { only: { help: 'Which clients, separated by commas (./scripts/clients --help).' } },
  run: async ({ only }, tools) => {
    const names = only === undefined ? [] : ['--only', only];
    const report = (await tools.json(['scripts/clients', '--json', ...names])) as ClientsReport;
    return { figure: clientsFigure(report), failures: clientsFailures(report), report };
  },
};

export const PROOFS: readonly Proof[] = [
  chaos('embedded', 'one process and nothing else'),
  chaos('sqlite', 'five processes on one ledger file and Redis'),
  chaos('postgres', 'one process on PostgreSQL and Redis'),
  chaos('postgres-alone', 'five processes on PostgreSQL alone'),
  fleet,
  cluster,
  cells,
  cold,
  calls,
  bill,
  canary,
  indexMove,
  npmPackage,
  fuzz,
  forgetting,
  world,
  gate,
  sleep,
  bundle,
  qdrant,
  modelFaults,
  models,
  smallModels,
  clients,
  benches,
];

const seedOf = (seed: string | undefined): string[] => (seed === undefined ? [] : ['--seed', seed]);

async function chaosRun(tools: Tools, args: readonly string[]): Promise<Outcome> {
  const [report] = (await tools.json(['scripts/chaos', ...args, '--json'])) as readonly ChaosReport[];
  if (report === undefined) throw new Error('expected a report of ./scripts/chaos, got none');
  const { seed, faults, accepted, lost, doubled, gap, paidTwice, recoveredMs, findings } = report;
  const recovered = `recovered p50 ${seconds(recoveredMs.p50)}, p95 ${seconds(recoveredMs.p95)}`;
  return {
    figure: `seed ${seed}: ${faults} faults, ${count(accepted)} batches, lost ${lost}, doubled ${doubled}, gap ${gap}, paid twice ${paidTwice}, ${recovered}`,
    failures: findings.map(({ kind, what }) => `${kind}: ${what}`),
    report,
  };
}

const count = (number: number): string => number.toLocaleString('en');

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, of integration tests and then of unit tests, the longest first, as the reports of whole runs tell. */
const LONGEST = [
  'apps/standalone/test/api',
  'packages/workbench/test/chaos',
  'apps/web/test/narrow-keys',
  'apps/standalone/test/bulk',
  'apps/cli/test/mcp',
  'apps/standalone/test/way-postgres',
  'apps/cli/test/bundle',
  'packages/adapters/test/postgres-ledger',
  'apps/standalone/test/way-processes',
  'apps/cli/test/commands',
  'packages/adapters/test/bullmq-take-over',
  'apps/web/test/users',
  'apps/web/test/settings',
  'apps/standalone/test/embedder-away',
  'packages/adapters/test/sqlite-ledger',
  'apps/cli/test/models',
  'packages/adapters/test/cold',
  'apps/cli/test/cells',
  'apps/web/test/own-page',
  'apps/router/test/shares',
  'apps/standalone/test/keys',
  'apps/standalone/test/start',
  'apps/standalone/test/refused-texts',
  'infra/npm/package',
  'apps/standalone/test/mem0-client',
  'apps/standalone/test/wiped',
  'apps/web/test/frame',
  'apps/standalone/test/receipts',
  'packages/adapters/test/sqlite-erasure',
  'packages/adapters/test/postgres-index',
  'apps/standalone/test/way-redis',
  'packages/adapters/test/bullmq-silence',
  'apps/standalone/test/replays',
  'apps/web/test/work',
  'packages/adapters/test/sqlite-bundle',
  'apps/web/test/consolidation',
  'apps/standalone/test/cold',
  'apps/cli/test/suites',
  'packages/adapters/test/sqlite-ledger-file',
  'packages/adapters/test/gates',
  'apps/standalone/test/mem0-keys',
  'apps/standalone/test/forgetting',
  'apps/standalone/test/slow-embedder',
  'packages/adapters/test/bullmq-postgres',
  'apps/cli/test/models-in-time',
  'apps/web/test/overview',
  'apps/standalone/test/peers',
  'apps/standalone/test/index-move',
  'packages/sdk/test/published',
  'packages/mcp/test/every-tool',
  'packages/workbench/test/bench',
  'packages/adapters/test/tenant-copies',
  'apps/web/test/suites',
  'apps/standalone/test/mcp',
  'packages/engine/src/gates/suites',
  'packages/engine/src/canaries/gates/regressions',
  'apps/console/src/gates/suites',
  'packages/engine/src/gates/recall',
  'packages/engine/src/suites/gates/gate',
  'packages/engine/src/gates/grounding',
  'packages/engine/src/gates/order',
  'packages/engine/src/gates/faults',
  'packages/engine/src/gates/retrieval',
  'packages/engine/src/properties/canary-crash',
  'apps/search/src/gates/multi-hop',
  'apps/console/src/gates/replays',
  'packages/workbench/src/simulation/gates/hour',
  'packages/engine/src/canaries/gates/canary',
].map((name) => join(import.meta.dirname, `${name}.test.ts`));

/**
 * A long file that began last would run alone at the end. The others go by their last time here, or by size. Projects stay apart,
 * as the runner puts them: a worker serves one of them.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONGEST.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`expected LONGEST in vitest.config.ts to name files, got ${gone.join(', ')}`);
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rankOf = ({ moduleId }: TestSpecification): number =>
      LONGEST.includes(moduleId) ? LONGEST.indexOf(moduleId) : LONGEST.length;
    return sorted.toSorted(
      (a, b) => projects.indexOf(a.project) - projects.indexOf(b.project) || rankOf(a) - rankOf(b),
    );
  }
}

/**
 * Integration tests wait for servers and processes more than half of their time: with two workers a core, a sixth of the
 * processor stood idle, with two and a half a tenth. They come first, and unit tests fill what their last ones leave.
 */
const MAX_WORKERS = 3 * availableParallelism();

/**
 * Until what a test waits for must have come: far longer than it takes, and shorter than its test may take, so that it says what did
 * not come. To be asked costs a server something: ten times a second is enough.
 */
const EXPECT = { poll: { timeout: 100_000, interval: 100 } };

/** What properties are tried on. */
const DRAWS = join(import.meta.dirname, 'packages/engine-testing/src/draws.ts');

const BUNDLED = process.env.TESTED_PROGRAMS;

/** Scripts of threads and processes as ./scripts/test has bundled them: each start of one loads them anew, a hundred files otherwise. */
const bundledScripts = {
  name: 'bundled-scripts',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    BUNDLED === undefined || id.includes('/node_modules/')
      ? null
      : code.replaceAll(/new URL\('([^']+)\.ts', import\.meta\.url\)/g, (source, name: string) => {
          const script = join(BUNDLED, `${relative(import.meta.dirname, resolve(dirname(id), name))}.js`);
          return existsSync(script) ? `new URL('${pathToFileURL(script)}')` : source;
        }),
};

/** Unit tests stand beside their source, those of configuration files in infra; integration tests, with real servers and processes, in a `test` folder. */
export default defineConfig({
  test: {
    env: {
      // mem0's client, which some tests use, would tell its maker of every call.
      MEM0_TELEMETRY: 'false',
      // Threads that tests start load their sources anew each time: compiled before, they start in a third of the time.
      NODE_COMPILE_CACHE: join(import.meta.dirname, '.cache/node'),
    },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        plugins: [bundledScripts],
        test: {
          name: 'unit',
          include: ['{apps,packages}/*/src/**/*.test.ts', 'infra/test/*.test.ts'],
          setupFiles: [DRAWS],
          expect: EXPECT,
          testTimeout: 180_000, // one takes two seconds at most, on a machine that has nothing else to do
          hookTimeout: 180_000,
          // They share no state but modules: loading those anew for each file would take half of the time.
          isolate: false,
          // Alone they compute all the time: the scripts of package.json run as many at a time as there are cores.
          maxWorkers: MAX_WORKERS,
        },
      },
      {
        plugins: [bundledScripts],
        test: {
          name: 'integration',
          include: ['{apps,packages}/*/test/**/*.test.ts', 'infra/npm/*.test.ts'],
          setupFiles: [DRAWS],
          expect: EXPECT,
          testTimeout: 240_000, // longer than a test waits for anything, twice: it says itself what did not come
          hookTimeout: 240_000,
          // They share no state but modules either, and loading those anew for each file would take a minute and a half of a core.
          isolate: false,
          maxWorkers: MAX_WORKERS,
        },
      },
      {
        // What takes too long for every change: ./scripts/prove runs them, ./scripts/test does not.
        test: {
          name: 'proofs',
          include: ['{apps,packages}/*/proofs/*.test.ts'],
          expect: EXPECT,
          testTimeout: 300_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of integration tests that take longest, the longest first, as the reports of whole runs tell. */
const LONGEST = [
  'packages/workbench/test/chaos',
  'apps/web/test/narrow-keys',
  'packages/workbench/test/bench',
  'packages/adapters/test/postgres-ledger',
  'apps/standalone/test/embedder-away',
  'apps/standalone/test/restart',
  'apps/standalone/test/start',
  'apps/standalone/test/forgetting',
  'apps/standalone/test/way-postgres',
  'apps/standalone/test/way-processes',
  'infra/npm/package',
  'apps/standalone/test/replays',
  'packages/adapters/test/sqlite-ledger',
  'packages/adapters/test/sqlite-ledger-plans',
  'apps/cli/test/bundle',
  'apps/cli/test/mcp',
  'apps/standalone/test/wiped',
  'apps/standalone/test/mem0-keys',
  'apps/standalone/test/api',
  'apps/standalone/test/erasure',
  'packages/local-embedder/test/server',
  'packages/adapters/test/postgres-erasure',
  'packages/adapters/test/bullmq-postgres',
  'packages/adapters/test/bullmq-silence',
  'apps/standalone/test/bulk',
  'apps/cli/test/suites',
  'apps/cli/test/rebuild-index',
].map((name) => join(import.meta.dirname, `${name}.test.ts`));

/** A long file that began last would run alone at the end. The others go by their last time here, or by size. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONGEST.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`expected LONGEST in vitest.config.ts to name files, got ${gone.join(', ')}`);
    const sorted = await super.sort(files);
    const found = LONGEST.flatMap((path) => sorted.filter(({ moduleId }) => moduleId === path));
    return [...found, ...sorted.filter((file) => !found.includes(file))];
  }
}

/**
 * Integration tests wait for servers and processes half of their time. They come first, and unit tests fill what their last
 * ones leave.
 */
const MAX_WORKERS = 2 * availableParallelism();

/** Unit tests stand beside their source, those of configuration files in infra; integration tests, with real servers and processes, in a `test` folder. */
export default defineConfig({
  test: {
    // mem0's client, which some tests use, would tell its maker of every call.
    env: { MEM0_TELEMETRY: 'false' },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,packages}/*/src/**/*.test.ts', 'infra/test/*.test.ts'],
          testTimeout: 60_000, // one takes two seconds at most, on a machine that has nothing else to do
          hookTimeout: 60_000,
          // They share no state but modules: loading those anew for each file would take half of the time.
          isolate: false,
          // Alone they compute all the time: the scripts of package.json run as many at a time as there are cores.
          maxWorkers: MAX_WORKERS,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{apps,packages}/*/test/**/*.test.ts', 'infra/npm/*.test.ts'],
          testTimeout: 120_000, // longer than a test waits for anything: it says itself what did not come
          hookTimeout: 120_000,
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
          testTimeout: 300_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

import { defineConfig } from 'vitest/config';

/** Unit tests stand beside their source, those of configuration files in infra; integration tests, with real servers and processes, in a `test` folder. */
export default defineConfig({
  test: {
    // mem0's client, which some tests use, would tell its maker of every call.
    env: { MEM0_TELEMETRY: 'false' },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,packages}/*/src/**/*.test.ts', 'infra/test/*.test.ts'],
          testTimeout: 60_000, // one takes two seconds at most, on a machine that has nothing else to do
          hookTimeout: 60_000,
          // They share no state but modules: loading those anew for each file would take half of the time.
          isolate: false,
          // They compute all the time. vitest would leave one core to itself, although it needs little. `pnpm check` runs two
          // such runs side by side, with half of the cores each.
          maxWorkers: '100%',
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{apps,packages}/*/test/**/*.test.ts', 'infra/npm/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // They share no state but modules either, and loading those anew for each file would take a minute and a half of a core.
          isolate: false,
          // Each file starts servers and processes of its own, and waits for them much of its time: two would leave cores
          // idle, more than three starve each other on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 1 }, // after the unit tests, which run as many at a time as there are cores
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
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectForgotten } from './forgotten-lives.ts';
import { type Setup, standalone, standaloneOnPostgres } from './setups.ts';

/** Small lives with something to forget: every way of forgetting. `./scripts/prove forgetting` takes a thousand. */
// biome-ignore lint/style/noProcessEnv: how many is said on the command line of a proof
const LIVES = Number(process.env.SLOWWAVE_TEST_LIVES ?? 8);
/** They have nothing to do with each other. */
const AT_ONCE = 4;

describe.each([
  ['on SQLite', standalone],
  ['on PostgreSQL', standaloneOnPostgres],
])('what is forgotten %s', (_, open) => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await open({ SLOWWAVE_BATCH_IDLE_MS: '50' });
  });
  afterAll(() => setup.close());

  it('is found nowhere, and everything else is as if it had never been said', { timeout: 20_000 * LIVES }, async () => {
    const seeds = Array.from({ length: LIVES }, (_, i) => i + 1);
    while (seeds.length > 0) await Promise.all(seeds.splice(0, AT_ONCE).map((seed) => expectForgotten(setup, seed)));
  });
});

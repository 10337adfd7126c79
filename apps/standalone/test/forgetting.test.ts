import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectForgotten } from './forgotten-lives.ts';
import { type Setup, standalone, standaloneOnPostgres } from './setups.ts';

/** Small lives with something to forget, one for each way of forgetting. `./scripts/prove forgetting` takes a thousand. */
// biome-ignore lint/style/noProcessEnv: how many is said on the command line of a proof
const LIVES = Number(process.env.FORGETTING_LIVES ?? 4);
/** They have nothing to do with each other. */
const AT_ONCE = 4;
/** Of many lives that go wrong the first show what it is. */
const SHOWN = 20;

describe.each([
  ['on SQLite', standalone],
  ['on PostgreSQL', standaloneOnPostgres],
])('what is forgotten %s', (_, open) => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await open({ SLOWWAVE_BATCH_IDLE_MS: '50' });
  });
  afterAll(() => setup.close());

  it('is found nowhere, and everything else is as if it had never been said', { timeout: 30_000 * LIVES }, async () => {
    const seeds = Array.from({ length: LIVES }, (_, i) => i + 1);
    const wrong: string[] = [];
    const next = async (): Promise<void> => {
      for (let seed = seeds.shift(); seed !== undefined && wrong.length < SHOWN; seed = seeds.shift())
        await expectForgotten(setup, seed).catch((error: unknown) => void wrong.push(String(error)));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    expect(wrong, wrong.join('\n')).toEqual([]);
  });
});

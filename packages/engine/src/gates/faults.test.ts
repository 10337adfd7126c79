import {
  type BenchOptions,
  batchesOf,
  type EngineBench,
  echoExtract,
  expectTrue,
  type FaultShares,
  faultyChat,
  keyedDecide,
  perfectChat,
  play,
  replay,
  type Script,
  stateHash,
  world,
  worldBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';

const WORLD = world({ seed: 5, facts: 120, updates: 45 });
const BATCHES = batchesOf(WORLD, 6);
/** A failing model must not be given up on before it has answered. */
const PATIENT = { maxAttempts: 20 };

const repair: Script = ({ call, input }, nth) =>
  (call === 'extract_facts' ? echoExtract : keyedDecide(WORLD.keyOf))(input as JsonObject, nth);
const perfect = () => perfectChat(WORLD, { repair_output: repair });

async function played(shares: FaultShares | null, settings: BenchOptions['settings'] = {}): Promise<EngineBench> {
  const chat = shares === null ? perfect() : faultyChat(perfect(), shares);
  const bench = await worldBench({ chat, settings });
  await play(bench, BATCHES);
  await expectTrue(bench.deps.ledger);
  return bench;
}

const counts = ({ deps }: EngineBench) => deps.ledger.overview.batches(DEFAULT_TENANT);

describe('a model that answers badly', () => {
  it.each([1, 2, 3, 4, 5])(
    'G16: a fifth wrapped, a tenth failing: the same state as from a good one, seed %i',
    async (seed) => {
      const clean = await played(null);
      const bench = await played({ seed, wrapped: 0.2, failing: 0.1 }, PATIENT);
      expect(stateHash(await bench.memories())).toBe(stateHash(await clean.memories()));
      expect(await bench.live()).toEqual([...WORLD.gold].sort());
      expect((await bench.deps.ledger.overview.usage(DEFAULT_TENANT)).calls).toBeGreaterThan(2 * BATCHES.length);
    },
  );

  it('G14: what cannot be consolidated is parked, and nothing else is lost; replayed, all is as from a good one', async () => {
    const bench = await played({ seed: 1, wrapped: 0.2, failing: 0.4 }, { maxAttempts: 1 });
    const { parked, accepted } = await counts(bench);
    expect(parked).toBeGreaterThan(2);
    expect(parked).toBeLessThan(accepted);
    for (let tries = 0; (await counts(bench)).parked > 0 && tries < 20; tries += 1) {
      const { batches } = bench.deps.ledger;
      const lost = await batches.list(DEFAULT_TENANT, { state: 'parked' }, { limit: 1_000, cursor: null });
      await replay(
        bench.deps,
        lost.results.map(({ id }) => id),
      );
      await bench.run();
    }
    expect(await bench.live()).toEqual([...WORLD.gold].sort());
    expect(stateHash(await bench.memories())).toBe(stateHash(await (await played(null)).memories()));
  });
});

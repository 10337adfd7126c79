import { join } from 'node:path';
import { builtinEmbedder } from '@slowwave/builtin-model';
import { DEFAULT_TENANT } from '@slowwave/engine';
import { batchesOf, engineBench, perfectChat, play, world } from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NEAR_HASHED } from '../src/assemble/settings.ts';
import { openSqliteIndex, openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';
import { o200kTokenizer } from '../src/tokens.ts';

/** The 2,310 facts of `./scripts/prove world` take a quarter of a minute, and longer on a machine that does other things too. */
const WITHIN_MS = 180_000;
// biome-ignore lint/style/noProcessEnv: how many is said on the command line of a proof
const FACTS = Number(process.env.WORLD_FACTS ?? 770);
/** 837 of 2,310. */
const UPDATES = Math.round(FACTS * 0.3623);

describe('G2: a large world on the embedded stores', () => {
  let folder: TempDir;
  beforeEach(async () => {
    folder = await tempDir();
  });
  afterEach(() => folder.remove());

  it(
    'facts of which a third are updates, ten candidates each: nothing lost, one outdated at the most',
    async () => {
      const large = world({ seed: 1, facts: FACTS, updates: UPDATES });
      const embedder = builtinEmbedder(systemTools);
      const { fingerprint, dimensions } = embedder;
      const ledger = await openSqliteLedger({ path: join(folder.path, 'ledger.db'), tools: systemTools });
      const index = await openSqliteIndex({ path: join(folder.path, 'index.db'), fingerprint, dimensions });
      const chat = perfectChat(large);
      const settings = { recallPerFact: 10, near: NEAR_HASHED };
      const bench = await engineBench({ chat, embedder, stores: { ledger, index }, settings });
      await play(bench, batchesOf(large, 60));
      const live = await bench.live();
      const [holds, gold] = [new Set(live), new Set(large.gold)];
      expect(large.gold.filter((text) => !holds.has(text))).toEqual([]);
      expect(live.filter((text) => !gold.has(text)).length).toBeLessThanOrEqual(1);
      expect(live.length).toBeLessThanOrEqual(gold.size + 1);
      expect(await ledger.overview.batches(DEFAULT_TENANT)).toMatchObject({ pending: 0, parked: 0, empty: 0 });
      await Promise.all([index.close(), ledger.close()]);
    },
    WITHIN_MS,
  );
});

describe('G17: what a model is told at each call', () => {
  const asked = async (userId: string, texts: readonly string[]) => {
    const chat = perfectChat({ keyOf: (text) => text.split(':')[0] ?? text });
    const bench = await engineBench({ chat });
    for (const text of texts) {
      await bench.post([text], { userId });
      await bench.run();
    }
    return new Map(chat.calls.map((call) => [call.name, call]));
  };

  it('comes to at most 3,000 tokens for both calls together', async () => {
    const calls = [...(await asked('ann', ['home: Oslo', 'home: Bergen'])).values()];
    expect(calls.map(({ name }) => name)).toEqual(['extract_facts', 'decide_operations']);
    // The schema goes with every call as well, and is charged like text.
    const told = calls.map(
      ({ system, schema }) => o200kTokenizer.count(system) + o200kTokenizer.count(JSON.stringify(schema)),
    );
    expect(told.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(3_000);
  });

  it('begins with the same text for every user and conversation, so that servers can keep it', async () => {
    const ann = await asked('ann', ['home: Oslo', 'home: Bergen']);
    const bob = await asked('bob', ['pet: a cat', 'pet: a dog']);
    for (const [name, call] of ann) {
      expect(bob.get(name)?.system).toBe(call.system);
      const [fixed, ...input] = call.user.split('\n');
      expect(bob.get(name)?.user.split('\n')[0]).toBe(fixed);
      expect(JSON.parse(input.join('\n'))).toBeTypeOf('object');
    }
  });
});

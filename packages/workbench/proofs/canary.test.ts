import { canaryBench, REGRESSIONS } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';

const TALK = { users: 40, rounds: 9, seed: 7, before: 2, every: 10 };
const CONSOLIDATIONS_MAX = 200;
/** A case takes seconds; a machine that does other things as well may need minutes for it. */
const PATIENCE = { timeout: 1_200_000 };

it.each(REGRESSIONS)(
  'a canary halts within 200 consolidations where the model %s, and leaves nothing behind',
  PATIENCE,
  async (how) => {
    const tried = await canaryBench(TALK);
    const said = await tried.talkUntilHalted(() => tried.start(how));
    const { id, halt, watched } = await tried.canary();
    expect(halt, JSON.stringify(watched)).not.toBeNull();
    expect(await tried.deps.ledger.canaries.appliedSince(id, 0)).toBeLessThanOrEqual(CONSOLIDATIONS_MAX);
    await tried.until('undone');
    expect(await tried.canary()).toMatchObject({ state: 'undone', waiting: null });
    const without = await canaryBench(TALK);
    await without.talk(said);
    expect(await tried.hashes()).toEqual(await without.hashes());
  },
);

// biome-ignore lint/style/noProcessEnv: ./scripts/prove canary says how many
const UNCHANGED = Number(process.env.CANARY_UNCHANGED ?? 40);
/**
 * Two of a hundred may halt (decision 0051): of forty that is one as a rule, and more than three in less than one of a
 * hundred proofs.
 */
const HALTED_MAX = Math.ceil(UNCHANGED * 0.075);
const SAID = { users: 30, rounds: 8, before: 1, every: 10, noise: 5 };

it(
  `of ${UNCHANGED} canaries of a model that is as good, with five noisy answers in a hundred, at most ${HALTED_MAX} halt`,
  PATIENCE,
  async () => {
    const halted: string[] = [];
    for (let seed = 1; seed <= UNCHANGED; seed += 1) {
      const tried = await canaryBench({ ...SAID, seed });
      await tried.talkUntilHalted(() => tried.start(null));
      const { halt } = await tried.canary();
      if (halt !== null) halted.push(`seed ${seed}: ${halt.message}`);
    }
    expect(halted.length, halted.join('\n')).toBeLessThanOrEqual(HALTED_MAX);
  },
);

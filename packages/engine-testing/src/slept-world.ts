import { type FakeChat, fakeChat, type Script } from './fake-models.ts';
import { type NightBench, nightBench } from './night-bench.ts';
import { echoExtract, keyedDecide } from './scripts.ts';
import { batchesOf, play, WORLD_OPTIONS } from './world-bench.ts';
import { type World, type WorldOptions, world } from './worlds.ts';

const DAY_MS = 86_400_000;

/** A reflector that says of all it is shown that it says the same as everything else. */
const eager: Script = (input) => {
  const ids = (input.memories as unknown as readonly { readonly id: string }[]).map(({ id }) => id);
  const pairs = ids.flatMap((keep, i) => ids.slice(i + 1).map((drop) => ({ kind: 'same', keep, drop, reason: 'all' })));
  return { pairs };
};

export interface SleptWorld {
  readonly bench: NightBench;
  readonly chat: FakeChat;
  readonly of: World;
}

/** A world of facts that change, consolidated with a model that never errs, with nights in between whose model errs in every answer. */
export async function sleptWorld(options: WorldOptions, { nights }: { readonly nights: number }): Promise<SleptWorld> {
  const of = world(options);
  const chat = fakeChat({
    extract_facts: echoExtract,
    decide_operations: keyedDecide(of.keyOf),
    judge_neighbours: eager,
  });
  const limits = { calls: 1_000, tokens: 10_000_000, operations: 500, share: 1 };
  const bench = await nightBench({ chat, ...WORLD_OPTIONS }, { limits });
  const batches = batchesOf(of);
  const between = Math.ceil(batches.length / nights);
  for (let night = 0; night * between < batches.length; night += 1) {
    const said = batches.slice(night * between, (night + 1) * between);
    await play(
      bench,
      said.map(({ at, texts }) => ({ at: at + night * DAY_MS, texts })),
    );
    await bench.night();
  }
  return { bench, chat, of };
}

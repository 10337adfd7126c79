import { aliasWorld, fakeChat, graphDecisions, graphScript, studyBench } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { DEFAULT_TENANT, ownerOf } from '../../words.ts';
import { nameKey } from '../names.ts';

const ENTITIES = 80;
const GOAL = 0.98;
const NO_PAIRS: readonly (readonly [string, string])[] = [];

/** Who is taken for whom, pair by pair, against who is. */
async function figuresOf(seed: number, asked: 'a model that knows' | 'no model that knows') {
  const world = aliasWorld({ seed, entities: ENTITIES });
  const same = asked === 'a model that knows' ? world.pairs : NO_PAIRS;
  const chat = fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: graphScript(world.talk, world.kinds),
    decide_graph: graphDecisions({ one: [], same }),
  });
  const bench = await studyBench({ chat });
  for (const { says } of world.talk) await bench.post([says], { at: bench.tools.now() });
  await bench.run();
  await bench.study();
  const owner = ownerOf({ userId: 'ann', agentId: null, runId: null, appId: null });
  const { results } = await bench.deps.ledger.graph.listEntities(
    DEFAULT_TENANT,
    owner,
    {},
    { limit: 10_000, cursor: null },
  );
  const found = new Map(
    results.flatMap(({ id, name, aliases }) => [name, ...aliases].map((one) => [nameKey(one), id] as const)),
  );
  return compared(world.names, (name) => found.get(nameKey(name)) ?? `nobody is called ${name}`);
}

/** Precision and recall of the pairs of names that are of one. */
function compared(names: ReadonlyMap<string, number>, idOf: (name: string) => string) {
  const all = [...names];
  let [both, merged, gold] = [0, 0, 0];
  for (const [i, [a, of]] of all.entries()) {
    for (const [b, other] of all.slice(i + 1)) {
      const [isMerged, isGold] = [idOf(a) === idOf(b), of === other];
      merged += Number(isMerged);
      gold += Number(isGold);
      both += Number(isMerged && isGold);
    }
  }
  return { names: all.length, precision: both / merged, recall: both / gold };
}

test('names of one are merged and names of others are not, in 98 of 100 at least', async ({ annotate }) => {
  const figures = await figuresOf(7, 'a model that knows');
  await annotate(`merging: ${JSON.stringify(figures)}`);
  expect(figures.names).toBeGreaterThan(ENTITIES * 3);
  expect(figures.precision).toBeGreaterThanOrEqual(GOAL);
  expect(figures.recall).toBeGreaterThanOrEqual(GOAL);
});

test('names that are only dressed otherwise need no model to be merged, and nobody is taken for another', async ({
  annotate,
}) => {
  const figures = await figuresOf(11, 'no model that knows');
  await annotate(`merging by rules alone: ${JSON.stringify(figures)}`);
  expect(figures.precision).toBeGreaterThanOrEqual(GOAL);
  expect(figures.recall).toBeGreaterThan(0.5);
});

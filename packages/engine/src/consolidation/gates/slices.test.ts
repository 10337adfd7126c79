import { engineBench, fakeChat } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import type { JsonObject, TenantId } from '../../words.ts';

const FACTS = 400;
const THINGS = Array.from({ length: FACTS }, (_, i) => `thing ${i}`).join(', ');
const factsOf = (verb: string) => Array.from({ length: FACTS }, (_, i) => ({ text: `User ${verb} thing ${i}` }));

/** How often others could go on while the second of two answers was worked on, which changes what the first brought. */
async function rests(decide: (facts: number, input: JsonObject) => JsonObject): Promise<number> {
  const chat = fakeChat({
    extract_facts: (_input, nth) => ({ facts: factsOf(nth === 1 ? 'owns' : 'sold') }),
    decide_operations: (input) => decide(FACTS, input),
  });
  const bench = await engineBench({ chat, settings: { deletesPerConsolidation: FACTS } });
  let count = 0;
  Object.assign(bench.deps.tools, {
    breathe: async () => {
      count += 1;
    },
  });
  await bench.post([`I own ${THINGS}`]);
  await bench.run();
  count = 0;
  await bench.post([`I sold ${THINGS}`]);
  await bench.run();
  return count;
}

it.each<[string, (facts: number, input: JsonObject) => JsonObject]>([
  [
    'operations on each fact',
    (facts) => ({
      operations: Array.from({ length: facts }, (_, i) => ({ fact: `f${i}`, event: 'UPDATE', id: `${i}` })),
    }),
  ],
  [
    'operations that name no fact',
    (facts) => ({
      memory: Array.from({ length: facts }, (_, i) => ({ id: `${i}`, event: 'UPDATE', text: `User sold thing ${i}` })),
    }),
  ],
  ['no operation', () => ({ operations: [] })],
])(
  'an answer of hundreds of facts, and %s, leaves room to others at every fact in every step',
  async (_name, decide) => {
    // Admitted, asked about, recalled, compared, judged, applied and told to the index: each fact by fact.
    expect(await rests(decide)).toBeGreaterThan(7 * FACTS);
  },
);

it('an answer of hundreds of facts comes to stores and models in slices: what a call brings comes in one piece', async () => {
  const chat = fakeChat({
    extract_facts: () => ({ facts: factsOf('owns') }),
    decide_operations: () => ({ operations: [] }),
  });
  const bench = await engineBench({ chat });
  const { index, embedder, ledger } = bench.deps;
  const largest = new Map<string, number>();
  const told: Told = (name, given) => void largest.set(name, Math.max(largest.get(name) ?? 0, given));
  Object.assign(index, {
    search: counted(told, 'search', index.search),
    upsert: counted(told, 'upsert', index.upsert),
  });
  Object.assign(embedder, { embed: counted(told, 'embed', embedder.embed) });
  const { many } = ledger.memories;
  Object.assign(ledger.memories, {
    many: (tenant: TenantId, ids: readonly string[]) =>
      counted(told, 'many', (some: readonly string[]) => many(tenant, some))(ids),
  });
  await bench.post([`I own ${THINGS}`]);
  await bench.run();
  expect(await bench.live()).not.toEqual([]);
  expect(Object.fromEntries(largest)).toEqual({ embed: 64, search: 64, many: 64, upsert: 200 });
});

type Told = (name: string, given: number) => void;

/** The same call, which tells how many things it was given. */
const counted =
  <One, Rest extends unknown[], T>(told: Told, name: string, call: (given: readonly One[], ...rest: Rest) => T) =>
  (given: readonly One[], ...rest: Rest): T => {
    told(name, given.length);
    return call(given, ...rest);
  };

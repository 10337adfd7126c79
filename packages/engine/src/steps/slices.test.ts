import { expect, it } from 'vitest';
import { engineBench, fakeChat } from '../testing/index.ts';
import type { JsonObject } from '../words.ts';

const FACTS = 400;
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
  await bench.post(['I own things']);
  await bench.run();
  count = 0;
  await bench.post(['I sold things']);
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

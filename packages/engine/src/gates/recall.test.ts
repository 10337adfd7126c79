import {
  batchesOf,
  type EngineBench,
  LIFE_CHANGES,
  LIFE_ELSEWHERE,
  perfectChat,
  type World,
  world,
  worldBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../plan.ts';
import { DEFAULT_TENANT } from '../words.ts';

const ALL = { limit: 10_000, cursor: null };

/** Stores texts as they are, without any model. */
async function remember(bench: EngineBench, texts: readonly string[]): Promise<void> {
  await bench.post(texts, { settings: { mode: 'verbatim' }, at: bench.tools.now() - 1 });
  await bench.run();
}

async function plans({ deps }: EngineBench): Promise<readonly Plan[]> {
  const { results } = await deps.ledger.thoughts.list(DEFAULT_TENANT, {}, ALL);
  const found = await Promise.all(results.map(({ id }) => deps.ledger.thoughts.plan(id)));
  return found.filter((plan) => plan !== null);
}

/** Of the facts about something that is known, the share that is shown the memory of it. */
async function recallOf({ texts, keyOf }: Pick<World, 'texts' | 'keyOf'>, perFact: number): Promise<number> {
  const bench = await worldBench({ chat: perfectChat({ keyOf }), settings: { recallPerFact: perFact } });
  const first = new Map(texts.toReversed().map((text) => [keyOf(text), text]));
  await remember(bench, [...first.values()]);
  const later = texts.filter((text) => first.get(keyOf(text)) !== text);
  for (const { texts: said } of batchesOf({ texts: later }, 50)) {
    await bench.post(said);
    await bench.run();
  }
  const shown = (await plans(bench))
    .filter(({ prompts }) => prompts.length > 0)
    .flatMap(({ facts, candidates }) =>
      facts.map((fact) =>
        candidates.some(
          ({ text, recalledBy }) => keyOf(text) === keyOf(fact.text) && recalledBy.some((by) => by.fact === fact.id),
        ),
      ),
    );
  expect(shown.length).toBe(later.length);
  return shown.filter((one) => one).length / shown.length;
}

describe('G3: updates in other words are shown the memory they change', () => {
  const paraphrased = world({ seed: 3, facts: 800, updates: 300, paraphrased: true });
  const keyOfLife = new Map(LIFE_CHANGES.flatMap(([before, after]) => [before, after].map((text) => [text, before])));
  const life = { texts: LIFE_CHANGES.flat(), keyOf: (text: string) => keyOfLife.get(text) ?? text };

  it.each([
    { name: '87 in 100 of a world among ten', told: paraphrased, perFact: 10, share: 0.87 },
    { name: '91 in 100 of a world among twenty', told: paraphrased, perFact: 20, share: 0.91 },
    { name: '87 in 100 of a life among ten', told: life, perFact: 10, share: 0.87 },
    { name: '91 in 100 of a life among twenty', told: life, perFact: 20, share: 0.91 },
  ])('$name', async ({ told, perFact, share }) => {
    expect(await recallOf(told, perFact)).toBeGreaterThanOrEqual(share);
  });
});

describe('among many who have names and words in common, an update is shown the memory it changes', () => {
  const given = ['Ines', 'Carla', 'Elena', 'Bram', 'Femi', 'Priya', 'Ada', 'Dmitri'];
  const families = ['Brandt', 'Eriksen', 'Jansen', 'Dubois', 'Ivanova', 'Fontaine'];
  const people = given.flatMap((name) => families.map((family) => `${name} ${family}`));
  // Greta and Haddad are in many memories, a jeweller is rare: whoever has one of the names and is one shares more with what is said.
  const others = people.flatMap((person) => [`Greta ${person} works as a cook`, `${person} Haddad works as a cook`]);
  const jewellers = [...given.map((name) => `${name} Haddad`), ...families.map((family) => `Greta ${family}`)];

  it('and not only others of whom the same is said', async () => {
    const texts = [
      ...others,
      ...jewellers.map((person) => `${person} works as a jeweller`),
      'Greta Haddad works as a carpenter',
      'Greta Haddad works as a jeweller',
    ];
    expect(await recallOf({ texts, keyOf: (text) => text.split(' works')[0] ?? text }, 10)).toBe(1);
  });
});

describe('a decision is asked for', () => {
  const asked = async (known: readonly string[], said: string): Promise<boolean> => {
    const chat = perfectChat({ keyOf: (text) => text });
    const bench = await worldBench({ chat });
    await remember(bench, known);
    await bench.post([said]);
    await bench.run();
    return chat.calls.some(({ name }) => name === 'decide_operations');
  };

  it.each(LIFE_CHANGES)('after "%s" on "%s"', async (before, after) => {
    expect(await asked([before], after)).toBe(true);
  });

  it('seldom on what has nothing to do with anything known', async () => {
    const known = LIFE_CHANGES.map(([before]) => before);
    const skipped = await Promise.all(LIFE_ELSEWHERE.map(async (text) => !(await asked(known, text))));
    expect(skipped.filter((one) => one).length).toBeGreaterThanOrEqual(LIFE_ELSEWHERE.length * 0.7);
  });
});

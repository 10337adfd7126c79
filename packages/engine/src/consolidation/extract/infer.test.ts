import { type EngineBench, echoExtract, engineBench, fakeChat, keyedDecide } from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { EXTRACT } from '../../models/prompts/consolidation.ts';
import { DEFAULT_TENANT } from '../../words.ts';
import { copyingName, EXTRACT_PLAIN } from './infer.ts';

const DAY_MS = 86_400_000;
const COPY = { facts: [{ text: "User's name is Quillon", source_ids: ['m0'], quote: "I'm Quillon" }] };

/** Copies where it is shown examples, and else repeats what was said; unless it is honest. */
let isHonest: boolean;
let bench: EngineBench;
let chat: ReturnType<typeof fakeChat>;
beforeEach(async () => {
  isHonest = false;
  chat = fakeChat({
    extract_facts: (input, nth) => {
      const { system = '' } = chat.calls.at(-1) ?? {};
      return !isHonest && system.includes('Quillon') ? COPY : echoExtract(input, nth);
    },
    decide_operations: keyedDecide((text) => text),
  });
  bench = await engineBench({ chat });
});

let said = 0;
async function say(times = 1): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    said += 1;
    await bench.post([`hobby: number ${said}`]);
    await bench.run();
  }
}
const askedWith = () => chat.calls.filter(({ name }) => name === 'extract_facts').map(({ system }) => system);
const plans = async () => {
  const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 100, cursor: null });
  return Promise.all(results.map(({ id }) => bench.deps.ledger.thoughts.plan(id)));
};

it('is the same prompt without its examples', () => {
  expect(EXTRACT_PLAIN.system).not.toMatch(/Example|Quillon|gives \{"facts"/u);
  const kept = EXTRACT.system.split('\n').filter((line) => EXTRACT_PLAIN.system.split('\n').includes(line));
  expect(kept.join('\n')).toBe(EXTRACT_PLAIN.system);
});

describe('a model that copies the examples of its prompt', () => {
  it('is asked without them from the fourth batch on, and its facts are remembered', async () => {
    await say(3);
    expect(await bench.memories()).toEqual([]);
    await say(2);
    expect(askedWith()).toEqual([...Array(3).fill(EXTRACT.system), ...Array(2).fill(EXTRACT_PLAIN.system)]);
    expect(await bench.memories()).toHaveLength(2);
    const versions = (await plans()).flatMap((plan) => plan?.prompts.map(({ version }) => version) ?? []);
    expect(versions.filter((version) => version === EXTRACT_PLAIN.version)).toHaveLength(2);
  });

  it('is shown them again after a week', async () => {
    await say(4);
    bench.tools.advance(8 * DAY_MS);
    await say();
    expect(askedWith().at(-1)).toBe(EXTRACT.system);
  });

  it('is known to every process within ten seconds', async () => {
    await say();
    const { ledger } = bench.deps;
    await ledger.models.put(copyingName(chat.name), { at: bench.tools.now(), batches: 3 }); // as another one does
    bench.tools.advance(9_000);
    await say();
    expect(askedWith().at(-1)).toBe(EXTRACT.system);
    bench.tools.advance(1_000);
    await say();
    expect(askedWith().at(-1)).toBe(EXTRACT_PLAIN.system);
  });

  it('is not known by copies that come now and then', async () => {
    for (const honest of [false, false, true, false, false, true]) {
      isHonest = honest;
      await say();
    }
    expect(new Set(askedWith())).toEqual(new Set([EXTRACT.system]));
  });

  it('is asked with the prompt of a tenant who wrote one', async () => {
    await say(3);
    const { settings } = bench.deps.ledger;
    const rules = await settings.get(DEFAULT_TENANT);
    await settings.put(DEFAULT_TENANT, {
      ...rules,
      prompts: { ...rules.prompts, extract: 'Find facts: {{categories}}' },
    });
    await say();
    expect(askedWith().at(-1)).toContain('Find facts:');
  });
});

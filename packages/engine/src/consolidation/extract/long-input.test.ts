import {
  CutOff,
  echoExtract,
  engineBench,
  fakeChat,
  inputOf,
  keyedDecide,
  type Script,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../errors.ts';
import type { NewMessage } from '../../ports/ledger/lanes.ts';
import { estimateTokens } from '../../text/normalise.ts';
import { DEFAULT_TENANT, type Json, type JsonObject } from '../../words.ts';

const PART_TOKENS = 24_000;
const ENGLISH = 'We talked about the garden for a long time and nothing much came of it, as it goes on such evenings. ';
const CHINESE = '我们聊了很久花园的事情，最后也没有什么结果，晚上总是这样过去的。';

/** 300 messages of about 60,000 tokens, every third of them with something to remember. */
const TRANSCRIPT: readonly Partial<NewMessage>[] = Array.from({ length: 300 }, (_, i) => {
  const filler = i % 2 === 0 ? ENGLISH.repeat(8) : CHINESE.repeat(6);
  const fact = i % 3 === 0 ? `Fact ${i}: the number is ${i * 7}.\n` : '';
  return { role: i % 3 === 2 ? 'assistant' : 'user', content: `${fact}${filler}` } as const;
});
const FACTS = TRANSCRIPT.flatMap(({ content }) => /Fact \d+: .*/u.exec(String(content)) ?? []);

/** Finds the marked facts of the new messages, without naming where they stand. */
const marked: Script = (input) => ({
  facts: shownIn(input).flatMap(({ content }) =>
    [...content.matchAll(/Fact \d+: [^\n]*/gu)].map(([text]) => ({ text })),
  ),
});
const decide = keyedDecide((text) => text.split(':')[0] ?? text);

interface Shown {
  readonly id: string;
  readonly content: string;
}
const shownIn = (input: JsonObject): readonly Shown[] => input.messages as unknown as readonly Shown[];
const recentIn = (input: JsonObject): readonly Shown[] =>
  (input.context as { recent: unknown }).recent as readonly Shown[];

describe('a transcript of 300 messages in one post', () => {
  it('is read in as few parts as it needs and decided on once', async () => {
    const chat = fakeChat({ extract_facts: marked, decide_operations: decide });
    const bench = await engineBench({ chat, settings: { partTokens: PART_TOKENS } });
    const tokens = TRANSCRIPT.reduce((sum, { content }) => sum + estimateTokens(String(content)), 0);
    expect(tokens).toBeGreaterThan(58_000);
    await bench.post(TRANSCRIPT);
    await bench.run();
    const extracts = chat.calls.filter(({ name }) => name === 'extract_facts');
    expect(extracts).toHaveLength(Math.ceil((tokens + 300 * 40) / PART_TOKENS));
    expect(chat.calls).toHaveLength(extracts.length + 1);
    expect(await bench.live()).toEqual(FACTS.map(String).sort());
    expect(extracts.every(({ user }) => estimateTokens(user) < PART_TOKENS * 1.25)).toBe(true);
  });

  it('each part is told the end of the one before as known, and nothing twice', async () => {
    const chat = fakeChat({ extract_facts: marked, decide_operations: decide });
    const bench = await engineBench({ chat, settings: { partTokens: 5_000 } });
    await bench.post(TRANSCRIPT.slice(0, 60));
    await bench.run();
    const inputs = chat.calls.filter(({ name }) => name === 'extract_facts').map(inputOf);
    expect(inputs.flatMap((input) => shownIn(input).map(({ content }) => content))).toEqual(
      TRANSCRIPT.slice(0, 60).map(({ content }) => String(content).trim()),
    );
    inputs.slice(1).forEach((input, i) => {
      const last = shownIn(inputs[i] ?? {}).at(-1)?.content ?? 'none';
      expect(last.endsWith(recentIn(input).at(-1)?.content ?? 'nothing')).toBe(true);
    });
    expect(inputs.every((input) => shownIn(input)[0]?.id === 'm0')).toBe(true);
  });

  it('a failure in the middle costs no answer that is there: the next try goes on after it', async () => {
    const failing: Script = (input, nth) =>
      nth === 3
        ? new EngineError('the model answered 500', { code: 'model_server_error', retryable: true })
        : marked(input, nth);
    const chat = fakeChat({ extract_facts: failing, decide_operations: decide });
    const bench = await engineBench({ chat, settings: { partTokens: 5_000 } });
    const batch = await bench.post(TRANSCRIPT.slice(0, 80));
    await bench.run();
    const asked = chat.calls.filter(({ name }) => name === 'extract_facts').map(({ user }) => user);
    const { consolidationId } = await bench.plan(batch);
    const steps = (await bench.deps.ledger.thoughts.answers(consolidationId)).map(({ step }) => step);
    expect(asked).toHaveLength(new Set(asked).size + 1);
    expect(steps).toEqual(
      ['extract', 'extract:2', 'extract:3', 'extract:4', 'decide'].slice(0, steps.length - 1).concat('decide'),
    );
    expect(await bench.live()).toEqual(FACTS.slice(0, 27).map(String).sort());
  });
});

it('one message that is longer than a part is read in slices, and its facts come from it, each once', async () => {
  const facts = Array.from({ length: 40 }, (_, i) => `Fact ${i}: the number is ${i * 7}.`);
  const content = facts.map((fact) => `${fact}\n${ENGLISH.repeat(4)}`).join('\n');
  const chat = fakeChat({ extract_facts: marked, decide_operations: decide });
  const bench = await engineBench({ chat, settings: { partTokens: 1_000 } });
  const batch = await bench.post(['before', content, 'after']);
  await bench.run();
  const plan = await bench.plan(batch);
  expect(chat.calls.filter(({ name }) => name === 'extract_facts').length).toBeGreaterThan(3);
  expect(plan.facts).toHaveLength(40);
  expect(new Set(plan.facts.flatMap(({ sourceIds }) => sourceIds)).size).toBe(1);
  expect(await bench.live()).toEqual(facts.toSorted());
});

describe('what is known already', () => {
  it('does not grow with the age of a lane, nor with how much of it is sent again', async () => {
    const chat = fakeChat({ extract_facts: echoExtract, decide_operations: decide });
    const bench = await engineBench({ chat, settings: { window: { maxTokens: 100_000, maxBatches: 1 } } });
    const history = Array.from({ length: 60 }, (_, i) => ({
      clientId: `c${i}`,
      content: `turn ${i}: ${ENGLISH.repeat(9)}`,
    }));
    for (let end = 10; end <= 60; end += 10) {
      await bench.post(history.slice(0, end));
      await bench.run();
    }
    const sizes = chat.calls
      .filter(({ name }) => name === 'extract_facts')
      .map(inputOf)
      .map((input) => ({ known: estimateTokens(JSON.stringify(recentIn(input))), fresh: shownIn(input).length }));
    expect(sizes.map(({ fresh }) => fresh)).toEqual(Array(6).fill(10));
    expect(sizes.every(({ known }) => known <= 2_200)).toBe(true);
    expect(sizes.slice(1).every(({ known }) => known > 1_000)).toBe(true);
  });

  it('is told once where it is both remembered and sent again', async () => {
    const chat = fakeChat({ extract_facts: echoExtract, decide_operations: decide });
    const bench = await engineBench({ chat });
    await bench.post([{ clientId: 'a', content: 'one: 1' }]);
    await bench.run();
    await bench.post([
      { clientId: 'a', content: 'one: 1' },
      { clientId: 'b', content: 'two: 2' },
    ]);
    await bench.run();
    const last = chat.calls.filter(({ name }) => name === 'extract_facts').at(-1);
    expect(last === undefined ? null : recentIn(inputOf(last)).map(({ content }) => content)).toEqual(['one: 1']);
  });
});

/** A model whose output ends before it has told of so many messages; its answer breaks off. */
const shortOfBreath =
  (most: number): Script =>
  (input, nth) => {
    const shown = shownIn((input.input as JsonObject | undefined) ?? input);
    const whole = JSON.stringify(marked({ messages: shown as unknown as Json }, nth));
    return shown.length > most ? new CutOff(whole.slice(0, whole.length / 2)) : whole;
  };
const breathless = (most: number) =>
  fakeChat({ extract_facts: shortOfBreath(most), repair_output: shortOfBreath(most), decide_operations: decide });

describe('an answer that stays cut off', () => {
  it('is asked for in halves before its batch is parked: not one fact is missing', async () => {
    const bench = await engineBench({ chat: breathless(8) });
    const id = await bench.post(TRANSCRIPT.slice(0, 30));
    await bench.run();
    expect(await bench.live()).toEqual(FACTS.slice(0, 10).map(String).sort());
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'consolidated',
      attempts: 2,
    });
  });

  it('parks a batch in the end of which not even the smallest part can be read, with nothing of it applied', async () => {
    const bench = await engineBench({ chat: breathless(0) });
    const id = await bench.post(TRANSCRIPT.slice(0, 30));
    await bench.run();
    expect(await bench.live()).toEqual([]);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'parked',
      failure: { code: 'model_output_unusable', message: expect.stringContaining('truncated') },
    });
  });

  it('halves a window of several batches until each fits', async () => {
    const bench = await engineBench({ chat: breathless(3) });
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) ids.push(await bench.post(TRANSCRIPT.slice(3 * i, 3 * i + 3)));
    await bench.run();
    expect(await bench.live()).toEqual(FACTS.slice(0, 4).map(String).sort());
    for (const id of ids) {
      expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'consolidated' });
    }
  });

  it('of a decision parks the batch: no half of it is carried out', async () => {
    const half = new CutOff('{"operations":[{"fact":"f0","event":"ADD"},{"fact":"f1","ev');
    const chat = fakeChat({ extract_facts: marked, decide_operations: () => half, repair_output: () => half });
    const bench = await engineBench({ chat });
    const id = await bench.post(TRANSCRIPT.slice(0, 6));
    await bench.run();
    expect(await bench.live()).toEqual([]);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'parked' });
  });
});

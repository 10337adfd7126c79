import { CutOff, echoExtract, engineBench, fakeChat, type Reply, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { DEFAULT_TENANT } from '../words.ts';

const WHOLE = { facts: [{ text: 'lives: in Oslo' }, { text: 'pet: a cat' }] };
const HALF = new CutOff('{"facts":[{"text":"lives: in Oslo"},{"text":"pet: a c');
const EMPTY_HALF = new CutOff('{"facts":[{"text":"li');
const MAX_ATTEMPTS = 5;
/** Of an answer that is of no use, each with a repair. */
const TRIES = 2;
const DOWN = new EngineError('the model answered 500', { code: 'model_server_error', retryable: true });
/** As many characters as an answer may have. */
const FULL = JSON.stringify(WHOLE).padEnd(1_000_000);

describe('an answer', () => {
  it('that cannot be used is kept under a name of its own, and its repair under the question’s', async () => {
    const { bench, stored } = await asked(['nonsense'], [WHOLE]);
    await bench.run();
    expect(await stored()).toEqual([
      ['extract:unusable:0', 'nonsense'],
      ['extract', JSON.stringify(WHOLE)],
    ]);
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);
  });

  it('that breaks off counts for nothing before the last try', async () => {
    const { bench, id, calls } = await asked([HALF, WHOLE], [HALF]);
    const [first] = await bench.run();
    expect(first?.kind).toBe('later');
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);
    expect(calls()).toEqual(['extract_facts', 'repair_output', 'extract_facts']);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'consolidated',
      attempts: 1,
    });
  });

  it.each<[string, Reply, Reply]>([
    ['and so does its repair', HALF, HALF],
    ['and its repair is none', HALF, 'nonsense'],
    ['as its repair, though it was none itself', 'nonsense', HALF],
  ])('that breaks off in every try %s is never taken for the whole: the batch is parked', async (_n, first, repair) => {
    const { bench, id } = await asked([first, first, first], [repair, repair, repair]);
    await bench.run();
    expect(await bench.live()).toEqual([]);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'parked',
      attempts: TRIES,
      failure: { code: 'model_output_unusable', message: expect.stringContaining('truncated') },
    });
  });

  it.each<[string, Reply]>([
    ['breaks off before its first item', EMPTY_HALF],
    ['is no JSON', 'I am sorry'],
    ['is an error of the server', '{"error":{"message":"context_length_exceeded"}}'],
    ['is nothing', ''],
  ])('that %s parks the batch in the end, and is never taken for "no facts"', async (_name, reply) => {
    const { bench, id, stored } = await asked([reply, reply, reply], [reply, reply, reply]);
    await bench.run();
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'parked',
      failure: { code: 'model_output_unusable' },
    });
    expect((await stored()).map(([step]) => step)).toEqual([
      'extract:unusable:0',
      'extract:unrepaired:0',
      'extract:unusable:1',
      'extract:unrepaired:1',
    ]);
  });

  it('that was no use in two tries, whose repairs were lost to an outage, parks nothing', async () => {
    const { bench, id, calls } = await asked(['nonsense', 'nonsense', WHOLE], [DOWN, DOWN]);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'consolidated',
      attempts: 2,
    });
    const pair = ['extract_facts', 'repair_output'];
    expect(calls()).toEqual([...pair, ...pair, 'extract_facts']);
  });

  it('that is never any use, and whose repair never comes, parks the batch when its attempts are used up', async () => {
    const always = <One>(one: One): One[] => Array.from({ length: 20 }, () => one);
    const { bench, id, calls } = await asked(always('nonsense'), always(DOWN));
    await bench.run();
    const parked = { state: 'parked', attempts: MAX_ATTEMPTS, failure: { code: 'model_server_error' } };
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject(parked);
    // The last attempt is made twice: the model is there, but nobody knows whether it was before.
    expect(calls().filter((name) => name === 'extract_facts').length).toBeLessThanOrEqual(MAX_ATTEMPTS + 1);
  });

  it('that was no use is not asked for again while its provider takes no repair', async () => {
    const full = new EngineError('wait', { code: 'rate_limited', retryable: true, countsAsTry: false });
    const { bench, id, calls } = await asked(['nonsense'], [full, full, full, WHOLE]);
    await bench.run();
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'consolidated',
      attempts: 0,
    });
    expect(calls()).toEqual(['extract_facts', ...Array.from({ length: 4 }, () => 'repair_output')]);
  });

  it('whose repair does not fit the window counts as a try that came to nothing', async () => {
    const tooLong = new EngineError('the window is full', { code: 'context_too_long', retryable: false });
    const { bench, id, calls } = await asked(['nonsense', 'nonsense', WHOLE], [tooLong, tooLong]);
    await bench.run();
    const parked = { state: 'parked', attempts: TRIES, failure: { code: 'model_output_unusable' } };
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject(parked);
    expect(calls()).toHaveLength(2 * TRIES);
  });

  it('that was no use is not paid for again after a crash in the same try', async () => {
    const unreachable = new EngineError('gone', { code: 'cancelled', retryable: true });
    const { bench, calls } = await asked(['nonsense'], [unreachable, WHOLE]);
    const { lanes } = bench.deps.ledger;
    const { fail } = lanes;
    // A kill leaves no trace of the failure.
    Object.assign(lanes, { fail: () => Promise.reject(new Error('killed')) });
    await expect(bench.run()).rejects.toThrow('killed');
    Object.assign(lanes, { fail });
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);
    expect(calls()).toEqual(['extract_facts', 'repair_output', 'repair_output']);
  });

  it('that is longer than any model writes is neither read nor kept, and is asked for again', async () => {
    const { bench, stored } = await asked([`${FULL} `], [FULL]);
    await bench.run();
    expect(await stored()).toEqual([
      ['extract:unusable:0', ''],
      ['extract', FULL],
    ]);
    expect(await bench.live()).toEqual(['lives: in Oslo', 'pet: a cat']);
    expect(await bench.deps.ledger.overview.usage(DEFAULT_TENANT)).toMatchObject({ calls: 2 });
  });

  it('that never came counts as a failed call', async () => {
    const { bench } = await asked([DOWN, WHOLE], []);
    await bench.run();
    expect(await bench.deps.ledger.overview.usage(DEFAULT_TENANT)).toMatchObject({ calls: 2, failedCalls: 1 });
  });
});

/** A bench with one batch, and a model that gives these answers, one after the other. */
async function asked(answers: readonly Reply[], repairs: readonly Reply[]) {
  const inTurn =
    (replies: readonly Reply[]): Script =>
    (input, nth) =>
      replies[nth - 1] ?? echoExtract(input, nth);
  const chat = fakeChat({
    extract_facts: inTurn(answers),
    repair_output: inTurn(repairs),
    are_you_there: () => ({ there: true }),
  });
  const bench = await engineBench({ chat, settings: { maxAttempts: MAX_ATTEMPTS } });
  const id = await bench.post(['lives: in Oslo', 'pet: a cat']);
  const stored = async (): Promise<[string, string][]> => {
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    const kept = await bench.deps.ledger.thoughts.answers(results[0]?.id ?? '');
    return kept.map(({ step, text }) => [step, text]);
  };
  return { bench, id, stored, calls: () => chat.calls.map(({ name }) => name) };
}

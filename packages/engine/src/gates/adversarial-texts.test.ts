import {
  CutOff,
  engineBench,
  expectTrue,
  fakeChat,
  type Reply,
  summaryBench,
  UNUSABLE,
  WRAPPED,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';

const TOLD = 'The agent opened page 7 and read "42 results".';
const answer = (value: unknown): string => JSON.stringify({ summary: value });

/** Answers whose text is found all the same. */
const READ: readonly (readonly [string, string, string])[] = [
  ['as it is asked for', answer(TOLD), TOLD],
  ['with a text in a text', answer({ text: TOLD }), TOLD],
  ['with half a character', '{"summary":"page \\ud83d 7"}', 'page � 7'],
  ['with much more beside it', JSON.stringify({ thoughts: ['a', 'b'], summary: TOLD, done: true }), TOLD],
];

/** Answers without a text. */
const TEXTLESS: readonly (readonly [string, Reply])[] = [
  ...UNUSABLE,
  ['a number', answer(42)],
  ['null', answer(null)],
  ['a text that breaks off', new CutOff('{"summary":"The agent op')],
];

/** What an agent did, recorded from this answer. */
async function recorded(reply: Reply, repair: Reply = reply) {
  const chat = fakeChat({ summarize_procedure: () => reply, repair_output: () => repair });
  const bench = await engineBench({ chat });
  const messages = [
    { role: 'user' as const, content: 'Find it' },
    { role: 'assistant' as const, content: 'Page 7: 42' },
  ];
  const id = await bench.post(messages, { settings: { mode: 'procedural' } });
  await bench.run();
  await expectTrue(bench.deps.ledger);
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  return { live: await bench.live(), batch, calls: chat.calls.map(({ name }) => name) };
}

describe('G15: an execution is recorded from an answer', () => {
  it.each(READ)('%s', async (_class, reply, told) => {
    expect((await recorded(reply)).live).toEqual([told]);
  });

  it.each(WRAPPED)('%s', async (_class, wrap) => {
    const { live, calls } = await recorded(wrap(answer(TOLD)));
    expect(live).toEqual([TOLD]);
    expect(calls).toEqual(['summarize_procedure']);
  });

  it.each(WRAPPED)('that was repaired, %s', async (_class, wrap) => {
    expect((await recorded('no', wrap(answer(TOLD)))).live).toEqual([TOLD]);
  });

  it.each([...TEXTLESS, ['an empty text', answer('')] as const])('but not from %s', async (_class, reply) => {
    const { live, batch } = await recorded(reply);
    expect(live).toEqual([]);
    expect(batch).toMatchObject({ state: 'parked', failure: { code: 'model_output_unusable' } });
  });
});

/** A summary refreshed from this answer, as the next extraction is shown it. */
async function refreshed(reply: Reply, repair: Reply = reply) {
  const chat = fakeChat({
    extract_facts: () => ({ facts: [] }),
    refresh_summary: () => reply,
    repair_output: () => repair,
  });
  const bench = await summaryBench({ chat });
  await bench.post(Array.from({ length: 20 }, (_, i) => `We talk of page ${i}`));
  await bench.run();
  await bench.post(['And so on']);
  await bench.run();
  const last =
    chat.calls
      .findLast(({ name }) => name === 'extract_facts')
      ?.user.split('\n')
      .at(-1) ?? '{}';
  const { context } = JSON.parse(last) as { context: JsonObject };
  return { summary: context.summary, calls: chat.calls.map(({ name }) => name) };
}

describe('G15: a summary is read from an answer', () => {
  it.each(READ.filter(([, reply]) => typeof JSON.parse(reply).summary === 'string'))(
    '%s',
    async (_class, reply, told) => {
      expect((await refreshed(reply)).summary).toBe(told);
    },
  );

  it.each(WRAPPED)('%s', async (_class, wrap) => {
    const { summary, calls } = await refreshed(wrap(answer(TOLD)));
    expect(summary).toBe(TOLD);
    expect(calls).not.toContain('repair_output');
  });

  it.each(WRAPPED)('that was repaired, %s', async (_class, wrap) => {
    expect((await refreshed('no', wrap(answer(TOLD)))).summary).toBe(TOLD);
  });

  it('and an empty text means that there is nothing to tell', async () => {
    expect(await refreshed(answer(''))).toEqual({
      summary: null,
      calls: ['extract_facts', 'refresh_summary', 'extract_facts'],
    });
  });

  it.each(TEXTLESS)('but not from %s: it fails alone, and is asked for again', async (_class, reply) => {
    await expect(refreshed(reply)).rejects.toMatchObject({ code: 'model_output_unusable', retryable: true });
  });
});

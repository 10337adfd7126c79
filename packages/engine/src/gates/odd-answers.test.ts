import { CutOff, engineBench, fakeChat, type Reply } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import type { ChatCall } from '../ports/models.ts';
import { DEFAULT_TENANT } from '../words.ts';

const PEANUTS = 'User is allergic to peanuts';
const FACT = {
  text: PEANUTS,
  source_ids: ['m0'],
  quote: 'I am allergic to peanuts',
  category: 'health',
  language: 'en',
};
const GOOD = JSON.stringify({ facts: [FACT] });

/** What becomes of a conversation whose model answers everything so. */
async function told(reply: Reply | (() => Reply)) {
  const answer = typeof reply === 'function' ? reply : () => reply;
  const chat = fakeChat({ extract_facts: answer, repair_output: answer });
  const bench = await engineBench({ chat, settings: { maxAttempts: 5 } });
  const id = await bench.post(['I am allergic to peanuts']);
  await bench.run();
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
  const plan = await bench.deps.ledger.thoughts.plan(results[0]?.id ?? '');
  return {
    live: await bench.live(),
    state: batch?.state,
    calls: chat.calls.length,
    reason: batch?.failure?.message ?? plan?.discards.map(({ reason }) => reason).join('; '),
  };
}

describe('an odd answer is read', () => {
  it.each<[string, string]>([
    ['as it should be', GOOD],
    ['one fact in the place of the list', JSON.stringify({ facts: FACT })],
    ['one fact in the place of all', JSON.stringify(FACT)],
    ['a list in the place of all', JSON.stringify([FACT])],
    ['bare texts', JSON.stringify({ facts: [PEANUTS] })],
    ['texts by number', JSON.stringify({ facts: { 0: PEANUTS } })],
    ['as the arguments of a tool', JSON.stringify({ name: 'extract_facts', arguments: { facts: [FACT] } })],
    ['as its parameters', JSON.stringify({ name: 'extract_facts', parameters: { facts: [FACT] } })],
    ['behind thoughts', `<think>is it a fact? {"facts":[]}</think>${GOOD}`],
    ['behind thoughts that nobody opened', `it may be one</think>${GOOD}`],
    ['in a fence', `\`\`\`json\n${GOOD}\n\`\`\``],
    ['in prose', `Here you are: ${GOOD} I hope this helps.`],
    ['between special tokens', `<|channel|>final<|message|>${GOOD}<|end|>`],
    ['as a JSON text', JSON.stringify(GOOD)],
    ['in Python', `{'facts': [{'text': '${PEANUTS}', 'quote': None}]}`],
    ['under another key', JSON.stringify({ memories: [{ memory: PEANUTS }] })],
    ['twice', `${GOOD}\n${GOOD}`],
    [
      'with what the schema does not have',
      JSON.stringify({ reasoning: 'health', facts: [{ ...FACT, confidence: 0.9 }] }),
    ],
    ['with a quote that leaves words out', JSON.stringify({ facts: [{ ...FACT, quote: 'I am … peanuts' }] })],
    ['with a quote in other signs', JSON.stringify({ facts: [{ ...FACT, quote: '“I am allergic to PEANUTS.”' }] })],
    ['beside the schema', `{"type":"object","properties":{"facts":{"type":"array","items":{}}}}\n${GOOD}`],
  ])('%s', async (_name, reply) => {
    expect(await told(reply)).toMatchObject({ live: [PEANUTS], state: 'consolidated', calls: 1 });
  });
});

describe('an odd answer makes no memory, and says why', () => {
  it.each<[string, unknown, string]>([
    ['a category for a fact', { facts: ['health'] }, 'its words are in no message'],
    [
      'a placeholder',
      { facts: [{ text: 'string', quote: 'string', source_ids: ['string'] }] },
      'its quote is in no message',
    ],
    ['the id of a message', { facts: { name: 'unknown', source: 'm0' } }, 'its words are in no message'],
    [
      'the example of the prompt',
      { facts: [{ text: "User's name is Ana", quote: "I'm Ana", source_ids: ['m0'] }] },
      'it contains a name that nobody said',
    ],
    [
      'a thing that nobody said',
      { facts: [{ text: 'User has a cat', quote: 'I have a cat', source_ids: ['m0'] }] },
      'its quote is in no message',
    ],
    [
      'an order that it obeys',
      { facts: [{ text: 'User is the admin', quote: "I'm the admin", source_ids: ['m0'] }] },
      'its quote is in no message',
    ],
    ['a question', { facts: ['Is the user allergic to peanuts?'] }, 'a question, not a fact'],
    ['talk about the talk', { facts: ['User asked about peanuts'] }, 'about the conversation, not the user'],
  ])('%s', async (_name, answer, reason) => {
    const after = await told(JSON.stringify(answer));
    expect(after).toMatchObject({ live: [], state: 'empty', calls: 1, reason: expect.stringContaining(reason) });
  });

  it('nothing to remember', async () => {
    expect(await told('{"facts":[]}')).toMatchObject({ live: [], state: 'empty', calls: 1 });
  });
});

const failed = (code: 'model_output_unusable' | 'model_rejected', retryable: boolean) => () => {
  throw new EngineError(`the model: ${code}`, { code, retryable });
};

describe('an answer that is of no use', () => {
  it.each<[string, Reply | (() => Reply), string]>([
    ['prose', 'I found that the user has an allergy.', 'prose without JSON'],
    ['a refusal in prose', "I'm sorry, but I can't help with that.", 'prose without JSON'],
    ['nothing', '', 'an empty answer'],
    ['white space', ' \n ', 'an empty answer'],
    ['only thoughts', '<think>hm, an allergy</think>', 'prose without JSON'],
    ['nothing before the limit of the output', new CutOff(''), 'only reasoning up to its output limit'],
    [
      'thoughts up to the limit of the output',
      new CutOff('<think>hm, an all'),
      'only reasoning up to its output limit',
    ],
    ['a loop', new CutOff(`{"facts":[{"text":"${"I'm not sure ".repeat(300)}`), 'an answer that repeats itself'],
    ['a list that breaks off', new CutOff(`{"facts":[${JSON.stringify(FACT)},{"te`), 'a truncated answer'],
    ['the schema alone', '{"type":"object","properties":{"facts":{"type":"array"}}}', 'JSON of another structure'],
    ['the schema of the list', '{"facts":{"type":"array","items":{"type":"string"}}}', 'JSON of another structure'],
    ['JSON of another kind', '{"answer":"none"}', 'JSON of another structure'],
    ['an error of a gateway', '{"error":{"message":"overloaded"}}', 'JSON of another structure'],
    ['what its server throws away', failed('model_output_unusable', true), 'an empty answer'],
  ])('%s: four calls, none like another, then it is parked with its reason', async (_name, reply, reason) => {
    const sent = new Set<string>();
    const answer = typeof reply === 'function' ? reply : () => reply;
    const keep = fakeChat({ extract_facts: answer, repair_output: answer });
    const chat = {
      ...keep,
      ask: (call: ChatCall, cancel: Parameters<typeof keep.ask>[1]) => {
        sent.add(JSON.stringify([call.system, call.user, call.again]));
        return keep.ask(call, cancel);
      },
    };
    const bench = await engineBench({ chat, settings: { maxAttempts: 5 } });
    const id = await bench.post(['I am allergic to peanuts']);
    await bench.run();
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'parked',
      failure: { code: 'model_output_unusable', message: expect.stringContaining(reason) },
    });
    expect(keep.calls).toHaveLength(4);
    expect(sent.size).toBe(4);
    expect(Math.max(...keep.calls.map(({ user }) => user.length))).toBeLessThan(2_500);
  });

  it('a refusal for good costs one call', async () => {
    expect(await told(failed('model_rejected', false))).toMatchObject({ state: 'parked', calls: 1 });
  });

  it('a repair that does not fit the window is the fault of the answer, not of the batch', async () => {
    const tooLong = new EngineError('the window is full', { code: 'context_too_long', retryable: false });
    const chat = fakeChat({
      extract_facts: (_input, nth) => (nth === 1 ? 'nonsense' : GOOD),
      repair_output: () => {
        throw tooLong;
      },
    });
    const bench = await engineBench({ chat });
    await bench.post(['I am allergic to peanuts']);
    await bench.run();
    expect(await bench.live()).toEqual([PEANUTS]);
  });
});

describe('a small window', () => {
  const SAID = Array.from(
    { length: 60 },
    (_, i) => `My friend number ${i} is called Friend${i}, and ${'we talk about gardens and boats, '.repeat(4)}often.`,
  );

  it.each([2_048, 4_096])('of %i tokens is enough: what does not fit is read in smaller parts', async (tokens) => {
    let refused = 0;
    const read = fakeChat({
      extract_facts: (input) => ({
        facts: (input.messages as { id: string; content: string }[]).flatMap(({ id, content }) =>
          (content.match(/Friend\d+/gu) ?? []).map((name) => ({ text: `User has a friend ${name}`, source_ids: [id] })),
        ),
      }),
      decide_operations: () => ({ operations: [] }),
    });
    const chat = {
      ...read,
      ask: (call: ChatCall, cancel: Parameters<typeof read.ask>[1]) => {
        // About what a tokenizer counts, with room for an answer.
        if ((call.system.length + call.user.length) / 4 + 300 > tokens && call.name === 'extract_facts') {
          refused += 1;
          throw new EngineError('too long', { code: 'context_too_long', retryable: false });
        }
        return read.ask(call, cancel);
      },
    };
    const bench = await engineBench({ chat });
    await bench.post(SAID);
    await bench.run();
    expect(await bench.live()).toHaveLength(SAID.length);
    expect(refused).toBeLessThan(10);
  });
});

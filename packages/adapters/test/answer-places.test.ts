import { type ModelServer, type Reply, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CALL, NEVER, streamingChat } from './streaming-fixture.ts';

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({});
});
afterEach(() => server.close());

const ask = (reply: Reply) => {
  server.setScript(() => reply);
  return streamingChat(server.baseUrl, { stream: 'off' }).ask(CALL, NEVER);
};
const message = (fields: object, more: object = {}): Reply => ({
  status: 200,
  body: { choices: [{ message: fields, finish_reason: 'stop', ...more }] },
});
const FACTS = '{"facts":[]}';

describe('where an answer stands', () => {
  test.each<[string, object, string]>([
    ['in the content', { content: FACTS, reasoning_content: '{"facts":["draft"]}' }, FACTS],
    ['in what a parser took for thinking', { content: null, reasoning_content: FACTS }, FACTS],
    ['in thinking by another name', { content: '', reasoning: FACTS }, FACTS],
    [
      'in the arguments of a tool',
      { content: null, tool_calls: [{ function: { name: 'extract_facts', arguments: FACTS } }] },
      FACTS,
    ],
    [
      'in arguments that are an object',
      { content: null, tool_calls: [{ function: { arguments: { facts: [] } } }] },
      FACTS,
    ],
    ['in parts', { content: [{ text: '{"facts":' }, { text: '[]}' }] }, FACTS],
    ['in parts that are texts, between others', { content: ['{"facts":', null, { type: 'x' }, '[]}'] }, FACTS],
    ['in one part', { content: { type: 'text', text: FACTS } }, FACTS],
    ['in content that is the object itself', { content: { facts: [] } }, FACTS],
    ['in thinking by a third name', { content: null, thinking: FACTS }, FACTS],
    ['in a single call of a tool', { content: null, tool_calls: { function: { arguments: FACTS } } }, FACTS],
    ['nowhere: thoughts in prose are none', { content: null, reasoning_content: 'The user greets.' }, ''],
  ])('%s', async (_name, fields, text) => {
    expect((await ask(message(fields))).text).toBe(text);
  });

  const ODD = [5, true, null, {}, [], [null, 5, {}], { function: 5 }, [{ function: 5 }]];

  test.each(['refusal', 'reasoning_content', 'thinking', 'tool_calls'])(
    'in the content, whatever %s holds',
    async (name) => {
      for (const odd of ODD) expect((await ask(message({ content: FACTS, [name]: odd }))).text).toBe(FACTS);
    },
  );

  test('in what else there is, where the content holds nothing', async () => {
    for (const content of [null, '', [], [null, {}]])
      expect((await ask(message({ content, reasoning: FACTS }))).text).toBe(FACTS);
  });

  test('a model that was cut off while it thought has not answered', async () => {
    const answer = await ask(
      message({ content: null, reasoning_content: 'so {"facts":[' }, { finish_reason: 'length' }),
    );
    expect(answer).toMatchObject({ text: '', truncated: true });
  });
});

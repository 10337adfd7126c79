import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, MemorySession, Runner, tool } from '@openai/agents-core';
import { OpenAIProvider } from '@openai/agents-openai';
import { createSlowwave, type Slowwave } from '@slowwave/sdk';
import {
  allRemembered,
  type ModelServer,
  type OwnServer,
  oneByOne,
  type Reply,
  type SentMessage,
  saidOf,
  startModelServer,
  startOwnServer,
  toolCall,
} from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryTools, type RememberingOptions, rememberingModel } from '../src/index.ts';

let server: OwnServer;
let chat: ModelServer;
let slowwave: Slowwave;
beforeAll(async () => {
  [server, chat] = await Promise.all([startOwnServer({}), startModelServer()]);
  slowwave = createSlowwave({ url: server.url });
});
afterAll(() => Promise.all([server.close(), chat.close()]));

const runner = new Runner({ tracingDisabled: true });

/** A model with a memory, and a way to wait for its posts. */
async function remembering(options: Partial<RememberingOptions>) {
  const posts: Promise<void>[] = [];
  const failures: unknown[] = [];
  const provider = new OpenAIProvider({ baseURL: chat.baseUrl, apiKey: 'none', useResponses: false });
  const model = rememberingModel(await provider.getModel('scripted'), {
    slowwave,
    onError: (error, during) => failures.push([during, error]),
    waitUntil: (posted) => posts.push(posted),
    contextWithinMs: 20_000, // other tests run beside this one
    ...options,
  });
  return { model, failures, posted: () => Promise.all(posts) };
}

/** The model answers so, one answer after the other; returns the messages that it was sent each time. */
function script(...replies: readonly Reply[]): readonly (readonly SentMessage[])[] {
  const { sent, script: next } = oneByOne(...replies);
  chat.setScript(next);
  return sent;
}

const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  execute: () => '-3 °C',
});

test('a session posts each message once, through a loop of tools and the turns after it', async () => {
  script(toolCall('weather', { city: 'Oslo' }), { text: 'It is cold.' }, { text: 'You are welcome.' });
  const { model, posted, failures } = await remembering({ userId: 'bob', runId: 'chat' });
  const agent = new Agent({ name: 'A', model, tools: [weather] });
  const session = new MemorySession();
  await runner.run(agent, 'How cold is it in Oslo?', { session });
  await runner.run(agent, 'Thanks!', { session });
  await posted();
  expect(failures).toEqual([]);
  expect(await saidOf(server.url, 'bob')).toEqual([
    'user: How cold is it in Oslo?',
    'assistant: [called weather({"city":"Oslo"})]',
    'tool: -3 °C',
    'assistant: It is cold.',
    'user: Thanks!',
    'assistant: You are welcome.',
  ]);
});

test('what was said in one session is in the instructions of the next, after the own ones', async () => {
  const sent = script({ text: 'Hello, Ana.' });
  for (const [runId, said] of [
    ['monday', 'I am Ana and I live in Oslo.'],
    ['tuesday', 'Do I need a coat?'],
  ]) {
    const { model, posted, failures } = await remembering({ userId: 'ana', runId });
    await runner.run(new Agent({ name: 'A', instructions: 'Be brief.', model }), said ?? '');
    await posted();
    await allRemembered(server.url, 'ana');
    expect(failures).toEqual([]);
  }
  expect(sent[0]?.[0]).toEqual({ role: 'system', content: 'Be brief.' });
  expect(sent[1]?.[0]?.content).toMatch(/^Be brief\.\n\n<memory>.*lives in Oslo.*<\/memory>$/s);
  expect(sent[1]).toHaveLength(2);
});

test('a streamed answer is posted whole, and one that the reader leaves as far as it came', async () => {
  script({ text: 'What a lovely name, Eve!' });
  const { model, posted } = await remembering({ userId: 'eve' });
  const result = await runner.run(new Agent({ name: 'A', model }), 'I am Eve.', { stream: true });
  const pieces: string[] = [];
  for await (const piece of result.toTextStream()) pieces.push(piece);
  await result.completed;
  await posted();
  expect(pieces.join('')).toBe('What a lovely name, Eve!');
  expect(await saidOf(server.url, 'eve')).toEqual(['user: I am Eve.', 'assistant: What a lovely name, Eve!']);
  const left = await remembering({ userId: 'finn' });
  const request = { input: 'A story.', modelSettings: {}, tools: [], handoffs: [], outputType: 'text', tracing: false };
  for await (const event of left.model.getStreamedResponse(request as never)) {
    if (event.type === 'output_text_delta') break;
  }
  await left.posted();
  const [asked, answered = ''] = await saidOf(server.url, 'finn');
  expect([asked, 'assistant: What a lovely name, Eve!'.startsWith(answered)]).toEqual(['user: A story.', true]);
});

test('an answer comes all the same where the memory is away', async () => {
  script({ text: 'Hello!' });
  const away = createSlowwave({ url: 'http://127.0.0.1:1', retries: 0 });
  const { model, failures, posted } = await remembering({ slowwave: away, userId: 'hal', postWithinMs: 50 });
  const { finalOutput } = await runner.run(new Agent({ name: 'A', model }), 'I am Hal.');
  await posted();
  expect(finalOutput).toBe('Hello!');
  expect(failures).toEqual([
    ['context', expect.objectContaining({ code: 'no_answer' })],
    ['post', expect.anything()],
  ]);
});

test('an agent searches, remembers and forgets with tools, and is told what failed', async () => {
  const own = await slowwave.memories.add({ user_id: 'kim', memory: 'Kim plays the cello' });
  const foreign = await slowwave.memories.add({ user_id: 'leo', memory: 'Leo plays the drums' });
  const sent = script(
    toolCall('searchMemories', { query: 'Which instrument does she play?' }),
    toolCall('rememberThis', { memory: 'Kim rehearses on Mondays' }),
    toolCall('forgetMemory', { id: own.id }),
    toolCall('forgetMemory', { id: foreign.id }),
    { text: 'Done.' },
  );
  const { model, posted } = await remembering({ userId: 'kim', context: false });
  const agent = new Agent({ name: 'A', model, tools: memoryTools({ slowwave, userId: 'kim' }) });
  await runner.run(agent, 'I rehearse on Mondays. Forget the cello.');
  await posted();
  const results = sent.at(-1)?.flatMap(({ role, content }) => (role === 'tool' ? [JSON.stringify(content)] : []));
  expect(results).toEqual([
    expect.stringContaining('Kim plays the cello'),
    expect.stringContaining('Kim rehearses on Mondays'),
    expect.stringContaining('forgotten'),
    expect.stringContaining(`memory ${foreign.id} was not found`),
  ]);
  expect(await saidOf(server.url, 'kim')).toEqual([
    'user: I rehearse on Mondays. Forget the cello.',
    'assistant: Done.',
  ]);
  expect((await slowwave.memories.get(foreign.id)).memory).toBe('Leo plays the drums');
});

test('a model of nobody is refused', async () => {
  await expect(remembering({})).rejects.toThrow('expected the id of a user, agent or run');
});

test('the example tells the model what is known, and posts what was said', async () => {
  await slowwave.memories.add({ user_id: 'nia', memory: 'User lives in Bergen' });
  const sent = script({ text: 'In Bergen.' });
  const main = fileURLToPath(new URL('../example/chat.ts', import.meta.url));
  const options = ['--url', server.url, '--user', 'nia', '--model-url', chat.baseUrl];
  const running = promisify(execFile)(process.execPath, [main, ...options]);
  running.child.stdin?.end('Where do I live?\n');
  expect(await running).toEqual({ stdout: 'you: Where do I live?\nbot: In Bergen.\n', stderr: '' });
  expect(sent[0]?.[0]?.content).toContain('lives in Bergen');
  expect(await saidOf(server.url, 'nia')).toEqual(['user: Where do I live?', 'assistant: In Bergen.']);
});

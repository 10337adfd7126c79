import { testShell } from '@slowwave/http/testing';
import { expect, test } from 'vitest';
import { searchRoutes } from '../app.ts';
import { ANN, DAY_MS, graphBench } from '../testing/graph.ts';

/** Me moved from Berlin to Lisbon after a day; Ana, the sister, works at Bolt. */
async function family() {
  const bench = await graphBench();
  const { say, said, tools } = bench;
  await say([said.holds('Me lives_in Berlin', { single: true }), said.holds('Me has_sister Ana')]);
  tools.advance(DAY_MS);
  await say([
    said.holds('Me lives_in Lisbon', { single: true }),
    said.holds('Ana works_at Bolt', { quote: 'Ana is at Bolt now' }),
    said.named('Ana', 'Anita'),
  ]);
  await say([said.holds('Bob likes tea')], { kind: 'user', id: 'bob' });
  return bench;
}

const textsIn = (body: { relations: { text: string }[] }) => body.relations.map(({ text }) => text);

test('the graph of an owner has what holds now, and nobody else in it', async () => {
  const { app } = await family();
  const graph = (await app.inject('/v1/graph?user_id=ann')).json();
  expect(textsIn(graph)).toEqual(['Me has sister Ana', 'Me lives in Lisbon', 'Ana works at Bolt']);
  expect(graph.entities.map(({ name }: { name: string }) => name)).toEqual(['Me', 'Ana', 'Lisbon', 'Bolt']);
  expect(graph).toMatchObject({
    truncated: false,
    entities: [{ self: true, user_id: 'ann', agent_id: null }, {}, {}, {}],
  });
  expect((await app.inject('/v1/graph?user_id=nobody')).json()).toEqual({
    entities: [],
    relations: [],
    truncated: false,
  });
});

test('the graph of a former time has what held then, and with what is over all there ever was', async () => {
  const { app, tools } = await family();
  const then = new Date(tools.now() - DAY_MS / 2).toISOString();
  const former = (await app.inject(`/v1/graph?user_id=ann&as_of=${then}`)).json();
  expect(textsIn(former)).toEqual(['Me lives in Berlin', 'Me has sister Ana']);
  const all = (await app.inject('/v1/graph?user_id=ann&ended=true')).json();
  expect(textsIn(all)).toContain('Me lives in Berlin');
  expect(all.relations).toHaveLength(4);
});

test('more relations than were asked for are said to be there', async () => {
  const { app } = await family();
  const graph = (await app.inject('/v1/graph?user_id=ann&limit=2')).json();
  expect(graph).toMatchObject({ truncated: true });
  expect(graph.relations).toHaveLength(2);
});

test.each([
  ['dot', 'text/vnd.graphviz', /^digraph[\s\S]*"Ana"[\s\S]*style=dashed/],
  ['mermaid', 'text/vnd.mermaid', /^flowchart LR[\s\S]*"Ana"[\s\S]*-\.->/],
  ['svg', 'image/svg+xml', /^<svg [\s\S]*>Ana<[\s\S]*<\/svg>\s*$/],
])('the graph is drawn as %s', async (format, type, drawn) => {
  const { app } = await family();
  const answer = await app.inject(`/v1/graph?user_id=ann&ended=true&format=${format}`);
  expect(answer.headers['content-type']).toContain(type);
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  expect(answer.body).toMatch(drawn);
  expect(answer.body).not.toContain('Bob');
});

test('entities are listed by name, and found by a part of any of their names', async () => {
  const { app } = await family();
  const names = async (query: string) =>
    (await app.inject(`/v1/entities?user_id=ann${query}`)).json().results.map(({ name }: { name: string }) => name);
  expect(await names('')).toEqual(['Ana', 'Berlin', 'Bolt', 'Lisbon', 'Me']);
  expect(await names('&like=NIT')).toEqual(['Ana']);
  expect(await names('&like=bob')).toEqual([]);
});

test('an entity is shown with what is around it, one or two relations away', async () => {
  const { app } = await family();
  const near = (await app.inject('/v1/entities/Ana')).json();
  expect(near.entity).toMatchObject({ name: 'Ana', aliases: ['Anita'], merged_into: null });
  expect(textsIn(near).sort()).toEqual(['Ana works at Bolt', 'Me has sister Ana']);
  const further = (await app.inject('/v1/entities/Ana?depth=2')).json();
  expect(textsIn(further)).toContain('Me lives in Lisbon');
  expect((await app.inject('/v1/entities/Ana?format=svg')).body).toContain('>Bolt<');
});

test('an entity that was merged shows what is around the one it is', async () => {
  const { app, say, said } = await family();
  await say([said.holds('Annie plays chess'), said.same('Annie', 'Ana')]);
  const { entity, relations } = (await app.inject('/v1/entities/Annie')).json();
  expect(entity).toMatchObject({ id: 'Annie', merged_into: 'Ana' });
  expect(relations.map(({ text }: { text: string }) => text)).toContain('Ana works at Bolt');
});

test('relations are listed page by page, and one is shown with the words that say it', async () => {
  const { app } = await family();
  const first = (await app.inject('/v1/relations?user_id=ann&limit=2')).json();
  const second = (await app.inject(`/v1/relations?user_id=ann&limit=2&cursor=${first.next_cursor}`)).json();
  const all = [...first.results, ...second.results];
  expect(all.map(({ text }) => text)).toEqual(['Me has sister Ana', 'Me lives in Lisbon', 'Ana works at Bolt']);
  const one = (await app.inject(`/v1/relations/${all[2].id}`)).json();
  expect(one).toEqual(all[2]);
  expect(one).toMatchObject({ quote: 'Ana is at Bolt now', invalid_at: null, destination: { name: 'Bolt' } });
  const lives = (await app.inject('/v1/relations?user_id=ann&relationship=lives_in&ended=true')).json();
  expect(lives.results).toHaveLength(2);
});

test('what was said of a relation and of an entity is told, and a denied relation is no more', async () => {
  const { app, say, said, tools } = await family();
  const [relation] = (await app.inject('/v1/relations?user_id=ann&relationship=works_at')).json().results;
  tools.advance(1);
  await say([said.denied('Ana works_at Bolt')]);
  const gone = (await app.inject(`/v1/relations/${relation.id}`)).json();
  expect(gone).toMatchObject({ status: 404, detail: expect.stringContaining('/history') });
  const kindsOf = async (path: string) =>
    (await app.inject(path)).json().results.map(({ kind }: { kind: string }) => kind);
  expect(await kindsOf(`/v1/relations/${relation.id}/history`)).toEqual(['holds', 'denied']);
  expect(await kindsOf('/v1/entities/Ana/history')).toEqual(['holds', 'holds', 'named', 'denied']);
});

test.each([
  ['/v1/graph', 400, 'invalid_request'],
  ['/v1/graph?app_id=x', 400, 'invalid_request'],
  ['/v1/graph?user_id=ann&agent_id=x', 400, 'invalid_request'],
  ['/v1/graph?user_id=ann&format=png', 400, 'invalid_request'],
  ['/v1/graph?user_id=ann&as_of=yesterday', 400, 'invalid_request'],
  ['/v1/graph?user_id=ann&as_of=2026-01-01T00:00:00Z&ended=true', 400, 'invalid_request'],
  ['/v1/graph?user_id=ann&limit=1001', 400, 'invalid_request'],
  ['/v1/entities', 400, 'invalid_request'],
  ['/v1/entities?user_id=ann&cursor=x', 400, 'invalid_cursor'],
  ['/v1/entities/ent_unknown', 404, 'not_found'],
  ['/v1/entities/ent_unknown/history', 404, 'not_found'],
  ['/v1/entities/Ana?depth=3', 400, 'invalid_request'],
  ['/v1/relations?user_id=ann&cursor=x', 400, 'invalid_cursor'],
  ['/v1/relations/sta_unknown', 404, 'not_found'],
  ['/v1/relations/sta_unknown/history', 404, 'not_found'],
  ['/v1/graph/proposals', 400, 'invalid_request'],
])('GET %s answers %i %s', async (url, status, code) => {
  const { app } = await family();
  expect((await app.inject(url)).json()).toMatchObject({ status, code });
});

test('what another tenant knows is not there', async () => {
  const { app, say, said } = await graphBench();
  await say([said.holds('Cat likes milk')], ANN, 'other' as Parameters<typeof say>[2]);
  expect((await app.inject('/v1/graph?user_id=ann')).json().relations).toEqual([]);
  expect((await app.inject('/v1/entities/Cat')).statusCode).toBe(404);
  expect((await app.inject('/v1/entities/Cat/history')).statusCode).toBe(404);
});

test('a key for one user sees the graph of that user alone', async () => {
  const { deps } = await family();
  const principal = { keyId: 'key_1', tenant: 'default', scopes: ['search' as const], userId: 'bob', appId: null };
  const keys = { any: async () => true, check: async () => ({ kind: 'taken' as const, principal }) };
  const { app } = await testShell({ auth: { apiKey: null, keys } });
  await app.register(searchRoutes(deps));
  const headers = { authorization: 'Bearer sw_x' };
  const statusOf = async (url: string) => (await app.inject({ url, headers })).statusCode;
  expect(await statusOf('/v1/graph?user_id=bob')).toBe(200);
  expect(await statusOf('/v1/graph?user_id=ann')).toBe(403);
  expect(await statusOf('/v1/graph?agent_id=x')).toBe(403);
  expect(await statusOf('/v1/entities/Bob')).toBe(200);
  expect(await statusOf('/v1/entities/Ana')).toBe(404);
  expect(await statusOf('/v1/entities/Ana/history')).toBe(404);
  const query = { match: [{}], user_id: 'ann' };
  const asked = await app.inject({ method: 'POST', url: '/v1/graph/query', headers, payload: query });
  expect(asked.statusCode).toBe(403);
});

interface Answer {
  readonly results: readonly {
    readonly entities: Readonly<Record<string, { readonly name: string }>>;
    readonly relations: readonly { readonly text: string }[];
  }[];
  readonly next_cursor: string | null;
  readonly truncated: boolean;
}

const textsOf = ({ results }: Answer) => results.map(({ relations }) => relations.map(({ text }) => text).join(', '));

/** Me — Ana — Bolt — robots, and Me — Tom — Bolt. */
async function work() {
  const bench = await graphBench();
  const { say, said } = bench;
  await say([
    said.holds('Me has_sister Ana'),
    said.holds('Me friend_of Tom'),
    said.holds('Ana works_at Bolt'),
    said.holds('Tom works_at Bolt'),
    said.holds('Bolt makes robots'),
    said.holds('Bob likes tea'),
  ]);
  const ask = async (body: object): Promise<Answer> => (await bench.query(body)).json();
  return { ...bench, ask };
}

test('a pattern finds its relations, and a variable what it stands for', async () => {
  const { ask } = await work();
  const answer = await ask({ match: [{ source: '?who', relationship: 'works_at', destination: { name: 'BOLT' } }] });
  expect(answer.results.map(({ entities }) => entities.who?.name).sort()).toEqual(['Ana', 'Tom']);
  expect(answer).toMatchObject({ next_cursor: null, truncated: false });
});

test('a relationship is understood in other words, and from its other end', async () => {
  const { ask } = await work();
  const answer = await ask({ match: [{ source: { name: 'Bolt' }, relationship: 'employs', destination: '?who' }] });
  expect(answer.results.map(({ entities }) => entities.who?.name).sort()).toEqual(['Ana', 'Tom']);
});

test('patterns are fulfilled together: what the employer of a sister makes', async () => {
  const { ask } = await work();
  const answer = await ask({
    match: [
      { source: '?company', relationship: 'makes', destination: '?what' },
      { source: { self: true }, relationship: 'has_sister', destination: '?sister' },
      { source: '?sister', relationship: 'works_at', destination: '?company' },
    ],
  });
  expect(textsOf(answer)).toEqual(['Bolt makes robots, Me has sister Ana, Ana works at Bolt']);
  expect(answer.results[0]?.entities).toMatchObject({ company: { name: 'Bolt' }, what: { name: 'robots' } });
});

test('who works at the same place is found without naming anybody', async () => {
  const { ask } = await work();
  const answer = await ask({
    match: [
      { source: '?a', relationship: 'works_at', destination: '?place' },
      { source: '?b', relationship: 'works_at', destination: '?place' },
    ],
  });
  expect(answer.results.map(({ entities }) => `${entities.a?.name} ${entities.b?.name}`).sort()).toEqual([
    'Ana Tom',
    'Tom Ana',
  ]);
});

test('ways between two entities come shortest first, in either direction, none longer than asked', async () => {
  const { ask, say, said } = await work();
  const path = { from: { name: 'Ana' }, to: { name: 'Tom' } };
  expect(textsOf(await ask({ path })).sort()).toEqual([
    'Ana works at Bolt, Tom works at Bolt',
    'Me has sister Ana, Me friend of Tom',
  ]);
  expect(textsOf(await ask({ path: { ...path, max_hops: 1 } }))).toEqual([]);
  await say([said.holds('Me visited Bolt')]);
  const far = await ask({ path: { from: { self: true }, to: { name: 'robots' } } });
  expect(textsOf(far)[0]).toBe('Me visited Bolt, Bolt makes robots');
  expect(textsOf(far)).toHaveLength(3);
  expect(far.results[0]?.entities).toMatchObject({ from: { name: 'Me' }, to: { name: 'robots' } });
});

test('there is no way to what is not connected, not known, or the same', async () => {
  const { ask } = await work();
  for (const to of [{ name: 'tea' }, { name: 'nobody' }, { id: 'ent_unknown' }, { name: 'Ana' }]) {
    expect((await ask({ path: { from: { name: 'Ana' }, to } })).results).toEqual([]);
  }
});

test('matches come page by page, each once', async () => {
  const { ask } = await work();
  const question = { match: [{ source: '?a', destination: '?b' }], limit: 4 };
  const first = await ask(question);
  const second = await ask({ ...question, cursor: first.next_cursor });
  expect([...textsOf(first), ...textsOf(second)].sort()).toEqual([
    'Ana works at Bolt',
    'Bob likes tea',
    'Bolt makes robots',
    'Me friend of Tom',
    'Me has sister Ana',
    'Tom works at Bolt',
  ]);
  expect(second.next_cursor).toBeNull();
});

test('what is over is found only when it is asked for', async () => {
  const { ask, say, said, tools } = await work();
  tools.advance(1_000);
  await say([said.ended('Ana works_at Bolt')]);
  const match = [{ source: { name: 'Ana' }, relationship: 'works_at' }];
  expect(textsOf(await ask({ match }))).toEqual([]);
  expect(textsOf(await ask({ match, ended: true }))).toEqual(['Ana works at Bolt']);
  expect(textsOf(await ask({ match, as_of: new Date(tools.now() - 500).toISOString() }))).toHaveLength(1);
});

test('a question that reaches more than is looked at says so', async () => {
  const { ask, say, said } = await work();
  await say(Array.from({ length: 1_200 }, (_, i) => said.holds(`Hub knows P${i}`)));
  const { truncated } = await ask({ match: [{ source: { name: 'Hub' } }] });
  expect(truncated).toBe(true);
  const rare = await ask({ match: [{ source: '?x', relationship: 'makes', destination: '?y' }] });
  expect(rare).toMatchObject({ truncated: false, results: [{ entities: { x: { name: 'Bolt' } } }] });
});

test('who has no graph is answered with nothing', async () => {
  const { ask } = await work();
  expect(await ask({ user_id: 'nobody', match: [{}] })).toEqual({ results: [], next_cursor: null, truncated: false });
});

test.each([
  ['neither match nor path', {}],
  ['both', { match: [{}], path: { from: { name: 'a' }, to: { name: 'b' } } }],
  ['two owners', { match: [{}], agent_id: 'x' }],
  ['a name without a variable’s sign', { match: [{ source: 'Ana' }] }],
  ['an unknown field', { match: [{ verb: 'likes' }] }],
  ['too many patterns', { match: [{}, {}, {}, {}, {}] }],
  ['too many hops', { path: { from: { name: 'a' }, to: { name: 'b' }, max_hops: 5 } }],
  ['an id that is none', { match: [{ source: { id: 'a\u0000b' } }] }],
  ['a relationship with a control character', { match: [{ relationship: 'likes\u0000' }] }],
  ['two times', { match: [{}], as_of: '2026-01-01T00:00:00Z', ended: true }],
])('%s is refused', async (_, body) => {
  const { query } = await work();
  expect((await query(body)).json()).toMatchObject({ status: 400, code: 'invalid_request' });
});

test('a cursor that was never given out is refused', async () => {
  const { query } = await work();
  expect((await query({ match: [{}], cursor: 'x' })).json()).toMatchObject({ code: 'invalid_cursor' });
});

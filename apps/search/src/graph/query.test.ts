import { expect, test } from 'vitest';
import { graphBench } from '../testing/graph.ts';

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

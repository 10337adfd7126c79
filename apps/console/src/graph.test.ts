import { DEFAULT_TENANT, type TenantId } from '@slowwave/engine';
import { newEntity, statementsBy } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const ANN = { kind: 'user', id: 'ann' } as const;
const DAY_MS = 86_400_000;
const LISBON = { name: 'Lisbon', kind: 'place' };

type Said = [source: object, relationship: string, destination: object, given?: object];

async function bench() {
  const { app, engine, send, deps } = await consoleBench();
  const { graph } = deps.ledger;
  const relate = async (...[source, relationship, destination, given = {}]: Said) => {
    const body = { user_id: 'ann', source, relationship, destination, ...given };
    return send('POST', '/v1/relations', body);
  };
  /** "Me lives_in Berlin", those that are over with when. */
  const relations = async (): Promise<string[]> => {
    const page = { limit: 100, cursor: null };
    const { results } = await graph.listRelations(DEFAULT_TENANT, ANN, { at: 'ever' }, page);
    return results
      .map(({ sourceName, relationship, destinationName, invalidAt }) =>
        [sourceName, relationship, destinationName, ...(invalidAt === null ? [] : ['(over)'])].join(' '),
      )
      .sort();
  };
  const unprojected = async () => (await graph.unprojected(100)).length;
  return { app, engine, send, deps, relate, relations, unprojected, tools: engine.tools };
}

const me = { self: true };

test('a relation is said in its general form, its entities are made, and the index is told before the answer', async () => {
  const { relate, relations, unprojected } = await bench();
  const answer = await relate(me, 'moved to', LISBON, { quote: 'I moved to Lisbon' });
  expect(answer.statusCode).toBe(201);
  expect(answer.headers.location).toBe(`/v1/relations/${answer.json().id}`);
  expect(answer.json()).toMatchObject({
    user_id: 'ann',
    source: { name: 'User' },
    relationship: 'lives_in',
    destination: { name: 'Lisbon' },
    invalid_at: null,
    quote: 'I moved to Lisbon',
  });
  expect(await relations()).toEqual(['User lives_in Lisbon']);
  expect(await unprojected()).toBe(0);
});

test('a relation said from its other end is kept from its usual one', async () => {
  const { relate, relations } = await bench();
  await relate({ name: 'Acme' }, 'employs', { name: 'Bea', kind: 'person' });
  await relate({ name: 'Tom' }, 'friend_of', me);
  expect(await relations()).toEqual(['Bea works_at Acme', 'User friend_of Tom']);
});

test('what is said again is confirmed, and who is named as before is the same', async () => {
  const { relate, tools } = await bench();
  const first = (await relate({ name: 'Bea' }, 'likes', { name: 'tea' })).json();
  tools.advance(DAY_MS);
  const again = (await relate({ name: ' BEA ' }, 'loves', { name: 'Tea' })).json();
  expect(again).toMatchObject({ id: first.id, confirmations: 1, valid_from: first.valid_from });
});

test('what is said again is confirmed also where thousands are related to both', async () => {
  const { send, deps, tools } = await bench();
  const { graph, memories } = deps.ledger;
  const lane = await memories.laneOf(DEFAULT_TENANT, ANN, tools.now());
  const said = statementsBy(tools);
  const hubs = Array.from({ length: 1_100 }, (_, i) => [said.holds(`Bea knows P${i}`), said.holds(`P${i} likes tea`)]);
  const first = said.holds('Bea likes tea');
  const names = ['Bea', 'tea', ...hubs.map((_, i) => `P${i}`)];
  const change = { entities: names.map((name) => newEntity(name)), statements: [first, ...hubs.flat()] };
  await graph.write(DEFAULT_TENANT, lane, { ...change, now: tools.now() });
  const body = { user_id: 'ann', source: { name: 'Bea' }, relationship: 'likes', destination: { name: 'tea' } };
  expect((await send('POST', '/v1/relations', body)).json()).toMatchObject({ id: first.id, confirmations: 1 });
});

test('a home takes the place of the former one, unless it is told of the past', async () => {
  const { relate, relations, tools } = await bench();
  await relate(me, 'lives_in', { name: 'Berlin' });
  tools.advance(DAY_MS);
  await relate(me, 'lives_in', LISBON);
  await relate(
    me,
    'lives_in',
    { name: 'Rome' },
    { valid_from: '2001-01-01T00:00:00Z', invalid_at: '2003-01-01T00:00:00Z' },
  );
  expect(await relations()).toEqual([
    'User lives_in Berlin (over)',
    'User lives_in Lisbon',
    'User lives_in Rome (over)',
  ]);
});

test('a relation is ended at a time and keeps its id', async () => {
  const { relate, relations, send, tools } = await bench();
  const { id } = (await relate({ name: 'Bea' }, 'works_at', { name: 'Acme' })).json();
  tools.advance(DAY_MS);
  const at = new Date(tools.now() - DAY_MS / 2).toISOString();
  const answer = await send('PATCH', `/v1/relations/${id}`, { invalid_at: at, reason: 'she left' });
  expect(answer.json()).toMatchObject({ id, invalid_at: at, replaces: null });
  expect(await relations()).toEqual(['Bea works_at Acme (over)']);
});

test('a wrong end of a relation is put right under a new id, and what it had ended follows anew', async () => {
  const { relate, relations, send, tools } = await bench();
  await relate(me, 'lives_in', { name: 'Berlin' });
  tools.advance(DAY_MS);
  const { id } = (await relate(me, 'lives_in', { name: 'Paris' })).json();
  const answer = (await send('PATCH', `/v1/relations/${id}`, { destination: { name: 'Porto' } })).json();
  expect(answer).toMatchObject({ destination: { name: 'Porto' }, replaces: id, invalid_at: null });
  expect(answer.id).not.toBe(id);
  expect(await relations()).toEqual(['User lives_in Berlin (over)', 'User lives_in Porto']);
});

test('a denied relation never was: what it had ended holds again, and other times of it stay', async () => {
  const { relate, relations, send, tools } = await bench();
  await relate(
    me,
    'lives_in',
    { name: 'Paris' },
    { valid_from: '2001-01-01T00:00:00Z', invalid_at: '2003-01-01T00:00:00Z' },
  );
  await relate(me, 'lives_in', { name: 'Berlin' });
  tools.advance(DAY_MS);
  const { id } = (await relate(me, 'lives_in', { name: 'Paris' })).json();
  expect(await relations()).toEqual([
    'User lives_in Berlin (over)',
    'User lives_in Paris',
    'User lives_in Paris (over)',
  ]);
  expect((await send('DELETE', `/v1/relations/${id}`)).json()).toEqual({ deleted: 1 });
  expect(await relations()).toEqual(['User lives_in Berlin', 'User lives_in Paris (over)']);
  expect((await send('DELETE', `/v1/relations/${id}`)).statusCode).toBe(404);
});

test('what is over holds after all when that is said', async () => {
  const { relate, relations, send, tools } = await bench();
  const { id } = (await relate({ name: 'Bea' }, 'likes', { name: 'tea' })).json();
  await send('PATCH', `/v1/relations/${id}`, { invalid_at: new Date(tools.now()).toISOString() });
  expect(await relations()).toEqual(['Bea likes tea (over)']);
  tools.advance(1);
  await send('PATCH', `/v1/relations/${id}`, { invalid_at: null });
  expect(await relations()).toEqual(['Bea likes tea']);
});

test('an explicit change has the last word, also against messages from the future', async () => {
  const { relations, send, deps, tools } = await bench();
  const { ledger } = deps;
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, ANN, tools.now());
  const said = statementsBy(tools);
  const later = { at: tools.now() + DAY_MS, seq: 1 };
  const statement = said.holds('Bea likes tea', { saidAt: later });
  const entities = [newEntity('Bea'), newEntity('tea')];
  await ledger.graph.write(DEFAULT_TENANT, lane, { entities, statements: [statement], now: tools.now() });
  await send('DELETE', `/v1/relations/${statement.id}`);
  expect(await relations()).toEqual([]);
});

test('entities are merged with their relations, parted again, and called by further names', async () => {
  const { relate, relations, send } = await bench();
  const bea = (await relate({ name: 'Bea' }, 'likes', { name: 'tea' })).json().source.id;
  const bee = (await relate({ name: 'Bee' }, 'works_at', { name: 'Acme' })).json().source.id;
  const merged = await send('POST', `/v1/entities/${bee}/merge`, { into: bea, reason: 'a nickname' });
  expect(merged.json()).toMatchObject({ id: bea, name: 'Bea', aliases: ['Bee'], merged_into: null });
  expect(await relations()).toEqual(['Bea likes tea', 'Bea works_at Acme']);
  const again = await send('POST', `/v1/entities/${bee}/merge`, { into: bea });
  expect(again.json()).toMatchObject({ status: 400, detail: expect.stringContaining('already merged') });
  expect((await send('POST', `/v1/entities/${bee}/split`, {})).json()).toMatchObject({ id: bee, merged_into: null });
  expect(await relations()).toEqual(['Bea likes tea', 'Bee works_at Acme']);
  const called = await send('PATCH', `/v1/entities/${bee}`, { alias: 'Beatrice' });
  expect(called.json()).toMatchObject({ name: 'Bee', aliases: ['Beatrice'] });
  expect((await relate({ name: 'beatrice' }, 'likes', { name: 'tea' })).json().source.id).toBe(bee);
});

test('the owner stays the owner: others are merged into it', async () => {
  const { relate, send } = await bench();
  const self = (await relate(me, 'likes', { name: 'tea' })).json().source.id;
  const ann = (await relate({ name: 'Ann' }, 'works_at', { name: 'Acme' })).json().source.id;
  const refused = await send('POST', `/v1/entities/${self}/merge`, { into: ann });
  expect(refused.json()).toMatchObject({ status: 400, detail: expect.stringContaining(`merge ${ann} into it`) });
  expect((await send('POST', `/v1/entities/${ann}/merge`, { into: self })).json()).toMatchObject({ self: true });
});

test('a name that several have is not guessed', async () => {
  const { relate } = await bench();
  const paris = (await relate(me, 'visited', { name: 'Paris', kind: 'place' })).json().destination.id;
  const other = (await relate(me, 'friend_of', { name: 'Paris', kind: 'person' })).json().destination.id;
  expect(other).not.toBe(paris);
  const refused = (await relate({ name: 'Paris' }, 'likes', { name: 'tea' })).json();
  expect(refused).toMatchObject({ status: 409, code: 'conflict', detail: expect.stringContaining(other) });
});

test('names are masked as the tenant wants personal data masked', async () => {
  const { relate, deps } = await bench();
  const settings = await deps.ledger.settings.get(DEFAULT_TENANT);
  await deps.ledger.settings.put(DEFAULT_TENANT, { ...settings, personalData: 'mask' });
  const { destination } = (await relate(me, 'uses', { name: 'bea@example.org' })).json();
  expect(destination.name).not.toContain('bea@');
});

test('what another tenant or owner has is not there', async () => {
  const { send, deps, tools, relate } = await bench();
  const lane = await deps.ledger.memories.laneOf('other' as TenantId, ANN, tools.now());
  const statement = statementsBy(tools).holds('Cat likes milk');
  const entities = [newEntity('Cat'), newEntity('milk')];
  await deps.ledger.graph.write('other' as TenantId, lane, { entities, statements: [statement], now: tools.now() });
  const own = (await relate({ name: 'Bea' }, 'likes', { name: 'tea' })).json();
  const bobs = (await relate({ name: 'Bob' }, 'likes', { name: 'tea' }, { user_id: 'bob' })).json();
  const tries = [
    send('PATCH', `/v1/relations/${statement.id}`, { relationship: 'hates' }),
    send('DELETE', `/v1/relations/${statement.id}`),
    send('PATCH', '/v1/entities/Cat', { alias: 'Kitty' }),
    send('POST', '/v1/entities/Cat/split', {}),
    send('POST', `/v1/entities/Cat/merge`, { into: own.source.id }),
    send('POST', `/v1/entities/${own.source.id}/merge`, { into: 'Cat' }),
    send('POST', `/v1/entities/${own.source.id}/merge`, { into: bobs.source.id }),
    relate({ id: 'Cat' }, 'likes', { name: 'tea' }),
    relate({ id: bobs.source.id }, 'likes', { name: 'tea' }),
    send('PATCH', `/v1/relations/${own.id}`, { destination: { id: bobs.destination.id } }),
  ];
  for (const answer of await Promise.all(tries))
    expect(answer.json()).toMatchObject({ status: 404, code: 'not_found' });
});

const both = { source: me, destination: { name: 'tea' } };

test.each([
  ['no owner', { ...both, relationship: 'likes', user_id: undefined }],
  ['an app', { ...both, relationship: 'likes', app_id: 'x' }],
  ['no relationship', both],
  ['a relationship without a letter', { ...both, relationship: '!?' }],
  ['a name of nothing but signs', { ...both, relationship: 'likes', destination: { name: '…' } }],
  ['a name that stands for one', { ...both, relationship: 'likes', destination: { name: 'she' } }],
  ['twice the same', { source: { name: 'Tea' }, relationship: 'likes', destination: { name: 'tea' } }],
  ['an end in the future', { ...both, relationship: 'likes', invalid_at: '2999-01-01T00:00:00Z' }],
  [
    'an end before its beginning',
    { ...both, relationship: 'likes', valid_from: '2002-01-01T00:00:00Z', invalid_at: '2001-01-01T00:00:00Z' },
  ],
  [
    'an end that is named twice',
    { source: { self: true, name: 'Bea' }, relationship: 'likes', destination: { name: 'tea' } },
  ],
  ['an end that is not named', { source: {}, relationship: 'likes', destination: { name: 'tea' } }],
  [
    'a kind without a name',
    { source: { self: true, kind: 'person' }, relationship: 'likes', destination: { name: 'tea' } },
  ],
  ['an unknown kind', { source: me, relationship: 'likes', destination: { name: 'tea', kind: 'drink' } }],
])('%s is refused, and nothing is made', async (_, body) => {
  const { send, relations, deps } = await bench();
  const answer = await send('POST', '/v1/relations', { user_id: 'ann', ...body });
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await relations()).toEqual([]);
  const { results } = await deps.ledger.graph.listEntities(DEFAULT_TENANT, ANN, {}, { limit: 10, cursor: null });
  expect(results).toEqual([]);
});

test.each([
  ['nothing to change', {}],
  ['a reason alone', { reason: 'x' }],
  ['an unknown field', { text: 'x' }],
  ['an end before its beginning', { invalid_at: '1990-01-01T00:00:00Z' }],
])('a change with %s is refused', async (_, body) => {
  const { relate, send } = await bench();
  const { id } = (await relate({ name: 'Bea' }, 'likes', { name: 'tea' })).json();
  expect((await send('PATCH', `/v1/relations/${id}`, body)).json()).toMatchObject({
    status: 400,
    code: 'invalid_request',
  });
});

import { DEFAULT_TENANT, eraseOwner } from '@slowwave/engine';
import { keyedDecide, NEVER, type Script } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const queue = { erase: async () => {}, forgetLane: async () => {} };

test('a user is erased in the background, and the status tells how far it is', async () => {
  const { app, engine, send } = await consoleBench();
  await engine.post(['home: Berlin']);
  await engine.run();
  const answer = await send('DELETE', '/v1/users/ann');
  expect(answer.statusCode).toBe(202);
  const { erasure_id, state, status_url } = answer.json();
  expect({ state, status_url }).toEqual({ state: 'requested', status_url: `/v1/erasures/${erasure_id}` });
  expect(answer.headers.location).toBe(status_url);
  expect((await app.inject(status_url)).json()).toMatchObject({ id: erasure_id, state: 'requested', erased_at: null });
  const listed = async () => (await app.inject('/v1/erasures')).json().results;
  expect(await listed()).toMatchObject([{ id: erasure_id, state: 'requested' }]);
  await eraseOwner({ ...engine.deps, queue, settleMs: 0 })(erasure_id, NEVER);
  expect(await listed()).toEqual([]);
  const over = (await app.inject(status_url)).json();
  expect(over).toMatchObject({ state: 'erased', counts: { batches: 1, memories: 1 }, remains: [] });
  expect(Date.parse(over.erased_at)).toBeGreaterThanOrEqual(Date.parse(over.requested_at));
  expect(JSON.stringify(over)).not.toContain('ann');
});

test.each([
  { kind: 'agent', path: '/v1/agents/x%2F1', own: { agentId: 'x/1' }, beside: { userId: 'ann', agentId: 'x/1' } },
  { kind: 'run', path: '/v1/runs/x%2F1', own: { runId: 'x/1' }, beside: { agentId: 'bot', runId: 'x/1' } },
])('an erased $kind loses what it owns, and nobody else anything', async ({ kind, path, own, beside }) => {
  const { app, engine, send } = await consoleBench();
  const { ledger } = engine.deps;
  const nobody = { userId: null, agentId: null, runId: null, appId: null };
  const said = { own: await engine.post(['home: Berlin'], { scope: { ...nobody, ...own } }) };
  const kept = [
    await engine.post(['home: Oslo'], { scope: { ...nobody, ...beside } }),
    await engine.post(['home: Rome'], { userId: 'x/1' }),
  ];
  await engine.run();
  const answer = await send('DELETE', path);
  expect(answer.statusCode).toBe(202);
  const { erasure_id, status_url } = answer.json();
  expect(await ledger.batches.get(DEFAULT_TENANT, said.own)).toBeNull();
  await eraseOwner({ ...engine.deps, queue, settleMs: 0 })(erasure_id, NEVER);
  const over = (await app.inject(status_url)).json();
  expect(over).toMatchObject({ state: 'erased', counts: { batches: 1, memories: 1 } });
  expect(JSON.stringify(over)).not.toContain('x/1');
  const { results } = await ledger.overview.owners(DEFAULT_TENANT, { limit: 10, cursor: null });
  expect(results.map(({ owner }) => owner)).not.toContainEqual({ kind, id: 'x/1' });
  for (const id of kept) expect(await ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'consolidated' });
  const memories = (await ledger.memories.every(null, 10)).map(({ versions }) => versions.at(-1)?.text);
  expect(memories.sort()).toEqual(['home: Oslo', 'home: Rome']);
});

test('an erasure asked for twice is the same one', async () => {
  const { engine, send } = await consoleBench();
  await engine.post(['home: Berlin']);
  const ids = [await send('DELETE', '/v1/users/ann'), await send('DELETE', '/v1/users/ann')];
  expect(new Set(ids.map((answer) => answer.json().erasure_id)).size).toBe(1);
});

test('an erasure nobody asked for is not found', async () => {
  const { app } = await consoleBench();
  expect((await app.inject('/v1/erasures/ers_unknown')).json()).toMatchObject({ status: 404, code: 'not_found' });
});

test('an export has everything of the user, line by line, and says that it is complete', async () => {
  const { app, engine, send } = await consoleBench();
  await engine.post(['home: Berlin']);
  await engine.run();
  await engine.post(['home: Oslo']);
  await engine.run();
  await engine.post(['home: Rome'], { userId: 'bob' });
  const { id } = (await send('POST', '/v1/memories', { memory: 'likes tea', user_id: 'ann' })).json();
  await send('DELETE', `/v1/memories/${id}`);
  const answer = await app.inject('/v1/users/ann/export');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toContain('application/x-ndjson');
  const lines = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ type: 'user', id: 'ann' });
  expect(lines.at(-1)).toEqual({
    type: 'end',
    counts: { batch: 2, message: 2, memory: 2, event: 4, consolidation: 2 },
  });
  const home = lines.find((line) => line.type === 'memory' && line.memory === 'home: Oslo');
  expect(home.versions.map((version: { memory: string }) => version.memory)).toEqual(['home: Berlin', 'home: Oslo']);
  const thought = lines.filter((line) => line.type === 'consolidation');
  expect(thought.every(({ plan, answers }) => plan !== null && answers.length > 0)).toBe(true);
  expect(answer.body).not.toContain('Rome');
  const memories = await engine.deps.ledger.memories.every(null, 100);
  for (const memory of memories.filter(({ tenant }) => tenant === DEFAULT_TENANT)) {
    expect(answer.body.includes(memory.id)).toBe(memory.owner.id === 'ann');
  }
});

/** Cannot decide on two facts at once: batches that are consolidated together are split. */
const decideAlone: Script = (input, nth) =>
  Array.isArray(input.facts) && input.facts.length > 1
    ? 'no JSON at all'
    : keyedDecide((text) => text.split(':')[0] ?? text)(input, nth);

test.each([
  ['as they are', false],
  ['removed by retention', true],
])(
  'answers of a consolidation that was split tell nothing of what is forgotten since, with messages %s',
  async (_how, isRemoved) => {
    const { app, engine, send } = await consoleBench({ scripts: { decide_operations: decideAlone } });
    const exported = async (type: string) =>
      (await app.inject('/v1/users/ann/export')).body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter((line) => line.type === type);
    await engine.post(['home: Berlin']);
    await engine.run();
    await engine.post(['home: Oslo']);
    await engine.post(['home: Quito']);
    await engine.run();
    const states = async () => (await exported('consolidation')).map(({ state, plan }) => [state, plan !== null]);
    expect((await states()).sort()).toEqual([
      ['applied', true],
      ['applied', true],
      ['applied', true],
      ['split', false],
    ]);
    const [split] = (await exported('consolidation')).filter(({ state }) => state === 'split');
    expect(JSON.stringify(split.answers)).toContain('Quito');
    if (isRemoved) {
      const { tools } = engine;
      tools.advance(1_000);
      await engine.deps.ledger.retention.removeMessages(DEFAULT_TENANT, tools.now(), { now: tools.now(), limit: 10 });
    }
    const [{ id }] = await exported('memory');
    await send('DELETE', `/v1/memories/${id}`);
    expect(await exported('consolidation')).toMatchObject(Array(4).fill({ plan: null, answers: [], forgotten: true }));
    expect((await app.inject('/v1/users/ann/export')).body).not.toMatch(/Berlin|Oslo|Quito/);
  },
);

test('answers about something else stay in an export', async () => {
  const { app, engine, send } = await consoleBench();
  await engine.post(['pet: a cat']);
  await engine.run();
  await engine.post(['home: Berlin']);
  await engine.run();
  const [memory] = (await engine.memories()).filter(({ versions }) => versions[0]?.text === 'home: Berlin');
  await send('DELETE', `/v1/memories/${memory?.id}`);
  const { body } = await app.inject('/v1/users/ann/export');
  expect(body).not.toContain('Berlin');
  expect(body).toMatch(/"answers":\[\{[^\]]*a cat/);
});

test('an export has the graph: entities, merged ones too, relations, and all that was said, each once', async () => {
  const { app, send } = await consoleBench();
  const relate = async (source: string, destination: string, user_id = 'ann') => {
    const body = { user_id, source: { name: source }, relationship: 'likes', destination: { name: destination } };
    return (await send('POST', '/v1/relations', body)).json();
  };
  const bea = await relate('Bea', 'tea');
  const bee = await relate('Bee', 'milk');
  await relate('Bob', 'coffee', 'bob');
  await send('POST', `/v1/entities/${bee.source.id}/merge`, { into: bea.source.id });
  await send('DELETE', `/v1/relations/${bea.id}`);
  const lines = (await app.inject('/v1/users/ann/export')).body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toEqual({ type: 'end', counts: { entity: 4, statement: 4, relation: 1 } });
  const names = lines.filter(({ type }) => type === 'entity').map(({ name }) => name);
  expect(names.sort()).toEqual(['Bea', 'Bee', 'milk', 'tea']);
});

test('an export of somebody unknown is not found', async () => {
  const { app } = await consoleBench();
  expect((await app.inject('/v1/users/nobody/export')).json()).toMatchObject({ status: 404, code: 'not_found' });
});

test('what retention and forgetting would take is told before anything is taken', async () => {
  const { engine, send } = await consoleBench();
  await engine.post(['home: Oslo']);
  await engine.run();
  engine.tools.advance(10 * 86_400_000);
  const body = { retention: { messages_days: 5 }, forgetting: { max_age_days: 5 } };
  const none = {
    batches: 0,
    consolidations: 0,
    histories: 0,
    forgotten: 0,
    memories: { age: 0, unconfirmed: 0, budget: 0 },
  };
  expect((await send('POST', '/v1/retention/preview', {})).json()).toEqual(none);
  const wanted = {
    batches: 1,
    consolidations: 0,
    histories: 0,
    forgotten: 0,
    memories: { age: 1, unconfirmed: 0, budget: 0 },
  };
  expect((await send('POST', '/v1/retention/preview', body)).json()).toEqual(wanted);
  const chosen = (await send('PUT', '/v1/settings', body)).json();
  expect(chosen.retention).toEqual({ messages_days: 5, plans_days: null, history_days: null, forgotten_days: 30 });
  expect(chosen.forgetting).toEqual({ max_age_days: 5, unconfirmed_days: null, max_memories: null });
  expect((await send('POST', '/v1/retention/preview', {})).json()).toEqual(wanted);
  expect(await engine.live()).toEqual(['home: Oslo']);
});

test('a memory is pinned and unpinned', async () => {
  const { send } = await consoleBench();
  const memory = (await send('POST', '/v1/memories', { memory: 'no nuts', user_id: 'ann', pinned: true })).json();
  expect(memory.pinned).toBe(true);
  const patched = await send('PATCH', `/v1/memories/${memory.id}`, { memory: 'no nuts at all' });
  expect(patched.json()).toMatchObject({ memory: 'no nuts at all', pinned: true });
  expect((await send('PATCH', `/v1/memories/${memory.id}`, { pinned: false })).json().pinned).toBe(false);
});

interface Slot {
  readonly name: string;
  readonly lines: readonly { readonly memory: string; readonly memory_id: string; readonly by: string }[];
}

const linesOf = ({ slots }: { slots: readonly Slot[] }): Record<string, readonly string[]> =>
  Object.fromEntries(
    slots.flatMap(({ name, lines }) =>
      lines.length === 0 ? [] : [[name, lines.map(({ memory, by }) => `${by}: ${memory}`)]],
    ),
  );

async function profileBench() {
  const bench = await consoleBench();
  const { app, send, engine } = bench;
  const remember = async (memory: string, category: string): Promise<string> => {
    engine.tools.advance(1_000);
    return (await send('POST', '/v1/memories', { user_id: 'ann', memory, categories: [category] })).json().id;
  };
  const profile = async (user = 'ann') => (await app.inject(`/v1/users/${user}/profile`)).json();
  const put = (slot: string, body: object, user = 'ann') => send('PUT', `/v1/users/${user}/profile/${slot}`, body);
  return { ...bench, remember, profile, put };
}

test('a profile has slots with lines, each with the memory that says so', async () => {
  const { remember, profile } = await profileBench();
  const id = await remember('has a brother', 'family');
  await remember('was in Rome', 'travel');
  const { slots } = await profile();
  expect(slots.map(({ name }: Slot) => name)).toEqual([
    'name',
    'home',
    'languages',
    'family',
    'work',
    'diet_and_health',
    'likes',
    'goals',
    'other',
  ]);
  expect(slots[3]).toMatchObject({
    lines: [{ memory_id: id, version: 1, memory: 'has a brother', by: 'rule' }],
    left_out: 0,
  });
  expect(linesOf(await profile('nobody'))).toEqual({});
});

test('people put lines in and take them out; the memories stay', async () => {
  const { engine, remember, profile, put, send } = await profileBench();
  const brother = await remember('has a brother', 'family');
  const rome = await remember('was in Rome', 'travel');
  expect(linesOf((await put('home', { memory: 'lives in Oslo' })).json())).toMatchObject({
    home: ['person: lives in Oslo'],
  });
  expect((await put('goals', { memory_id: rome })).statusCode).toBe(200);
  const taken = await send('DELETE', `/v1/users/ann/profile/family/${brother}`);
  expect(linesOf(taken.json())).toEqual({ home: ['person: lives in Oslo'], goals: ['person: was in Rome'] });
  const again = await send('DELETE', `/v1/users/ann/profile/family/${brother}`);
  expect([again.statusCode, again.json().code]).toEqual([404, 'not_found']);
  expect(await engine.live()).toContain('has a brother');
  expect(linesOf(await profile())).toEqual(linesOf(taken.json()));
});

test('a line that cannot be is refused, with what to do', async () => {
  const { put, remember, send } = await profileBench();
  await send('PUT', '/v1/settings', { profile_slots: [{ name: 'boats', about: 'Their boats', lines: 2 }] });
  for (const memory of ['Else', 'Aurora']) await put('boats', { memory });
  const problems = [
    [await put('home', { memory: 'x' }), 404, 'one of the slots boats, got home'],
    [await put('boats', { memory: 'Fram' }), 409, 'which has 2 lines; take one out first'],
    [await put('boats', { memory_id: 'mem_unknown' }), 404, 'mem_unknown'],
    [await put('boats', { memory_id: await remember('x', 'family') }, 'bob'), 404, 'profile'],
    [await put('boats', {}), 400, 'either memory or memory_id'],
    [await put('boats', { memory: 'x', memory_id: 'mem_1' }), 400, 'either memory or memory_id'],
  ] as const;
  for (const [answer, status, detail] of problems) {
    expect(answer.statusCode).toBe(status);
    expect(answer.body).toContain(detail);
  }
});

test('nothing is written while a user wants nothing remembered, and personal data as the tenant wants it', async () => {
  const { put, send, profile } = await profileBench();
  await send('PUT', '/v1/users/ann/pause');
  expect((await put('name', { memory: 'is called Ann' })).statusCode).toBe(409);
  await send('DELETE', '/v1/users/ann/pause');
  await send('PUT', '/v1/settings', { personal_data: 'mask' });
  await put('name', { memory: 'writes as ann@example.com' });
  expect(linesOf(await profile())).toEqual({ name: ['person: writes as [email]'] });
});

test.each([
  [[{ name: 'other', about: 'x' }], 'profile_slots[0].name'],
  [[{ name: 'Home', about: 'x' }], 'profile_slots[0].name'],
  [[{ name: 'home', about: ' ' }], 'profile_slots[0].about'],
  [[{ name: 'home', about: 'x', lines: 0 }], 'profile_slots[0].lines'],
  [
    [
      { name: 'home', about: 'x' },
      { name: 'home', about: 'y' },
    ],
    'profile_slots',
  ],
])('slots that make no sense are refused: %j', async (profile_slots, path) => {
  const { send } = await profileBench();
  const answer = (await send('PUT', '/v1/settings', { profile_slots })).json();
  expect(answer).toMatchObject({ code: 'invalid_request', errors: [{ path }] });
});

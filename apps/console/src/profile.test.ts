import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

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

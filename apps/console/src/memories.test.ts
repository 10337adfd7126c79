import { DELETED_LISTED, DELETED_TEXT_MAX } from '@slowwave/contracts';
import type { MemoryWriter } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const berlin = { memory: 'Ann lives in Berlin', user_id: 'ann' };

test('a memory is written as it is, and its address told', async () => {
  const { send } = await consoleBench();
  const answer = await send('POST', '/v1/memories', {
    ...berlin,
    metadata: { source: 'form' },
    categories: ['home'],
    valid_from: '2025-01-01T00:00:00Z',
    expires_at: '2030-01-01T01:00:00+01:00',
  });
  expect(answer.statusCode).toBe(201);
  expect(answer.headers.location).toBe(`/v1/memories/${answer.json().id}`);
  expect(answer.json()).toMatchObject({
    memory: 'Ann lives in Berlin',
    user_id: 'ann',
    version: 1,
    metadata: { source: 'form' },
    categories: ['home'],
    immutable: false,
    valid_from: '2025-01-01T00:00:00.000Z',
    expires_at: '2030-01-01T00:00:00.000Z',
  });
});

test('a memory of an owner who is in another cell by the time it is written goes there', async () => {
  const { send, engine } = await consoleBench();
  await engine.deps.ledger.departures.closeSlots({ epoch: 7, closed: [{ first: 0, last: 0xff_ff }] });
  const moved = { status: 421, code: 'moved', cell: null, epoch: 7 };
  expect((await send('POST', '/v1/memories', berlin)).json()).toMatchObject(moved);
});

test('personal data is masked or refused where the tenant wants that', async () => {
  const { send } = await consoleBench();
  const { id } = (await send('POST', '/v1/memories', berlin)).json();
  const mail = { memory: 'Ann has ann@example.com' };
  await send('PUT', '/v1/settings', { personal_data: 'mask' });
  expect((await send('POST', '/v1/memories', { ...berlin, ...mail })).json()).toMatchObject({
    memory: 'Ann has [email]',
  });
  expect((await send('PATCH', `/v1/memories/${id}`, mail)).json()).toMatchObject({ memory: 'Ann has [email]' });
  await send('PUT', '/v1/settings', { personal_data: 'drop' });
  const refused = { status: 422, code: 'unsupported_content', errors: [{ path: 'memory' }] };
  expect((await send('POST', '/v1/memories', { ...berlin, ...mail })).json()).toMatchObject(refused);
  expect((await send('PATCH', `/v1/memories/${id}`, mail)).json()).toMatchObject(refused);
  expect((await send('POST', '/v1/memories', berlin)).statusCode).toBe(201);
});

test('it is the word of who writes it, unless they say whose it is', async () => {
  const { send, engine } = await consoleBench();
  const written = (await send('POST', '/v1/memories', berlin)).json();
  expect(written).toMatchObject({ trust: 'imported' });
  const told = (await send('POST', '/v1/memories', { ...berlin, trust: 'external' })).json();
  const changes = [
    [{ metadata: { seen: true } }, 'external'],
    [{ memory: 'Ann lives in Paris' }, 'imported'],
    [{ memory: 'Ann lives in Rome', trust: 'user' }, 'user'],
  ] as const;
  for (const [change, trust] of changes) {
    engine.tools.advance(1_000);
    expect((await send('PATCH', `/v1/memories/${told.id}`, change)).json()).toMatchObject({ trust });
  }
});

test('a change makes a new version', async () => {
  const { send, engine } = await consoleBench();
  const { id } = (await send('POST', '/v1/memories', berlin)).json();
  engine.tools.advance(1_000);
  const answer = await send('PATCH', `/v1/memories/${id}`, { memory: 'Ann lives in Paris', version: 1 });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ id, memory: 'Ann lives in Paris', version: 2 });
});

test('what is left out of a change stays, what is in it is shown', async () => {
  const { send, engine } = await consoleBench();
  const { id } = (await send('POST', '/v1/memories', { ...berlin, categories: ['home'] })).json();
  engine.tools.advance(1_000);
  await send('PATCH', `/v1/memories/${id}`, { metadata: { seen: true } });
  const answer = await send('PATCH', `/v1/memories/${id}`, { expires_at: '2030-01-01T00:00:00Z' });
  expect(answer.json()).toMatchObject({
    memory: 'Ann lives in Berlin',
    categories: ['home'],
    metadata: { seen: true },
    expires_at: '2030-01-01T00:00:00.000Z',
  });
});

test('a change of a version that is no longer the newest is refused', async () => {
  const { send } = await consoleBench();
  const { id } = (await send('POST', '/v1/memories', berlin)).json();
  const answer = await send('PATCH', `/v1/memories/${id}`, { memory: 'Ann lives in Paris', version: 7 });
  expect(answer.json()).toMatchObject({ status: 409, code: 'version_conflict' });
});

test('an immutable memory keeps its text until it is made mutable', async () => {
  const { send } = await consoleBench();
  const { id } = (await send('POST', '/v1/memories', { ...berlin, immutable: true })).json();
  const refused = await send('PATCH', `/v1/memories/${id}`, { memory: 'Ann lives in Paris' });
  expect(refused.json()).toMatchObject({ status: 422, code: 'immutable_memory' });
});

test('a deleted memory is gone for every later write', async () => {
  const { send } = await consoleBench();
  const { id } = (await send('POST', '/v1/memories', berlin)).json();
  const nothing = {
    fell: { messages: [], relations: [], entities: [], summaries: 0 },
    stays: { messages: [], relations: [] },
  };
  const dry = await send('DELETE', `/v1/memories/${id}?dry_run=true`);
  expect(dry.json()).toEqual({ deleted: 0, dry_run: true, ...nothing });
  expect((await send('DELETE', `/v1/memories/${id}`)).json()).toEqual({ deleted: 1, dry_run: false, ...nothing });
  expect((await send('DELETE', `/v1/memories/${id}`)).json()).toMatchObject({ status: 404, code: 'not_found' });
  expect((await send('PATCH', `/v1/memories/${id}`, { memory: 'x' })).statusCode).toBe(404);
});

test('all memories of an owner are deleted, and nobody else', async () => {
  const { send, engine } = await consoleBench();
  await send('POST', '/v1/memories', berlin);
  await send('POST', '/v1/memories', { ...berlin, memory: 'Ann likes tea' });
  await send('POST', '/v1/memories', { ...berlin, user_id: 'bob' });
  expect((await send('DELETE', '/v1/memories?user_id=ann')).json()).toMatchObject({ deleted: 2, more: false });
  expect(await engine.live('ann')).toEqual([]);
  expect(await engine.live('bob')).toHaveLength(1);
});

test('what would be deleted together is shown first, and is what a filter is true of', async () => {
  const { send, engine } = await consoleBench();
  const { id } = (await send('POST', '/v1/memories', { ...berlin, categories: ['home'] })).json();
  await send('POST', '/v1/memories', { ...berlin, memory: 'Ann likes tea', categories: ['food'] });
  const which = `/v1/memories?user_id=ann&filters=${encodeURIComponent('{"categories":"home"}')}`;
  const shown = { count: 1, memories: [{ id, memory: 'Ann lives in Berlin' }], more: false };
  expect((await send('DELETE', `${which}&dry_run=true`)).json()).toEqual({ deleted: 0, dry_run: true, ...shown });
  expect(await engine.live('ann')).toHaveLength(2);
  expect((await send('DELETE', which)).json()).toEqual({ deleted: 1, dry_run: false, ...shown });
  expect(await engine.live('ann')).toEqual(['Ann likes tea']);
  const nobody = { deleted: 0, dry_run: false, count: 0, memories: [], more: false };
  expect((await send('DELETE', which)).json()).toEqual(nobody);
  expect((await send('DELETE', '/v1/memories?user_id=ann&filters=home')).json()).toMatchObject({ status: 400 });
});

test.each([
  '{}',
  '{"AND":[]}',
  '{"metadata":{}}',
  '{"NOT":[]}',
  '{"NOT":{"OR":[]}}',
  '{"OR":[{},{"categories":"food"}]}',
  '{"categories":{"nin":[]}}',
])('a filter that leaves out nothing deletes nothing: %s', async (filters) => {
  const { send, engine } = await consoleBench();
  await send('POST', '/v1/memories', berlin);
  const which = `/v1/memories?user_id=ann&filters=${encodeURIComponent(filters)}`;
  const detail =
    'the filter is not valid: filters: expected at least one condition that can rule a memory out (to delete all ' +
    'memories of the owner, omit filters), got a filter that matches every memory';
  for (const address of [which, `${which}&dry_run=true`])
    expect((await send('DELETE', address)).json()).toMatchObject({ status: 400, code: 'invalid_request', detail });
  expect(await engine.live('ann')).toHaveLength(1);
});

test('an answer about very many deletions names the first, and no long texts', async () => {
  const { send } = await consoleBench();
  const long = 'tea '.repeat(900).trim();
  for (let i = 0; i <= DELETED_LISTED; i += 1)
    await send('POST', '/v1/memories', { ...berlin, memory: `Ann likes ${i} ${long}` });
  const answer = await send('DELETE', '/v1/memories?user_id=ann&dry_run=true');
  const { count, memories, more } = answer.json();
  expect({ count, listed: memories.length, more }).toEqual({ count: 101, listed: 100, more: true });
  expect(answer.body.length).toBeLessThan(DELETED_LISTED * (DELETED_TEXT_MAX + 100));
  expect((await send('DELETE', '/v1/memories?user_id=ann')).json()).toMatchObject({ deleted: 101, more: true });
});

test('a write whose projection has to wait is answered as accepted', async () => {
  const { deps } = await consoleBench();
  const late: MemoryWriter = {
    ...deps.writer,
    add: async (tenant, memory) => {
      const result = await deps.writer.add(tenant, memory);
      return result.kind === 'written' ? { ...result, kind: 'unprojected' } : result;
    },
  };
  const { send } = await consoleBench({ writer: late });
  const answer = await send('POST', '/v1/memories', berlin);
  expect(answer.statusCode).toBe(202);
  expect(answer.json().memory).toBe('Ann lives in Berlin');
});

test('a write that is found by its words alone says so', async () => {
  const { deps } = await consoleBench();
  const byWords: MemoryWriter = {
    ...deps.writer,
    add: async (tenant, memory) => {
      const result = await deps.writer.add(tenant, memory);
      return result.kind === 'written' ? { ...result, kind: 'words' } : result;
    },
  };
  const { send } = await consoleBench({ writer: byWords });
  const answer = await send('POST', '/v1/memories', berlin);
  expect([answer.statusCode, answer.json().searchable]).toEqual([201, 'words']);
});

test.each([
  ['no text', { user_id: 'ann' }, 'memory'],
  ['a blank text', { ...berlin, memory: '  ' }, 'memory'],
  ['a text that is too long', { ...berlin, memory: 'a'.repeat(9_000) }, 'memory'],
  ['no ids', { memory: 'x' }, 'user_id'],
  ['two categories', { ...berlin, categories: ['a', 'b'] }, 'categories'],
  ['an unknown field', { ...berlin, score: 1 }, 'score'],
  ['a day for a moment', { ...berlin, expires_at: '2030-01-01' }, 'expires_at'],
])('a memory with %s is refused, naming the place', async (_name, body, path) => {
  const { send } = await consoleBench();
  const answer = await send('POST', '/v1/memories', body);
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path }] });
});

test.each([
  ['PATCH', '/v1/memories/mem_unknown', { memory: 'x' }, { status: 404, code: 'not_found' }],
  ['PATCH', '/v1/memories/mem_unknown', {}, { status: 400, code: 'invalid_request' }],
  ['PATCH', '/v1/memories/mem_unknown', { version: 1 }, { status: 400, code: 'invalid_request' }],
  ['PATCH', '/v1/memories/mem_unknown', { memory: null }, { status: 400, code: 'invalid_request' }],
  ['PATCH', '/v1/memories/mem_unknown', { user_id: 'bob' }, { status: 400, code: 'invalid_request' }],
  ['PATCH', '/v1/memories/mem_unknown', undefined, { status: 400, code: 'invalid_request' }],
  ['DELETE', '/v1/memories/mem_unknown', undefined, { status: 404, code: 'not_found' }],
  ['DELETE', '/v1/memories', undefined, { status: 400, code: 'invalid_request' }],
  ['DELETE', '/v1/memories?user_id=', undefined, { status: 400, code: 'invalid_request' }],
  ['DELETE', '/v1/memories?all=true', undefined, { status: 400, code: 'invalid_request' }],
] as const)('%s %s with %j is refused as the mistake it is', async (...[method, url, body, told]) => {
  const { send } = await consoleBench();
  expect((await send(method, url, body)).json()).toMatchObject(told);
});

const WITHDRAWN = '/v1/ids/memories?run_id=r1';

async function bench() {
  const b = await consoleBench();
  const say = async (text: string, runId: string) => {
    await b.engine.post([text], { scope: { runId } });
    await b.engine.run();
  };
  await say('pet: cat', 'r1');
  await say('home: Oslo', 'r1');
  await say('home: Oslo', 'r2');
  return b;
}

test('a dry run counts what would go and what would stay, and changes nothing', async () => {
  const { send, engine } = await bench();
  const answer = await send('DELETE', `${WITHDRAWN}&dry_run=true`);
  expect(answer.json()).toMatchObject({ deleted: 1, kept: 1, dry_run: true, memories: [{ memory: 'pet: cat' }] });
  expect(await engine.live()).toEqual(['home: Oslo', 'pet: cat']);
});

test('what was said under an id is withdrawn, and its undo is listed and can be redone', async () => {
  const { app, send, engine } = await bench();
  expect((await send('DELETE', WITHDRAWN)).json()).toMatchObject({ deleted: 1, kept: 1, more: false, dry_run: false });
  expect(await engine.live()).toEqual(['home: Oslo']);
  const [undo] = (await app.inject('/v1/undos')).json().results;
  expect(undo).toMatchObject({ kind: 'withdrawal', user_id: 'ann', memories: 1, consolidation_ids: [] });
  expect((await send('POST', `/v1/undos/${undo.id}/redo`, {})).statusCode).toBe(200);
  expect((await send('DELETE', WITHDRAWN)).json()).toMatchObject({ deleted: 0, kept: 1 });
});

test('without an id nothing is withdrawn', async () => {
  const { send, engine } = await bench();
  expect((await send('DELETE', '/v1/ids/memories')).statusCode).toBe(400);
  expect(await engine.live()).toHaveLength(2);
});

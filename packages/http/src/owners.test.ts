import { expect, test } from 'vitest';
import { z } from 'zod';
import { needScope } from './access.ts';
import { notFound } from './errors.ts';
import type { CellGuard, NamedOwner } from './owners.ts';
import type { Routes } from './shell.ts';
import { testShell } from './testing.ts';

const EAST = { cell: 'east', epoch: 7 };
const MOVED = { status: 421, code: 'moved', ...EAST };

/** A cell that users move away from while it is asked. */
async function start() {
  const away = new Set<string>();
  const asked: NamedOwner[] = [];
  const cell: CellGuard = {
    isLost: async () => away.has('cell here'),
    ofOwner: async (_tenant, owner) => {
      asked.push(owner);
      return away.has(`${owner.kind} ${owner.id}`) ? EAST : null;
    },
    ofId: async (_tenant, id) => (id === 'mem_gone' ? EAST : null),
  };
  const recorded: string[] = [];
  const audit = { what: 'all' as const, record: ({ action }: { action: string }) => void recorded.push(action) };
  const { app } = await testShell({ cell, audit });
  const searching: Routes = async (room) => {
    needScope(room, 'search');
    const leave = async () => {
      away.add('user meanwhile');
      return { said: 'what was known' };
    };
    room.post('/v1/search', { schema: { body: z.looseObject({}) } }, leave);
  };
  const writing: Routes = async (room) => {
    needScope(room, 'ingest');
    room.post('/v1/batches', { schema: { body: z.looseObject({}) } }, async () => {
      away.add('user meanwhile');
      return { stored: true };
    });
    room.get('/v1/users/:id/export', async () => ({ ok: true }));
    room.get('/v1/runs/:id/state', { schema: { querystring: z.looseObject({}) } }, async () => ({ ok: true }));
    room.post('/v1/users/:id/links', async () => ({ id: 'lnk_1' }));
    const query = { querystring: z.looseObject({}) };
    room.get('/v1/usage', { schema: query }, async () => ({ results: [] }));
    room.get('/v1/memories/:id', { config: { bounds: { by: 'found', apps: true } } }, async ({ params }) => {
      const { id } = params as { id: string };
      if (id !== 'mem_here') throw notFound('memory', id);
      return { id };
    });
  };
  for (const room of [searching, writing]) await app.register(room);
  const post = async (path: string, payload: object) =>
    (await app.inject({ method: 'POST', url: path, payload })).json();
  const get = async (url: string, headers = {}) => (await app.inject({ url, headers })).json();
  return { app, away, asked, recorded, post, get };
}

test('whoever asks for an owner that moved is told where, however it is named', async () => {
  const { app, away, recorded, post, get } = await start();
  for (const gone of ['user ann', 'agent bot', 'run chat']) away.add(gone);
  expect(await post('/v1/search', { user_id: 'ann', agent_id: 'x' })).toMatchObject(MOVED);
  expect(await post('/v1/search', { agent_id: 'bot' })).toMatchObject(MOVED);
  expect(await post('/v1/search', { filters: { run_id: 'chat' } })).toMatchObject(MOVED);
  const deep = { AND: [{ categories: ['food'] }, { OR: [{ run_id: 'chat' }] }] };
  expect(await post('/v1/search', { filters: deep })).toMatchObject(MOVED);
  expect(await post('/v1/batches', { user_id: 'ann' })).toMatchObject(MOVED);
  expect(await get('/v1/users/ann/export')).toMatchObject(MOVED);
  expect(await get('/v1/memories/mem_here', { 'x-slowwave-user': 'ann' })).toMatchObject(MOVED);
  expect(await get('/v1/runs/chat/state')).toMatchObject(MOVED);
  expect(await get('/v1/runs/other/state?user_id=ann')).toMatchObject(MOVED);
  // The owner is the first that is named.
  expect(await post('/v1/search', { user_id: 'bob', agent_id: 'bot' })).toEqual({ said: 'what was known' });
  expect(await get('/v1/runs/chat/state?user_id=bob')).toEqual({ ok: true });
  expect(recorded).toEqual(['POST /v1/search', 'GET /v1/runs/{id}/state']);
  await app.close();
});

test('what the tenant has of an owner that moved is still here', async () => {
  const { app, away, post, get } = await start();
  away.add('user ann');
  expect(await post('/v1/users/ann/links', {})).toEqual({ id: 'lnk_1' });
  expect(await get('/v1/usage?user_id=ann')).toEqual({ results: [] });
  await app.close();
});

test('what is not found by its id may have moved with its owner', async () => {
  const { app, get } = await start();
  expect(await get('/v1/memories/mem_here')).toEqual({ id: 'mem_here' });
  expect(await get('/v1/memories/mem_gone')).toMatchObject(MOVED);
  expect(await get('/v1/memories/mem_unknown')).toMatchObject({ status: 404, code: 'not_found' });
  await app.close();
});

test('an owner that moves while it is asked for is not answered for, and what it said before is acknowledged', async () => {
  const asking = await start();
  expect(await asking.post('/v1/search', { user_id: 'meanwhile' })).toMatchObject(MOVED);
  await asking.app.close();
  const saying = await start();
  expect(await saying.post('/v1/batches', { user_id: 'meanwhile' })).toEqual({ stored: true });
  await saying.app.close();
});

test('a cell that is given up for lost serves nobody but operators who read, and is told what other cells are', async () => {
  const { app, away, post, get } = await start();
  away.add('cell here');
  const lost = { status: 410, code: 'cell_lost' };
  expect(await post('/v1/search', { user_id: 'ann' })).toMatchObject(lost);
  expect(await post('/v1/batches', { user_id: 'ann' })).toMatchObject(lost);
  expect(await get('/v1/users/ann/export')).toEqual({ ok: true });
  expect((await app.inject('/healthz')).statusCode).toBe(200);
});

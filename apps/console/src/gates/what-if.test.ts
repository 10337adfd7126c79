import {
  DEFAULT_TENANT,
  eraseOwner,
  type JsonObject,
  requestErasure,
  spaceOf,
  sweepReplays,
  type TenantId,
} from '@slowwave/engine';
import { echoExtract, NEVER, type Script } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench, OTHER_MODEL } from '../testing/bench.ts';

const MINUTE = 60_000;

/** Says what it found in other words, and has no eyes for pets. */
const otherExtract: Script = (input, nth) => {
  const { facts } = echoExtract(input, nth) as unknown as { facts: { text: string }[] };
  const seen = facts.filter(({ text }) => !text.startsWith('pet'));
  return {
    facts: seen.map((fact) => ({ ...fact, text: fact.text.replace('Rome', 'Rome as home') })),
  } as unknown as JsonObject;
};

/** A user who told three things a minute apart, all consolidated, and the way a what-if goes. */
async function lived(otherScripts: Readonly<Record<string, Script>> = { extract_facts: otherExtract }) {
  const bench = await consoleBench({ otherScripts });
  const { app, engine, deps, send } = bench;
  const ids: string[] = [];
  const times: number[] = [];
  for (const text of ['home: Oslo', 'pet: a cat', 'home: Rome']) {
    engine.tools.advance(MINUTE);
    times.push(engine.tools.now());
    ids.push(await engine.post([text]));
    await engine.run();
  }
  const sweep = async () => {
    engine.tools.advance(5 * MINUTE);
    await sweepReplays({ ...engine.deps, nudge: deps.nudge, forgetFailed: deps.forgetFailed }, NEVER);
  };
  const view = async (id: string) => (await app.inject(`/v1/replays/${id}`)).json();
  const finish = async (body: object) => {
    const { id } = (await send('POST', '/v1/replays', body)).json();
    await sweep();
    await engine.run();
    await sweep();
    return view(id);
  };
  return { ...bench, ids, times, sweep, view, finish };
}

test('a what-if tells what another model would have remembered, and life does not notice', async () => {
  const { app, engine, finish, send, ids } = await lived();
  const { overview, batches } = engine.deps.ledger;
  const before = await overview.batches(DEFAULT_TENANT);
  const asked = await send('POST', '/v1/replays', { filter: { user_id: 'ann' }, model: OTHER_MODEL, dry_run: true });
  expect(asked.json()).toMatchObject({ dry_run: true, matched: 3 });

  const done = await finish({ filter: { user_id: 'ann' }, model: OTHER_MODEL });
  expect(done).toMatchObject({ kind: 'what_if', state: 'done', matched: 3, consolidated: 3, waiting: 0 });
  expect(done.changes).toEqual({ model: OTHER_MODEL });
  expect(done.result.memories).toEqual({ same: 0, added: 0, changed: 1, gone: 1 });
  expect(done.result.differences).toMatchObject([
    { user_id: 'ann', life: 'home: Rome', what_if: 'home: Rome as home' },
    { user_id: 'ann', life: 'pet: a cat', what_if: null },
  ]);
  expect(done.result.life.operations).toEqual({ ADD: 2, UPDATE: 1, DELETE: 0, NONE: 0 });
  expect(done.result.what_if.operations).toEqual({ ADD: 1, UPDATE: 1, DELETE: 0, NONE: 0 });
  expect(done.result.what_if.calls).toBeGreaterThan(0);
  expect(Date.parse(done.expires_at)).toBeGreaterThan(engine.tools.now());

  expect(await engine.deps.ledger.memories.list(DEFAULT_TENANT, scopeOf('ann'), 0, ALL)).toMatchObject({
    results: [{ versions: [{}] }, { versions: [{}, {}] }],
  });
  expect(await overview.batches(DEFAULT_TENANT)).toEqual(before);
  expect(await overview.ownerCount(DEFAULT_TENANT)).toBe(1);
  expect((await batches.list(DEFAULT_TENANT, {}, ALL)).results.map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await app.inject('/v1/consolidations')).json().results).toHaveLength(3);
  const { calls } = await overview.usage(DEFAULT_TENANT);
  expect(calls, 'what a space asks is paid for by its tenant').toBe(done.result.life.calls + done.result.what_if.calls);
});

test('it tells webhooks nothing', async () => {
  const { engine, finish, send } = await lived();
  const events = ['memory.added', 'memory.updated', 'memory.deleted', 'batch.consolidated'];
  const { id } = (await send('POST', '/v1/webhooks', { url: 'https://receiver.example/', events })).json();
  expect(await finish({ filter: { user_id: 'ann' }, model: OTHER_MODEL })).toMatchObject({ consolidated: 3 });
  const { webhooks } = engine.deps.ledger;
  expect((await webhooks.deliveries(DEFAULT_TENANT, id, {}, ALL)).results).toEqual([]);
  expect(await webhooks.backlog()).toMatchObject({ waiting: 0, failed: 0 });
});

test('it is readable by people', async () => {
  const { app, finish } = await lived();
  const { id } = await finish({ filter: { user_id: 'ann' }, model: OTHER_MODEL });
  const text = await app.inject(`/v1/replays/${id}?format=text`);
  expect(text.headers['content-type']).toContain('text/plain');
  expect(text.body).toContain('With: model = other');
  expect(text.body).toContain('Memories: 0 added, 1 changed, 1 gone, 0 the same');
  expect(text.body).toContain('user ann\n  ~ home: Rome\n    → home: Rome as home\n  - pet: a cat\n');
  expect(text.body).toMatch(/ADD\s+2\s+1\n/);
});

test('what was there before the first of its batches is there in its space, and what came later is not', async () => {
  const { engine, finish, times, ids } = await lived();
  const [, second = 0, third = 0] = times;
  const middle = { since: new Date(second).toISOString(), until: new Date(third).toISOString() };
  const done = await finish({ filter: { user_id: 'ann', ...middle }, model: OTHER_MODEL });
  expect(done.matched).toBe(1);
  expect(done.result.memories).toEqual({ same: 1, added: 0, changed: 0, gone: 1 });
  expect(done.result.differences).toMatchObject([{ life: 'pet: a cat', what_if: null }]);
  const last = await finish({ filter: { batch_ids: [ids[2]] }, model: OTHER_MODEL });
  expect(last.result.differences).toMatchObject([{ life: 'home: Rome', what_if: 'home: Rome as home' }]);
  expect(last.result.memories).toEqual({ same: 1, added: 0, changed: 1, gone: 0 });
  expect(last.result.what_if.operations, 'it found the memory to update').toMatchObject({ ADD: 0, UPDATE: 1 });
  expect(await engine.live()).toContain('home: Rome');
});

test('without a change the same comes out, and mode, instructions and thresholds are changes as well', async () => {
  const { finish, engine } = await lived();
  const same = await finish({ filter: { user_id: 'ann' }, shadow: true });
  expect(same.result.memories).toEqual({ same: 2, added: 0, changed: 0, gone: 0 });
  const adding = await finish({
    filter: { user_id: 'ann' },
    mode: 'add_only',
    near: { vector: 0.9 },
    recall_per_fact: 3,
  });
  expect(adding.changes).toEqual({ mode: 'add_only', near: { vector: 0.9 }, recall_per_fact: 3 });
  expect(adding.result.memories).toEqual({ same: 2, added: 1, changed: 0, gone: 0 });
  const told = await finish({ filter: { user_id: 'ann' }, instructions: 'Remember nothing but pets.' });
  const space = spaceOf({ tenant: DEFAULT_TENANT, replay: told.id });
  expect((await engine.deps.ledger.settings.get(space)).instructions).toBe('Remember nothing but pets.');
  expect((await engine.deps.ledger.settings.get(DEFAULT_TENANT)).instructions).toBeNull();
});

test('to discard it removes the space and everything in it; what it found stays', async () => {
  const { app, engine, finish, sweep, send, view } = await lived();
  const { id } = await finish({ filter: { user_id: 'ann' }, model: OTHER_MODEL });
  const space = spaceOf({ tenant: DEFAULT_TENANT, replay: id });
  const { ledger, index } = engine.deps;
  const left = async () => ({
    owners: await ledger.overview.ownerCount(space),
    memories: (await ledger.memories.every(null, 100)).filter(({ tenant }) => tenant === space).length,
    batches: (await ledger.batches.list(space, {}, ALL)).results.length,
    points: await index.count(space),
  });
  expect(await left()).toMatchObject({ owners: 1, batches: 3, memories: 1, points: 2 });
  const answer = await send('DELETE', `/v1/replays/${id}`);
  expect([answer.statusCode, answer.json().state]).toEqual([202, 'discarding']);
  await sweep();
  expect(await view(id)).toMatchObject({ state: 'discarded', expires_at: null, result: { memories: { gone: 1 } } });
  expect(await left()).toEqual({ owners: 0, memories: 0, batches: 0, points: 0 });
  expect((await send('DELETE', `/v1/replays/${id}`)).statusCode).toBe(202);
  expect((await app.inject('/v1/replays')).json().results).toMatchObject([{ id, state: 'discarded' }]);
});

test('a space that nobody discards goes after a week', async () => {
  const { engine, finish, sweep, view } = await lived();
  const { id } = await finish({ filter: { user_id: 'ann' }, model: OTHER_MODEL });
  await sweep();
  expect(await view(id)).toMatchObject({ state: 'done' });
  engine.tools.advance(7 * 24 * 60 * MINUTE);
  await sweep();
  expect(await view(id)).toMatchObject({ state: 'discarded' });
});

test('who is erased is erased from shadow spaces and results as well', async () => {
  const { app, engine, finish } = await lived();
  const { id } = await finish({ filter: { user_id: 'ann' }, model: OTHER_MODEL });
  const { deps } = engine;
  const queue = { erase: async () => {}, forgetLane: async () => {} };
  await requestErasure(deps, DEFAULT_TENANT, { kind: 'user', id: 'ann' });
  for (let open = await deps.ledger.erasures.open(10); open.length > 0; open = await deps.ledger.erasures.open(10)) {
    for (const erasure of open) await eraseOwner({ ...deps, queue, settleMs: 0 })(erasure.id, NEVER);
    engine.tools.advance(MINUTE);
  }
  expect(await deps.ledger.memories.every(null, 10)).toEqual([]);
  const space = spaceOf({ tenant: DEFAULT_TENANT, replay: id });
  expect(await deps.ledger.overview.batches(space)).toMatchObject({ consolidated: 0, erased: 3 });
  expect(await deps.index.count(space)).toBe(0);
  expect((await app.inject(`/v1/replays/${id}`)).body).not.toMatch(/ann|Rome|cat/);
});

test('one that is discarded while it is set up comes to nothing', async () => {
  const { engine, send, sweep, view } = await lived();
  const { id } = (await send('POST', '/v1/replays', { filter: {}, model: OTHER_MODEL })).json();
  await send('DELETE', `/v1/replays/${id}`);
  await sweep();
  await engine.run();
  expect(await view(id)).toMatchObject({ state: 'discarded', result: null, waiting: 0 });
});

test('a what-if changes the model of one step alone', async () => {
  const { finish, engine } = await lived();
  const { settings } = engine.deps.ledger;
  await settings.put(DEFAULT_TENANT, { ...(await settings.get(DEFAULT_TENANT)), models: { decide: OTHER_MODEL } });
  const filter = { user_id: 'ann' };
  const asInLife = await finish({ filter, shadow: true });
  expect(asInLife.result.memories).toEqual({ same: 2, added: 0, changed: 0, gone: 0 });
  const done = await finish({ filter, models: { extract: OTHER_MODEL } });
  expect(done.changes).toEqual({ models: { extract: OTHER_MODEL } });
  expect(done.result.memories).toEqual({ same: 0, added: 0, changed: 1, gone: 1 });
});

test.each([
  [{ filter: { state: 'consolidated' } }, /cannot be replayed live/],
  [{ filter: {}, model: 'unknown' }, /cannot be used/],
  [{ filter: {}, models: { decide: 'unknown' } }, /cannot be used/],
  [{ filter: {}, models: { think: OTHER_MODEL } }, /think/],
  [{ filter: {}, prompts: { extract: 'no placeholder' } }, /prompts.extract/],
  [{ filter: {}, temperature: 2 }, /temperature/],
] as const)('%j is refused with what to do', async (body, told) => {
  const { send } = await consoleBench();
  const answer = await send('POST', '/v1/replays', body);
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', detail: expect.stringMatching(told) });
});

test('more batches than one what-if takes are refused with how many there are', async () => {
  const { engine, send } = await consoleBench();
  for (let i = 0; i < 501; i += 1) await engine.post([`home: street ${i}`], { settings: { mode: 'verbatim' } });
  await engine.run();
  const answer = await send('POST', '/v1/replays', { filter: {}, model: OTHER_MODEL });
  expect(answer.json()).toMatchObject({ status: 400, detail: expect.stringContaining('501 batches match') });
});

test('a replay in life has no space to discard', async () => {
  const { send } = await consoleBench();
  const { id } = (await send('POST', '/v1/replays', { filter: {} })).json();
  expect((await send('DELETE', `/v1/replays/${id}`)).json()).toMatchObject({ status: 409, code: 'conflict' });
});

const ALL = { limit: 100, cursor: null };
const scopeOf = (userId: string) => ({ userId, agentId: null, runId: null, appId: null });

test('a tenant may name the models that the operator lists, an operator any', async () => {
  const STATIC = 'the-key-of-the-operator';
  const { app, engine } = await consoleBench({ apiKey: STATIC, audited: true, tenantModels: ['scripted', 'cheap'] });
  const ask = async (key: string, url: string, payload: object) =>
    app.inject({ method: 'POST', url, headers: { authorization: `Bearer ${key}` }, payload });
  const made = await ask(STATIC, '/v1/keys', { name: 'k', scopes: ['admin'], tenant: 'acme' });
  const acme = made.json().secret;
  const whatIf = { filter: { user_id: 'ann' }, model: OTHER_MODEL };
  for (const body of [whatIf, { ...whatIf, dry_run: true }]) {
    const refused = await ask(acme, '/v1/replays', body);
    expect(refused.json()).toMatchObject({
      status: 400,
      code: 'invalid_request',
      detail: expect.stringMatching(/scripted, cheap.*SLOWWAVE_TENANT_MODELS/),
      errors: [{ path: 'model' }],
    });
  }
  expect((await ask(STATIC, '/v1/replays', { ...whatIf, dry_run: true })).statusCode).toBe(200);
  const { deps } = engine;
  expect((await deps.ledger.replays.list('acme' as TenantId, { limit: 1, cursor: null })).results).toEqual([]);
});

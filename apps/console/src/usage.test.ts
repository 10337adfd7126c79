import { estimateTokens, sweepReplays } from '@slowwave/engine';
import { NEVER, newBatch, newMessage, scope } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('every call is listed by what it was for, and the sums are those of the overview and of the statistics', async () => {
  const { app, engine, send } = await consoleBench();
  await send('PUT', '/v1/settings', { prices: { scripted: { prompt: 1_000, completion: 1_000 } } });
  await engine.post(['home: Berlin']);
  await engine.run();
  await engine.post(['home: Rome']);
  await engine.run();
  const { results, next_cursor } = (await app.inject('/v1/usage?group_by=step,cause')).json();
  expect(next_cursor).toBeNull();
  const chat = results.filter(({ step }: { step: string }) => step !== 'embed');
  expect(chat).toMatchObject([
    { step: 'decide', cause: 'live', calls: 1, refused_calls: 0, unanswered: { calls: 0, prompt_tokens: 0 } },
    { step: 'extract', cause: 'live', calls: 2 },
  ]);
  for (const row of chat) expect(row.cost).toBeCloseTo((row.prompt_tokens + row.completion_tokens) / 1_000, 9);
  const { usage } = (await app.inject('/v1/overview')).json();
  const ofStep = (name: string) => chat.find(({ step }: { step: string }) => step === name).prompt_tokens;
  for (const { step, prompt_tokens } of usage.filter(({ step }: { step: string }) => step !== 'embed'))
    expect(prompt_tokens).toBe(ofStep(step));
});

test('a file for spreadsheets has every row, and no formula of somebody else', async () => {
  const { app, engine } = await consoleBench();
  await engine.post(['home: Berlin'], { userId: '=1+1, "x"' });
  await engine.run();
  const answer = await app.inject('/v1/usage?group_by=user&step=extract&format=csv');
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head = '', row = ''] = answer.body.split('\r\n');
  expect(head.split(',').slice(0, 4)).toEqual(['user_id', 'calls', 'prompt_tokens', 'completion_tokens']);
  expect(row).toMatch(/^"'=1\+1, ""x""",1,/);
});

test('pages follow each other, and what is kept no longer is not promised', async () => {
  const { app, engine } = await consoleBench();
  for (const userId of ['ann', 'bob', 'cid']) await engine.post(['home: Berlin'], { userId });
  await engine.run();
  const page = async (query: string) =>
    (await app.inject(`/v1/usage?group_by=user&step=extract&limit=2${query}`)).json();
  const first = await page('');
  expect(first.results.map(({ user_id }: { user_id: string }) => user_id)).toEqual(['ann', 'bob']);
  const { results, next_cursor } = await page(`&cursor=${first.next_cursor}`);
  expect([results[0].user_id, results.length, next_cursor]).toEqual(['cid', 1, null]);
  const long = new Date(engine.tools.now() - 60 * DAY).toISOString();
  expect(await page(`&from=${long}`)).toMatchObject({ code: 'invalid_request' });
  expect((await app.inject(`/v1/usage?group_by=day&from=${long}`)).statusCode).toBe(200);
  for (const wrong of ['group_by=moon', 'cursor=x', 'cause=fun', 'from=2027-01-01T00:00:00Z&to=2026-01-01T00:00:00Z'])
    expect((await app.inject(`/v1/usage?${wrong}`)).statusCode, wrong).toBe(400);
});

test('a key for one user sees the use of that user alone', async () => {
  const STATIC = 'the-key-of-the-operator';
  const { app, engine } = await consoleBench({ apiKey: STATIC, audited: true });
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const payload = { name: 'k', scopes: ['manage'], user_id: 'ann' };
  const made = await app.inject({ ...as(STATIC), method: 'POST', url: '/v1/keys', payload });
  const own = as(made.json().secret);
  for (const userId of ['ann', 'bob']) await engine.post(['home: Berlin'], { userId });
  await engine.run();
  const calls = async (url: string, key = own) => (await app.inject({ ...key, url })).json().results?.[0]?.calls;
  expect(await calls('/v1/usage?step=extract&user_id=ann')).toBe(1);
  expect(await calls('/v1/usage?step=extract', as(STATIC))).toBe(2);
  for (const url of ['/v1/usage', '/v1/usage?user_id=bob'])
    expect((await app.inject({ ...own, url })).json(), url).toMatchObject({ code: 'key_bound' });
});

test('a forecast goes by the own past, and comes true', async () => {
  const { app, engine, send } = await consoleBench();
  await send('PUT', '/v1/settings', { prices: { scripted: { prompt: 1_000, completion: 1_000 } } });
  const ask = async (body: object) => (await send('POST', '/v1/usage/forecast', body)).json();
  expect(await ask({ messages: 10 })).toMatchObject({ basis: { owners: 0 }, cost: null });
  expect((await send('POST', '/v1/usage/forecast', {})).statusCode).toBe(400);
  const lives = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
  const talk = (user: number) =>
    Array.from({ length: 2 + (user % 5) }, (_, i) => `thing ${i}: ${'of some length '.repeat(1 + ((user + i) % 7))}`);
  const tokensOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  const said = async (users: readonly number[]): Promise<void> => {
    const { deps, tools } = engine;
    for (const user of users) {
      const inScope = scope({ userId: `user ${user}` });
      const messages = talk(user).map((content) => newMessage(tools, { content }));
      const batch = newBatch(tools, { scope: inScope, messages, tokens: tokensOf(talk(user)), flush: true });
      await deps.ledger.batches.append(batch, deps.settings.due);
    }
    await engine.run();
  };
  const used = async () => {
    const [row] = (await app.inject('/v1/usage?group_by=cause&cause=live')).json().results;
    return { tokens: row.prompt_tokens + row.completion_tokens, cost: row.cost };
  };
  await said(lives(0, 12));
  const before = await used();
  const held = lives(100, 12);
  const tokens = tokensOf(held.flatMap(talk));
  const told = await ask({ tokens, owners: held.length, live: true });
  await said(held);
  const after = await used();
  const [truth, money] = [after.tokens - before.tokens, after.cost - before.cost];
  expect(told.basis.owners).toBe(12);
  expect(Math.abs(told.tokens.about - truth) / truth).toBeLessThan(0.1);
  expect(Math.abs(told.cost.about - money) / money).toBeLessThan(0.1);
  expect(Math.abs(told.tokens.about - truth)).toBeLessThanOrEqual(told.tokens.plus_minus);
});

test('a forecast of a re-extraction goes by other talk, and comes true', async () => {
  const { app, engine, deps, send } = await consoleBench();
  const { ledger, settings } = engine.deps;
  const talk = (user: number) =>
    Array.from({ length: 2 + (user % 5) }, (_, i) => `thing ${i}: ${'of some length '.repeat(1 + ((user + i) % 7))}`);
  const said = async (first: number): Promise<void> => {
    for (let user = first; user < first + 12; user += 1) {
      const messages = talk(user).map((content) => newMessage(engine.tools, { content }));
      const tokens = talk(user).reduce((sum, text) => sum + estimateTokens(text), 0);
      const inScope = scope({ userId: `user ${user}` });
      await ledger.batches.append(
        newBatch(engine.tools, { scope: inScope, messages, tokens, flush: true }),
        settings.due,
      );
    }
    await engine.run();
  };
  await said(100);
  engine.tools.advance(36 * DAY);
  const until = new Date(engine.tools.now()).toISOString();
  await said(0);
  const again = { filter: { until }, shadow: true };
  const told = (await send('POST', '/v1/replays', { ...again, dry_run: true })).json();
  expect(told).toMatchObject({ matched: 12, forecast: { basis: { owners: 12 } } });
  await send('POST', '/v1/replays', again);
  for (let pass = 0; pass < 2; pass += 1) {
    engine.tools.advance(HOUR);
    await sweepReplays({ ...engine.deps, nudge: deps.nudge, forgetFailed: deps.forgetFailed }, NEVER);
    await engine.run();
  }
  const [used] = (await app.inject('/v1/usage?group_by=cause&cause=what-if')).json().results;
  const truth = used.prompt_tokens + used.completion_tokens;
  expect(Math.abs(told.forecast.tokens.about - truth) / truth).toBeLessThan(0.1);

  const messages = Array.from({ length: 12 }, (_, i) => talk(100 + i).length).reduce((a, b) => a + b);
  const byCount = (await send('POST', '/v1/usage/forecast', { messages, owners: 12, live: true })).json();
  expect(Math.abs(byCount.tokens.about - truth) / truth, 'as long as those of the past').toBeLessThan(0.1);
});

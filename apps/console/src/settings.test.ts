import { DEFAULT_SETTINGS, DEFAULT_TENANT, type TenantId } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { consoleBench, OTHER_MODEL } from './testing/bench.ts';

const DEFAULTS = {
  instructions: null,
  includes: null,
  excludes: null,
  decide_instructions: null,
  categories: null,
  prompts: { extract: null, decide: null },
  models: {},
  review: [],
  external_content: 'review',
  due: {},
  prices: {},
  budgets: { tokens_per_day: null, cost_per_day: null, user_tokens_per_day: null, user_cost_per_day: null },
  economy: { soft_limit: 0.8, models: {} },
  hold_at: 20,
  retention: { messages_days: null, plans_days: null, history_days: null, forgotten_days: 30 },
  forgetting: { max_age_days: null, unconfirmed_days: null, max_memories: null },
  personal_data: 'off',
  timezone: null,
  graph: false,
  gate: null,
  sleep: {
    mode: 'off',
    idle_hours: 6,
    window: null,
    share_of_budget: 0.15,
    acts: {
      age: true,
      merge: true,
      contradictions: true,
      fade: true,
      patterns: false,
      skills: true,
      runs: true,
      profile: true,
    },
    limits: { calls: 20, tokens: 50_000, operations: 50, share: 0.3 },
    agents: false,
  },
  profile_slots: null,
};

const CHOSEN = {
  instructions: 'Remember what they drink.',
  includes: 'drinks',
  excludes: 'meals',
  decide_instructions: 'Keep both.',
  categories: ['drinks', '飲み物'],
  prompts: { extract: 'Sort into {{categories}}.', decide: 'Decide.' },
  models: { decide: OTHER_MODEL },
  review: ['DELETE', 'UPDATE'],
  external_content: 'ignore',
  due: { tokens: 500, exchanges: 3, idle_ms: 0, max_age_ms: 1_000 },
  prices: { 'my-model': { prompt: 0.15, completion: 0.6 } },
  budgets: { tokens_per_day: 500_000, cost_per_day: 2.5, user_tokens_per_day: 0, user_cost_per_day: 0.1 },
  economy: { soft_limit: 0.5, models: { extract: OTHER_MODEL } },
  hold_at: null,
  retention: { messages_days: 90, plans_days: 30, history_days: 400, forgotten_days: 7 },
  personal_data: 'drop',
  timezone: 'Asia/Tokyo',
  graph: true,
  gate: null,
  forgetting: { max_age_days: null, unconfirmed_days: 365, max_memories: 5_000 },
  sleep: {
    mode: 'preview',
    idle_hours: 1.5,
    window: { from: '22:00', to: '06:00', timezone: 'Asia/Tokyo' },
    share_of_budget: 0.2,
    acts: {
      age: true,
      merge: false,
      contradictions: true,
      fade: false,
      patterns: true,
      skills: false,
      runs: true,
      profile: true,
    },
    limits: { calls: 5, tokens: 9_000, operations: 7, share: 0.5 },
    agents: true,
  },
  profile_slots: [{ name: 'drinks', about: 'What they drink', lines: 3, categories: ['drinks'] }],
};

test('settings are the defaults until they are put, then what was put', async () => {
  const { app, send } = await consoleBench();
  expect((await app.inject('/v1/settings')).json()).toEqual(DEFAULTS);
  const answer = await send('PUT', '/v1/settings', CHOSEN);
  expect([answer.statusCode, answer.json()]).toEqual([200, CHOSEN]);
  const shown = (await app.inject('/v1/settings')).json();
  expect(shown).toEqual(CHOSEN);
  expect((await send('PUT', '/v1/settings', shown)).json()).toEqual(CHOSEN);
});

test('a tenant may choose the models that the operator allows, and keep one that the operator chose', async () => {
  const STATIC = 'the-key-of-the-operator';
  const { app, engine } = await consoleBench({ apiKey: STATIC, audited: true, tenantModels: ['scripted'] });
  const ask = async (key: string, payload: object, url = '/v1/settings') =>
    app.inject({
      ...{ method: url === '/v1/settings' ? 'PUT' : 'POST', url, payload },
      headers: { authorization: `Bearer ${key}` },
    });
  const made = await ask(STATIC, { name: 'k', scopes: ['admin'], tenant: 'acme' }, '/v1/keys');
  const acme = made.json().secret;
  const chosen = { models: { decide: OTHER_MODEL } };
  expect((await ask(acme, chosen)).json()).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/expected one of scripted; .*SLOWWAVE_TENANT_MODELS/),
    errors: [{ path: 'models.decide' }],
  });
  expect((await ask(STATIC, { models: { summary: 'nobody' } })).json()).toMatchObject({
    status: 400,
    errors: [{ path: 'models.summary', message: 'expected builtin' }],
  });
  const { settings } = engine.deps.ledger;
  await settings.put('acme' as TenantId, { ...DEFAULT_SETTINGS, ...chosen });
  expect((await ask(acme, { ...chosen, includes: 'drinks' })).json()).toMatchObject(chosen);
});

test('putting settings replaces all of them', async () => {
  const { app, send } = await consoleBench();
  await send('PUT', '/v1/settings', CHOSEN);
  await send('PUT', '/v1/settings', { review: ['ADD'], categories: [' Drinks '] });
  const expected = { ...DEFAULTS, review: ['ADD'], categories: ['drinks'] };
  expect((await app.inject('/v1/settings')).json()).toEqual(expected);
});

test('what is put reaches the engine', async () => {
  const { send, engine } = await consoleBench();
  await send('PUT', '/v1/settings', CHOSEN);
  expect(await engine.deps.ledger.settings.get(DEFAULT_TENANT)).toMatchObject({
    decideInstructions: 'Keep both.',
    due: { tokens: 500, exchanges: 3, idleMs: 0, maxAgeMs: 1_000 },
    budgets: { tokensPerDay: 500_000, costPerDay: 2.5, userTokensPerDay: 0, userCostPerDay: 0.1 },
  });
});

test.each([
  ['an unknown field', { language: 'en' }, 'language'],
  ['an unknown field further in', { due: { idle: 5 } }, 'due.idle'],
  ['no day at all', { retention: { messages_days: 0 } }, 'retention.messages_days'],
  ['half a memory', { forgetting: { max_memories: 1.5 } }, 'forgetting.max_memories'],
  ['a budget below zero', { budgets: { tokens_per_day: -1 } }, 'budgets.tokens_per_day'],
  ['a soft limit that is all of it', { economy: { soft_limit: 1 } }, 'economy.soft_limit'],
  ['a hold at what is usual', { hold_at: 1 }, 'hold_at'],
  ['a cheaper model of no step', { economy: { models: { embed: 'm' } } }, 'economy.models.embed'],
  ['a prompt without its placeholder', { prompts: { extract: 'Find facts.' } }, 'prompts.extract'],
  ['a prompt with an unknown placeholder', { prompts: { decide: 'Use {{x}}.' } }, 'prompts.decide'],
  ['a prompt that is too long', { prompts: { decide: 'a'.repeat(20_001) } }, 'prompts.decide'],
  ['instructions that are too long', { instructions: 'a'.repeat(4_001) }, 'instructions'],
  ['blank instructions', { excludes: '  ' }, 'excludes'],
  ['no category at all', { categories: [] }, 'categories'],
  ['a category twice', { categories: ['Food', 'food'] }, 'categories'],
  ['a category that is no name', { categories: ['food; drop'] }, 'categories[0]'],
  ['a category that is too long', { categories: ['a'.repeat(65)] }, 'categories[0]'],
  ['too many categories', { categories: Array.from({ length: 51 }, (_, i) => `c${i}`) }, 'categories'],
  ['a review of what changes nothing', { review: ['NONE'] }, 'review[0]'],
  ['a review of a kind twice', { review: ['ADD', 'ADD'] }, 'review'],
  ['a negative time', { due: { idle_ms: -1 } }, 'due.idle_ms'],
  ['half a token', { due: { tokens: 1.5 } }, 'due.tokens'],
  ['a negative price', { prices: { m: { prompt: -1, completion: 0 } } }, 'prices.m.prompt'],
  ['half a price', { prices: { m: { prompt: 1 } } }, 'prices.m.completion'],
])('settings with %s are refused, naming the place, and nothing is changed', async (_what, body, path) => {
  const { app, send } = await consoleBench();
  const answer = await send('PUT', '/v1/settings', body);
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path }] });
  expect((await app.inject('/v1/settings')).json()).toEqual(DEFAULTS);
});

test('a refused prompt says which placeholder it needs', async () => {
  const { send } = await consoleBench();
  const answer = await send('PUT', '/v1/settings', { prompts: { extract: 'Find facts.', decide: '{{facts}}' } });
  expect(answer.json().detail).toContain('{{categories}}');
  expect(answer.json().errors.map(({ path }: { path: string }) => path)).toEqual(['prompts.extract', 'prompts.decide']);
});

import { expect, test } from 'vitest';
import { readStandaloneConfig } from './config.ts';
import type { ModelAt } from './models.ts';

const key = { OPENAI_API_KEY: 'key-of-the-model-server' };
const standalone = (settings: Readonly<Record<string, string>>) => readStandaloneConfig({}, settings);

test('a step may have a model of its own, at its own server, with fallbacks', () => {
  const { stepModels, chatFallbacks } = standalone({
    ...key,
    SLOWWAVE_CHAT_FALLBACK: 'spare, second-spare',
    SLOWWAVE_EXTRACT_MODEL: 'small',
    SLOWWAVE_DECIDE_MODEL: 'careful',
    SLOWWAVE_DECIDE_BASE_URL: 'http://decide:8000/v1',
    SLOWWAVE_DECIDE_FALLBACK: 'less-careful',
    SLOWWAVE_RECALL_EXTRA_BODY: '{"reasoning_effort":"low"}',
    SLOWWAVE_SUMMARY_MODEL: 'tiny',
    SLOWWAVE_SUMMARY_FALLBACK: 'none',
  });
  const shown = (list: readonly ModelAt[] = []) =>
    list.map(({ model, server: { baseUrl, apiKey, extraBody } }) => ({ model, baseUrl, apiKey, extraBody }));
  const at = { baseUrl: null, apiKey: key.OPENAI_API_KEY, extraBody: {} };
  const usual = [
    { model: 'spare', ...at },
    { model: 'second-spare', ...at },
  ];
  expect(shown(chatFallbacks)).toEqual(usual);
  expect(shown(stepModels.extract)).toEqual([{ model: 'small', ...at }, ...usual]);
  const own = { baseUrl: 'http://decide:8000/v1', apiKey: null, extraBody: {} };
  expect(shown(stepModels.decide)).toEqual([
    { model: 'careful', ...own },
    { model: 'less-careful', ...own },
  ]);
  const asked = { model: 'gpt-4.1-mini', ...at, extraBody: { reasoning_effort: 'low' } };
  expect(shown(stepModels.recall)).toEqual([asked, ...usual]);
  expect(shown(stepModels.summary)).toEqual([{ model: 'tiny', ...at }]);
  expect(stepModels.graph).toBeUndefined();
});

test('fallbacks may be at another provider, which is never sent the key of the first', () => {
  const other = { SLOWWAVE_CHAT_FALLBACK: 'spare', SLOWWAVE_FALLBACK_BASE_URL: 'http://other:8000/v1' };
  const [spare] = standalone({ ...key, ...other }).chatFallbacks;
  expect(spare).toMatchObject({
    model: 'spare',
    server: {
      ...{ baseUrl: other.SLOWWAVE_FALLBACK_BASE_URL, apiKey: null },
      settings: { baseUrl: 'SLOWWAVE_FALLBACK_BASE_URL', model: 'SLOWWAVE_CHAT_FALLBACK' },
    },
  });
});

test.each([
  [{ SLOWWAVE_DECIDE_MODEL: 'careful' }, 'SLOWWAVE_DECIDE_MODEL: a model needs a server'],
  [{ SLOWWAVE_DECIDE_BASE_URL: 'http://d/v1' }, 'SLOWWAVE_DECIDE_MODEL: a separate server needs the name'],
  [{ SLOWWAVE_GRAPH_EXTRA_BODY: '{}' }, 'SLOWWAVE_GRAPH_EXTRA_BODY: only applies with a model server'],
  [{ SLOWWAVE_CHAT_FALLBACK: 'spare' }, 'SLOWWAVE_CHAT_FALLBACK: only applies with a model server'],
  [{ ...key, SLOWWAVE_CHAT_FALLBACK: 'builtin' }, 'SLOWWAVE_CHAT_FALLBACK: the builtin rules cannot be a fallback'],
  [{ ...key, SLOWWAVE_FALLBACK_API_KEY: 'other' }, 'SLOWWAVE_FALLBACK_API_KEY: only applies with fallbacks'],
])('of models by step %j is refused', (settings, problem) => {
  expect(() => standalone(settings)).toThrow(`invalid settings:\n  - ${problem}`);
});

import { expect, test } from 'vitest';
import { translate } from './errors.ts';

const thrown = (facts: object): Error => Object.assign(new Error('inside: host db-7'), facts);

test.each([
  [{ name: 'EngineError', code: 'ledger_unavailable' }, 503, 'unavailable'],
  [{ name: 'EngineError', code: 'queue_unavailable' }, 503, 'unavailable'],
  [{ name: 'EngineError', code: 'index_unavailable' }, 503, 'unavailable'],
  [{ name: 'EngineError', code: 'model_timeout' }, 502, 'model_unavailable'],
  [{ name: 'EngineError', code: 'model_misconfigured' }, 502, 'model_unavailable'],
  [{ name: 'EngineError', code: 'rate_limited' }, 502, 'model_unavailable'],
  [{ name: 'EngineError', code: 'circuit_open' }, 502, 'model_unavailable'],
  [{ name: 'EngineError', code: 'unsupported_content' }, 422, 'unsupported_content'],
  [{ name: 'EngineError', code: 'internal' }, 500, 'internal'],
  [{ name: 'InvalidCursorError', code: undefined }, 400, 'invalid_cursor'],
  [{ name: 'FilterError', path: 'filters.x', expected: 'a text', got: '7' }, 400, 'invalid_request'],
  [{ name: 'TypeError', code: undefined }, 500, 'internal'],
])('%j becomes %i %s', (facts, status, told) => {
  const problem = translate(thrown(facts));
  expect(problem).toMatchObject({ statusCode: status, code: told });
  expect(status >= 500 && problem.message.includes('db-7')).toBe(false);
  expect(problem.headers['retry-after']).toBe(status === 502 || status === 503 ? '2' : undefined);
});

test('a budget that is used up is told with when to come back, as nothing that clients wait out', () => {
  const problem = translate(thrown({ name: 'EngineError', code: 'budget_exhausted', retryAfterMs: 299_001 }));
  expect(problem).toMatchObject({ statusCode: 402, code: 'budget_exhausted', headers: { 'retry-after': '300' } });
});

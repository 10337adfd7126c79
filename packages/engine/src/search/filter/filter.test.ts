import { describe, expect, it } from 'vitest';
import type { Json } from '../../words.ts';
import { scopeFromFilter } from './filter.ts';
import { readFilter } from './read.ts';

const lifted = (json: Json) => scopeFromFilter(readFilter(json));
const ANN = { userId: 'ann', agentId: null, runId: null, appId: null };

describe('the scope that a filter names', () => {
  it.each<[Json, object]>([
    [{ user_id: 'ann' }, ANN],
    [{ AND: [{ user_id: { eq: 'ann' } }, { app_id: 'web' }] }, { ...ANN, appId: 'web' }],
    [{ AND: [{ AND: [{ user_id: ['ann'] }] }, { run_id: '*' }, { agent_id: { ne: 'x' } }] }, ANN],
    [
      { agent_id: 'bot', categories: 'food' },
      { ...ANN, userId: null, agentId: 'bot' },
    ],
  ])('is what %j demands', (json, scope) => {
    expect(lifted(json)).toEqual(scope);
  });

  it.each<[Json]>([
    [{}],
    [{ OR: [{ user_id: 'ann' }, { user_id: 'bob' }] }],
    [{ NOT: [{ user_id: 'ann' }] }],
    [{ user_id: ['ann', 'bob'] }],
    [{ user_id: '*' }],
    [{ user_id: { ne: 'ann' } }],
    [{ app_id: 'web' }],
    [{ 'metadata.user_id': 'ann' }],
    [{ metadata: { userId: 'ann' } }],
  ])('is not there in %j', (json) => {
    expect(lifted(json)).toBeNull();
  });
});

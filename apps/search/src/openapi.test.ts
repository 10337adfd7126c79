import { descriptionOf } from '@slowwave/http/testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const ROUTES = [
  '/v1/search',
  '/v1/context',
  '/v1/recall',
  '/v1/memories',
  '/v1/memories/{id}',
  '/v1/memories/{id}/history',
  '/v1/memories/{id}/sources',
  '/v1/memories/{id}/receipts',
  '/v1/messages',
  '/v1/receipts/{id}',
  '/v1/receipts/{id}/outcome',
  '/v1/users',
  '/v1/ids',
  '/v1/ids/memories',
  '/v1/stats',
  '/v1/graph',
  '/v1/graph/query',
  '/v1/graph/proposals',
  '/v1/entities',
  '/v1/entities/{id}',
  '/v1/entities/{id}/history',
  '/v1/relations',
  '/v1/relations/{id}',
  '/v1/relations/{id}/history',
];

test('the description lists every route, with references that resolve and the form of failures', async () => {
  const { app } = await searchBench();
  expect(await descriptionOf(app), 'a route belongs in ROUTES').toEqual({ routes: [...ROUTES].sort(), missing: [] });
});

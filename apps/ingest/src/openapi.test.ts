import { descriptionOf } from '@slowwave/http/testing';
import { expect, test } from 'vitest';
import { ingestBench } from './testing/bench.ts';

const ROUTES = ['/v1/batches', '/v1/batches/{id}', '/v1/flush'];

test('the description lists every route, with references that resolve and the form of failures', async () => {
  const { app } = await ingestBench();
  expect(await descriptionOf(app), 'a route belongs in ROUTES').toEqual({ routes: [...ROUTES].sort(), missing: [] });
});

import { descriptionOf } from '@slowwave/http/testing';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const ROUTES = [
  '/v1/agents/{id}',
  '/v1/runs/{id}',
  '/v1/audit',
  '/v1/session',
  '/v1/session/renew',
  '/v1/users/{id}/links',
  '/v1/users/{id}/pause',
  '/v1/memories',
  '/v1/relations',
  '/v1/relations/{id}',
  '/v1/entities/{id}',
  '/v1/entities/{id}/merge',
  '/v1/entities/{id}/split',
  '/v1/memories/{id}',
  '/v1/memories/{id}/feedback',
  '/v1/memories/{id}/restore',
  '/v1/consolidations',
  '/v1/consolidations/{id}',
  '/v1/consolidations/{id}/prompts',
  '/v1/consolidations/{id}/undo',
  '/v1/consolidations/{id}/graph',
  '/v1/consolidations/preview',
  '/v1/parked',
  '/v1/doctor',
  '/v1/models',
  '/v1/overview',
  '/v1/replays',
  '/v1/replays/{id}',
  '/v1/keys',
  '/v1/keys/{id}',
  '/v1/keys/{id}/rotate',
  '/v1/reviews',
  '/v1/reviews/{id}',
  '/v1/settings',
  '/v1/tenants/{id}/ceilings',
  '/v1/undos',
  '/v1/undos/{id}/redo',
  '/v1/users/{id}',
  '/v1/users/{id}/export',
  '/v1/users/{id}/rollback',
  '/v1/erasures',
  '/v1/erasures/{id}',
  '/v1/retention/preview',
  '/v1/webhooks',
  '/v1/webhooks/{id}',
  '/v1/webhooks/{id}/deliveries',
  '/v1/webhooks/{id}/deliveries/{delivery_id}/replay',
  '/v1/webhooks/{id}/deliveries/replay',
];

test('the description lists every route, with references that resolve and the form of failures', async () => {
  const { app } = await consoleBench();
  expect(await descriptionOf(app)).toEqual({ routes: [...ROUTES].sort(), missing: [] });
});

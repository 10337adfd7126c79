import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const ROUTES = [
  '/v1/memories',
  '/v1/memories/{id}',
  '/v1/consolidations',
  '/v1/consolidations/{id}',
  '/v1/consolidations/preview',
  '/v1/replays',
  '/v1/reviews',
  '/v1/reviews/{id}',
  '/v1/settings',
];

test('the description lists every route, with references that resolve and the form of failures', async () => {
  const { app } = await consoleBench();
  const document = (await app.inject('/openapi.json')).json();
  const described = Object.keys(document.paths).filter((path) => path.startsWith('/v1/'));
  expect(described.sort()).toEqual([...ROUTES].sort());
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, name]) => name ?? '');
  const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect(known).toEqual(expect.arrayContaining([...references, '#/components/schemas/Problem']));
});

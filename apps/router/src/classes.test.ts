import { describe, expect, it } from 'vitest';
import { namedLoosely, ownerIn, routeOf, tenantIn } from './classes.ts';
import type { Asked } from './send.ts';

const asked = (line: string, body: unknown = null, headers: Asked['headers'] = {}): Asked => {
  const [method = '', url = ''] = line.split(' ');
  const [path = '', query = ''] = url.split('?');
  return {
    ...{ method, url, path, query: new URLSearchParams(query), headers, address: '127.0.0.1' },
    body: body === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)),
    signal: new AbortController().signal,
  };
};

describe('the class of a request', () => {
  it.each([
    ['POST /v1/batches', 'owner', {}],
    ['GET /v1/memories/mem_1', 'id', { id: 'mem_1' }],
    ['GET /v1/memories', 'owner', {}],
    ['PUT /v1/settings', 'home', {}],
    ['GET /v1/stats', 'all', {}],
    ['GET /v1/erasures/ers_1', 'found', { id: 'ers_1' }],
    ['POST /v1/consolidations/preview', 'owner', {}],
    ['DELETE /v1/users/ann/profile/name/mem_1', 'owner', { id: 'ann', slot: 'name', memory: 'mem_1' }],
    ['POST /v1/webhooks/whk_1/deliveries/replay', 'all', { id: 'whk_1' }],
  ])('%s goes to %s', (line, to, params) => {
    const [method = '', path = ''] = line.split(' ');
    const found = routeOf(method, path);
    expect([found?.route.to, found?.params]).toEqual([to, params]);
  });

  it('is none where there is no such route', () => {
    expect(routeOf('GET', '/v1/nothing')).toBeNull();
    expect(routeOf('PATCH', '/v1/batches')).toBeNull();
  });
});

describe('the owner of a request', () => {
  const ann = { kind: 'user', id: 'ann' };
  it.each([
    ['the body', asked('POST /v1/batches', { user_id: 'ann', agent_id: 'bot' }), ann],
    ['filters', asked('POST /v1/search', { query: 'x', filters: { user_id: 'ann' } }), ann],
    ['the query', asked('GET /v1/memories?agent_id=bot'), { kind: 'agent', id: 'bot' }],
    [
      'the header',
      asked('POST /v1/search', { query: 'x' }, { 'x-slowwave-user': 'a%20b' }),
      { kind: 'user', id: 'a b' },
    ],
    ['nowhere', asked('GET /v1/batches?limit=3'), null],
    ['a body that is no JSON', { ...asked('POST /v1/batches'), body: Buffer.from('{') }, null],
  ] as const)('is in %s', (_where, request, owner) => {
    expect(ownerIn('scope', { asked: request, params: {} })).toEqual(owner);
  });

  it('is the run of a path only if the query names nobody before it', () => {
    const params = { id: 'run%2F1' };
    expect(ownerIn('task', { asked: asked('GET /v1/runs/run%2F1/state'), params })).toEqual({
      kind: 'run',
      id: 'run/1',
    });
    expect(ownerIn('task', { asked: asked('GET /v1/runs/run%2F1/state?user_id=ann'), params })).toEqual(ann);
    expect(ownerIn('run', { asked: asked('DELETE /v1/runs/r'), params: { id: 'r' } })).toEqual({
      kind: 'run',
      id: 'r',
    });
  });

  it('is found in what mem0 and tools for models say in their own way', () => {
    const id = 'mem_01k9qz4m7w3f0a8hsc2v7rk40d';
    const filters = { AND: [{ user_id: 'ann' }, { category: 'food' }] };
    expect(namedLoosely(asked('POST /mem0/v2/memories/search', { query: 'x', filters }))).toEqual({
      owner: ann,
      id: null,
    });
    const call = { method: 'tools/call', params: { name: 'search', arguments: { user_id: 'ann' } } };
    expect(namedLoosely(asked('POST /mcp', call))).toEqual({ owner: ann, id: null });
    expect(namedLoosely(asked(`GET /mem0/v1/memories/${id}`))).toEqual({ owner: null, id });
    expect(namedLoosely(asked('GET /mem0/v1/ping'))).toEqual({ owner: null, id: null });
  });

  it('may belong to another tenant than the key', () => {
    const of = (request: Asked, params = {}) => ({ asked: request, params });
    expect(tenantIn('body', of(asked('POST /v1/keys', { tenant: 'acme' })))).toBe('acme');
    expect(tenantIn('query', of(asked('GET /v1/keys?tenant=acme')))).toBe('acme');
    expect(tenantIn('path', of(asked('GET /v1/tenants/acme/ceilings'), { id: 'acme' }))).toBe('acme');
    expect(tenantIn(undefined, of(asked('GET /v1/settings')))).toBeNull();
  });
});

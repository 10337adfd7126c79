import { KeyList, KeyQuery, KeyView, KeyWithSecret, ListKeysQuery, PostKey, RotateKey } from '@slowwave/contracts';
import {
  type ApiKey,
  DEFAULT_TENANT,
  isoOf,
  isoOrNull,
  type Millis,
  type NewKey,
  type TenantId,
} from '@slowwave/engine';
import {
  type App,
  concerns,
  IdParams,
  isKeyless,
  isOperator,
  listed,
  notFound,
  pageOf,
  principalOf,
  problem,
} from '@slowwave/http';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';

/** API keys. */
export function keyRoutes(app: App, deps: ConsoleDeps): void {
  postKey(app, deps);
  listKeys(app, deps);
  rotateKey(app, deps);
  deleteKey(app, deps);
}

const postKeySchema = {
  operationId: 'postKey',
  tags: ['keys'],
  summary: 'Create a key',
  description:
    'The secret is only returned in this response. Creating its first key creates a tenant. Once any key exists, ' +
    'every request needs one; the very first key must therefore be an admin of the tenant default.',
  body: PostKey,
  response: { 201: KeyWithSecret },
};

function postKey(app: App, { ledger, tools, newSecret }: ConsoleDeps): void {
  app.post('/v1/keys', { schema: postKeySchema }, async (request, reply) => {
    const tenant = tenantNamed(request, request.body.tenant);
    const opensAll = tenant === DEFAULT_TENANT && request.body.scopes.includes('admin');
    if (isKeyless(request) && !opensAll && !(await ledger.keys.any())) throw lockingOut();
    const id = tools.id('key');
    const { secret, hash } = newSecret(id);
    const key = newKey(request.body, { id, hash, tenant, createdAt: tools.now() });
    await ledger.keys.create(key);
    concerns(request, { kind: 'key', id });
    const view = keyView({ ...key, previous: null, revokedAt: null, lastUsedAt: null });
    return reply.code(201).send({ ...view, secret });
  });
}

/** From the first key on every request needs one: where no other could make keys, nobody could any more. */
const lockingOut = () =>
  problem(
    'conflict',
    'this would be the first key; after that every request needs a key, and this one cannot create others. First ' +
      'create a key for yourself, of the tenant default with the scope admin (slowwave keys create operator ' +
      '--scopes admin), and use it to create this one',
  );

type Made = { id: string; hash: string; tenant: TenantId; createdAt: Millis };

function newKey(body: z.infer<typeof PostKey>, made: Made): NewKey {
  const expiresAt = body.expires_at === undefined ? null : Date.parse(body.expires_at);
  if (expiresAt !== null && expiresAt <= made.createdAt) throw overAlready(expiresAt, made.createdAt);
  const scopes = [...new Set(body.scopes)];
  return { ...made, name: body.name, scopes, userId: body.user_id ?? null, appId: body.app_id ?? null, expiresAt };
}

const overAlready = (expiresAt: Millis, now: Millis) =>
  problem('invalid_request', `expected a time in the future, got ${isoOf(expiresAt)}; it is ${isoOf(now)}`, {
    errors: [{ path: 'expires_at', message: 'expected a time in the future' }],
  });

const listKeysSchema = {
  operationId: 'listKeys',
  tags: ['keys'],
  summary: 'List keys, newest first, including expired and revoked ones',
  querystring: ListKeysQuery,
  response: { 200: KeyList },
};

function listKeys(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/keys', { schema: listKeysSchema }, async (request) => {
    const tenant = tenantNamed(request, request.query.tenant);
    return listed(await ledger.keys.list(tenant, pageOf(request.query)), keyView);
  });
}

const SECOND_MS = 1_000;

const rotateKeySchema = {
  operationId: 'rotateKey',
  tags: ['keys'],
  summary: 'Rotate the secret of a key',
  description:
    'The new secret is only returned in this response. The current secret stays valid for grace_seconds; older ones ' +
    'become invalid at once.',
  params: IdParams,
  body: RotateKey,
  response: { 200: KeyWithSecret },
};

function rotateKey(app: App, { ledger, tools, newSecret }: ConsoleDeps): void {
  app.post('/v1/keys/:id/rotate', { schema: rotateKeySchema }, async (request) => {
    const { id } = request.params;
    const tenant = tenantNamed(request, request.body.tenant);
    const now = tools.now();
    refuseEnded(await ledger.keys.get(tenant, id), { id, now });
    const { secret, hash } = newSecret(id);
    const until = now + request.body.grace_seconds * SECOND_MS;
    // It may have been revoked in between, and then it was not rotated.
    const key = refuseEnded(await ledger.keys.rotate(tenant, id, { hash, until }), { id, now });
    return { ...keyView(key), secret };
  });
}

function refuseEnded(key: ApiKey | null, { id, now }: { id: string; now: Millis }): ApiKey {
  if (key === null) throw notFound('key', id);
  const { revokedAt, expiresAt } = key;
  if (revokedAt !== null) throw ended(id, `was revoked at ${isoOf(revokedAt)}`);
  if (expiresAt !== null && expiresAt <= now) throw ended(id, `expired at ${isoOf(expiresAt)}`);
  return key;
}

const ended = (id: string, why: string) => problem('conflict', `key ${id} ${why}; create a new one`);

const deleteKeySchema = {
  operationId: 'revokeKey',
  tags: ['keys'],
  summary: 'Revoke a key',
  description: 'Permanent. Takes effect in every process within 5 s. The key stays in the list.',
  params: IdParams,
  querystring: KeyQuery,
  response: { 200: KeyView },
};

function deleteKey(app: App, { ledger, tools }: ConsoleDeps): void {
  app.delete('/v1/keys/:id', { schema: deleteKeySchema }, async (request) => {
    const { id } = request.params;
    const key = await ledger.keys.revoke(tenantNamed(request, request.query.tenant), id, tools.now());
    if (key === null) throw notFound('key', id);
    return keyView(key);
  });
}

/** A key without what could be used of it. */
const keyView = (key: ApiKey): KeyView => ({
  id: key.id,
  tenant: key.tenant,
  name: key.name,
  scopes: [...key.scopes],
  user_id: key.userId,
  app_id: key.appId,
  created_at: isoOf(key.createdAt),
  expires_at: isoOrNull(key.expiresAt),
  revoked_at: isoOrNull(key.revokedAt),
  last_used_at: isoOrNull(key.lastUsedAt),
  previous_until: isoOrNull(key.previous?.until ?? null),
});

/** Which tenant is meant: the own one, unless an operator names another one. */
export function tenantNamed(request: FastifyRequest, named: string | undefined): TenantId {
  const principal = principalOf(request);
  if (named === undefined || named === principal.tenant || isOperator(principal))
    return (named ?? principal.tenant) as TenantId;
  throw problem('scope_missing', 'only admins of the tenant default can manage other tenants');
}

import { KeyWithSecret, PostKey } from '@slowwave/contracts';
import { DEFAULT_TENANT, isoOf, type Millis, type NewKey, type TenantId } from '@slowwave/engine';
import { type App, concerns, isKeyless, problem } from '@slowwave/http';
import type { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';
import { tenantNamed } from './tenant-named.ts';
import { keyView } from './views/key.ts';

const schema = {
  operationId: 'postKey',
  tags: ['keys'],
  summary: 'Create a key',
  description:
    'The secret is only returned in this response. Creating its first key creates a tenant. Once any key exists, ' +
    'every request needs one; the very first key must therefore be an admin of the tenant default.',
  body: PostKey,
  response: { 201: KeyWithSecret },
};

export function postKey(app: App, { ledger, tools, newSecret }: ConsoleDeps): void {
  app.post('/v1/keys', { schema }, async (request, reply) => {
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

import {
  type AuditEntryView,
  AuditList,
  KeyList,
  KeyQuery,
  KeyView,
  KeyWithSecret,
  ListAuditQuery,
  ListKeysQuery,
  PostKey,
  RotateKey,
} from '@slowwave/contracts';
import {
  type ApiKey,
  DEFAULT_TENANT,
  isoOf,
  isoOrNull,
  type Millis,
  type NewKey,
  outcomeOf,
  type TenantId,
  type TrailEntry,
  type TrailFilter,
} from '@slowwave/engine';
import {
  concerns,
  given,
  IdParams,
  isKeyless,
  isOperator,
  listed,
  momentOf,
  notFound,
  pageOf,
  principalOf,
  problem,
} from '@slowwave/http';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { routesOf } from './deps.ts';

const route = routesOf('keys');
const auditRoute = routesOf('audit');

/** API keys, and the log of what was done with them. */
export const keyRoutes = [
  route('POST /v1/keys', {
    id: 'postKey',
    summary: 'Create a key',
    description:
      'The secret is only returned in this response. Creating its first key creates a tenant. Once any key exists, ' +
      'every request needs one; the very first key must therefore be an admin of the tenant default.',
    body: PostKey,
    answer: { 201: KeyWithSecret },
    handle: async ({ ledger, tools, newSecret }, { body, request }) => {
      const tenant = tenantNamed(request, body.tenant);
      const opensAll = tenant === DEFAULT_TENANT && body.scopes.includes('admin');
      if (isKeyless(request) && !opensAll && !(await ledger.keys.any())) throw lockingOut();
      const id = tools.id('key');
      const { secret, hash } = newSecret(id);
      const key = newKey(body, { id, hash, tenant, createdAt: tools.now() });
      await ledger.keys.create(key);
      concerns(request, { kind: 'key', id });
      const view = keyView({ ...key, previous: null, revokedAt: null, lastUsedAt: null });
      return { ...view, secret };
    },
  }),
  route('GET /v1/keys', {
    id: 'listKeys',
    summary: 'List keys, newest first, including expired and revoked ones',
    query: ListKeysQuery,
    answer: KeyList,
    handle: async ({ ledger }, { query, request }) => {
      const tenant = tenantNamed(request, query.tenant);
      return listed(await ledger.keys.list(tenant, pageOf(query)), keyView);
    },
  }),
  route('POST /v1/keys/:id/rotate', {
    id: 'rotateKey',
    summary: 'Rotate the secret of a key',
    description:
      'The new secret is only returned in this response. The current secret stays valid for grace_seconds; older ones ' +
      'become invalid at once.',
    params: IdParams,
    body: RotateKey,
    answer: KeyWithSecret,
    handle: async ({ ledger, tools, newSecret }, { params, body, request }) => {
      const { id } = params;
      const tenant = tenantNamed(request, body.tenant);
      const now = tools.now();
      refuseEnded(await ledger.keys.get(tenant, id), { id, now });
      const { secret, hash } = newSecret(id);
      const until = now + body.grace_seconds * SECOND_MS;
      // It may have been revoked meanwhile; then it was not rotated.
      const key = refuseEnded(await ledger.keys.rotate(tenant, id, { hash, until }), { id, now });
      return { ...keyView(key), secret };
    },
  }),
  route('DELETE /v1/keys/:id', {
    id: 'revokeKey',
    summary: 'Revoke a key',
    description: 'Permanent. Takes effect in every process within 5 s. The key stays in the list.',
    params: IdParams,
    query: KeyQuery,
    answer: KeyView,
    handle: async ({ ledger, tools }, { params, query, request }) => {
      const { id } = params;
      const key = await ledger.keys.revoke(tenantNamed(request, query.tenant), id, tools.now());
      if (key === null) throw notFound('key', id);
      return keyView(key);
    },
  }),
  auditRoute('GET /v1/audit', {
    id: 'listAudit',
    summary: 'List the audit log, newest first',
    description:
      'Lists every request that changes something, reads by admins, sign-ins and refused requests, each within a ' +
      'second of its response. Repeated refusals of the same kind are listed once a minute. Entries never contain ' +
      'texts.',
    query: ListAuditQuery,
    answer: AuditList,
    handle: async ({ ledger }, { query, request }) => {
      const tenant = tenantNamed(request, query.tenant);
      return listed(await ledger.trail.list(tenant, filterOf(query), pageOf(query)), entryView);
    },
  }),
];

/** After the first key, every request needs one. If it cannot create keys, nobody could create any more. */
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

const SECOND_MS = 1_000;

function refuseEnded(key: ApiKey | null, { id, now }: { id: string; now: Millis }): ApiKey {
  if (key === null) throw notFound('key', id);
  const { revokedAt, expiresAt } = key;
  if (revokedAt !== null) throw ended(id, `was revoked at ${isoOf(revokedAt)}`);
  if (expiresAt !== null && expiresAt <= now) throw ended(id, `expired at ${isoOf(expiresAt)}`);
  return key;
}

const ended = (id: string, why: string) => problem('conflict', `key ${id} ${why}; create a new one`);

/** A key without its secrets. */
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

/** The tenant of the key, unless an operator names another one. */
export function tenantNamed(request: FastifyRequest, named: string | undefined): TenantId {
  const principal = principalOf(request);
  if (named === undefined || named === principal.tenant || isOperator(principal))
    return (named ?? principal.tenant) as TenantId;
  throw problem('scope_missing', 'only admins of the tenant default can manage other tenants');
}

const filterOf = ({ by, subject, action, outcome, since, until }: z.infer<typeof ListAuditQuery>): TrailFilter =>
  given({ by, subject, action, outcome, since: momentOf(since), until: momentOf(until) });

const entryView = ({ at, requestId, status, subject, ...entry }: TrailEntry): AuditEntryView => ({
  ...entry,
  at: isoOf(at),
  subject: subject && { ...subject },
  outcome: outcomeOf(status),
  status,
  request_id: requestId,
});

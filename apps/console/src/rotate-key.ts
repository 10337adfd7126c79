import { KeyWithSecret, RotateKey } from '@slowwave/contracts';
import { type ApiKey, isoOf, type Millis } from '@slowwave/engine';
import { type App, IdParams, notFound, problem } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { tenantNamed } from './tenant-named.ts';
import { keyView } from './views/key.ts';

const SECOND_MS = 1_000;

const schema = {
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

export function rotateKey(app: App, { ledger, tools, newSecret }: ConsoleDeps): void {
  app.post('/v1/keys/:id/rotate', { schema }, async (request) => {
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

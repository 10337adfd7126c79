import type { KeyView } from '@slowwave/contracts';
import { type ApiKey, isoOf, isoOrNull } from '@slowwave/engine';

/** A key without what could be used of it. */
export const keyView = (key: ApiKey): KeyView => ({
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

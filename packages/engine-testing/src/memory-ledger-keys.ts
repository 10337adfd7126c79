import type { ApiKey, KeyStore, Millis, TenantId } from '@slowwave/engine';
import { pageOf } from './memory-ledger-page.ts';
import type { State } from './memory-ledger-state.ts';

export function memoryKeys({ apiKeys }: State): KeyStore {
  let seal: string | null = null;
  const get = (tenant: TenantId, id: string): ApiKey | null => {
    const key = apiKeys.get(id);
    return key?.tenant === tenant ? key : null;
  };
  const change = (key: ApiKey | null, fields: Partial<ApiKey>): ApiKey | null => {
    if (key === null) return null;
    const changed = { ...key, ...fields };
    apiKeys.set(key.id, changed);
    return changed;
  };
  return {
    create: async (key) => void apiKeys.set(key.id, { ...key, previous: null, revokedAt: null, lastUsedAt: null }),
    find: async (id) => apiKeys.get(id) ?? null,
    get: async (tenant, id) => get(tenant, id),
    list: async (tenant, page) => {
      const rows = [...apiKeys.values()].filter((key) => key.tenant === tenant);
      return pageOf(rows, ({ createdAt, id }) => ({ order: createdAt, id }), page);
    },
    revoke: async (tenant, id, now) => {
      const key = get(tenant, id);
      return change(key, { revokedAt: key?.revokedAt ?? now });
    },
    rotate: async (tenant, id, { hash, until }) => {
      const key = get(tenant, id);
      if (key === null || key.revokedAt !== null) return key;
      return change(key, { hash, previous: { hash: key.hash, until } });
    },
    used: async (id, at) => void change(apiKeys.get(id) ?? null, { lastUsedAt: at }),
    any: async () => apiKeys.size > 0,
    seal: async (made) => (seal ??= made),
  };
}

/** The user is erased: what names them goes, and with it the key's use. */
export function forgetInKeys(state: State, { tenant, userId, now }: { tenant: TenantId; userId: string; now: Millis }) {
  for (const key of state.apiKeys.values()) {
    if (key.tenant !== tenant || key.userId !== userId) continue;
    state.apiKeys.set(key.id, { ...key, userId: null, name: '', revokedAt: key.revokedAt ?? now });
  }
}

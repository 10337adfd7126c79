import type { ApiKey, KeyStore, Link, LinkStore, Millis, TenantId } from '@slowwave/engine';
import { DAY_MS } from '@slowwave/engine/storing';
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

export function memoryLinks(state: State): LinkStore {
  const { links } = state;
  const change = (link: Link, fields: Partial<Link>): Link => {
    const changed = { ...link, ...fields };
    links.set(link.id, changed);
    return changed;
  };
  return {
    create: async (link) => {
      const { tenant, userId, createdAt } = link;
      for (const old of linksOf(state, { tenant, userId }))
        if (old.expiresAt < createdAt - 30 * DAY_MS) links.delete(old.id);
      links.set(link.id, { ...link, openedAt: null, token: null });
    },
    find: async (id) => links.get(id) ?? null,
    open: async (id, token, now) => {
      const link = links.get(id);
      if (link === undefined || link.openedAt !== null || link.expiresAt <= now) return false;
      change(link, { openedAt: now, token });
      return true;
    },
    prolong: async (id, until, now) => {
      const link = links.get(id);
      if (link === undefined || link.token === null || link.token.until <= now) return null;
      return change(link, { token: { ...link.token, until: Math.min(until, link.expiresAt) } });
    },
    end: async (tenant, userId) => endLinks(state, { tenant, userId }),
  };
}

interface OfUser {
  readonly tenant: TenantId;
  readonly userId: string;
}

const linksOf = ({ links }: State, { tenant, userId }: OfUser): Link[] =>
  [...links.values()].filter((link) => link.tenant === tenant && link.userId === userId);

export function endLinks(state: State, of: OfUser): number {
  const ended = linksOf(state, of);
  for (const { id } of ended) state.links.delete(id);
  return ended.length;
}

/** The user is erased: what names them goes, and with it the key's use. */
export function forgetInKeys(state: State, { tenant, userId, now }: { tenant: TenantId; userId: string; now: Millis }) {
  for (const key of state.apiKeys.values()) {
    if (key.tenant !== tenant || key.userId !== userId) continue;
    state.apiKeys.set(key.id, { ...key, userId: null, name: '', revokedAt: key.revokedAt ?? now });
  }
}

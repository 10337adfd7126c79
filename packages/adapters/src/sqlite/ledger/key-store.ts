import type { KeyStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { anyKey, findKey, getKey, listKeys } from './read/keys.ts';

export function keyStore({ read, write }: Access): KeyStore {
  return {
    create: (key) => write('createKey', { key }),
    find: (id) => read((sql) => findKey(sql, id)),
    get: (tenant, id) => read((sql) => getKey(sql, tenant, id)),
    list: (tenant, page) => read((sql) => listKeys(sql, { tenant, page })),
    revoke: (tenant, id, now) => write('revokeKey', { tenant, id, now }),
    rotate: (tenant, id, rotation) => write('rotateKey', { tenant, id, ...rotation }),
    used: (id, at) => write('keyUsed', { id, at }),
    any: () => read(anyKey),
  };
}

import type { KeyStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { anyKey, findKey, getKey, listKeys } from './read/keys.ts';
import { createKey, keyUsed, revokeKey, rotateKey } from './write/api-keys.ts';

export function keyStore({ read, write }: Access): KeyStore {
  return {
    create: (key) => write((sql) => createKey(sql, { key })),
    find: (id) => read((sql) => findKey(sql, id)),
    get: (tenant, id) => read((sql) => getKey(sql, tenant, id)),
    list: (tenant, page) => read((sql) => listKeys(sql, { tenant, page })),
    revoke: (tenant, id, now) => write((sql) => revokeKey(sql, { tenant, id, now })),
    rotate: (tenant, id, rotation) => write((sql) => rotateKey(sql, { tenant, id, ...rotation })),
    used: (id, at) => write((sql) => keyUsed(sql, { id, at })),
    any: () => read(anyKey),
  };
}

import { DEFAULT_TENANT, type TenantId } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { ownerKey, pointId, serviceId } from './keys.ts';

const OTHER = 'other' as TenantId;

describe('ids and keys on Qdrant', () => {
  test('the id of a memory version is the same everywhere and a UUID of version 5', () => {
    const id = pointId(DEFAULT_TENANT, 'mem_1', 1);
    expect(id).toBe(pointId(DEFAULT_TENANT, 'mem_1', 1));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('other tenants, memories and versions have other ids, also where joined they read the same', () => {
    const ids = [
      pointId(DEFAULT_TENANT, 'mem_1', 1),
      pointId(DEFAULT_TENANT, 'mem_1', 2),
      pointId(DEFAULT_TENANT, 'mem_11', 1),
      pointId(DEFAULT_TENANT, 'mem_', 11),
      pointId(OTHER, 'mem_1', 1),
      serviceId('marker'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('no two owners share a key', () => {
    const keys = [
      ownerKey(DEFAULT_TENANT, { kind: 'user', id: 'a' }),
      ownerKey(DEFAULT_TENANT, { kind: 'agent', id: 'a' }),
      ownerKey(OTHER, { kind: 'user', id: 'a' }),
      ownerKey('x' as TenantId, { kind: 'user', id: 'user/a' }),
      ownerKey('x/user' as TenantId, { kind: 'user', id: 'a' }),
      ownerKey(DEFAULT_TENANT, { kind: 'user', id: 'a\ud800' }),
      ownerKey(DEFAULT_TENANT, { kind: 'user', id: 'a\udfff' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

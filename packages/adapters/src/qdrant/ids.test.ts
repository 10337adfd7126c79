import { DEFAULT_TENANT, type LaneId, type Owner, type Shelf, type TenantId } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { ownerKey, pointId, serviceId } from './points.ts';

const OTHER = 'other' as TenantId;

const memory = (memoryId: string, version: number, elsewhere: { tenant?: TenantId; shelf?: Shelf } = {}) =>
  pointId({ tenant: DEFAULT_TENANT, shelf: 'memories', memoryId, version, ...elsewhere });
const key = (
  tenant: TenantId,
  owner: Owner,
  { shelf = 'memories', lane = 'l' }: { shelf?: Shelf; lane?: string } = {},
) => ownerKey({ tenant, shelf, owner, lane: lane as LaneId });

describe('ids and keys on Qdrant', () => {
  test('the id of a memory version is the same everywhere and a UUID of version 5', () => {
    const id = memory('mem_1', 1);
    expect(id).toBe(memory('mem_1', 1));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('other tenants, shelves, memories and versions have other ids, also where joined they read the same', () => {
    const ids = [
      memory('mem_1', 1),
      memory('mem_1', 2),
      memory('mem_11', 1),
      memory('mem_', 11),
      memory('mem_1', 1, { tenant: OTHER }),
      memory('mem_1', 1, { shelf: 'messages' }),
      serviceId('marker'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('no two owners share a key, and no two lives of one', () => {
    const keys = [
      key(DEFAULT_TENANT, { kind: 'user', id: 'a' }, { shelf: 'messages' }),
      key(DEFAULT_TENANT, { kind: 'user', id: 'a' }, { lane: 'm' }),
      key(DEFAULT_TENANT, { kind: 'user', id: 'a' }),
      key(DEFAULT_TENANT, { kind: 'agent', id: 'a' }),
      key(OTHER, { kind: 'user', id: 'a' }),
      key('x' as TenantId, { kind: 'user', id: 'user/a' }),
      key('x/user' as TenantId, { kind: 'user', id: 'a' }),
      key(DEFAULT_TENANT, { kind: 'user', id: 'a\ud800' }),
      key(DEFAULT_TENANT, { kind: 'user', id: 'a\udfff' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

import type { TenantId } from '@slowwave/engine';
import { indexPoint } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { commonKeys, everyShardFor, namesOf, shardOfNotes, shardsFor } from './collections.ts';
import { shardKey, structOf, withdrawnStruct } from './points.ts';

const SPACE = { alias: 'a', dimensions: 4, fingerprint: 'f' };
const [plain, sharded] = [namesOf({ ...SPACE, shards: 0 }), namesOf({ ...SPACE, shards: 8 })];
const tenants = Array.from({ length: 400 }, (_, n) => `tenant-${n}` as TenantId);

describe('shards of tenants', () => {
  test('without shard keys nothing is said of shards, and no point says where it belongs', () => {
    const [tenant] = tenants as [TenantId];
    expect([shardsFor(plain, tenant), shardOfNotes(plain), everyShardFor(plain, tenant)]).toEqual([{}, {}, [{}]]);
    expect(commonKeys(plain)).toEqual([]);
    expect(structOf(indexPoint({ memoryId: 'm' }), plain).payload).not.toHaveProperty('home');
    expect(withdrawnStruct(indexPoint({ memoryId: 'm' }), plain).payload).toEqual({ revision: 1 });
  });

  test('a tenant has a key of its own, and always the same common one, over which all are spread', () => {
    const keys = tenants.map((tenant) => shardsFor(sharded, tenant).shard_key as { target: string; fallback: string });
    expect(new Set(keys.map(({ target }) => target)).size).toBe(tenants.length);
    expect(shardsFor(sharded, tenants[7] as TenantId).shard_key).toEqual(keys[7]);
    const counts = commonKeys(sharded).map((key) => keys.filter(({ fallback }) => fallback === key).length);
    expect(counts.reduce((sum, count) => sum + count)).toBe(tenants.length);
    expect(Math.min(...counts)).toBeGreaterThan(20);
  });

  test('what is withdrawn says nothing but its revision and the shard that it belongs to', () => {
    const point = indexPoint({ memoryId: 'm', tenant: 'acme' as TenantId, revision: 7 });
    expect(structOf(point, sharded).payload).toMatchObject({ home: shardKey('acme' as TenantId) });
    expect(withdrawnStruct(point, sharded).payload).toEqual({ revision: 7, home: shardKey('acme' as TenantId) });
  });

  test('what is sharded otherwise is another index', () => {
    const names = [0, 8, 16].map((shards) => namesOf({ ...SPACE, shards }));
    expect(new Set(names.flatMap(({ collections, dense }) => [collections[0], dense])).size).toBe(6);
  });
});

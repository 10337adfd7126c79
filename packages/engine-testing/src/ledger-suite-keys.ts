import type { NewKey } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { user } from './builders.ts';
import { ALL, type Bench, OTHER_TENANT, SECOND, TENANT } from './ledger-bench.ts';

export function describeKeys(bench: () => Bench): void {
  describe('a key', () => {
    it('comes back as it was made, also later; without any there has never been one', async () => {
      const b = bench();
      expect(await b.ledger.keys.any()).toBe(false);
      const plain = await create(b);
      const bound = await create(b, { scopes: ['ingest', 'search'], userId: 'añn', appId: 'a"p', expiresAt: 5 });
      const { keys } = await b.reopened();
      expect(await keys.any()).toBe(true);
      expect(await keys.find(plain.id)).toEqual({ ...plain, ...UNUSED });
      expect(await keys.find(bound.id)).toEqual({ ...bound, ...UNUSED });
      expect(await keys.find('key_none')).toBeNull();
    });

    it('is listed newest first, page by page, for its tenant alone', async () => {
      const b = bench();
      const made = [await create(b), await create(b), await create(b)].map(({ id }) => id);
      await create(b, { tenant: OTHER_TENANT });
      const first = await b.ledger.keys.list(TENANT, { limit: 2, cursor: null });
      const rest = await b.ledger.keys.list(TENANT, { limit: 2, cursor: first.nextCursor });
      expect([...first.results, ...rest.results].map(({ id }) => id)).toEqual(made.toReversed());
      expect(rest.nextCursor).toBeNull();
    });

    it('is revoked once and for good, and not rotated after that', async () => {
      const b = bench();
      const key = await create(b);
      expect(await b.ledger.keys.revoke(TENANT, key.id, 7)).toMatchObject({ revokedAt: 7 });
      expect(await b.ledger.keys.revoke(TENANT, key.id, 8)).toMatchObject({ revokedAt: 7 });
      const rotated = await b.ledger.keys.rotate(TENANT, key.id, { hash: 'other', until: 9 });
      expect(rotated).toMatchObject({ hash: key.hash, previous: null, revokedAt: 7 });
    });

    it('has its last secret beside the new one, and no older one', async () => {
      const b = bench();
      const { id, hash } = await create(b);
      await b.ledger.keys.rotate(TENANT, id, { hash: 'second', until: 5 });
      expect(await b.ledger.keys.find(id)).toMatchObject({ hash: 'second', previous: { hash, until: 5 } });
      await b.ledger.keys.rotate(TENANT, id, { hash: 'third', until: 9 });
      expect(await b.ledger.keys.find(id)).toMatchObject({ hash: 'third', previous: { hash: 'second', until: 9 } });
    });

    it('of another tenant is neither read, revoked nor rotated', async () => {
      const b = bench();
      const key = await create(b);
      expect(await b.ledger.keys.get(OTHER_TENANT, key.id)).toBeNull();
      expect(await b.ledger.keys.revoke(OTHER_TENANT, key.id, 7)).toBeNull();
      expect(await b.ledger.keys.rotate(OTHER_TENANT, key.id, { hash: 'other', until: 9 })).toBeNull();
      expect(await b.ledger.keys.get(TENANT, key.id)).toEqual({ ...key, ...UNUSED });
    });

    it('shows when it was used', async () => {
      const b = bench();
      const { id } = await create(b);
      await b.ledger.keys.used(id, 42);
      expect(await b.ledger.keys.find(id)).toMatchObject({ lastUsedAt: 42 });
    });

    it('is sealed in sessions with the secret that was the first, whoever brings another one', async () => {
      const { keys } = bench().ledger;
      expect(await keys.seal('first')).toBe('first');
      expect(await keys.seal('second')).toBe('first');
    });

    it('of a user who is erased is revoked and forgets the user; others stay', async () => {
      const b = bench();
      const bound = await create(b, { name: 'phone of ann', userId: 'ann' });
      const others = [
        await create(b, { userId: 'bob' }),
        await create(b, { tenant: OTHER_TENANT, userId: 'ann' }),
        await create(b),
      ];
      const now = b.tools.now();
      await b.ledger.erasures.request(TENANT, user('ann'), { id: b.tools.id('ers'), ownerHash: 'h', now });
      expect(await b.ledger.keys.find(bound.id)).toMatchObject({ name: '', userId: null, revokedAt: now });
      for (const other of others) expect(await b.ledger.keys.find(other.id)).toEqual({ ...other, ...UNUSED });
      expect((await b.ledger.keys.list(TENANT, ALL)).results).toHaveLength(3);
    });
  });
}

const UNUSED = { previous: null, revokedAt: null, lastUsedAt: null };

async function create({ ledger, tools }: Bench, given: Partial<NewKey> = {}): Promise<NewKey> {
  tools.advance(SECOND);
  const id = tools.id('key');
  const none = { userId: null, appId: null, expiresAt: null };
  const key: NewKey = {
    id,
    tenant: TENANT,
    name: 'k',
    hash: `of ${id}`,
    scopes: ['admin'],
    ...none,
    createdAt: tools.now(),
    ...given,
  };
  await ledger.keys.create(key);
  return key;
}

import type { NewKey, NewLink } from '@slowwave/engine';
import { DAY_MS } from '@slowwave/engine/storing';
import { describe, expect, it } from 'vitest';
import { user } from './builders.ts';
import { ALL, type Bench, MINUTE, OTHER_TENANT, SECOND, TENANT } from './ledger-bench.ts';

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

export function describeLinks(bench: () => Bench): void {
  const token = (until: number, hash = 'of a token') => ({ hash, until });

  describe('a link to somebody’s own page', () => {
    it('comes back as it was made, also later, and makes nobody need a key', async () => {
      const b = bench();
      const link = await createLink(b, { userId: 'a"ñn' });
      const { links, keys } = await b.reopened();
      expect(await links.find(link.id)).toEqual({ ...link, openedAt: null, token: null });
      expect(await links.find('lnk_none')).toBeNull();
      expect(await keys.any()).toBe(false);
    });

    it('is opened by one of all who try, and by nobody later or elsewhere', async () => {
      const b = bench();
      const { id, expiresAt } = await createLink(b);
      const now = b.tools.now();
      const hashes = Array.from({ length: 10 }, (_, i) => `token ${i}`);
      const tries = hashes.map((hash) => b.ledger.links.open(id, token(now + MINUTE, hash), now));
      const opened = await Promise.all(tries);
      expect(opened.filter(Boolean)).toHaveLength(1);
      const { links } = await b.reopened();
      expect(await links.open(id, token(now + MINUTE, 'late'), now)).toBe(false);
      expect(await links.open('lnk_none', token(now), now)).toBe(false);
      expect(await links.find(id)).toMatchObject({
        ...{ expiresAt, openedAt: now },
        token: token(now + MINUTE, hashes[opened.indexOf(true)]),
      });
    });

    it('is not opened from the moment on at which it expires', async () => {
      const b = bench();
      const { id, expiresAt } = await createLink(b);
      expect(await b.ledger.links.open(id, token(expiresAt + MINUTE), expiresAt)).toBe(false);
      expect(await b.ledger.links.open(id, token(expiresAt), expiresAt - 1)).toBe(true);
    });

    it('has its token prolonged while that counts, and never beyond its own end', async () => {
      const b = bench();
      const { links } = b.ledger;
      const { id, expiresAt, createdAt } = await createLink(b);
      expect(await links.prolong(id, createdAt + MINUTE, createdAt)).toBeNull();
      await links.open(id, token(createdAt + MINUTE), createdAt);
      const more = await links.prolong(id, createdAt + 2 * MINUTE, createdAt + SECOND);
      expect(more?.token).toEqual(token(createdAt + 2 * MINUTE));
      expect((await links.prolong(id, expiresAt + MINUTE, createdAt + MINUTE))?.token).toEqual(token(expiresAt));
      expect(await links.prolong(id, expiresAt + MINUTE, expiresAt)).toBeNull();
    });

    it('ends with all of its user, and with the user; those of others stay', async () => {
      const b = bench();
      const others = [await createLink(b, { userId: 'bob' }), await createLink(b, { tenant: OTHER_TENANT })];
      const anns = [await createLink(b), await createLink(b)];
      expect(await b.ledger.links.end(TENANT, 'ann')).toBe(2);
      expect(await b.ledger.links.end(TENANT, 'ann')).toBe(0);
      const last = await createLink(b);
      const now = b.tools.now();
      await b.ledger.erasures.request(TENANT, user('ann'), { id: b.tools.id('ers'), ownerHash: 'h', now });
      for (const { id } of [...anns, last]) expect(await b.ledger.links.find(id)).toBeNull();
      for (const { id } of others) expect(await b.ledger.links.find(id)).not.toBeNull();
    });

    it('is forgotten a month after its end, when its user is given another one', async () => {
      const b = bench();
      const old = await createLink(b);
      b.tools.advance(29 * DAY_MS);
      const newer = await createLink(b);
      expect(await b.ledger.links.find(old.id)).not.toBeNull();
      b.tools.advance(2 * DAY_MS);
      await createLink(b);
      expect(await b.ledger.links.find(old.id)).toBeNull();
      expect(await b.ledger.links.find(newer.id)).not.toBeNull();
    });
  });
}

const HOUR = 60 * MINUTE;

async function createLink({ ledger, tools }: Bench, given: Partial<NewLink> = {}): Promise<NewLink> {
  tools.advance(SECOND);
  const id = tools.id('lnk');
  const now = tools.now();
  const link = { id, tenant: TENANT, userId: 'ann', hash: `of ${id}`, createdAt: now, expiresAt: now + HOUR, ...given };
  await ledger.links.create(link);
  return link;
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

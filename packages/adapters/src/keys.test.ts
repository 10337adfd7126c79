import type { KeyScope, NewKey, TenantId } from '@slowwave/engine';
import { createMemoryLedger, fixedTools, recordingLog } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { keyCheck, newSecret } from './keys.ts';

const HOUR = 3_600_000;

async function bench() {
  const tools = fixedTools();
  const { keys, links } = createMemoryLedger({ tools });
  const time = { at: 0 };
  let reads = 0;
  const counted = {
    ...keys,
    find: (id: string) => {
      reads += 1;
      return keys.find(id);
    },
  };
  const check = keyCheck({ ledger: { keys: counted, links }, tools, log: recordingLog(), monotonic: () => time.at });
  const make = async (given: Partial<NewKey> = {}) => {
    const id = tools.id('key');
    const { secret, hash } = newSecret(id);
    const scopes: readonly KeyScope[] = ['search'];
    const none = { userId: null, appId: null, expiresAt: null };
    const tenant = 'acme' as TenantId;
    await keys.create({ id, tenant, name: 'k', hash, scopes, ...none, createdAt: tools.now(), ...given });
    return { id, secret, tenant };
  };
  return { tools, keys, links, time, check, make, reads: () => reads };
}

const refused = (reason: string, id?: string) => ({
  kind: 'refused',
  reason,
  ...(id !== undefined && { key: { id, tenant: 'acme' } }),
});

test('a key stands for its tenant, scopes and bounds', async () => {
  const { check, make } = await bench();
  const { id, secret } = await make({ scopes: ['ingest', 'search'], userId: 'ann' });
  expect(await check.check(secret)).toEqual({
    kind: 'taken',
    principal: { keyId: id, tenant: 'acme', scopes: ['ingest', 'search'], userId: 'ann', appId: null },
  });
});

test('what is no secret of a key is unknown, whatever it looks like', async () => {
  const { check, make, reads } = await bench();
  const { id, secret } = await make();
  const other = newSecret(id).secret;
  const texts = ['', 'sw_', secret.slice(0, -1), `${secret}A`, ` ${secret}`, other, newSecret('key_9').secret, id];
  for (const text of texts) expect(await check.check(text)).toEqual(refused('unknown'));
  expect(await check.check(secret.toUpperCase())).toEqual(refused('unknown'));
  expect(reads(), 'only what has the form of a secret is looked up').toBe(2);
});

test('a revoked key is refused once what was known of it is old, and no later than after 5 s', async () => {
  const { check, make, keys, time, tools } = await bench();
  const { id, secret, tenant } = await make();
  expect((await check.check(secret)).kind).toBe('taken');
  await keys.revoke(tenant, id, tools.now());
  time.at += 5_000;
  expect(await check.check(secret)).toEqual(refused('revoked', id));
  expect(await check.check(newSecret(id).secret), 'who has no secret learns nothing').toEqual(refused('unknown'));
});

test('a key expires at its time, also while it is at hand', async () => {
  const { check, make, tools } = await bench();
  const { id, secret } = await make({ expiresAt: tools.now() + 1_000 });
  expect((await check.check(secret)).kind).toBe('taken');
  tools.advance(1_000);
  expect(await check.check(secret)).toEqual(refused('expired', id));
});

test('a replaced secret is taken for its time of grace, the new one at once', async () => {
  const { check, make, keys, time, tools } = await bench();
  const { id, secret, tenant } = await make();
  const next = newSecret(id);
  await keys.rotate(tenant, id, { hash: next.hash, until: tools.now() + 10_000 });
  expect((await check.check(secret)).kind).toBe('taken');
  expect((await check.check(next.secret)).kind).toBe('taken');
  tools.advance(10_000);
  expect(await check.check(secret)).toEqual(refused('replaced', id));
  const third = newSecret(id);
  await keys.rotate(tenant, id, { hash: third.hash, until: tools.now() });
  time.at += 5_000;
  expect(await check.check(next.secret)).toEqual(refused('replaced', id));
  expect(await check.check(secret)).toEqual(refused('unknown'));
  expect((await check.check(third.secret)).kind).toBe('taken');
});

test('mem0: every request waits 390 ms for bcrypt. Here its key costs one digest, and now and then a read', async () => {
  const { check, make, keys, time, tools, reads } = await bench();
  const { id, secret } = await make();
  for (let i = 0; i < 100; i += 1) await check.check(secret);
  expect(reads()).toBe(1);
  const first = tools.now();
  tools.advance(HOUR - 1);
  time.at += 5_000;
  await check.check(secret);
  expect(reads()).toBe(2);
  expect(await keys.find(id)).toMatchObject({ lastUsedAt: first });
  tools.advance(1);
  await check.check(secret);
  expect(await keys.find(id)).toMatchObject({ lastUsedAt: tools.now() });
});

test('a first key is noticed within seconds, and never forgotten', async () => {
  const { check, make, time, links } = await bench();
  expect(await check.any()).toBe(false);
  await make();
  time.at += 5_000;
  expect(await check.any()).toBe(true);
  const gone = keyCheck({
    ledger: { links, keys: { ...(await bench()).keys, any: async () => time.at < 6_000 } },
    tools: fixedTools(),
    log: recordingLog(),
    monotonic: () => time.at,
  });
  expect(await gone.any()).toBe(true);
  time.at += 60_000;
  expect(await gone.any()).toBe(true);
});

test('the secret of a link does nothing but open it, and what it is exchanged for counts at once, for its time', async () => {
  const { check, links, tools } = await bench();
  const id = tools.id('lnk');
  const [link, token] = [newSecret(id), newSecret(id)];
  const now = tools.now();
  const of = { tenant: 'acme' as TenantId, userId: 'ann' };
  await links.create({ id, ...of, hash: link.hash, createdAt: now, expiresAt: now + HOUR });
  const subject = { keyId: id, ...of, appId: null };
  const taken = (scopes: readonly KeyScope[], at: number | null) => ({
    kind: 'taken',
    principal: { ...subject, scopes, came: { by: 'link', at } },
  });
  expect(await check.check(link.secret)).toEqual(taken([], null));
  expect(await check.check(token.secret)).toEqual(refused('unknown'));
  // As another process does it.
  await links.open(id, { hash: token.hash, until: now + HOUR / 4 }, now);
  expect(await check.check(token.secret)).toEqual(taken(['subject'], now));
  expect(await check.check(link.secret)).toEqual(refused('opened', id));
  expect(await check.check(newSecret(id).secret)).toEqual(refused('unknown'));
  tools.advance(HOUR / 4 - 1);
  await links.prolong(id, now + HOUR / 2, tools.now());
  tools.advance(1);
  expect((await check.check(token.secret)).kind, 'also where it was renewed elsewhere a moment ago').toBe('taken');
  tools.advance(HOUR / 4);
  expect(await check.check(token.secret)).toEqual(refused('expired', id));
});

test('links that are ended are unknown once what was known of them is old; one that is not opened, at once', async () => {
  const { check, links, tools, time } = await bench();
  const make = async () => {
    const id = tools.id('lnk');
    const [link, token] = [newSecret(id), newSecret(id)];
    const now = tools.now();
    const of = { tenant: 'acme' as TenantId, userId: 'ann', createdAt: now, expiresAt: now + HOUR };
    await links.create({ id, ...of, hash: link.hash });
    return {
      link: link.secret,
      token: token.secret,
      open: () => links.open(id, { hash: token.hash, until: now + HOUR }, now),
    };
  };
  const [opened, closed] = [await make(), await make()];
  await opened.open();
  for (const text of [opened.token, closed.link]) expect((await check.check(text)).kind).toBe('taken');
  await links.end('acme' as TenantId, 'ann');
  expect(await check.check(closed.link)).toEqual(refused('unknown'));
  time.at += 5_000;
  expect(await check.check(opened.token)).toEqual(refused('unknown'));
});

import { DEFAULT_SETTINGS, DEFAULT_TENANT, type StoredLedger, type TenantId } from '@slowwave/engine';
import { beforeEach, describe, expect, it } from 'vitest';
import { fixedTools } from './fixed-tools.ts';
import { ALL, OTHER_TENANT } from './ledger-bench.ts';

const TENANT = DEFAULT_TENANT;
const SHARE = {
  ...{
    epoch: 2,
    part: 0.25,
    until: 9_000,
    day: 7,
    limits: '[1]',
    elsewhere: 0.5,
    isLast: true,
    wantsAt: 0.2,
    wants: false,
  },
};

/** What holds for everything that a tenant has in common, in its home and in a cell that has a copy. `open` opens two empty ledgers. */
export function describeTenantCopies(name: string, open: () => Promise<readonly [StoredLedger, StoredLedger]>): void {
  describe(name, () => {
    const tools = fixedTools();
    let home: StoredLedger;
    let cell: StoredLedger;
    beforeEach(async () => {
      [home, cell] = await open();
    });

    const makeKey = async (ledger: StoredLedger, tenant: TenantId = TENANT): Promise<string> => {
      const id = tools.id('key');
      await ledger.keys.create({
        ...{ id, tenant, name: 'backend', hash: `hash of ${id}`, scopes: ['ingest', 'search'], userId: null },
        ...{ appId: null, createdAt: tools.now(), expiresAt: null },
      });
      return id;
    };
    const makeWebhook = async (): Promise<string> => {
      const id = tools.id('whk');
      const webhook = { id, tenant: TENANT, name: '', url: 'https://receiver/', events: ['memory.added' as const] };
      const usual = { userId: null, appId: null, active: true, secret: 'whsec_1', createdAt: tools.now() };
      await home.webhooks.create({ ...webhook, ...usual }, 10);
      return id;
    };
    const makeLink = async (): Promise<string> => {
      const [id, now] = [tools.id('lnk'), tools.now()];
      await home.links.create({ id, tenant: TENANT, userId: 'ann', hash: 'h', createdAt: now, expiresAt: now + 1_000 });
      return id;
    };
    const copied = async (epoch: number) => {
      const { version, rows } = await home.copies.read(TENANT);
      return cell.copies.take(TENANT, { epoch, version }, rows);
    };

    it('are the same in both, and what is gone at home is gone there', async () => {
      const settings = { ...DEFAULT_SETTINGS, instructions: 'Remember journeys.' };
      await home.settings.put(TENANT, settings);
      await home.settings.putCeilings(TENANT, { tokensPerDay: 100, costPerDay: null });
      const [kept, gone, webhook, link] = [
        ...[await makeKey(home), await makeKey(home), await makeWebhook(), await makeLink()],
      ] as [string, string, string, string];
      expect(await copied(1)).toMatchObject({ epoch: 1 });
      expect(await cell.settings.get(TENANT)).toEqual(settings);
      expect(await cell.settings.ceilings(TENANT)).toEqual({ tokensPerDay: 100, costPerDay: null });
      expect(await cell.keys.find(kept)).toEqual(await home.keys.find(kept));
      expect(await cell.webhooks.get(TENANT, webhook)).toMatchObject({ url: 'https://receiver/', secret: 'whsec_1' });
      expect(await cell.links.find(link)).toEqual(await home.links.find(link));
      await home.keys.revoke(TENANT, gone, tools.now());
      await home.webhooks.remove(TENANT, webhook);
      await home.settings.putCeilings(TENANT, null);
      await home.links.end(TENANT, 'ann');
      await copied(2);
      expect((await cell.keys.find(gone))?.revokedAt).toBe(tools.now());
      expect(await cell.webhooks.get(TENANT, webhook)).toBeNull();
      expect(await cell.settings.ceilings(TENANT)).toBeNull();
      expect(await cell.links.find(link)).toBeNull();
    });

    it('have another version as soon as anything changes, and the same one until then', async () => {
      const versions = [(await home.copies.read(TENANT)).version];
      const id = await makeKey(home);
      versions.push((await home.copies.read(TENANT)).version);
      await home.settings.put(TENANT, { ...DEFAULT_SETTINGS, instructions: 'x' });
      versions.push((await home.copies.read(TENANT)).version);
      expect(new Set(versions).size).toBe(3);
      // What a ledger sees for itself is not copied.
      await home.keys.used(id, tools.now());
      expect((await home.copies.read(TENANT)).version).toBe(versions.at(-1));
      await copied(1);
      expect((await cell.copies.read(TENANT)).version).toBe(versions.at(-1));
    });

    it('keep what the cell has seen for itself, and leave other tenants alone', async () => {
      const id = await makeKey(home);
      const other = await makeKey(cell, OTHER_TENANT);
      await copied(1);
      tools.advance(10 * 3_600_000);
      await cell.keys.used(id, tools.now());
      await copied(2);
      expect((await cell.keys.find(id))?.lastUsedAt).not.toBeNull();
      expect((await cell.keys.list(OTHER_TENANT, ALL)).results.map((key) => key.id)).toEqual([other]);
    });

    it('are never replaced by older ones, and wait for the share of budgets that may be used', async () => {
      await copied(5);
      expect((await cell.settings.terms(TENANT)).shareEpoch).toBe(0);
      expect(await cell.shares.wanting(10)).toEqual([TENANT]);
      expect([await copied(4), await copied(4)], 'nor is it noted').toEqual([null, null]);
      await cell.shares.take(TENANT, SHARE);
      await copied(6);
      expect(await cell.shares.held(TENANT)).toEqual(SHARE);
      const { version } = await home.copies.read(TENANT);
      await home.copies.take(TENANT, { epoch: 5, version }, null);
      expect((await home.settings.terms(TENANT)).shareEpoch).toBeNull();
    });

    it('are refused as a whole where something of them is not known', async () => {
      const id = await makeKey(home);
      const { version, rows } = await home.copies.read(TENANT);
      const how = { epoch: 1, version };
      expect(await cell.copies.take(TENANT, how, { ...rows, inventions: [] })).toContain('inventions');
      const wrong = { ...rows, api_keys: [{ ...rows.api_keys?.[0], created_at: 'yesterday' }] };
      expect(await cell.copies.take(TENANT, how, wrong)).toContain('api_keys.created_at');
      expect(await cell.keys.find(id)).toBeNull();
      expect(await copied(0), 'nothing of it is noted').toMatchObject({ epoch: 0 });
    });
  });
}

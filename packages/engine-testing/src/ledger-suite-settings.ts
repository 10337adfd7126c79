import { DEFAULT_SETTINGS, type TenantSettings } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { type Bench, OTHER_TENANT, TENANT } from './ledger-bench.ts';

const CHOSEN: TenantSettings = {
  instructions: 'Remember what “they” drink',
  includes: 'drinks',
  excludes: null,
  decideInstructions: 'keep both',
  categories: ['drinks', '飲み物'],
  prompts: { extract: 'find {{categories}}', decide: null },
  models: { decide: 'careful' },
  externalContent: 'ignore',
  review: ['DELETE', 'UPDATE'],
  due: { idleMs: 5 },
  prices: { 'a model': { prompt: 0.5, completion: 1.25 } },
  retention: { messagesDays: 30, plansDays: null, historyDays: 365, forgottenDays: 7 },
  forgetting: { maxAgeDays: null, unconfirmedDays: 90, maxMemories: 1_000 },
  budgets: { tokensPerDay: 5_000, costPerDay: 0.25, userTokensPerDay: 0, userCostPerDay: null },
  economy: { softLimit: 0.5, models: { extract: 'cheap' } },
  holdAt: 50,
  personalData: 'mask',
  timezone: 'Asia/Tokyo',
  graph: true,
  gate: { suite: 'daily', days: 14 },
  sleep: {
    mode: 'preview',
    idleHours: 2,
    window: { from: '22:00', to: '06:30', timezone: 'Europe/Oslo' },
    shareOfBudget: 0.1,
    acts: {
      age: true,
      merge: false,
      contradictions: true,
      fade: false,
      patterns: true,
      skills: false,
      runs: false,
      profile: true,
    },
    limits: { calls: 3, tokens: 1_000, operations: 7, share: 0.5 },
    agents: true,
  },
  profileSlots: [{ name: 'pets', about: 'Animals they live with', lines: 3, categories: ['animals'] }],
};

export function describeSettings(bench: () => Bench): void {
  describe('settings', () => {
    it('are the defaults until something is chosen', async () => {
      const { settings } = bench().ledger;
      expect(await settings.get(TENANT)).toEqual(DEFAULT_SETTINGS);
      expect(await settings.terms(TENANT)).toEqual({
        rules: DEFAULT_SETTINGS,
        ceilings: null,
        economy: null,
        shareEpoch: null,
      });
    });

    it('are read together with what the operator has set, whichever of both there is', async () => {
      const { settings } = bench().ledger;
      const ceilings = { tokensPerDay: 5_000, costPerDay: null };
      await settings.putCeilings(TENANT, ceilings);
      expect(await settings.terms(TENANT)).toEqual({
        rules: DEFAULT_SETTINGS,
        ceilings,
        economy: null,
        shareEpoch: null,
      });
      await settings.put(TENANT, CHOSEN);
      expect(await settings.terms(TENANT)).toEqual({ rules: CHOSEN, ceilings, economy: null, shareEpoch: null });
      await settings.putCeilings(TENANT, { tokensPerDay: null, costPerDay: null });
      expect((await settings.terms(TENANT)).ceilings).toEqual({ tokensPerDay: null, costPerDay: null });
      await settings.putCeilings(TENANT, null);
      expect(await settings.terms(TENANT)).toEqual({ rules: CHOSEN, ceilings: null, economy: null, shareEpoch: null });
    });

    it('are replaced as a whole, and kept', async () => {
      const b = bench();
      await b.ledger.settings.put(TENANT, CHOSEN);
      expect(await b.ledger.settings.get(TENANT)).toEqual(CHOSEN);
      await b.ledger.settings.put(TENANT, { ...DEFAULT_SETTINGS, review: ['ADD'] });
      const later = await b.reopened();
      expect(await later.settings.get(TENANT)).toEqual({ ...DEFAULT_SETTINGS, review: ['ADD'] });
    });

    it('have no part in what the operator allows: no choice of the tenant lifts it', async () => {
      const b = bench();
      const { settings } = b.ledger;
      expect(await settings.ceilings(TENANT)).toBeNull();
      await settings.putCeilings(TENANT, { tokensPerDay: 5_000_000_000, costPerDay: 0.25 });
      await settings.put(TENANT, { ...DEFAULT_SETTINGS, budgets: CHOSEN.budgets });
      const later = await b.reopened();
      expect(await later.settings.ceilings(TENANT)).toEqual({ tokensPerDay: 5_000_000_000, costPerDay: 0.25 });
      expect(await later.settings.ceilings(OTHER_TENANT)).toBeNull();
      await later.settings.putCeilings(TENANT, { tokensPerDay: null, costPerDay: 0 });
      expect(await later.settings.ceilings(TENANT)).toEqual({ tokensPerDay: null, costPerDay: 0 });
      await later.settings.putCeilings(TENANT, null);
      expect(await later.settings.ceilings(TENANT)).toBeNull();
      expect(await later.settings.get(TENANT)).toEqual({ ...DEFAULT_SETTINGS, budgets: CHOSEN.budgets });
    });

    it('of one tenant are not those of another', async () => {
      const { settings } = bench().ledger;
      await settings.put(OTHER_TENANT, CHOSEN);
      expect(await settings.get(TENANT)).toEqual(DEFAULT_SETTINGS);
    });
  });
}

export function describeModels(bench: () => Bench): void {
  describe('what is known of a model', () => {
    it('is replaced as a whole, kept, and forgotten', async () => {
      const b = bench();
      const { models } = b.ledger;
      expect(await models.get('ledger_id')).toBeNull();
      await models.put('a', { refuses: ['temperature'], at: 1 });
      await models.put('b', { said: "it's “語” ''\n" });
      await models.put('a', { at: 2 });
      const later = await b.reopened();
      expect(await later.models.get('a')).toEqual({ at: 2 });
      expect(await later.models.get('b')).toEqual({ said: "it's “語” ''\n" });
      expect(await later.models.swap('a', { at: 1 }, { at: 3 })).toBe(false);
      expect(await later.models.swap('a', null, { at: 3 })).toBe(false);
      expect(await later.models.get('a')).toEqual({ at: 2 });
      expect(await later.models.swap('a', { at: 2 }, { at: 4, of: { b: [], a: null } })).toBe(true);
      expect(await later.models.swap('a', await later.models.get('a'), { at: 5 })).toBe(true);
      expect(await later.models.get('a')).toEqual({ at: 5 });
      expect(await later.models.swap('c', null, { at: 6 })).toBe(true);
      expect(await later.models.swap('c', { at: 6 }, null)).toBe(true);
      expect(await later.models.swap('c', { at: 6 }, null)).toBe(false);
      expect(await later.models.get('c')).toBeNull();
      await later.models.put('a', null);
      expect(await later.models.get('a')).toBeNull();
      expect(await later.models.get('b')).not.toBeNull();
    });
  });
}

import { largerDue } from './limits/economy.ts';
import type { StepModels } from './models/steps.ts';
import type { ReviewedKind } from './plan.ts';
import type { DuePolicy, Turn } from './ports/ledger/lanes.ts';
import type { ProfileSlot } from './profile/placement.ts';
import { hasFacts } from './words.ts';

/** What a tenant has chosen for all its batches. null and empty mean: as the product does it. */
export interface TenantSettings {
  /** What to remember, beside the product's own rules. */
  readonly instructions: string | null;
  readonly includes: string | null;
  readonly excludes: string | null;
  /** How to decide, beside the product's own rules. */
  readonly decideInstructions: string | null;
  /** Own categories; null: the product's. */
  readonly categories: readonly string[] | null;
  /** Whole prompts instead of the product's, with their placeholders filled in at each call. */
  readonly prompts: { readonly extract: string | null; readonly decide: string | null };
  /** Chat models in place of the configured ones, by step. */
  readonly models: StepModels;
  /** Operations of these kinds wait for a person. */
  readonly review: readonly ReviewedKind[];
  /** What becomes of facts that rest on external content. */
  readonly externalContent: ExternalPolicy;
  /** When lanes are due, where it differs from the process's configuration. */
  readonly due: Partial<Omit<DuePolicy, 'paces'>>;
  /** Price per million tokens by model, in any one currency; for the cost of a plan. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
  /** What a day may cost. What comes later waits for the next one; nothing is dropped. */
  readonly budgets: Budgets;
  /** What is saved before a budget is used up. */
  readonly economy: EconomySettings;
  /** Who uses so many times what is usual in a day is held. null: nobody is. */
  readonly holdAt: number | null;
  /** How many days what was said and thought is kept, beside what was remembered of it. null: for ever. */
  readonly retention: Retention;
  /** Which memories are forgotten by themselves. null: none for that reason. */
  readonly forgetting: ForgettingPolicy;
  /** What becomes of personal data in what is posted, before it is stored. */
  readonly personalData: PersonalPolicy;
  /** Of speakers whose messages do not say it (Europe/Oslo). null: UTC. */
  readonly timezone: string | null;
  /** Relations are kept of batches that do not say themselves whether. */
  readonly graph: boolean;
  /** A suite that what decides what is remembered has to pass before it is changed. null: none. */
  readonly gate: GateSetting | null;
  /** What is done with memories while their owner is away. */
  readonly sleep: SleepSettings;
  /** What profiles tell; null: the product's slots. */
  readonly profileSlots: readonly ProfileSlot[] | null;
}

export interface GateSetting {
  /** Its name. */
  readonly suite: string;
  /** A run counts so long. */
  readonly days: number;
}

/** The settings that decide what is remembered. */
export const DECIDING = [
  'instructions',
  'includes',
  'excludes',
  'decideInstructions',
  'categories',
  'prompts',
  'models',
  'externalContent',
  'graph',
] as const satisfies readonly (keyof TenantSettings)[];

/** review: it waits for a person. remember: it is remembered as what anybody else says. ignore: nothing is made of it. */
export type ExternalPolicy = 'review' | 'remember' | 'ignore';

/** off: it is stored as it is. mask: its kind stands in its place. drop: nothing of the message is stored. */
export type PersonalPolicy = 'off' | 'mask' | 'drop';

export interface Retention {
  readonly messagesDays: number | null;
  /** Plans and the answers of models. */
  readonly plansDays: number | null;
  /** Former versions of memories, and the events that mention them: since they stopped holding. */
  readonly historyDays: number | null;
  /** What is forgotten or undone as a whole, and all that says it: since then. */
  readonly forgottenDays: number | null;
}

export interface ForgettingPolicy {
  /** Since a memory was last changed. */
  readonly maxAgeDays: number | null;
  /** Since a memory was last said, for the first time or again. */
  readonly unconfirmedDays: number | null;
  /** Of each user, agent or run: the least confirmed go first, of those the oldest. */
  readonly maxMemories: number | null;
}

/** By UTC day; null: no limit. Those of users count for each owner alone, of whatever kind. */
export interface Budgets {
  readonly tokensPerDay: number | null;
  /** In the currency of the prices. Models without a price add nothing. */
  readonly costPerDay: number | null;
  readonly userTokensPerDay: number | null;
  readonly userCostPerDay: number | null;
}

/** What a tenant saves while its budgets of a day run out. */
export interface EconomySettings {
  /** From which share of a budget on; null: nothing is saved before all of it is used. */
  readonly softLimit: number | null;
  /** Asked in place of the usual ones then, by step. */
  readonly models: StepModels;
}

/** What a UTC day of a tenant may use at most, as the operator says: no setting of the tenant's own lifts it. null: no limit. */
export interface Ceilings {
  readonly tokensPerDay: number | null;
  /** In the currency of the operator's prices: those of the tenant `default`, else the list prices. */
  readonly costPerDay: number | null;
}

/** off: nothing. preview: every plan of a night waits for a person. auto: plans are carried out, but those that change too much. */
type SleepMode = 'off' | 'preview' | 'auto';

/** What a night may do, each by itself. */
const SLEEP_ACTS = ['age', 'merge', 'contradictions', 'fade', 'patterns', 'skills', 'runs', 'profile'] as const;
export type SleepAct = (typeof SLEEP_ACTS)[number];

export interface SleepSettings {
  readonly mode: SleepMode;
  /** Since anything of the owner was said or changed. */
  readonly idleHours: number;
  /** When nights are begun: times of the day in a time zone, 22:00 to 06:00. null: at any time. */
  readonly window: { readonly from: string; readonly to: string; readonly timezone: string } | null;
  /** Of the tenant's tokens per day, 0…1: what all its nights may use together. Without such a budget it limits nothing. */
  readonly shareOfBudget: number;
  readonly acts: Readonly<Record<SleepAct, boolean>>;
  readonly limits: SleepLimits;
  /** Whether it is counted what users of an agent have in common, and proposed to a person for the memory of the agent. */
  readonly agents: boolean;
}

/** Of one owner and night. */
interface SleepLimits {
  readonly calls: number;
  readonly tokens: number;
  readonly operations: number;
  /** Of the owner's memories, 0…1: a night that would change more waits for a person. */
  readonly share: number;
}

export interface ModelPrice {
  readonly prompt: number;
  /** For tokens of the prompt that the provider had in its cache; missing: as for the others. */
  readonly cached?: number | undefined;
  readonly completion: number;
  /** Of both, as a share, what a provider's batch job costs. Missing: half. */
  readonly batch?: number;
}

export const DEFAULT_SETTINGS: TenantSettings = {
  instructions: null,
  includes: null,
  excludes: null,
  decideInstructions: null,
  categories: null,
  prompts: { extract: null, decide: null },
  models: {},
  review: [],
  externalContent: 'review',
  due: {},
  prices: {},
  budgets: { tokensPerDay: null, costPerDay: null, userTokensPerDay: null, userCostPerDay: null },
  economy: { softLimit: 0.8, models: {} },
  holdAt: 20,
  retention: { messagesDays: null, plansDays: null, historyDays: null, forgottenDays: 30 },
  forgetting: { maxAgeDays: null, unconfirmedDays: null, maxMemories: null },
  personalData: 'off',
  timezone: null,
  graph: false,
  gate: null,
  sleep: {
    mode: 'off',
    idleHours: 6,
    window: null,
    shareOfBudget: 0.15,
    // What nobody said is concluded only where somebody wants it.
    acts: {
      age: true,
      merge: true,
      contradictions: true,
      fade: true,
      patterns: false,
      skills: true,
      runs: true,
      profile: true,
    },
    limits: { calls: 20, tokens: 50_000, operations: 50, share: 0.3 },
    // What agents learn over users is a matter of policy.
    agents: false,
  },
  profileSlots: null,
};

/** What decides what is remembered, and what that costs. Who pays is not tried out. */
export type TriedSettings = Partial<
  Pick<
    TenantSettings,
    | 'instructions'
    | 'includes'
    | 'excludes'
    | 'decideInstructions'
    | 'categories'
    | 'prompts'
    | 'models'
    | 'review'
    | 'externalContent'
    | 'prices'
  >
>;

/**
 * When the tenant's lanes are due: its own word where it has one, else the process's. A silence that is named is that long. On a
 * rung of its economy they wait longer.
 */
export const duePolicy = ({ due }: TenantSettings, otherwise: DuePolicy, rung = 0): DuePolicy =>
  largerDue({ ...otherwise, ...(due.idleMs !== undefined && { paces: 0 }), ...due }, rung);

/**
 * Whether the graph has a study of what a turn consolidates. What is stored word for word reaches no model, and procedures
 * name no people and places. A graph is one for all apps of its owner: a key for one app has no part in it.
 */
export const isStudied = ({ settings }: Pick<Turn, 'settings'>, rules: Pick<TenantSettings, 'graph'>): boolean =>
  hasFacts(settings) && settings.ownAppOnly !== true && (settings.graph ?? rules.graph);

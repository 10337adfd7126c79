import type { EngineDeps, EngineSettings, NearThresholds } from '../deps.ts';
import { originOf, spaceIn } from '../ids.ts';
import { DECIDE, EXTRACT } from '../models/prompts/consolidation.ts';
import { chatNamed, forStep, type StepModels } from '../models/steps.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { ThoughtStore } from '../ports/ledger/thoughts.ts';
import { type Meter, silentMeter } from '../ports/tools.ts';
import { DECIDING, type TenantSettings } from '../settings.ts';
import { chatsWithinBudget } from '../suites/budget.ts';
import { canonical } from '../text/normalise.ts';
import type { TurnDeps } from '../turns/take-turn.ts';
import { type BatchSettings, hasFacts, type JsonObject, type LaneId, type TenantId } from '../words.ts';

/** What a turn works with. In a shadow space studies follow it, and neither summaries nor nights. */
export async function depsOf(deps: TurnDeps, { tenant }: Pick<Turn, 'tenant'>): Promise<TurnDeps> {
  const inSpace = await depsInSpace(deps, tenant);
  if (inSpace === null) return deps;
  const study = (lanes: readonly LaneId[]) => deps.followUps.study(lanes);
  return { ...inSpace, followUps: { summarize: async () => {}, study, sleep: async () => {} } };
}

/**
 * What turns and studies of a shadow space work with: what its what-if changes, and the conversation as it was in life.
 * Calls of models are measured, they are paid for; nothing else that happens there is anybody's figure. null: it is none.
 */
export async function depsInSpace(deps: EngineDeps, tenant: TenantId): Promise<EngineDeps | null> {
  const space = spaceIn(tenant);
  if (space === null) return null;
  const { ledger } = deps;
  const replay = await ledger.replays.get(space.tenant, space.replay);
  const changes = changesFrom(replay?.changes ?? {});
  const isSuite = replay?.kind === 'suite';
  const inSpace = { ...withChanges(deps, changes), otherChat: (model: string) => deps.otherChat(model, null) };
  return {
    ...(isSuite ? { ...chatsWithinBudget(inSpace, replay), forSuite: true } : inSpace),
    bulk: null,
    ledger: isSuite ? ledger : { ...ledger, thoughts: { ...ledger.thoughts, gather: gatherFromLife(deps) } },
    meter: paidCalls(deps.meter),
  };
}

/** What is configured for the process, as the changes have it. A model that is tried has no fallbacks. */
export const withChanges = <Deps extends Thinker & Pick<EngineDeps, 'settings'>>(
  deps: Deps,
  changes: WhatIfChanges,
): Deps => ({
  ...deps,
  ...(changes.model !== undefined && { chat: chatNamed(deps, changes.model, null), chats: {} }),
  settings: changedSettings(deps.settings, changes),
});

/** Only the messages of the window are copies; what was said before them is read where it was said. */
const gatherFromLife =
  ({ ledger }: EngineDeps): ThoughtStore['gather'] =>
  async (turn, recentCount) => {
    const own = await ledger.thoughts.gather(turn, recentCount);
    const tenant = spaceIn(turn.tenant)?.tenant ?? turn.tenant;
    const original = await ledger.batches.get(tenant, originOf(turn.batchIds[0] ?? ''));
    if (original === null || original.consolidationId === null) return own;
    const { id, lane, consolidationId } = original;
    const life = await ledger.thoughts.gather({ ...turn, tenant, lane, consolidationId, batchIds: [id] }, recentCount);
    return { ...own, summary: life.summary, summaryTrust: life.summaryTrust, recent: life.recent };
  };

const paidCalls = (meter: Meter): Meter => ({ ...silentMeter, call: (...called) => meter.call(...called) });

/** What a what-if or a canary does otherwise. What is left out is as it is now. */
export interface WhatIfChanges {
  /** Another chat model, for all steps. */
  readonly model?: string;
  /** Other chat models, by step. */
  readonly models?: StepModels;
  /** In place of what the batches asked for. */
  readonly mode?: 'decide' | 'add_only';
  /** Whether relations are read, in place of what the batches and the tenant ask for. */
  readonly graph?: boolean;
  /** All settings that decide what is remembered, in place of the tenant's; what follows comes on top. */
  readonly rules?: Pick<TenantSettings, (typeof DECIDING)[number]>;
  /** In place of the tenant's settings. */
  readonly instructions?: string;
  readonly includes?: string;
  readonly excludes?: string;
  readonly decideInstructions?: string;
  readonly categories?: readonly string[];
  readonly prompts?: { readonly extract?: string; readonly decide?: string };
  readonly recallPerFact?: number;
  readonly near?: Partial<NearThresholds>;
}

/** As a replay keeps them. */
export const storedChanges = (changes: WhatIfChanges): JsonObject => JSON.parse(JSON.stringify(changes));

export const changesFrom = (stored: JsonObject): WhatIfChanges => stored as WhatIfChanges;

/** What the tenant has chosen, with the changes. */
export function changedRules(before: TenantSettings, changes: WhatIfChanges): TenantSettings {
  const rules = { ...before, ...changes.rules };
  const { model, models, instructions, includes, excludes, decideInstructions, categories, prompts } = changes;
  return {
    ...rules,
    instructions: instructions ?? rules.instructions,
    includes: includes ?? rules.includes,
    excludes: excludes ?? rules.excludes,
    decideInstructions: decideInstructions ?? rules.decideInstructions,
    categories: categories ?? rules.categories,
    prompts: { ...rules.prompts, ...prompts },
    models: { ...(model === undefined && rules.models), ...models },
  };
}

/** What a batch asked for, as its copy does: what is kept word for word, and procedures, are so in a what-if too. */
export const changedBatch = (settings: BatchSettings, { mode, graph }: WhatIfChanges): BatchSettings => ({
  ...settings,
  ...(mode !== undefined && hasFacts(settings) && { mode }),
  ...(graph !== undefined && { graph }),
});

const changedSettings = (settings: EngineSettings, { recallPerFact, near }: WhatIfChanges): EngineSettings => ({
  ...settings,
  recallPerFact: recallPerFact ?? settings.recallPerFact,
  near: { ...settings.near, ...near },
});

/** What of a process decides with the settings of a tenant what is remembered. */
export type Thinker = Pick<EngineDeps, 'chat' | 'chats' | 'otherChat'>;

/** The models that would be asked, by step. */
export const askedModels = (thinker: Thinker, rules: TenantSettings) => ({
  extract: forStep(thinker, 'extract', rules).chat.name,
  decide: forStep(thinker, 'decide', rules).chat.name,
});

/**
 * Names the models, prompts and settings that decide what is remembered, of this process for a tenant: equal for equal ones alone,
 * whether a model is chosen in the settings or configured for the process.
 */
export function setupOf({ tools, ...thinker }: Thinker & Pick<EngineDeps, 'tools'>, rules: TenantSettings): string {
  const { models: _, ...deciding } = Object.fromEntries(DECIDING.map((name) => [name, rules[name]]));
  const prompts = [EXTRACT, DECIDE].map(({ name, version }) => `${name} ${version}`);
  return tools.hash(canonical([deciding, askedModels(thinker, rules), prompts]));
}

import type { EngineSettings, NearThresholds } from '../deps.ts';
import type { TenantSettings } from '../settings.ts';
import { type BatchSettings, hasFacts, type JsonObject } from '../words.ts';

/** What a what-if does otherwise than was done. What is left out is as it is now. */
export interface WhatIfChanges {
  /** Another chat model at the same place. */
  readonly model?: string;
  /** In place of what the batches asked for. */
  readonly mode?: 'decide' | 'add_only';
  /** Whether relations are read, in place of what the batches and the tenant ask for. */
  readonly graph?: boolean;
  /** In place of the tenant's settings. */
  readonly instructions?: string;
  readonly includes?: string;
  readonly excludes?: string;
  readonly decideInstructions?: string;
  readonly prompts?: { readonly extract?: string; readonly decide?: string };
  readonly recallPerFact?: number;
  readonly near?: Partial<NearThresholds>;
}

/** As a replay keeps them. */
export const storedChanges = (changes: WhatIfChanges): JsonObject => JSON.parse(JSON.stringify(changes));
export const changesFrom = (stored: JsonObject): WhatIfChanges => stored as WhatIfChanges;

/** What the tenant has chosen, as a what-if has it. Nothing waits for a person in a space that nobody lives in. */
export function changedRules(rules: TenantSettings, changes: WhatIfChanges): TenantSettings {
  const { instructions, includes, excludes, decideInstructions, prompts } = changes;
  return {
    ...rules,
    instructions: instructions ?? rules.instructions,
    includes: includes ?? rules.includes,
    excludes: excludes ?? rules.excludes,
    decideInstructions: decideInstructions ?? rules.decideInstructions,
    prompts: { ...rules.prompts, ...prompts },
    review: [],
  };
}

/** What a batch asked for, as its copy does: what is kept word for word, and procedures, are so in a what-if too. */
export const changedBatch = (settings: BatchSettings, { mode, graph }: WhatIfChanges): BatchSettings => ({
  ...settings,
  ...(mode !== undefined && hasFacts(settings) && { mode }),
  ...(graph !== undefined && { graph }),
});

export const changedSettings = (settings: EngineSettings, { recallPerFact, near }: WhatIfChanges): EngineSettings => ({
  ...settings,
  recallPerFact: recallPerFact ?? settings.recallPerFact,
  near: { ...settings.near, ...near },
});

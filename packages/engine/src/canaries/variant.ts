import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import type { CanaryState } from '../ports/ledger/canaries.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { changedBatch, changedRules, changesFrom, type WhatIfChanges, withChanges } from '../replays/in-space.ts';

/** In these states a window that was pinned with a canary's changes is consolidated with them. */
const IN_FORCE: readonly CanaryState[] = ['running', 'done', 'promoted'];

interface Varied<Deps> {
  readonly deps: Deps;
  readonly turn: Turn;
}

/**
 * The turn and what it works with, as the canary has it whose changes its window was pinned with: the same in each try. A turn
 * of no canary is given back as it is.
 */
export async function variantOf<Deps extends EngineDeps>(deps: Deps, turn: Turn): Promise<Varied<Deps>> {
  if (turn.variant === null) return { deps, turn };
  const canary = await deps.ledger.canaries.get(turn.tenant, turn.variant);
  if (canary === null || !IN_FORCE.includes(canary.state)) throw haltedBefore(turn.variant);
  return varied({ deps, turn }, changesFrom(canary.changes));
}

/** The same, whether the canary is still in force: what was thought with its changes can be looked at later. */
export async function variantAsItWas<Deps extends EngineDeps>(deps: Deps, turn: Turn): Promise<Varied<Deps>> {
  const canary = turn.variant === null ? null : await deps.ledger.canaries.get(turn.tenant, turn.variant);
  return canary === null ? { deps, turn } : varied({ deps, turn }, changesFrom(canary.changes));
}

function varied<Deps extends EngineDeps>({ deps, turn }: Varied<Deps>, changes: WhatIfChanges): Varied<Deps> {
  const { ledger } = deps;
  const thoughts = {
    ...ledger.thoughts,
    gather: async (...asked: Parameters<typeof ledger.thoughts.gather>) => {
      const gathered = await ledger.thoughts.gather(...asked);
      return { ...gathered, rules: changedRules(gathered.rules, changes) };
    },
  };
  const settings = {
    ...ledger.settings,
    terms: async (...asked: Parameters<typeof ledger.settings.terms>) => {
      const terms = await ledger.settings.terms(...asked);
      return { ...terms, rules: changedRules(terms.rules, changes) };
    },
  };
  return {
    deps: { ...withChanges(deps, changes), ledger: { ...ledger, thoughts, settings } },
    turn: { ...turn, settings: changedBatch(turn.settings, changes) },
  };
}

/** The sweep takes the window back within seconds, so that it is pinned anew without the changes. */
const haltedBefore = (canary: string): EngineError =>
  new EngineError(`canary ${canary} has ended; its batches are about to be consolidated without its changes`, {
    code: 'canary_halted',
    retryable: true,
    countsAsTry: false,
  });

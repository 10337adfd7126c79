import type { EngineDeps } from '../../deps.ts';
import { FencedError } from '../../errors.ts';
import { afford } from '../../models/budget.ts';
import { modelsAway } from '../../models/doubt.ts';
import type { Study } from '../../ports/ledger/graph.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { projectGraphNow } from '../project.ts';
import type { GraphPlan } from '../words.ts';
import { compare } from './conflicts.ts';
import { decide } from './decide.ts';
import { draft } from './draft.ts';
import { extractGraph } from './extract.ts';
import { link } from './link.ts';
import { read, turnOf } from './read.ts';
import { settle } from './settle.ts';

/**
 * The turn of the graph for one applied consolidation, from its messages to applied statements. What was answered before a
 * crash is not asked again: answers are kept with those of the consolidation.
 */
export async function study(given: EngineDeps, claimed: Study, cancel: Cancellation): Promise<GraphPlan> {
  const deps = studying(given, claimed);
  const rules = await deps.ledger.settings.get(claimed.tenant);
  await afford(deps, { tenant: claimed.tenant, account: { lane: claimed.lane }, rules });
  const found = await read(deps, claimed, cancel);
  const admitted = await extractGraph(deps, found, cancel);
  const linked = await link(deps, admitted, cancel);
  const compared = await compare(deps, linked);
  const decided = await decide({ deps, turn: found.gathered.turn, cancel }, compared);
  const settled = settle(decided, { ends: deps.settings.deletesPerConsolidation });
  const plan = await draft(deps, settled);
  const applied = await deps.ledger.graph.apply(claimed, plan, deps.tools.now());
  if (applied.kind === 'fenced') throw new FencedError(claimed.consolidationId);
  if (plan.statements.length > 0) await projectGraphNow(given, claimed.lane, LATER);
  return plan;
}

/** Whether a study failed only because the models are away: asked before its last try is counted. */
export async function isAway(given: EngineDeps, claimed: Study, cancel: Cancellation): Promise<boolean> {
  const deps = studying(given, claimed);
  return modelsAway(deps, await turnOf(deps, claimed), cancel);
}

const LATER = 'a study is applied, but the index was not told yet; the sweep does';

/** Answers are fenced by the study, not by the turn that is over; its calls are no part of that turn's trace. */
function studying(deps: EngineDeps, claimed: Study): EngineDeps {
  const { ledger, meter } = deps;
  const thoughts: EngineDeps['ledger']['thoughts'] = {
    ...ledger.thoughts,
    holds: () => ledger.graph.holds(claimed),
    storeAnswer: (_turn, answer) => ledger.graph.storeAnswer(claimed, answer),
  };
  return {
    ...deps,
    ledger: { ...ledger, thoughts },
    meter: { ...meter, call: (_turn, call) => meter.call(null, call) },
  };
}

import type { CanarySummary, CanaryView } from '@slowwave/contracts';
import {
  addSpent,
  type Canary,
  type CanaryLane,
  FIGURES,
  failureView,
  isoOf,
  isoOrNull,
  type JsonObject,
  NOTHING_SPENT,
  type Spent,
  slicesOf,
  type WatchedFigure,
  watchedFrom,
} from '@slowwave/engine';
import type { ConsoleDeps } from './deps.ts';

const SECOND_MS = 1_000;

export const canarySummary = (canary: Canary): CanarySummary => ({
  id: canary.id,
  state: canary.state,
  changes: inWords(canary.changes),
  share: canary.steps[canary.step]?.share ?? 0,
  step: canary.step + 1,
  steps: canary.steps.map(({ share, minMs, minConsolidations }) => ({
    ...{ share, min_seconds: Math.round(minMs / SECOND_MS), min_consolidations: minConsolidations },
  })),
  halt: failureView(canary.halt),
  created_at: isoOf(canary.createdAt),
  finished_at: isoOrNull(canary.finishedAt),
});

export async function canaryView({ ledger }: Pick<ConsoleDeps, 'ledger'>, canary: Canary): Promise<CanaryView> {
  const { tenant, id, bounds, undo, budget, waiting, stepAt } = canary;
  const [{ owners, touched }, consolidations, undoing] = await Promise.all([
    ledger.canaries.reach(tenant, id),
    ledger.canaries.appliedSince(id, 0),
    undoingOf({ ledger }, id),
  ]);
  return {
    ...canarySummary(canary),
    step_since: isoOf(stepAt),
    ...{ bounds: { ...bounds }, undo, budget: { ...budget } },
    ...{ owners, owners_touched: touched, consolidations },
    watched: watchedView(canary),
    undoing: undoing === null ? null : { ...undoing, waiting: failureView(waiting) },
  };
}

/** As the request named them. */
function inWords(changes: JsonObject): JsonObject {
  const { decideInstructions, recallPerFact, ...rest } = changes;
  return {
    ...rest,
    ...(decideInstructions !== undefined && { decide_instructions: decideInstructions }),
    ...(recallPerFact !== undefined && { recall_per_fact: recallPerFact }),
  };
}

function watchedView({ watched: stored }: Canary): CanaryView['watched'] {
  const watched = watchedFrom(stored);
  if (watched === null) return null;
  const { beside, consolidations, looks, figures } = watched;
  return { beside, ...consolidations, looks, figures: figures.map(figureView) };
}

const figureView = ({ figure, baseline, variant, difference, margin, verdict }: WatchedFigure) => ({
  figure,
  says: FIGURES[figure].says,
  canary: variant,
  rest: baseline,
  difference: difference === null ? null : { ...difference },
  margin: margin.by,
  relative: margin.relative === true,
  verdict,
});

type Undoing = Omit<NonNullable<CanaryView['undoing']>, 'waiting'>;

/** What is done of the undo, lane by lane. null: there are none. */
async function undoingOf({ ledger }: Pick<ConsoleDeps, 'ledger'>, id: string): Promise<Undoing | null> {
  const read = (last: CanaryLane | null, limit: number) =>
    ledger.canaries.lanes(id, { limit, ...(last !== null && { after: last.lane }) });
  const owners = { held: 0, replayed: 0, done: 0, left: 0 };
  let [consolidations, batches] = [0, 0];
  let [expected, used]: [Spent, Spent] = [NOTHING_SPENT, NOTHING_SPENT];
  for await (const slice of slicesOf(read)) {
    for (const lane of slice) {
      owners[lane.state] += 1;
      consolidations += lane.consolidations;
      batches += lane.batches;
      expected = addSpent(expected, lane.expected);
      used = addSpent(used, lane.used);
    }
  }
  const none = owners.held + owners.replayed + owners.done + owners.left === 0;
  return none ? null : { owners, consolidations, batches, expected: { ...expected }, used: { ...used } };
}

import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { embedderAnswers, isDoubtful } from '../models/doubt.ts';
import { withoutVectors } from '../models/embed.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { LaneId } from '../words.ts';

/** What walks through all lanes. */
export type WalkDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'> & {
  /** Lanes that were written by their words alone, to be told once more. Without it such a failure ends the walk. */
  readonly left?: Set<LaneId>;
};

interface InLane<Deps, T> {
  readonly lane: LaneId;
  readonly make: (deps: Deps) => Promise<T>;
}

/**
 * Makes what a walk writes of one lane. Where the embedder fails on some of its texts and answers others, the lane is made of
 * its words: one owner does not keep all others from a new index. Fails where the embedder, or a store, is away.
 */
export async function orByWords<Deps extends WalkDeps, T>(
  deps: Deps,
  { lane, make }: InLane<Deps, T>,
  cancel: Cancellation,
): Promise<T> {
  try {
    return await make(deps);
  } catch (error) {
    const failure = asEngineError(error);
    const isOfModel = failure.countsAsTry && (isDoubtful(failure) || failure.code === 'model_rejected');
    if (cancel.aborted || deps.left === undefined || !isOfModel || !(await embedderAnswers(deps, cancel))) throw error;
    deps.left.add(lane);
    return make(withoutVectors(deps));
  }
}

import type { EngineDeps } from '../deps.ts';
import { EngineError, retryDelay } from '../errors.ts';
import type { Held, HeldStore } from '../ports/ledger/thoughts.ts';
import type { Cancellation } from '../ports/tools.ts';
import { failureOf } from '../views/views.ts';
import type { Millis } from '../words.ts';

/*
 * Work on a lane apart from its turns: a study of its graph, or a night. It asks models as turns do, and is held, fenced and tried again
 * by claims of its own.
 */

/**
 * For how many of the times a worker may be silent claimed work is held against others. One lane has one job of a kind, so that this
 * counts only where a worker died or lost its job: then another one goes on after it, and who was there before is fenced.
 */
export const SILENCES = 2;

/** Answers are fenced by the work, not by a turn; its calls are no part of a turn's trace. */
export function fencedBy<Deps extends EngineDeps, Work extends Held>(
  deps: Deps,
  store: HeldStore<Work>,
  work: Work,
): Deps {
  const { ledger, meter } = deps;
  const thoughts: EngineDeps['ledger']['thoughts'] = {
    ...ledger.thoughts,
    lastLook: async (_turn, { rooms }, call) => {
      const holds = await store.holds(work);
      return { holds, answer: null, isNoted: holds && (await ledger.usage.note(call, rooms)) };
    },
    storeAnswer: (_turn, answer, call) => store.storeAnswer(work, answer, call),
  };
  const call: EngineDeps['meter']['call'] = (_turn, measured) => meter.call(null, measured);
  return { ...deps, ledger: { ...ledger, thoughts }, meter: { ...meter, call } };
}

export const isLastTry = ({ settings }: Pick<EngineDeps, 'settings'>, { attempts }: Pick<Held, 'attempts'>): boolean =>
  attempts + 1 >= settings.maxAttempts;

/** What ended a try; null: a stop did, which costs none. Work that had all its time has failed for that. */
export function endOfTry(failure: EngineError, { aborted, reason }: Cancellation): EngineError | null {
  if (!aborted) return failure;
  return reason instanceof EngineError ? reason : null;
}

/** One try more, or none: then `over` is what becomes of the work. `retryAt` null: there is none. */
export async function failTry<Work extends Held, Over extends string>(
  deps: Pick<EngineDeps, 'settings' | 'tools'>,
  { store, work, over }: { readonly store: HeldStore<Work>; readonly work: Work; readonly over: Over },
  error: EngineError,
): Promise<{ readonly outcome: 'retry' | 'fenced' | Over; readonly retryAt: Millis | null }> {
  const now = deps.tools.now();
  const left = error.retryable && !isLastTry(deps, work);
  const retryAt = left ? now + retryDelay(deps, work.attempts, error) : null;
  const { kind } = await store.fail(work, { failure: failureOf(error, now), retryAt });
  return { outcome: kind === 'fenced' ? 'fenced' : left ? 'retry' : over, retryAt };
}

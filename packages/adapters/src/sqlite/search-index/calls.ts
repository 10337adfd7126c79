import type { IndexHit, IndexQuery } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { type Kept, shownFrom } from '../../shown-point.ts';
import type { Thread } from '../../system/index.ts';
import type { FoundPoint } from './protocol.ts';

type Method = (...args: never[]) => unknown;
type Call<Methods> = <Name extends keyof Methods & string>(
  name: Name,
  ...args: Methods[Name] extends Method ? Parameters<Methods[Name]> : never
) => Promise<Methods[Name] extends Method ? Awaited<ReturnType<Methods[Name]>> : never>;

/** The thread sends EngineErrors; anything else says that the thread itself is gone. */
export function callsTo<Methods>(thread: Thread, place: string): Call<Methods> {
  return async (name, ...args) => {
    try {
      return await thread.call(name, ...args);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(
        `the index ${place} is closed in this process, or its thread has died; restart the process`,
        {
          code: 'index_unavailable',
          retryable: true,
          cause: error,
        },
      );
    }
  };
}

/** What was found for each of these questions, as it is shown. */
export const hitsOf = (
  queries: readonly IndexQuery[],
  found: readonly (readonly FoundPoint[])[],
): readonly (readonly IndexHit[])[] =>
  queries.map(({ shelf, tenant, lane, owner }, i) =>
    (found[i] ?? []).map(({ payload, vectorScore, keywordScore, ...point }) => ({
      point: shownFrom(JSON.parse(payload) as Kept, { ...point, shelf, tenant, lane, owner }),
      vectorScore,
      keywordScore,
    })),
  );

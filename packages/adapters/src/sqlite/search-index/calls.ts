import type { IndexHit } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
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

export function hitOf({ payload, vectorScore, keywordScore }: FoundPoint): IndexHit {
  return { point: JSON.parse(payload) as IndexHit['point'], vectorScore, keywordScore };
}

import { EngineError } from '@slowwave/engine/storing';
import type { Thread } from '../../system/index.ts';

export const INDEX_THREAD = new URL('./index-thread.ts', import.meta.url);

type Method = (...args: never[]) => unknown;
type Call<Methods> = <Name extends keyof Methods & string>(
  name: Name,
  ...args: Methods[Name] extends Method ? Parameters<Methods[Name]> : never
) => Promise<Methods[Name] extends Method ? Awaited<ReturnType<Methods[Name]>> : never>;

/** The thread sends EngineErrors; anything else says that the thread itself is gone. */
export function callsTo<Methods>(thread: Thread, path: string): Call<Methods> {
  return async (name, ...args) => {
    try {
      return await thread.call(name, ...args);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(
        `the index ${path} is closed in this process, or its thread has died; restart the process`,
        {
          code: 'index_unavailable',
          retryable: true,
          cause: error,
        },
      );
    }
  };
}

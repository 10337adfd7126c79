import { startModelServer } from '@slowwave/testkit';
import type { Progress } from '../bench.ts';
import { mem0Model, type Said, thinking, withMem0 } from './mem0.ts';

const DIMENSIONS = 1_024;
const WARM = 3;

interface Adding {
  readonly times: number;
  /** How long the model thinks, in ms; embeddings come at once. */
  readonly thinkMs: number;
  readonly messages: readonly Said[];
}

/** How long mem0's add() takes until it returns, in ms: of one user after the other, one at a time. */
export async function mem0AddTimes(
  { times, thinkMs, messages }: Adding,
  progress: Progress,
): Promise<readonly number[]> {
  const model = await startModelServer({ script: thinking(thinkMs, mem0Model) });
  try {
    return await withMem0({ modelUrl: model.baseUrl, dimensions: DIMENSIONS }, async (mem0) => {
      const took: number[] = [];
      for (let i = 0; i < WARM + times; i += 1) {
        progress(`gave mem0 ${i} of ${WARM + times} exchanges`);
        const { ms } = await mem0.add(`user-${i}`, messages);
        if (i >= WARM) took.push(ms);
      }
      return took;
    });
  } finally {
    await model.close();
  }
}

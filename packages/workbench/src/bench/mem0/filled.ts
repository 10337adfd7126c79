import { startModelServer } from '@slowwave/testkit';
import type { Progress } from '../bench.ts';
import type { Filling } from '../filled/folder.ts';
import { pointsOf, userAt } from '../filled/points.ts';
import { type Mem0, mem0Model, withMem0 } from './mem0.ts';

const FILLED_AT_ONCE = 500;

/** Works with a mem0 that has the same memories of the same users. */
export async function withFilledMem0<T>(
  filling: Filling & { readonly dimensions: number },
  progress: Progress,
  work: (mem0: Mem0) => Promise<T>,
): Promise<T> {
  const { dimensions, qdrantUrl } = filling;
  const model = await startModelServer({ script: mem0Model });
  try {
    return await withMem0({ modelUrl: model.baseUrl, dimensions, qdrantUrl }, async (mem0) => {
      await fill(mem0, filling, progress);
      return work(mem0);
    });
  } finally {
    await model.close();
  }
}

async function fill(mem0: Mem0, { size, words }: Filling, progress: Progress): Promise<void> {
  for (let user = 0; user < size.users; user += 1) {
    const texts = pointsOf(user, size, words).map(({ text }) => text);
    for (let from = 0; from < texts.length; from += FILLED_AT_ONCE) {
      await mem0.fill(userAt(user), texts.slice(from, from + FILLED_AT_ONCE));
    }
    progress(`filled mem0 with the memories of ${user + 1} of ${size.users} users`);
  }
}

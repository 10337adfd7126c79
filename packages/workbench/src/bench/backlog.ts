import { type Api, each } from '../api.ts';
import { userOf } from '../fleet/said.ts';
import type { Progress } from './bench.ts';

/** One batch that is due for each of many users, which takes so many calls of the model. */
export async function postBacklog(
  api: Api,
  { turns, calls }: { readonly turns: number; readonly calls: number },
  progress: Progress,
): Promise<void> {
  let posted = 0;
  await each(
    Array.from({ length: turns }, (_, user) => user),
    async (user) => {
      const messages = saidOf(user, calls).map((content) => ({ role: 'user', content }));
      await api.post('/v1/batches', { user_id: userOf(user), messages, flush: true });
      posted += 1;
      progress(`posted ${posted} of ${turns} batches`);
    },
  );
}

/** What is in the batch of one user. Two levels are near each other, so that the model decides about them; one stands alone. */
export const saidOf = (user: number, calls: number): readonly string[] =>
  Array.from({ length: calls }, (_, i) => `${userOf(user)} has reached level ${i}`);

import type { Api } from '../../api.ts';
import { seededRandom } from '../../chaos/random.ts';
import { type Counts, untilQuiet } from '../../fleet/quiet.ts';
import type { Progress } from '../bench.ts';
import type { Sayings } from './sayings.ts';

const WITHIN_MS = 3_600_000;
const LOOK_EVERY_MS = 1_000;

/** Users who say one thing at a time, and are answered: of each exchange a memory is made. */
export interface Exchanging {
  readonly users: number;
  readonly exchanges: number;
  readonly words: Sayings;
  /** Whether each exchange is consolidated before the next one; else several are together. */
  readonly isEachAlone: boolean;
}

export const nameOf = (user: number): string => `reader-${user}`;

/** Lets all of them talk, and waits until everything is consolidated; what could not be would be measured as it waits. */
export async function exchange(
  api: Api,
  { users, exchanges, words, isEachAlone }: Exchanging,
  progress: Progress,
): Promise<void> {
  const random = seededRandom('exchanges');
  const onCounts = ({ parked }: Counts): void => {
    if (parked > 0) throw new Error(`expected every exchange to be consolidated, got ${parked} that could not be`);
  };
  const consolidated = () => untilQuiet(api, { withinMs: WITHIN_MS, everyMs: LOOK_EVERY_MS, onCounts });
  for (let turn = 0; turn < exchanges; turn += 1) {
    progress(`said ${turn} of ${exchanges}`);
    for (let user = 0; user < users; user += 1) {
      const messages = [
        { role: 'user', content: words.line(random, turn * users + user) },
        { role: 'assistant', content: 'Thank you, I will keep that in mind for the next time.' },
      ];
      await api.post('/v1/batches', { user_id: nameOf(user), messages, flush: isEachAlone });
    }
    if (isEachAlone) await consolidated();
  }
  await consolidated();
}

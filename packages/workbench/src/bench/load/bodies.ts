import type { Said } from '../mem0/mem0.ts';
import type { Bodies } from './drive.ts';

const MESSAGES = 6;
const SENTENCE =
  'We talked about the garden, the new bicycle and the train to the coast that leaves on Friday morning. ';
const SENTENCES = 4;

/** An exchange of about 2.9 KB. */
export const EXCHANGE: readonly Said[] = Array.from({ length: MESSAGES }, (_, i) => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: SENTENCE.repeat(SENTENCES),
}));

/** The exchange as a batch, of one user after the other. */
export function bodiesOf(users: number): Bodies {
  const rest = `","messages":${JSON.stringify(EXCHANGE)}}`;
  let next = 0;
  return () => {
    next += 1;
    return `{"user_id":"user-${next % users}${rest}`;
  };
}

import { DEFAULT_TENANT, type IndexLane, type IndexQuery, terms } from '@slowwave/engine';
import { type Random, seededRandom } from '../../chaos/random.ts';
import { product } from '../../product.ts';
import { textOf, type Vocabulary } from './words.ts';

/** A text with what the index is asked for it. */
export interface Question {
  readonly text: string;
  readonly terms: readonly string[];
  readonly vector: Float32Array;
}

const WORDS = 6;
/** Fewer than search keeps embedded, so that no time of an embedder is measured. */
const DIFFERENT = 200;
/** How many hits search asks of each leg when ten are wanted. */
const LEG_LIMIT = 50;

/** Different questions. */
export function makeQuestions(words: Vocabulary): Promise<readonly Question[]> {
  const random = seededRandom('questions');
  return Promise.all(Array.from({ length: DIFFERENT }, () => questionOf(textOf(words.sentence(random, WORDS)))));
}

/** A text as a question, with its vector by the builtin embedder. */
export async function questionOf(text: string): Promise<Question> {
  const { vectors } = await product.embedder().embed([text], new AbortController().signal);
  return { text, terms: terms(text), vector: vectors[0] ?? new Float32Array() };
}

/** One of the questions, about any of so many users. */
export const drawn = (random: Random, questions: readonly Question[], users: number) => ({
  question: random.pick(questions),
  user: random.between(0, users - 1),
});

/** What the index is asked for a question: both legs, with what the memories came from. */
export const indexQueryOf = ({ terms: asked, vector }: Question, of: Omit<IndexLane, 'tenant'>): IndexQuery => ({
  tenant: DEFAULT_TENANT,
  ...of,
  shelf: 'memories',
  filter: {},
  visibility: { kind: 'live', now: Date.now() },
  vector,
  terms: asked,
  where: null,
  wide: true,
  limit: LEG_LIMIT,
});

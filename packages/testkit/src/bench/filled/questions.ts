import { DEFAULT_TENANT, type IndexQuery, terms } from '@slowwave/engine';
import { type Random, seededRandom } from '../../chaos/random.ts';
import { product } from '../../product.ts';
import { ownerAt } from './points.ts';
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

/** Different questions, each with its vector. */
export async function makeQuestions(words: Vocabulary): Promise<readonly Question[]> {
  const random = seededRandom('questions');
  const texts = Array.from({ length: DIFFERENT }, () => textOf(words.sentence(random, WORDS)));
  const embedder = await product.embedder();
  const { vectors } = await embedder.embed(texts, new AbortController().signal);
  return texts.map((text, i) => ({ text, terms: terms(text), vector: vectors[i] ?? new Float32Array() }));
}

/** One of the questions, of any of so many users. */
export const drawn = (random: Random, questions: readonly Question[], users: number) => ({
  question: random.pick(questions),
  user: random.between(0, users - 1),
});

/** What search asks the index for a question about one user: both legs, with what the memories came from. */
export const indexQuery = ({ terms: asked, vector }: Question, user: number): IndexQuery => ({
  tenant: DEFAULT_TENANT,
  owner: ownerAt(user),
  shelf: 'memories',
  filter: {},
  visibility: { kind: 'live', now: Date.now() },
  vector,
  terms: asked,
  where: null,
  wide: true,
  limit: LEG_LIMIT,
});

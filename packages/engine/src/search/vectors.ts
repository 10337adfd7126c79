/** How the vectors of an embedder are made, and how its cosines read. */
export interface Vectors {
  /** By hashing, or by a model that has learnt what is near. */
  readonly kind: 'hashed' | 'learnt';
  /**
   * The share of words in a hybrid score. Learnt vectors find other wordings, and .6 keeps the best of both. Hashed ones know
   * little that words do not: with .6 of them R@5 on raw messages falls by 4 points.
   */
  readonly words: number;
  /** The same for raw messages: what was said beside them is in their words alone. */
  readonly wordsOfMessages: number;
  readonly questions: QuestionCosines;
}

/** How near a question is to what has nothing to do with it, and to its answer. */
export interface QuestionCosines {
  /** Of what has nothing to do with it half is further away than this, and nine in ten than that. */
  readonly apart: number;
  readonly apartMost: number;
  /** Half of all answers are nearer. */
  readonly answer: number;
}

/** By the words and how they are spelled: nobody asks how near these are to a question. */
export const HASHED: Vectors = {
  kind: 'hashed',
  words: 0.8,
  wordsOfMessages: 0.8,
  questions: { apart: 0, apartMost: 0.06, answer: 0.15 },
};
/** Of a small model, MiniLM, in English. */
export const LEARNT: Vectors = {
  kind: 'learnt',
  words: 0.6,
  wordsOfMessages: 0.7,
  questions: { apart: 0.01, apartMost: 0.14, answer: 0.41 },
};

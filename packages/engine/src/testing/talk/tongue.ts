/** What two people talk about in one language, in templates: {s} a speaker, {o} the other one, {v} a value. */
export interface Tongue {
  readonly speakers: readonly [string, string];
  /** Others of whom the same is told. */
  readonly relatives: readonly string[];
  readonly smallTalk: readonly string[];
  readonly topics: readonly Topic[];
}

export interface Topic {
  readonly values: readonly string[];
  /** By which the other one asks: with the words by which it is looked for later. */
  readonly asks: readonly string[];
  /** The answer: often without any of these words. */
  readonly tells: readonly string[];
  /** What a model would make of it. */
  readonly facts: readonly string[];
  readonly questions: readonly string[];
}

/** What two people talk about in one language, in templates: {s} a speaker, {o} the other one, {v} a value. */
export interface Tongue {
  readonly speakers: readonly [string, string];
  /** Others of whom the same is said. */
  readonly relatives: readonly string[];
  /** What is said next, of anything: {h} helped. And the question about it: {a} is what it was about. */
  readonly helps: string;
  readonly whoHelps: string;
  readonly helpers: readonly string[];
  readonly smallTalk: readonly string[];
  readonly topics: readonly Topic[];
}

export interface Topic {
  /** In the words by which the other one asks. */
  readonly about: string;
  readonly values: readonly string[];
  /** By which the other one asks: with the words by which it is looked for later. */
  readonly asks: readonly string[];
  /** The answer: often without any of these words. */
  readonly says: readonly string[];
  /** What a model would make of it. */
  readonly facts: readonly string[];
  readonly questions: readonly string[];
}

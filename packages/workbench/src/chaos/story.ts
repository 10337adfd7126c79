/** What one user said, and so what must become of it. */
export interface Story {
  readonly user: string;
  /** Whether relations are kept of what is inferred. */
  readonly graph: boolean;
  readonly batches: SaidBatch[];
  readonly notes: Note[];
  /** By what they are about; the last one said holds. */
  readonly facts: SaidFact[];
  /** What was said to the graph, in every repetition. */
  readonly said: Said[];
  /** Memories seen so far, by id. */
  readonly memories: Set<string>;
}

export interface SaidBatch {
  readonly id: string;
  readonly texts: readonly string[];
  readonly poison: boolean;
  /** Whether the graph has to have studied it. */
  readonly graph: boolean;
  /** Looked at and found right: nothing changes it any more. */
  checked: boolean;
  /** The same of its study. */
  studied: boolean;
}

export interface Said {
  readonly text: string;
  readonly saidAt: number;
}

export interface SaidFact {
  readonly text: string;
  /** What it is about; of facts about the same the one said last holds. */
  readonly key: string;
  readonly saidAt: number;
  /** In which order the user's facts were posted. */
  readonly order: number;
}

/** A memory written explicitly. */
interface Note {
  readonly text: string;
  /** null: nobody knows whether it was written. */
  readonly id: string | null;
  deleted: boolean;
}

export const newStory = (user: string, { graph }: { graph: boolean }): Story => ({
  user,
  graph,
  batches: [],
  notes: [],
  facts: [],
  said: [],
  memories: new Set(),
});

/** The texts that must hold now, but for notes. */
export function holding({ facts }: Story): string[] {
  const last = new Map<string, SaidFact>();
  for (const fact of facts) {
    const known = last.get(fact.key);
    if (known === undefined || known.saidAt < fact.saidAt) last.set(fact.key, fact);
  }
  return [...last.values()].map(({ text }) => text);
}

import type { Candidate, Fact } from '../plan.ts';
import { normaliseText } from '../text/normalise.ts';
import type { Memory } from '../words.ts';

/** What a fact repeats word for word: a memory, or an earlier fact. */
export type Repeat =
  | { readonly kind: 'memory'; readonly memoryId: string }
  | { readonly kind: 'fact'; readonly fact: string };

/** Facts that need no decision, because the same words are there already, in a version or in an earlier fact. */
export function repeatsOf(
  facts: readonly Fact[],
  candidates: readonly Candidate[],
  memories: ReadonlyMap<string, Memory>,
): ReadonlyMap<string, Repeat> {
  const repeats = new Map<string, Repeat>();
  const firstWith = new Map<string, string>();
  for (const fact of facts) {
    const words = normaliseText(fact.text);
    const memory = candidates.find(
      (candidate) =>
        candidate.recalledBy.some(({ fact: by }) => by === fact.id) && says(memories.get(candidate.memoryId), words),
    );
    const earlier = firstWith.get(words);
    if (memory !== undefined) repeats.set(fact.id, { kind: 'memory', memoryId: memory.memoryId });
    else if (earlier !== undefined) repeats.set(fact.id, { kind: 'fact', fact: earlier });
    if (earlier === undefined) firstWith.set(words, fact.id);
  }
  return repeats;
}

/** Former versions count: what is said of an earlier time confirms what held then. */
const says = (memory: Memory | undefined, words: string): boolean =>
  memory?.versions.some((version) => normaliseText(version.text) === words) ?? false;

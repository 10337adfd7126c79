import type { Candidate, Fact } from '../plan.ts';
import { normaliseText } from '../text/normalise.ts';
import type { Memory } from '../words.ts';
import { liveVersion } from './evolve.ts';

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
    const saying = candidates.filter(
      (candidate) =>
        candidate.recalledBy.some(({ fact: by }) => by === fact.id) && says(memories.get(candidate.memoryId), words),
    );
    // One that holds goes before one that once did: else the fact would change that one into a second of the first.
    const memory = saying.find((candidate) => holds(memories.get(candidate.memoryId), words)) ?? saying[0];
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

function holds(memory: Memory | undefined, words: string): boolean {
  const live = memory === undefined ? null : liveVersion(memory);
  return live !== null && normaliseText(live.text) === words;
}

import type { NearThresholds } from '../deps.ts';
import { inEffect, lastSaidAt, liveVersion } from '../memories/evolve.ts';
import { reads } from '../memories/former.ts';
import type { Candidate, Fact } from '../plan.ts';
import type { Sliced } from '../ports/tools.ts';
import { cosine } from '../search/hits.ts';
import { normaliseText } from '../text/normalise.ts';
import { overlap, termSet } from '../text/terms.ts';
import { type Memory, saidBefore } from '../words.ts';

/** What a fact repeats word for word: a memory, or an earlier fact. */
export type Repeat =
  | { readonly kind: 'memory'; readonly memoryId: string }
  | { readonly kind: 'fact'; readonly fact: string };

/** Facts that need no decision, because the same words are there already, in a version or in an earlier fact. */
export function* repeatsOf(
  facts: readonly Fact[],
  candidates: readonly Candidate[],
  memories: ReadonlyMap<string, Memory>,
): Sliced<ReadonlyMap<string, Repeat>> {
  const recalled = candidatesByFact(candidates);
  const repeats = new Map<string, Repeat>();
  const firstWith = new Map<string, string>();
  for (const fact of facts) {
    const words = normaliseText(fact.text);
    const saying = (recalled.get(fact.id) ?? []).filter(({ memoryId }) => says(memories.get(memoryId), words));
    // One that holds goes before one that once did: else the fact would change that one into a second of the first.
    const memory = saying.find((candidate) => holds(memories.get(candidate.memoryId), words)) ?? saying[0];
    const earlier = firstWith.get(words);
    if (memory !== undefined) repeats.set(fact.id, { kind: 'memory', memoryId: memory.memoryId });
    else if (earlier !== undefined) repeats.set(fact.id, { kind: 'fact', fact: earlier });
    if (earlier === undefined) firstWith.set(words, fact.id);
    yield;
  }
  return repeats;
}

/** What was recalled for each fact, in the order in which it is shown. */
export function candidatesByFact(candidates: readonly Candidate[]): ReadonlyMap<string, readonly Candidate[]> {
  const byFact = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const { fact } of candidate.recalledBy) byFact.set(fact, [...(byFact.get(fact) ?? []), candidate]);
  }
  return byFact;
}

export interface Ground {
  readonly candidates: readonly Candidate[];
  readonly memories: ReadonlyMap<string, Memory>;
  /** Whether two facts may tell of the same. */
  near(one: Fact, other: Fact): boolean;
}

/**
 * Repeats that a rule may decide; the others are for the model to decide. Something near that was said since may have
 * ended what is repeated, so that it begins anew. And what was said before its memory began may belong to another one
 * that is gone.
 */
export function* undisputed(
  facts: readonly Fact[],
  repeats: ReadonlyMap<string, Repeat>,
  ground: Ground,
): Sliced<ReadonlyMap<string, Repeat>> {
  const recalled = candidatesByFact(ground.candidates);
  const ruled = new Map<string, Repeat>();
  const open: Fact[] = [];
  for (const fact of facts) {
    const repeat = repeats.get(fact.id);
    const candidates = recalled.get(fact.id) ?? [];
    if (repeat !== undefined && !isDisputed(fact, repeat, { ...ground, candidates, open })) ruled.set(fact.id, repeat);
    else open.push(fact);
    yield;
  }
  return ruled;
}

/** `candidates`: those of the fact. */
function isDisputed(fact: Fact, repeat: Repeat, ground: Ground & { readonly open: readonly Fact[] }): boolean {
  const { open, near, memories, candidates } = ground;
  if (repeat.kind === 'fact') {
    const first = open.findIndex(({ id }) => id === repeat.fact);
    return open.slice(first + 1).some((between) => near(between, fact));
  }
  const memory = memories.get(repeat.memoryId);
  if (memory === undefined) return true;
  const since = open.filter(({ saidAt }) => saidBefore(lastSaidAt(memory), saidAt));
  const isBegun = inEffect(memory.timeline).some(({ saidAt }) => !saidBefore(fact.saidAt, saidAt));
  const others = candidates.filter(({ memoryId }) => memoryId !== memory.id);
  const isLate = !isBegun && others.some(({ standing }) => standing === 'deleted');
  return isLate || since.some((between) => near(between, fact));
}

/** Former versions count: what is said of an earlier time confirms what held then. */
const says = (memory: Memory | undefined, words: string): boolean =>
  memory?.versions.some((version) => reads(version, words)) ?? false;

function holds(memory: Memory | undefined, words: string): boolean {
  const live = memory === undefined ? null : liveVersion(memory);
  return live !== null && normaliseText(live.text) === words;
}

/** Close enough on either leg that only a decision can tell what the fact does to the memory. */
export const isNear = (
  scores: { readonly vector: number | null; readonly keyword: number | null },
  near: NearThresholds,
): boolean => (scores.vector ?? 0) >= near.vector || (scores.keyword ?? 0) >= near.keyword;

/** Facts of one consolidation beyond which comparing each with each is not worth the time: they are simply decided. */
const PAIRS_MAX_FACTS = 200;

/** Whether two of the facts might tell of the same thing. */
export function* nearEachOther(facts: readonly Fact[], isPairNear: PairNear): Sliced<boolean> {
  if (facts.length > PAIRS_MAX_FACTS) return true;
  for (const [i, one] of facts.entries()) {
    if (facts.slice(i + 1).some((other) => isPairNear(one, other))) return true;
    yield;
  }
  return false;
}

/** Whether two facts might tell of the same thing; what they are compared by is worked out once for each. */
type PairNear = (one: Fact, other: Fact) => boolean;

export function pairNear(vectorOf: (text: string) => Float32Array, near: NearThresholds): PairNear {
  const known = new Map<Fact, { readonly vector: Float32Array; readonly terms: ReadonlySet<string> }>();
  const comparable = (fact: Fact) => {
    const made = known.get(fact) ?? { vector: vectorOf(fact.text), terms: termSet(fact.text) };
    known.set(fact, made);
    return made;
  };
  return (one, other) => {
    const [a, b] = [comparable(one), comparable(other)];
    return cosine(a.vector, b.vector) >= near.vector || overlap(a.terms, b.terms) >= near.overlap;
  };
}

import type { RawOperation } from '../../parse/operations.ts';
import type { Candidate, Fact } from '../../plan.ts';
import { normaliseText } from '../../text/normalise.ts';
import { overlap, termSet } from '../../text/similarity.ts';

/**
 * mem0's older answers do not say which fact an entry stands for. Each entry takes the fact not yet taken whose words
 * are nearest to its own, among those whose recall showed the memory it names. An entry that only repeats a memory
 * takes none. Entries that find no fact stay without; facts that no entry takes are left over.
 */
export function attribute(
  raw: readonly RawOperation[],
  facts: readonly Fact[],
  candidates: readonly Candidate[],
): readonly RawOperation[] {
  const named = raw.map((operation) => ({ ...operation, fact: factNamed(operation, facts) }));
  if (named.every((operation) => operation.fact !== null)) return named;
  const open = new Map(facts.map((fact) => [fact.id, fact]));
  for (const { fact } of named) if (fact !== null) open.delete(fact);
  const shown = new Map(candidates.map((candidate) => [candidate.shortId, candidate]));
  const found = new Map<RawOperation, string>();
  const entries = named
    .filter((operation) => operation.fact === null)
    .map((operation) => ({ operation, memory: memoryNamed(operation, shown) }))
    .filter((entry) => !isEcho(entry, candidates));
  // Sure matches first, so that an entry further up the list cannot take another's fact.
  for (const pass of PASSES) {
    for (const entry of entries.filter(({ operation }) => !found.has(operation))) {
      const isSecond = entries.some(({ operation, memory }) => memory === entry.memory && found.has(operation));
      const fact = pass({ ...entry, isSecond }, factsShown(entry, [...open.values()]));
      if (fact === undefined) continue;
      found.set(entry.operation, fact.id);
      open.delete(fact.id);
    }
  }
  return named.map((operation) => ({ ...operation, fact: operation.fact ?? found.get(operation) ?? null }));
}

/** The fact's id as it was given, or as models bend it: a bare number, a capital, the fact's own words. */
function factNamed({ fact }: RawOperation, facts: readonly Fact[]): string | null {
  if (fact === null || facts.some(({ id }) => id === fact)) return fact;
  const bent = fact.toLowerCase();
  const meant = facts.find(({ id, text }) => id === bent || id === `f${bent}` || text === fact);
  return meant?.id ?? fact;
}

interface Entry {
  readonly operation: RawOperation;
  readonly memory: Candidate | undefined;
}

const memoryNamed = ({ id }: RawOperation, shown: ReadonlyMap<string, Candidate>): Candidate | undefined =>
  id === null ? undefined : shown.get(id);

/** A memory written down again, to say that it stays as it is. */
function isEcho({ operation: { event, text } }: Entry, candidates: readonly Candidate[]): boolean {
  if (event !== 'NONE' && event !== null) return false;
  return text === null || candidates.some((memory) => normaliseText(text) === normaliseText(memory.text));
}

/** Facts whose recall showed the memory an entry names; all of them where it names none that was shown. */
function factsShown({ operation, memory }: Entry, facts: readonly Fact[]): readonly Fact[] {
  if (memory === undefined || operation.event === 'ADD') return facts;
  return facts.filter((fact) => memory.recalledBy.some((recalled) => recalled.fact === fact.id));
}

/** `isSecond`: another entry that names the same memory has its fact already. */
type Pass = (entry: Entry & { readonly isSecond: boolean }, facts: readonly Fact[]) => Fact | undefined;

const sameWords: Pass = ({ operation: { text } }, facts) =>
  text === null ? undefined : facts.find((fact) => normaliseText(fact.text) === normaliseText(text));

/** Less in common than this may be by accident. */
const LEAST_OVERLAP = 0.34;

const likeWords: Pass = ({ operation: { event, text } }, facts) =>
  text === null || !isNews(event) ? undefined : nearest(facts, (fact) => overlap(text, fact.text), LEAST_OVERLAP);

/** The memory reworked: what is new in it comes from some fact. */
const newWords: Pass = ({ operation: { event, text }, memory }, facts) => {
  if (text === null || !isNews(event) || memory === undefined) return undefined;
  const known = termSet(memory.text);
  const added = new Set([...termSet(text)].filter((term) => !known.has(term)));
  return nearest(facts, (fact) => overlap(added, fact.text), Number.MIN_VALUE);
};

/** Without words of its own, or with the memory's in a DELETE, any fact the memory was shown for may be meant. */
const anyShown: Pass = ({ operation: { event, text }, memory, isSecond }, facts) => {
  if (event === 'NONE' || isSecond || (event !== 'DELETE' && text !== null)) return undefined;
  if (memory === undefined && event !== 'ADD') return undefined;
  return nearest(facts, (fact) => overlap(memory?.text ?? '', fact.text), 0);
};

/** The text of a DELETE or NONE is the memory's, not a fact's. */
const isNews = (event: RawOperation['event']): boolean => event !== 'DELETE' && event !== 'NONE';

const PASSES: readonly Pass[] = [sameWords, likeWords, newWords, anyShown];

/** The first of the best that reach the least. */
function nearest(facts: readonly Fact[], scoreOf: (fact: Fact) => number, least: number): Fact | undefined {
  let best: { fact: Fact; score: number } | undefined;
  for (const fact of facts) {
    const score = scoreOf(fact);
    if (score >= least && (best === undefined || score > best.score)) best = { fact, score };
  }
  return best?.fact;
}

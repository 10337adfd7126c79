import type { RawOperation } from '../../models/parse/listed.ts';
import type { Candidate, Fact } from '../../plan.ts';
import type { Sliced } from '../../slices.ts';
import { normaliseText } from '../../text/normalise.ts';
import { type Comparable, overlap, termSet } from '../../text/terms.ts';

/**
 * mem0's older answers do not say which fact an entry stands for. Each entry takes the fact not yet taken whose words
 * are nearest to its own, among those whose recall showed the memory it names. An entry that only repeats a memory
 * takes none. Entries that find no fact stay without; facts that no entry takes are left over.
 */
export function* attribute(
  raw: readonly RawOperation[],
  facts: readonly Fact[],
  candidates: readonly Candidate[],
): Sliced<readonly RawOperation[]> {
  const nameOf = factNames(facts);
  const named = raw.map((operation) => ({ ...operation, fact: nameOf(operation) }));
  if (named.every((operation) => operation.fact !== null)) return named;
  const open = new Map(facts.map((fact) => [fact.id, fact]));
  for (const { fact } of named) if (fact !== null) open.delete(fact);
  const shown = new Map(candidates.map((candidate) => [candidate.shortId, candidate]));
  const known = new Set(candidates.map(({ text }) => normaliseText(text)));
  const found = new Map<RawOperation, string>();
  const taken = new Set<Candidate | undefined>();
  const entries = named
    .filter((operation) => operation.fact === null)
    .map((operation) => ({ operation, memory: memoryNamed(operation, shown) }))
    .filter((entry) => !isEcho(entry, known));
  // Sure matches first, so that an entry further up the list cannot take another's fact.
  for (const pass of PASSES) {
    for (const entry of entries.filter(({ operation }) => !found.has(operation))) {
      yield;
      if (open.size === 0) break;
      const isSecond = taken.has(entry.memory);
      const fact = pass({ ...entry, isSecond }, factsShown(entry, [...open.values()]));
      if (fact === undefined) continue;
      found.set(entry.operation, fact.id);
      taken.add(entry.memory);
      open.delete(fact.id);
    }
  }
  return named.map((operation) => ({ ...operation, fact: operation.fact ?? found.get(operation) ?? null }));
}

/** The fact's id as it was given, or as models bend it: a bare number, a capital, the fact's own words. */
function factNames(facts: readonly Fact[]): (operation: RawOperation) => string | null {
  const ids = new Set(facts.map(({ id }) => id));
  const byText = new Map(facts.toReversed().map(({ id, text }) => [text, id]));
  return ({ fact }) => {
    if (fact === null || ids.has(fact)) return fact;
    const bent = fact.toLowerCase();
    return [bent, `f${bent}`].find((id) => ids.has(id)) ?? byText.get(fact) ?? fact;
  };
}

interface Entry {
  readonly operation: RawOperation;
  readonly memory: Candidate | undefined;
}

const memoryNamed = ({ id }: RawOperation, shown: ReadonlyMap<string, Candidate>): Candidate | undefined =>
  id === null ? undefined : shown.get(id);

/** A memory written down again, to say that it stays as it is. */
function isEcho({ operation: { event, text } }: Entry, known: ReadonlySet<string>): boolean {
  if (event !== 'NONE' && event !== null) return false;
  return text === null || known.has(normaliseText(text));
}

/** Facts whose recall showed the memory an entry names; all of them where it names none that was shown. */
function factsShown({ operation, memory }: Entry, facts: readonly Fact[]): readonly Fact[] {
  if (memory === undefined || operation.event === 'ADD') return facts;
  const by = new Set(memory.recalledBy.map(({ fact }) => fact));
  return facts.filter(({ id }) => by.has(id));
}

/** `isSecond`: another entry that names the same memory has its fact already. */
type Pass = (entry: Entry & { readonly isSecond: boolean }, facts: readonly Fact[]) => Fact | undefined;

const sameWords: Pass = ({ operation: { text } }, facts) => {
  const words = text === null ? null : normaliseText(text);
  return words === null ? undefined : facts.find((fact) => wordsOf(fact) === words);
};

/** Every fact is held against every entry. */
const words = new WeakMap<Fact, { readonly text: string; readonly terms: ReadonlySet<string> }>();

function comparable(fact: Fact): { readonly text: string; readonly terms: ReadonlySet<string> } {
  const known = words.get(fact) ?? { text: normaliseText(fact.text), terms: termSet(fact.text) };
  words.set(fact, known);
  return known;
}

const wordsOf = (fact: Fact): string => comparable(fact).text;
/** A text without any term is alike only to what is spelt the same. */
const termsOf = (fact: Fact): Comparable => (comparable(fact).terms.size === 0 ? fact.text : comparable(fact).terms);
const termsIn = (text: string): Comparable => {
  const terms = termSet(text);
  return terms.size === 0 ? text : terms;
};

/** Less in common than this may be by accident. */
const LEAST_OVERLAP = 0.34;

const likeWords: Pass = ({ operation: { event, text } }, facts) =>
  text === null || !isNews(event) ? undefined : nearest(facts, overlapWith(termsIn(text)), LEAST_OVERLAP);

/** The memory reworked: what is new in it comes from some fact. */
const newWords: Pass = ({ operation: { event, text }, memory }, facts) => {
  if (text === null || !isNews(event) || memory === undefined) return undefined;
  const known = termSet(memory.text);
  const added = new Set([...termSet(text)].filter((term) => !known.has(term)));
  return nearest(facts, overlapWith(added), Number.MIN_VALUE);
};

/** Without words of its own, or with the memory's in a DELETE, any fact the memory was shown for may be meant. */
const anyShown: Pass = ({ operation: { event, text }, memory, isSecond }, facts) => {
  if (event === 'NONE' || isSecond || (event !== 'DELETE' && text !== null)) return undefined;
  if (memory === undefined && event !== 'ADD') return undefined;
  return nearest(facts, overlapWith(termsIn(memory?.text ?? '')), 0);
};

const overlapWith =
  (asked: Comparable) =>
  (fact: Fact): number =>
    overlap(asked, termsOf(fact));

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

import type { RawOperation } from '../../parse/operations.ts';
import type { Candidate, Fact } from '../../plan.ts';
import { normaliseText } from '../../text/normalise.ts';
import { overlap } from '../../text/similarity.ts';

/**
 * mem0's older answers do not say which fact an entry stands for. Each entry takes the fact not yet taken whose words
 * are nearest to its own, among those whose recall showed the memory it names; entries without words take what is left,
 * in order. An echoed NONE of a memory nobody repeats takes none. Entries that find no fact stay without.
 */
export function attribute(
  raw: readonly RawOperation[],
  facts: readonly Fact[],
  candidates: readonly Candidate[],
): readonly RawOperation[] {
  if (raw.every((operation) => operation.fact !== null)) return raw;
  const open = new Map(facts.map((fact) => [fact.id, fact]));
  for (const { fact } of raw) if (fact !== null) open.delete(fact);
  const found = new Map<RawOperation, string>();
  const take = (operation: RawOperation, fact: Fact | undefined): void => {
    if (fact === undefined) return;
    found.set(operation, fact.id);
    open.delete(fact.id);
  };
  const unnamed = raw.filter((operation) => operation.fact === null);
  const eligible = (operation: RawOperation) => factsShown(operation, [...open.values()], candidates);
  // Sure matches first, so that an entry further up the list cannot take another's fact.
  for (const operation of unnamed)
    take(
      operation,
      eligible(operation).find((fact) => sameWords(operation, fact)),
    );
  for (const operation of unnamed.filter((entry) => !found.has(entry) && entry.text !== null)) {
    take(operation, nearestTo(operation.text ?? '', eligible(operation)));
  }
  for (const operation of unnamed.filter(
    (entry) => !found.has(entry) && entry.text === null && entry.event !== 'NONE',
  )) {
    take(operation, eligible(operation)[0]);
  }
  return raw.map((operation) => ({ ...operation, fact: operation.fact ?? found.get(operation) ?? null }));
}

/** Facts whose recall showed the memory an entry names; all of them where it names none that was shown. */
function factsShown(
  operation: RawOperation,
  facts: readonly Fact[],
  candidates: readonly Candidate[],
): readonly Fact[] {
  const named = candidates.find((candidate) => candidate.shortId === operation.id);
  if (named === undefined || operation.event === 'ADD') return facts;
  return facts.filter((fact) => named.recalledBy.some((recalled) => recalled.fact === fact.id));
}

const sameWords = (operation: RawOperation, fact: Fact): boolean =>
  operation.text !== null && normaliseText(operation.text) === normaliseText(fact.text);

/** Words shared by accident, such as "user", are not enough. */
const LEAST_OVERLAP = 0.34;

function nearestTo(text: string, facts: readonly Fact[]): Fact | undefined {
  const scored = facts.map((fact) => ({ fact, score: overlap(text, fact.text) }));
  const best = scored.sort((a, b) => b.score - a.score)[0];
  return best !== undefined && best.score >= LEAST_OVERLAP ? best.fact : undefined;
}

import type { Candidate, Fact } from '../../plan.ts';
import type { Sliced } from '../../slices.ts';
import { overlap } from '../../text/similarity.ts';
import { termSet } from '../../text/terms.ts';
import { surelyFits } from './surely-fits.ts';

/** What one decide call is asked: some facts, the memories near them, and facts decided on before that may be meant. */
export interface DecideGroup {
  readonly facts: readonly Fact[];
  readonly candidates: readonly Candidate[];
  readonly earlier: readonly Fact[];
}

export interface GroupLimits {
  /** Of one call's facts and memories together. */
  readonly tokens: number;
  readonly count: (text: string) => number;
  /** From which share of common words on an earlier fact may be about the same thing. */
  readonly overlap: number;
}

/** What JSON puts around a fact or memory: id, time and names of fields, in tokens. */
const AROUND_TEXT = 30;
/** Of earlier facts that one fact is shown. */
const EARLIER_MAX = 3;

/** Consecutive facts in as few groups as fit one call each; nearly always it is one, with everything in it. */
export function* decideGroups(
  facts: readonly Fact[],
  candidates: readonly Candidate[],
  limits: GroupLimits,
): Sliced<readonly DecideGroup[]> {
  const texts = [...facts, ...candidates].map(({ text }) => text);
  if (surelyFits(texts, { ...limits, around: AROUND_TEXT })) return [{ facts, candidates, earlier: [] }];
  const cuts = yield* cutsOf(facts, candidates, limits);
  if (cuts.length === 1) return [{ facts, candidates, earlier: [] }];
  const groups: DecideGroup[] = [];
  for (const [i, from] of cuts.entries()) {
    const group = facts.slice(from, cuts[i + 1]);
    const ids = new Set(group.map(({ id }) => id));
    const near = yield* nearEarlier(group, facts.slice(0, from), limits);
    groups.push({ facts: group, candidates: candidates.filter((one) => recalledFor(one, ids)), earlier: near });
  }
  return groups;
}

/**
 * The same in two calls, each with the memories near its facts; the second is shown what of the first it may mean. null: one
 * fact is decided on as a whole.
 */
export function* halvesOf(
  group: DecideGroup,
  limits: Pick<GroupLimits, 'overlap'>,
): Sliced<readonly DecideGroup[] | null> {
  const { facts, candidates, earlier } = group;
  if (facts.length < 2) return null;
  const middle = Math.ceil(facts.length / 2);
  const halves: DecideGroup[] = [];
  for (const [before, half] of [
    [earlier, facts.slice(0, middle)],
    [[...earlier, ...facts.slice(0, middle)], facts.slice(middle)],
  ] as const) {
    const ids = new Set(half.map(({ id }) => id));
    const near = yield* nearEarlier(half, before, limits);
    halves.push({ facts: half, candidates: candidates.filter((one) => recalledFor(one, ids)), earlier: near });
  }
  return halves;
}

/** Where each group begins. A fact brings the candidates with it that no fact of its group has brought yet. */
function* cutsOf(
  facts: readonly Fact[],
  candidates: readonly Candidate[],
  { tokens, count }: GroupLimits,
): Sliced<number[]> {
  const costOf = (text: string): number => count(text) + AROUND_TEXT;
  const costs = new Map<Candidate, number>();
  for (const candidate of candidates) {
    costs.set(candidate, costOf(candidate.text));
    yield;
  }
  const brought = candidatesByFact(candidates);
  const cuts = [0];
  let shown = new Set<Candidate>();
  let spent = 0;
  for (const [i, fact] of facts.entries()) {
    const mine = brought.get(fact.id) ?? [];
    const added = (known: ReadonlySet<Candidate>): number =>
      mine.reduce(
        (sum, candidate) => sum + (known.has(candidate) ? 0 : (costs.get(candidate) ?? 0)),
        costOf(fact.text),
      );
    if (i > 0 && spent + added(shown) > tokens) {
      cuts.push(i);
      shown = new Set();
      spent = 0;
    }
    spent += added(shown);
    for (const candidate of mine) shown.add(candidate);
    yield;
  }
  return cuts;
}

/** What was recalled for each fact, in the order in which it is shown. */
export function candidatesByFact(candidates: readonly Candidate[]): ReadonlyMap<string, readonly Candidate[]> {
  const byFact = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const { fact } of candidate.recalledBy) byFact.set(fact, [...(byFact.get(fact) ?? []), candidate]);
  }
  return byFact;
}

const recalledFor = ({ recalledBy }: Candidate, facts: ReadonlySet<string>): boolean =>
  recalledBy.some(({ fact }) => facts.has(fact));

/** The earlier facts nearest to those of a group, in the order they were said. */
function* nearEarlier(
  group: readonly Fact[],
  earlier: readonly Fact[],
  limits: Pick<GroupLimits, 'overlap'>,
): Sliced<readonly Fact[]> {
  const words = earlier.map((fact) => ({ fact, terms: termSet(fact.text) }));
  const near = new Set<Fact>();
  for (const { text } of group) {
    const asked = termSet(text);
    const nearest = words
      .map(({ fact, terms }) => ({ fact, score: overlap(asked, terms) }))
      .filter(({ score }) => score >= limits.overlap)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, EARLIER_MAX);
    for (const { fact } of nearest) near.add(fact);
    yield;
  }
  return earlier.filter((fact) => near.has(fact));
}

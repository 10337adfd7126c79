import type { Credit, Receipt } from '../ports/ledger/receipts.ts';

/** One answer, in thousandths. */
const ANSWER = 1_000;

/** Shares of one answer: what stands first was most likely used. The same at all times, so that it can be taken back. */
function sharesOf(count: number): readonly number[] {
  const weights = Array.from({ length: count }, (_, place) => 1 / Math.log2(place + 2));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.round((ANSWER * weight) / sum));
}

/** What the outcome of an answer is worth to each version that it told; nothing without an outcome. */
function creditsOf({ told, outcome }: Pick<Receipt, 'told' | 'outcome'>): readonly Credit[] {
  if (outcome === null) return [];
  const memories = told.filter((one) => one.kind === 'memory');
  const shares = sharesOf(memories.length);
  return memories.map(({ id, version }, place) => {
    const share = shares[place] ?? 0;
    return { memoryId: id, version, good: outcome === 'good' ? share : 0, bad: outcome === 'bad' ? share : 0 };
  });
}

/** What has to be added to the credits when an outcome takes the place of another; each version once. */
export function creditChanges(
  before: Pick<Receipt, 'told' | 'outcome'>,
  after: Pick<Receipt, 'told' | 'outcome'>,
): readonly Credit[] {
  const sums = new Map<string, Credit>();
  const add = ({ memoryId, version, good, bad }: Credit, sign: 1 | -1): void => {
    const key = `${memoryId} ${version}`;
    const sum = sums.get(key) ?? { memoryId, version, good: 0, bad: 0 };
    sums.set(key, { ...sum, good: sum.good + sign * good, bad: sum.bad + sign * bad });
  };
  for (const credit of creditsOf(before)) add(credit, -1);
  for (const credit of creditsOf(after)) add(credit, 1);
  return [...sums.values()];
}

/** Whether they say the same, in whatever order. */
export function sameCredits(some: readonly Credit[], others: readonly Credit[]): boolean {
  const textsOf = (credits: readonly Credit[]): string =>
    credits
      .map(({ memoryId, version, good, bad }) => `${memoryId} ${version} ${good} ${bad}`)
      .sort()
      .join(',');
  return textsOf(some) === textsOf(others);
}

/** So many answers of one kind move a version half of the way to the bound. */
const HALF_WAY = 3 * ANSWER;

/** What answers that told a version say of it, from -1 to 1: many good ones move it little more than some. */
export const creditScore = ({ good, bad }: Pick<Credit, 'good' | 'bad'>): number =>
  (good - bad) / (good + bad + HALF_WAY);

import { maskPersonal, valuesMasked } from './masking/personal.ts';
import { maskSecrets } from './masking/secrets.ts';
import { liveVersion } from './memories/evolve.ts';
import type { Credit, NewReceipt, Receipt } from './ports/ledger/feedback.ts';
import type { MemoryChange } from './ports/ledger/memories.ts';
import { cleanText } from './text/normalise.ts';
import type { LaneId } from './words.ts';

/** Enough to know a question again: other scripts have up to four bytes for a character. */
const QUESTION_MAX = 120;
const QUESTION_BYTES = 160;
/** As JSON, in characters. */
const FILTERS_MAX = 200;
/** Of both together: what was told has to fit beside them. */
const ASKED_BYTES = 220;
/** Looked through for secrets before it is cut: of one that is cut in two the first half would stay. */
const LOOKED_THROUGH_MAX = 4_000;

/** A receipt as it is kept: the question short and masked whatever the tenant's policy is, and no filters that are long. */
export function kept<One extends Pick<NewReceipt, 'question' | 'filters'>>(receipt: One): One {
  const question =
    receipt.question === null ? null : copied(shortened(masked(receipt.question.slice(0, LOOKED_THROUGH_MAX))));
  const { filters } = receipt;
  const short = filters === null || JSON.stringify(filters).length > FILTERS_MAX ? null : valuesMasked(filters);
  const fits = bytesOf(question ?? '') + bytesOf(JSON.stringify(short)) <= ASKED_BYTES;
  return { ...receipt, question, filters: fits ? short : null };
}

/** The lane of receipts that are written together; null: there are none. With the lock of a second one, others would wait for the first. */
export function laneOfReceipts(receipts: readonly Pick<NewReceipt, 'lane'>[]): LaneId | null {
  const [lane = null, ...others] = new Set(receipts.map((receipt) => receipt.lane));
  if (others.length > 0) throw new Error(`expected receipts of one lane, got those of ${others.length + 1}`);
  return lane;
}

const masked = (text: string): string => cleanText(maskPersonal(maskSecrets(text).text).text);

function shortened(text: string): string {
  let [end, bytes] = [0, 0];
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > QUESTION_BYTES || end + character.length > QUESTION_MAX) return `${text.slice(0, end)}…`;
    end += character.length;
  }
  return text;
}

/** From these code points on, UTF-8 has one more byte for a character. */
const LONGER_FROM = [0x80, 0x800, 0x10000];

/** In UTF-8, as ledgers keep it. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += 1 + LONGER_FROM.filter((from) => code >= from).length;
  }
  return bytes;
}

/** The beginning of a text holds on to all of it in memory, until it is copied. */
const copied = (text: string): string => Array.from(text).join('');

/** One answer, in thousandths. */
const ANSWER = 1_000;

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

/** Memories that are looked for in each receipt of a lane: more would take as many times as long, with the lane locked. */
export const LOOKED_FOR_MAX = 10;

/**
 * Whose questions go with what these changes forget, and their filters, since they may say what it was: by lane, of answers that
 * told one of these memories. null: so many are forgotten that the questions of all answers go.
 */
export function blankedBy(changes: readonly MemoryChange[]): ReadonlyMap<LaneId, readonly string[] | null> {
  const forgotten = changes.map(({ memory }) => memory).filter((memory) => liveVersion(memory) === null);
  const byLane = [...Map.groupBy(forgotten, ({ lane }) => lane)];
  return new Map(
    byLane.map(([lane, memories]) => [lane, memories.length > LOOKED_FOR_MAX ? null : memories.map(({ id }) => id)]),
  );
}

import { maskPersonal, metadataKept } from '../masking/personal.ts';
import { maskSecrets } from '../masking/secrets.ts';
import type { NewReceipt } from '../ports/ledger/receipts.ts';
import { cleanText, cut } from '../text/normalise.ts';
import type { LaneId } from '../words.ts';

/** Enough to know a question again, in characters. */
const QUESTION_MAX = 120;
/** As JSON, in characters. */
const FILTERS_MAX = 200;
/** Looked through for secrets before it is cut: of one that is cut in two the first half would stay. */
const LOOKED_THROUGH_MAX = 4_000;

/** A receipt as it is kept: the question short and masked whatever the tenant's policy is, and no filters that are long. */
export function kept<One extends Pick<NewReceipt, 'question' | 'filters'>>(receipt: One): One {
  const { question, filters } = receipt;
  return {
    ...receipt,
    question: question === null ? null : copied(shortened(masked(question.slice(0, LOOKED_THROUGH_MAX)))),
    filters: filters === null || JSON.stringify(filters).length > FILTERS_MAX ? null : metadataKept(filters),
  };
}

/** The lane of receipts that are written together; null: there are none. With the lock of a second one, others would wait for the first. */
export function laneOfReceipts(receipts: readonly Pick<NewReceipt, 'lane'>[]): LaneId | null {
  const [lane = null, ...others] = new Set(receipts.map((receipt) => receipt.lane));
  if (others.length > 0) throw new Error(`expected receipts of one lane, got those of ${others.length + 1}`);
  return lane;
}

const masked = (text: string): string => cleanText(maskPersonal(maskSecrets(text).text).text);

const shortened = (text: string): string => (text.length <= QUESTION_MAX ? text : `${cut(text, QUESTION_MAX)}…`);

/** The beginning of a text holds on to all of it in memory, until it is copied. */
const copied = (text: string): string => Array.from(text).join('');

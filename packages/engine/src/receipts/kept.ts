import { maskPersonal, metadataKept } from '../masking/personal.ts';
import { maskSecrets } from '../masking/secrets.ts';
import type { NewReceipt } from '../ports/ledger/receipts.ts';
import { cleanText } from '../text/normalise.ts';
import type { LaneId } from '../words.ts';

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
  const short = filters === null || JSON.stringify(filters).length > FILTERS_MAX ? null : metadataKept(filters);
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

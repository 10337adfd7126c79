import type { NewBatch } from '../ports/ledger/lanes.ts';
import type { PersonalPolicy } from '../settings.ts';
import { type BatchSettings, type Content, isWithheld, type Json, type JsonObject, type Withheld } from '../words.ts';
import { cardNumbersIn, type Place, replaced } from './secrets.ts';

/**
 * A batch as the tenant's policy lets it be stored. Nothing that comes after knows what was there: not the ledger, not a
 * model, not a memory. What it is known by when it is sent again was made of what was sent, and stays.
 */
export function withPolicy(batch: NewBatch, policy: PersonalPolicy): NewBatch {
  if (policy === 'off') return batch;
  const messages = batch.messages.map((message) => ({
    ...message,
    content: contentKept(message.content, policy),
    name: masked(message.name),
  }));
  return { ...batch, messages, metadata: valuesMasked(batch.metadata), settings: settingsKept(batch.settings) };
}

/** The values, however deep; keys are the caller's program's, and are kept as they are. */
export const valuesMasked = (metadata: JsonObject): JsonObject =>
  // Not by assignment: a key may be called __proto__.
  Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, valueKept(value)]));

function valueKept(value: Json): Json {
  if (typeof value === 'string') return maskPersonal(value).text;
  if (Array.isArray(value)) return value.map(valueKept);
  return typeof value === 'object' && value !== null ? valuesMasked(value as JsonObject) : value;
}

const settingsKept = (settings: BatchSettings): BatchSettings => ({
  ...settings,
  instructions: masked(settings.instructions),
  includes: masked(settings.includes),
  excludes: masked(settings.excludes),
  ...(settings.categories && { categories: settings.categories.map((one) => maskPersonal(one).text) }),
});

/** What stands beside the contents is masked under both policies: there is no message to drop for it. */
const masked = (text: string | null): string | null => (text === null ? null : maskPersonal(text).text);

/** A message's place stays, so that order and ids do, also where nothing of it is kept. */
function contentKept(content: Content, policy: 'mask' | 'drop'): Content {
  if (typeof content === 'string') {
    const { text, kinds } = maskPersonal(content);
    return policy === 'drop' && kinds.length > 0 ? withheldFor(kinds) : text;
  }
  if (isWithheld(content)) return content;
  const parts = content.map((part) =>
    part.type === 'text' ? { part, ...maskPersonal(part.text) } : { part, text: '', kinds: [] },
  );
  const kinds = parts.flatMap((one) => one.kinds);
  if (policy === 'drop' && kinds.length > 0) return withheldFor(kinds);
  return parts.map(({ part, text }) => (part.type === 'text' ? { ...part, text } : part));
}

const withheldFor = (kinds: readonly string[]): Withheld => ({ withheld: 'personal_data', kinds: [...new Set(kinds)] });

/** A text with everything personal in it masked, and what that was. Masking twice changes nothing more. */
export function maskPersonal(text: string): { readonly text: string; readonly kinds: readonly PersonalKind[] } {
  const { text: masked, found } = replaced(text, personalPlaces(text), (kind) => `[${kind}]`);
  return { text: masked, kinds: found };
}

type PersonalKind = 'email' | 'phone' | 'card number' | 'IBAN' | 'ID number' | 'IP address';

/** Where in a text something personal stands. */
type PersonalPlace = Place<PersonalKind>;

/** Everything in a text that has the form of personal data. Repeats are bounded: it takes linear time on any text. */
function personalPlaces(text: string): PersonalPlace[] {
  // Full-width signs are as long as what they stand for: places stay the same.
  const plain = text.replace(/[！-～]/gu, (sign) => String.fromCharCode(sign.charCodeAt(0) - FULL_WIDTH));
  const cards = cardNumbersIn(plain).map(({ start, end }) => ({ kind: 'card number' as const, start, end }));
  return [...cards, ...FORMS.flatMap((form) => matches(plain, form))];
}

const FULL_WIDTH = 0xfee0;

interface Form {
  readonly kind: PersonalKind;
  readonly form: RegExp;
  /** How many of the characters count; 0: it only looks like it. All, unless given. */
  readonly length?: (found: string) => number;
}

function matches(text: string, { kind, form, length }: Form): PersonalPlace[] {
  return [...text.matchAll(form)].flatMap((match) => {
    const found = match.groups?.value ?? match[0];
    const start = match.index + match[0].lastIndexOf(found);
    const counts = length === undefined ? found.length : length(found);
    return counts === 0 ? [] : [{ kind, start, end: start + counts }];
  });
}

const whole =
  (fits: (found: string) => boolean) =>
  (found: string): number =>
    fits(found) ? found.length : 0;

/** What is said before a number that is a telephone's, though its form alone does not show it. */
const PHONE_HINT =
  /(?:\b(?:phone|telephone|tel|mobile|cell|fax|whatsapp|call me (?:at|on)|text me (?:at|on))\b|电话|手机|手机号|联系方式|微信)[^\d\n+]{0,16}(?<value>\(?\d(?:[ \-./()]{0,2}\d){5,13})(?!\d)/giu;

const FORMS: readonly Form[] = [
  { kind: 'email', form: /(?<![\w.%+-])[\w.%+-]{1,64}@(?:[a-z\d-]{1,63}\.){1,5}[a-z]{2,24}(?![a-z\d])/giu },
  { kind: 'phone', form: /(?<![\w+])\+\d(?:[ \-./()]{0,2}\d){6,14}(?!\d)/gu },
  { kind: 'phone', form: /(?<![\d.-])(?:86[ -]?)?1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4})(?![\d.-]\d|\d)/gu },
  { kind: 'phone', form: /(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])/gu },
  { kind: 'phone', form: /(?<![\d.-])0\d{2,3}-\d{7,8}(?![\d-])/gu },
  { kind: 'phone', form: PHONE_HINT },
  { kind: 'IBAN', form: /(?<![A-Z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{1,4}){3,8}/gu, length: ibanLength },
  {
    kind: 'ID number',
    form: /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/gu, // social security, US
  },
  { kind: 'ID number', form: /(?<![A-Z\d])[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Z\d])/gu }, // insurance, UK
  { kind: 'ID number', form: /(?<!\d)[1-9]\d{16}[\dX](?!\d)/giu, length: whole(isResidentId) },
  {
    kind: 'IP address',
    form: /(?<![\w.-])(?<!(?:\b(?:v|ver|version|release)|版本) {0,2})\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)/giu,
    length: whole((found) => found.split('.').every((part) => Number(part) <= OCTET_MAX)),
  },
  {
    kind: 'IP address',
    form: /(?<![\w:.])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?![\w:])/giu,
    length: whole(isIPv6),
  },
];

const OCTET_MAX = 255;
const IBAN_MIN = 15;
const IBAN_MAX = 34;

/** How much of it is an account number: words in capitals may follow. The check digits show it. */
function ibanLength(found: string): number {
  for (let end = found.length; end >= IBAN_MIN; end -= 1) {
    const number = found.slice(0, end).replaceAll(' ', '');
    if (number.length < IBAN_MIN) return 0;
    if (found[end - 1] !== ' ' && number.length <= IBAN_MAX && hasIbanCheck(number)) return end;
  }
  return 0;
}

/** ISO 7064: letters count from 10, the first four come last, and what is left of dividing by 97 is 1. */
function hasIbanCheck(number: string): boolean {
  let rest = 0;
  for (const sign of number.slice(4) + number.slice(0, 4)) {
    for (const digit of Number.parseInt(sign, 36).toString()) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

const RESIDENT_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
const RESIDENT_CHECKS = '10X98765432';

/** Of residents of China: a date of birth in it, and a check digit that fits. */
function isResidentId(found: string): boolean {
  if (!/^\d{6}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])/u.test(found)) return false;
  const sum = RESIDENT_WEIGHTS.reduce((total, weight, i) => total + weight * Number(found[i]), 0);
  return RESIDENT_CHECKS[sum % 11] === found[17]?.toUpperCase();
}

/** Eight groups, or fewer around one gap; times of day and names in programs are neither. */
function isIPv6(found: string): boolean {
  const [before = '', after, ...more] = found.split('::');
  const groups = [before, after ?? ''].flatMap((half) => (half === '' ? [] : half.split(':')));
  if (more.length > 0 || groups.includes('')) return false;
  if (after === undefined) return groups.length === 8;
  return groups.length >= 2 && groups.length < 8 && /\d/u.test(found);
}

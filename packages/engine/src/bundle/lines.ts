/**
 * The lines of a bundle. Each is a JSON object that ends with `sum`, a checksum of the line before it and of its own text: so a line
 * that changed, is missing or stands elsewhere is named, and the last sum vouches for all of them.
 */
export const BUNDLE_FORMAT = 1;

/** What the first line has before it. */
export const FIRST_SUM = '';

/** Digits of a checksum: half of a SHA-256 in hex. */
const SUM_DIGITS = 32;

/** As Tools has it. */
type Hash = (text: string) => string;

const sumOf = (hash: Hash, before: string, text: string): string => hash(`${before}\n${text}`).slice(0, SUM_DIGITS);

export interface Sealed {
  readonly line: string;
  readonly sum: string;
}

/** A JSON object with its checksum. */
export function sealed(hash: Hash, before: string, text: string): Sealed {
  const sum = sumOf(hash, before, text);
  return { line: `${text.slice(0, -1)},"sum":"${sum}"}`, sum };
}

const SEAL = new RegExp(`,"sum":"([0-9a-f]{${SUM_DIGITS}})"\\}$`);

export type Opened =
  /** `text` is the object without its checksum. */
  | { readonly kind: 'whole'; readonly text: string; readonly sum: string }
  | { readonly kind: 'damaged'; readonly expected: string; readonly got: string };

/** Checks a line against the one before it. */
export function opened(hash: Hash, before: string, line: string): Opened {
  const expected = SEAL.exec(line)?.[1];
  if (expected === undefined) return { kind: 'damaged', expected: 'a line that ends with its checksum', got: 'none' };
  const text = line.replace(SEAL, '}');
  const got = sumOf(hash, before, text);
  return got === expected ? { kind: 'whole', text, sum: got } : { kind: 'damaged', expected, got };
}

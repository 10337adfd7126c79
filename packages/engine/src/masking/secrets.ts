import { cardNumbersIn } from './card-numbers.ts';
import { CALLED_BEFORE, type KeyForm, LONG_KEYS, OTHER_KEYS } from './key-forms.ts';
import { aroundLongWords } from './long-words.ts';
import { passwordsIn } from './passwords.ts';
import { type Place, replaced } from './replaced.ts';

export type SecretKind = 'private key' | 'API key' | 'JWT' | 'card number' | 'password' | 'PIN';

/** Where in a text a secret stands. */
export type Secret = Place<SecretKind>;

export interface Masked {
  readonly text: string;
  /** One entry per secret that was found, in order. */
  readonly kinds: readonly SecretKind[];
}

/** What stands in the place of a secret. Nothing that is stored of a conversation's meaning holds more of it. */
export const maskOf = (kind: SecretKind): string => `[secret: ${kind}]`;

/** A text with every secret in it masked. Masking twice changes nothing more; takes linear time on any text. */
export function maskSecrets(text: string): Masked {
  const kinds: SecretKind[] = [];
  if (!text.includes(MASK_BEGIN)) return { text: masked(text, kinds), kinds };
  // What was masked before is left alone: the words of a mask are no hint at another secret.
  const parts = text.split(MASKS).map((part, i) => (i % 2 === 1 ? part : masked(part, kinds)));
  return { text: parts.join(''), kinds };
}

function masked(text: string, kinds: SecretKind[]): string {
  const secrets = secretsIn(text);
  if (secrets.length === 0) return text;
  const { text: done, found } = replaced(text, secrets, maskOf);
  kinds.push(...found);
  return done;
}

const secretsIn = (text: string): readonly Secret[] => [...keysIn(text), ...cardNumbersIn(text), ...passwordsIn(text)];

/** The kind of secret a text gives away, or once gave away before it was masked; null where it has none. */
export function secretIn(text: string): SecretKind | null {
  return maskSecrets(text).kinds[0] ?? (MASK.exec(text)?.[1] as SecretKind | undefined) ?? null;
}

const MASK_BEGIN = '[secret: ';
const MASK = /\[secret: (private key|API key|JWT|card number|password|PIN)\]/u;
/** The same, for splitting: pieces and masks in turn. */
const MASKS = /(\[secret: (?:private key|API key|JWT|card number|password|PIN)\])/u;

function keysIn(text: string): Secret[] {
  const called = aroundLongWords(text, CALLED_BEFORE).flatMap(({ start, end }) =>
    LONG_KEYS.flatMap((form) => foundBy(form, text.slice(start, end), start)),
  );
  const possible = OTHER_KEYS.filter(({ needs }) => needs.every((part) => text.includes(part)));
  return [...called, ...possible.flatMap((form) => foundBy(form, text, 0))];
}

/** Where a form is found in a part of a text that begins at `offset`. */
const foundBy = ({ kind, form }: KeyForm, part: string, offset: number): Secret[] =>
  [...part.matchAll(form)].map((match) => {
    const value = match.groups?.value ?? match[0];
    const start = offset + match.index + match[0].lastIndexOf(value);
    return { kind, start, end: start + value.length };
  });

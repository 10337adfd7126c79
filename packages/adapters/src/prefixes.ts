import { createHash } from 'node:crypto';
import type { Embedder } from '@slowwave/engine';

/** What some models want to read before a text, so that they know whether it asks or tells. */
export interface Prefixes {
  readonly query: string;
  readonly document: string;
}

/** Prefixes that somebody has set; null: the model's own. */
export type GivenPrefixes = { readonly [Use in keyof Prefixes]: string | null };

export const chosenPrefixes = (own: Prefixes, given: GivenPrefixes): Prefixes => ({
  query: given.query ?? own.query,
  document: given.document ?? own.document,
});

/** An embedder that reads this before each text. */
export const prefixed = (embedder: Embedder, prefix: string): Embedder =>
  prefix === ''
    ? embedder
    : {
        ...embedder,
        embed: (texts, cancel) =>
          embedder.embed(
            texts.map((text) => prefix + text),
            cancel,
          ),
      };

/** Short names of what vectors depend on, for a fingerprint. */
export const digestOf = (facts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 12);

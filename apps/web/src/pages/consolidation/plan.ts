import type { Consolidation, Plan } from '@slowwave/sdk';

export type Message = NonNullable<Consolidation['messages']>[number];
export type Fact = Plan['facts'][number];
export type Candidate = Plan['candidates'][number];
export type Operation = Plan['operations'][number] | Plan['held'][number];

/** f0 is shown as 1. */
export const numberOf = (fact: string): string => String(Number(fact.slice(1)) + 1);

/** A piece of a message, and the facts whose quote it belongs to. */
interface Piece {
  readonly text: string;
  readonly facts: readonly string[];
}

/** A text in pieces, so that what facts quote of it can be marked. Quotes may overlap. */
export function piecesOf(text: string, facts: readonly Pick<Fact, 'id' | 'quote'>[]): readonly Piece[] {
  const quoted = facts.flatMap(({ id, quote }) => {
    const from = quote === null || quote === '' ? -1 : text.indexOf(quote);
    return from < 0 || quote === null ? [] : [{ id, from, to: from + quote.length }];
  });
  const cuts = [...new Set([0, text.length, ...quoted.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  return cuts.slice(1).map((to, i) => {
    const from = cuts[i] ?? 0;
    const around = quoted.filter((quote) => quote.from <= from && quote.to >= to);
    return { text: text.slice(from, to), facts: around.map(({ id }) => id) };
  });
}

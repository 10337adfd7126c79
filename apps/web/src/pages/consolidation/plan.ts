import type { Consolidation } from '@slowwave/sdk';

export type Message = NonNullable<Consolidation['messages']>[number];

/** A plan as the API gives it; of an older release it may lack the later fields. */
export interface Plan {
  readonly facts: readonly Fact[];
  readonly discards: readonly { readonly text: string; readonly reason: string }[];
  readonly candidates: readonly Candidate[];
  readonly operations: readonly Operation[];
  readonly held: readonly (Operation & { readonly review_id: string })[];
  readonly outcomes: readonly { readonly fact: string; readonly outcome: string; readonly reason: string }[];
  readonly remarks: readonly { readonly asked: string; readonly did: string }[];
  readonly attacks?: readonly { readonly message_id: string; readonly kinds: readonly string[] }[];
  readonly prompts: readonly { readonly name: string; readonly version: string; readonly hash: string }[];
  readonly models: { readonly chat: string; readonly embedder: string };
  readonly usage: {
    readonly calls: number;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly models: readonly ModelUse[];
  };
  readonly cost: number | null;
  readonly timings_ms: Readonly<Record<string, number>>;
}

export interface Fact {
  readonly id: string;
  readonly text: string;
  readonly source_ids: readonly string[];
  readonly quote: string | null;
  readonly category: string | null;
  readonly about: 'user' | 'agent';
  readonly valid_from: string;
}

export interface Candidate {
  readonly short_id: string;
  readonly memory_id: string;
  readonly text: string;
  readonly standing: 'live' | 'former' | 'deleted';
  readonly recalled_by: readonly {
    readonly fact: string;
    readonly vector: number | null;
    readonly keyword: number | null;
  }[];
}

export interface Operation {
  readonly fact: string | null;
  readonly event: 'ADD' | 'UPDATE' | 'DELETE' | 'NONE';
  readonly memory_id: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string;
  readonly decided_by: string;
}

interface ModelUse {
  readonly model: string;
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost: number | null;
}

export const planOf = ({ plan }: Consolidation): Plan | null => plan as Plan | null;

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

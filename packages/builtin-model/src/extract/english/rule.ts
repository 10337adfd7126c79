import type { Dated, Found } from '../found.ts';

/** What follows "I" or "my", and what is told of the user when it is said. */
export interface Rule {
  readonly pattern: RegExp;
  readonly category: string;
  /** A state leaves the date out of its text; an event keeps it; where the date is the fact itself, it is read raw. */
  readonly reads: 'state' | 'event' | 'raw';
  /** What is told, after "User"; null when the match says nothing worth keeping. */
  readonly tell: (groups: Groups) => string | readonly string[] | null;
}
export type Groups = Readonly<Record<string, string>>;

/** What the first rule that has something to say about a predicate tells. */
export function firstTold(rules: readonly Rule[], predicate: Dated): readonly Found[] {
  for (const { pattern, category, reads, tell } of rules) {
    const match = pattern.exec(textFor(reads, predicate));
    const texts = match === null ? null : tell(Object.fromEntries(present(match.groups ?? {})));
    const list = typeof texts === 'string' ? [texts] : (texts ?? []);
    const validFrom = reads === 'raw' ? null : predicate.validFrom;
    if (list.length > 0) return list.map((text) => ({ text: ofUser(text), category, validFrom }));
  }
  return [];
}

function textFor(reads: Rule['reads'], { raw, without, labelled }: Dated): string {
  if (reads === 'raw') return raw;
  return reads === 'state' ? without : labelled;
}

const ofUser = (text: string): string => `User${text.startsWith("'s") ? '' : ' '}${text}`;

const present = (groups: Readonly<Record<string, string | undefined>>): readonly [string, string][] =>
  Object.entries(groups).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

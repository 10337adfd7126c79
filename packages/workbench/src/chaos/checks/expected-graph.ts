import { SELF, type Telling, tellingsOf } from '../graph-model.ts';
import { momentOf } from '../load.ts';
import type { Said } from '../story.ts';

/** A relation as the API tells it. */
export interface Listed extends Ends {
  readonly id: string;
  readonly valid_from: string;
  readonly invalid_at: string | null;
  readonly confirmations: number;
}

/** A relation as it must be. */
export interface Expected extends Ends {
  readonly from: number;
  /** How often it was said. */
  readonly times: number;
  /** Something else was said after it, so that it is over. */
  readonly ends: boolean;
}

interface Ends {
  readonly source: { readonly name: string };
  readonly relationship: string;
  readonly destination: { readonly name: string };
}

/** How a relation is told apart from all others of a user. */
export const nameOf = ({ source, relationship, destination }: Ends): string =>
  `${source.name} ${relationship} ${destination.name}`;

/** The relations that follow from all that was said, whatever the order in which it was told. */
export function expectedOf(said: readonly Said[]): Expected[] {
  const told = said.flatMap(({ text, saidAt }) => tellingsOf(text).map((telling) => ({ telling, saidAt })));
  const sorted = told.toSorted((a, b) => a.saidAt - b.saidAt);
  const found = Map.groupBy(sorted, ({ telling }) => JSON.stringify(telling));
  return [...found.values()].flatMap(([first, ...again]) =>
    first === undefined ? [] : [expected(first, 1 + again.length, sorted)],
  );
}

interface Told {
  readonly telling: Telling;
  readonly saidAt: number;
}

function expected({ telling, saidAt }: Told, times: number, all: readonly Told[]): Expected {
  const { source, relationship, destination } = telling;
  const last = all.findLast(({ telling: other }) => other.source === source && other.relationship === relationship);
  return {
    source: { name: source },
    relationship,
    destination: { name: destination },
    from: Date.parse(momentOf(saidAt)),
    times,
    ends: source !== SELF && last?.telling.destination !== destination,
  };
}

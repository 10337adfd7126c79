import { SELF, type Statement, statementsOf } from '../graph-model.ts';
import { momentOf } from '../load.ts';
import type { Said } from '../story.ts';

/** A relation as the API shows it. */
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

/** How a relation is distinguished from all others of a user. */
export const nameOf = ({ source, relationship, destination }: Ends): string =>
  `${source.name} ${relationship} ${destination.name}`;

/** The relations that follow from all that was said, whatever the order in which it was said. */
export function expectedOf(said: readonly Said[]): Expected[] {
  const stated = said.flatMap(({ text, saidAt }) => statementsOf(text).map((statement) => ({ statement, saidAt })));
  const sorted = stated.toSorted((a, b) => a.saidAt - b.saidAt);
  const found = Map.groupBy(sorted, ({ statement }) => JSON.stringify(statement));
  return [...found.values()].flatMap(([first, ...again]) =>
    first === undefined ? [] : [expected(first, 1 + again.length, sorted)],
  );
}

interface Stated {
  readonly statement: Statement;
  readonly saidAt: number;
}

function expected({ statement, saidAt }: Stated, times: number, all: readonly Stated[]): Expected {
  const { source, relationship, destination } = statement;
  const last = all.findLast(({ statement: other }) => other.source === source && other.relationship === relationship);
  return {
    source: { name: source },
    relationship,
    destination: { name: destination },
    from: Date.parse(momentOf(saidAt)),
    times,
    ends: source !== SELF && last?.statement.destination !== destination,
  };
}

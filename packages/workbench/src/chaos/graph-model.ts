import type { ExtractInput } from '@slowwave/testkit';

/** What one text says about entities. */
export interface Statement {
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
}

/** How the owner's own entity is called. */
export const SELF = 'User';

const TEXT = /^(?<thing>Thing (?<key>\d+) of \S+) is (?<value>v\d+)$/u;
/** What this key is used for is known to no table of relationships: whether it ends is asked of the model, each time. */
const DECIDED_KEY = 1;

/** Every value is the user's for ever; of what a thing is at, or used for, the last said holds. */
export function statementsOf(text: string): readonly Statement[] {
  const { thing, key, value } = TEXT.exec(text)?.groups ?? {};
  if (thing === undefined || value === undefined) return [];
  const relationship = Number(key) === DECIDED_KEY ? 'used_for' : 'lives_in';
  return [
    { source: SELF, relationship: 'owns', destination: value },
    { source: thing, relationship, destination: value },
  ];
}

/** Finds in each message what it states. */
export function extractGraph({ messages }: Pick<ExtractInput, 'messages'>): object {
  const relations = messages.flatMap(({ id, content }) =>
    statementsOf(content).map((statement) => ({ ...statement, ...PLAIN, source_ids: [id], quote: content })),
  );
  const names = new Set(relations.flatMap(({ source, destination }) => [source, destination]));
  names.delete(SELF);
  return { entities: [...names].map((name) => ({ name, kind: 'thing', known: null, aliases: [] })), relations };
}

const PLAIN = { said: 'holds', from: null, until: null, single: false };

export interface DecideGraphInput {
  readonly new: readonly Shown[];
  readonly known: readonly Shown[];
  readonly pairs: readonly { readonly id: string }[];
}

interface Shown extends Statement {
  readonly id: string;
  readonly said_at: string;
}

/** Of one source and relationship the last said ends all others; no two names are of one. */
export function decideGraph({ new: found, known, pairs }: DecideGraphInput): object {
  const bySource = Map.groupBy([...found, ...known], ({ source, relationship }) => `${source} ${relationship}`);
  const ends = [...bySource.values()].flatMap((shown) => {
    const sorted = shown.toSorted((a, b) => Date.parse(a.said_at) - Date.parse(b.said_at));
    const last = sorted.at(-1);
    const former = sorted.filter(({ destination }) => destination !== last?.destination);
    return former.map(({ id }) => ({ relation: id, by: last?.id ?? null, reason: 'something newer was said' }));
  });
  return { ends, pairs: pairs.map(({ id }) => ({ pair: id, same: false, reason: 'their numbers differ' })) };
}

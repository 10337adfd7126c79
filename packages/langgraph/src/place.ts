import { InvalidNamespaceError } from '@langchain/langgraph-checkpoint';

/** Who owns the items of a namespace. */
export type Owner = { readonly user_id: string } | { readonly agent_id: string };

export interface Owners {
  /** The place of the label that names the user, from 0; undefined: no label does. */
  readonly userAt: number | undefined;
  /** Owns all items of which no user does. */
  readonly agentId: string;
}

/** The owner of a namespace, whose end may be missing where all that it begins is meant. */
export function ownerOf({ userAt, agentId }: Owners, namespace: readonly string[], isWhole: boolean): Owner {
  const user = userAt === undefined ? undefined : namespace[userAt];
  if (user !== undefined && user !== '*') return { user_id: user };
  if (userAt === undefined || (isWhole && user === undefined)) return { agent_id: agentId };
  throw new InvalidNamespaceError(
    `expected a namespace whose label ${userAt} (userAt) names the user, got ${JSON.stringify(namespace)}; one question ` +
      'is of one user',
  );
}

/** A condition of Slowwave's filters on what an item is kept as. */
export type Condition = Readonly<Record<string, unknown>>;

/** Of a field that items are kept under. The form of objects takes keys as they are, dots included. */
export const conditionOn = (field: string, condition: unknown): Condition => ({
  metadata: { langgraph: { [field]: condition } },
});

/** Below a namespace. */
export const isBelow = (prefix: readonly string[]): Condition[] =>
  prefix.flatMap((label, depth) => (label === '*' ? [] : [conditionOn('namespace', { [depth]: { eq: label } })]));

/** In a namespace itself. */
export const isIn = (namespace: readonly string[]): Condition[] => [
  ...isBelow(namespace),
  conditionOn('namespace', { [namespace.length]: null }),
];

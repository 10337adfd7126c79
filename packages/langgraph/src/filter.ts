import type { Condition } from './place.ts';

const OPERATORS: ReadonlyMap<string, string> = new Map(
  ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'].map((name) => [`$${name}`, name]),
);
/** Keys that Slowwave's filters would take for operators unless a dot stands before them. */
const TAKEN = new Set([...OPERATORS.values(), 'contains', 'icontains']);

/** LangGraph's filter on values, as Slowwave's. Throws a TypeError for what it does not know. */
export const conditionsOf = (filter: Readonly<Record<string, unknown>>): Condition[] =>
  Object.entries(filter).map(([key, wanted]) => {
    const condition = conditionOf(key, wanted);
    return TAKEN.has(key)
      ? { [`metadata.langgraph.value.${key}`]: condition }
      : { metadata: { langgraph: { value: { [key]: condition } } } };
  });

function conditionOf(key: string, wanted: unknown): Condition {
  if (typeof wanted !== 'object' || wanted === null) return { eq: wanted };
  const operators = Object.entries(wanted).map(([name, value]) => [OPERATORS.get(name), value] as const);
  const isKnown = operators.length > 0 && operators.every(([name]) => name !== undefined);
  if (isKnown && !Array.isArray(wanted)) return Object.fromEntries(operators);
  const known = [...OPERATORS.keys()].join(', ');
  throw new TypeError(
    `filter.${key}: expected a text, a number, a boolean, null or operators (${known}), got ${JSON.stringify(wanted)}`,
  );
}

import type { Field } from './filter.ts';
import { mistake } from './mistake.ts';

/** What a field holds, which decides what may be asked of it. */
export type Kind = 'id' | 'list' | 'text' | 'moment' | 'flag' | 'number' | 'any';

export type Operator = 'eq' | 'ne' | 'in' | 'nin' | 'gt' | 'gte' | 'lt' | 'lte' | 'contains' | 'icontains';

const EQUALS = ['eq', 'ne', 'in', 'nin'] as const;
const COMPARES = ['gt', 'gte', 'lt', 'lte'] as const;
const CONTAINS = ['contains', 'icontains'] as const;
const ALL = [...EQUALS, ...COMPARES, ...CONTAINS] as const;

const OPERATORS: Readonly<Record<Kind, readonly Operator[]>> = {
  id: EQUALS,
  list: [...EQUALS, ...CONTAINS],
  text: CONTAINS,
  moment: ['eq', 'ne', ...COMPARES],
  flag: ['eq', 'ne'],
  number: [...EQUALS, ...COMPARES],
  any: ALL,
};

/** By the name it has in a filter; the last three are what mem0 calls them. */
const FIELDS: Readonly<Record<string, { readonly field: Field; readonly kind: Kind }>> = {
  user_id: { field: { name: 'userId' }, kind: 'id' },
  agent_id: { field: { name: 'agentId' }, kind: 'id' },
  run_id: { field: { name: 'runId' }, kind: 'id' },
  app_id: { field: { name: 'appId' }, kind: 'id' },
  id: { field: { name: 'memoryId' }, kind: 'id' },
  memory_id: { field: { name: 'memoryId' }, kind: 'id' },
  memory: { field: { name: 'text' }, kind: 'text' },
  categories: { field: { name: 'category' }, kind: 'list' },
  created_at: { field: { name: 'createdAt' }, kind: 'moment' },
  updated_at: { field: { name: 'updatedAt' }, kind: 'moment' },
  said_at: { field: { name: 'saidAt' }, kind: 'moment' },
  valid_from: { field: { name: 'validFrom' }, kind: 'moment' },
  expires_at: { field: { name: 'expiresAt' }, kind: 'moment' },
  immutable: { field: { name: 'immutable' }, kind: 'flag' },
  confirmations: { field: { name: 'confirmations' }, kind: 'number' },
  memory_ids: { field: { name: 'memoryId' }, kind: 'id' },
  keywords: { field: { name: 'text' }, kind: 'text' },
  timestamp: { field: { name: 'saidAt' }, kind: 'moment' },
};

/** A field with the place where it stands in the filter. */
export interface Asked {
  readonly field: Field;
  readonly kind: Kind;
  readonly path: string;
}

/** The field of this name, or null; metadata is none of these. */
export function fieldNamed(name: string, path: string): Asked | null {
  const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  return known === undefined ? null : { ...known, path };
}

export const metadataField = (keys: readonly string[], path: string): Asked => ({
  field: { name: 'metadata', keys },
  kind: 'any',
  path,
});

export const unknownField = (path: string, name: string) =>
  mistake(path, `AND, OR, NOT or a field: ${Object.keys(FIELDS).join(', ')}, metadata.<key>`, name);

export const isOperator = (name: string): boolean => ALL.some((operator) => operator === name);

/** The operator of this name, if the field takes it. `written` is what a caller wrote who meant it. */
export function operatorFor({ kind, path }: Asked, name: string, written: unknown = name): Operator {
  const operator = OPERATORS[kind].find((one) => one === name);
  if (operator === undefined) throw mistake(path, `an operator of this field: ${OPERATORS[kind].join(', ')}`, written);
  return operator;
}

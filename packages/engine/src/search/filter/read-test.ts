import type { Asked, Operator } from './fields.ts';
import { type Comparison, type Filter, NOTHING, type Test } from './filter.ts';
import { fold } from './fold.ts';
import type { Budget } from './limits.ts';
import { mistake } from './mistake.ts';
import { readLimit, readMoment, readPart, readScalar } from './read-values.ts';

export interface Given {
  readonly operator: Operator;
  readonly value: unknown;
}

/** One operator with what it was given. */
export function readTest(asked: Asked, { operator, value }: Given, budget: Budget): Filter {
  switch (operator) {
    case 'eq':
      return equals(asked, [value]);
    case 'ne':
      return not(equals(asked, [value]));
    case 'in':
      return equals(asked, listed(asked, value, budget));
    case 'nin':
      return not(equals(asked, listed(asked, value, budget)));
    case 'contains':
      return tested(asked, { kind: 'contains', text: readPart(asked.path, value), folded: false });
    case 'icontains':
      return tested(asked, { kind: 'contains', text: fold(readPart(asked.path, value)), folded: true });
    default:
      return compares(asked, operator, value);
  }
}

const tested = ({ field }: Asked, test: Test): Filter => ({ kind: 'condition', field, test });
const not = (of: Filter): Filter => ({ kind: 'not', of });

function listed({ path }: Asked, value: unknown, budget: Budget): readonly unknown[] {
  if (!Array.isArray(value)) throw mistake(path, 'a list of values', value);
  budget.values(value.length, path);
  return value;
}

/** Any of these; null stands for what has no value. */
function equals(asked: Asked, given: readonly unknown[]): Filter {
  const some = given.filter((value) => value !== null);
  const any: Filter[] =
    asked.kind === 'moment' ? some.map((value) => within(asked, value)) : equalsScalars(asked, some);
  if (some.length < given.length) any.push(not(tested(asked, { kind: 'present' })));
  return any.length === 1 ? (any[0] ?? NOTHING) : { kind: 'any', of: any };
}

function equalsScalars(asked: Asked, given: readonly unknown[]): Filter[] {
  const isList = given.length > 1;
  const values = given.map((value, i) =>
    readScalar({ ...asked, path: isList ? `${asked.path}[${i}]` : asked.path }, value),
  );
  return values.length === 0 ? [] : [tested(asked, { kind: 'equals', values })];
}

function compares(asked: Asked, by: Comparison, value: unknown): Filter {
  if (asked.kind !== 'moment') return tested(asked, { kind: 'compares', by, to: readLimit(asked, value) });
  const { from, until } = readMoment(asked.path, value);
  if (by === 'gt') return above(asked, until);
  if (by === 'gte') return above(asked, from);
  return below(asked, by === 'lt' ? from : until);
}

function within(asked: Asked, value: unknown): Filter {
  const { from, until } = readMoment(asked.path, value);
  return { kind: 'all', of: [above(asked, from), below(asked, until)] };
}

const above = (asked: Asked, to: number): Filter => tested(asked, { kind: 'compares', by: 'gte', to });
const below = (asked: Asked, to: number): Filter => tested(asked, { kind: 'compares', by: 'lt', to });

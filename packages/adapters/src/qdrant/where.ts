import type { Schemas } from '@qdrant/js-client-rest';
import type { Condition as Asked, Field, Filter, Test } from '@slowwave/engine';
import { MORE_TOKENS, NEVER, type Payload, presenceToken, valueToken } from './points.ts';

type Condition = Schemas['Condition'];
type FieldName = Exclude<keyof Payload, 'point'>;

/**
 * What a server can rule out by its indexes: a condition that is true of every point that the filter is true of, and maybe
 * of some more. The filter itself is asked of what comes back. null rules out nothing.
 *
 * Parts of texts, and what is above or below in metadata, have no index: of those only that there is a value is asked.
 */
export const conditionFor = (filter: Filter): Condition | null => covering(filter, true);

/** Covers what the filter is true of, or with `wanted` false what it is false of. */
function covering(filter: Filter, wanted: boolean): Condition | null {
  switch (filter.kind) {
    case 'all':
      return wanted ? every(filter.of, wanted) : some(filter.of, wanted);
    case 'any':
      return wanted ? some(filter.of, wanted) : every(filter.of, wanted);
    case 'not':
      return covering(filter.of, !wanted);
    case 'condition':
      return wanted ? near(filter) : without(filter);
  }
}

function every(of: readonly Filter[], wanted: boolean): Condition | null {
  const must = of.map((one) => covering(one, wanted)).filter((condition) => condition !== null);
  return must.length === 0 ? null : { must };
}

/** An empty list of conditions would let everything through. */
function some(of: readonly Filter[], wanted: boolean): Condition | null {
  const should = of.map((one) => covering(one, wanted)).filter((condition) => condition !== null);
  if (should.length < of.length) return null;
  return should.length === 0 ? { has_id: [] } : { should };
}

function near({ field, test }: Asked): Condition | null {
  const exact = exactly(field, test);
  if (exact !== null) return exact;
  return hasTokens(field) ? anyToken([presenceToken(field), MORE_TOKENS]) : null;
}

/** A point that is known to be so is ruled out. */
function without({ field, test }: Asked): Condition | null {
  const exact = exactly(field, test, { sure: true });
  return exact === null ? null : { must_not: [exact] };
}

/** null where no index knows. Sure: only what is so; else also what may be so. */
function exactly(field: Field, test: Test, { sure } = { sure: false }): Condition | null {
  if (field.name === 'text') return null;
  const number = NUMBERS[field.name];
  if (number !== undefined && test.kind !== 'equals') return ofNumber(number, test);
  const tokens = tokensFor(field, test);
  return tokens === null ? null : anyToken(sure ? tokens : [...tokens, MORE_TOKENS]);
}

const hasTokens = ({ name }: Field): boolean => name !== 'text';

function tokensFor(field: Field, test: Test): string[] | null {
  if (test.kind === 'present') return [presenceToken(field)];
  if (test.kind === 'equals') return test.values.map((value) => valueToken(field, value));
  const isWhole = test.kind === 'contains' && !test.folded && field.name === 'category';
  return isWhole ? [valueToken(field, test.text)] : null;
}

const anyToken = (any: string[]): Condition => ({ key: 'has' satisfies FieldName, match: { any } });

/** Fields of numbers: what compares, and what is there. Whether one is equal to another, tokens say. */
const NUMBERS: Readonly<Partial<Record<Field['name'], FieldName>>> = {
  confirmations: 'confirmations',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  saidAt: 'said_at',
  validFrom: 'valid_from',
  expiresAt: 'expires_at',
};

/** What never ends is as good as missing: it compares with nothing. */
function ofNumber(key: FieldName, test: Test): Condition {
  const ends = { key, range: { lt: NEVER } };
  return test.kind === 'compares' ? { must: [ends, { key, range: { [test.by]: test.to } }] } : ends;
}

import type { Field, IndexPoint, Json, Scalar } from '@slowwave/engine';
import { hashOf } from './keys.ts';

/**
 * What a point is and has, each as one text, so that one index serves filters by whatever keys callers use: servers may
 * refuse to filter by fields that have no index, and an index per key of everybody's metadata is out of the question.
 */

type FieldName = Field['name'];

/** 96 bits; what no token says is checked again on what comes back. */
const token = (...values: readonly Json[]): string => hashOf([...values]).slice(0, 24);

/** One value of a field: its own, or an element of it. */
export const valueToken = (field: Field, value: Scalar): string => token('is', ...placeOf(field), value);

/** There is a value, and it is not null. */
export const presenceToken = (field: Field): string => token('has', ...placeOf(field));

/** Of a point with more tokens than are kept: it may have any. */
export const MORE_TOKENS = 'more';
const TOKENS_MAX = 256;

export function tokensOf(point: IndexPoint): string[] {
  const { scope, memoryId, category, immutable, confirmations, metadata } = point;
  const tokens = new Set<string>();
  const fields: readonly (readonly [FieldName, Json])[] = [
    ['userId', scope.userId],
    ['agentId', scope.agentId],
    ['runId', scope.runId],
    ['appId', scope.appId],
    ['memoryId', memoryId],
    ['category', category],
    ['immutable', immutable],
    ['confirmations', confirmations],
  ];
  for (const [name, value] of fields) addTokens(tokens, [name], value);
  for (const [key, value] of Object.entries(metadata)) addTokens(tokens, ['metadata', key], value);
  return tokens.size > TOKENS_MAX ? [...[...tokens].slice(0, TOKENS_MAX), MORE_TOKENS] : [...tokens];
}

const placeOf = (field: Field): string[] => (field.name === 'metadata' ? ['metadata', ...field.keys] : [field.name]);

function addTokens(tokens: Set<string>, place: readonly string[], value: Json): void {
  if (value === null || tokens.size > TOKENS_MAX) return;
  tokens.add(token('has', ...place));
  if (!isObject(value)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isScalar(one)) tokens.add(token('is', ...place, one));
    return;
  }
  for (const [key, inside] of Object.entries(value)) addTokens(tokens, [...place, key], inside);
}

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isScalar = (value: Json): boolean => value !== null && typeof value !== 'object';

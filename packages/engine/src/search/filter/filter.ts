/**
 * A filter as it was read: what a memory must be like to be found.
 *
 * Every condition is either true or false of a memory; nothing is ever unknown. A value that is missing, and one that is
 * null, equals nothing, compares with nothing and contains nothing; so their opposites are true of it. A list is as good
 * as any of its elements. Texts, numbers and flags are never taken for each other.
 */
export type Filter =
  | { readonly kind: 'all'; readonly of: readonly Filter[] }
  | { readonly kind: 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | Condition;

export interface Condition {
  readonly kind: 'condition';
  readonly field: Field;
  readonly test: Test;
}

export type Field =
  | { readonly name: 'userId' | 'agentId' | 'runId' | 'appId' | 'memoryId' | 'category' }
  | { readonly name: 'text' | 'immutable' | 'confirmations' }
  | { readonly name: MomentName }
  /** The value behind these keys, one inside the other. */
  | { readonly name: 'metadata'; readonly keys: readonly string[] };

export type MomentName = 'createdAt' | 'updatedAt' | 'saidAt' | 'validFrom' | 'expiresAt';

export type Scalar = string | number | boolean;

export type Test =
  /** There, and not null. */
  | { readonly kind: 'present' }
  /** One of these values, of which there is at least one. */
  | { readonly kind: 'equals'; readonly values: readonly Scalar[] }
  /** Texts are in the order of their code points; moments are numbers. */
  | { readonly kind: 'compares'; readonly by: Comparison; readonly to: string | number }
  /** Part of a text, or an element of a list. Folded: whatever its case, and the text given here is folded already. */
  | { readonly kind: 'contains'; readonly text: string; readonly folded: boolean };

export type Comparison = 'gt' | 'gte' | 'lt' | 'lte';

export const NOTHING: Filter = { kind: 'any', of: [] };

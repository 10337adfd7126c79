import { createHash } from 'node:crypto';
import type { Owner, Scope } from '@slowwave/engine';

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : '';

/** The columns of a value's fields, named like them: accepted_at for acceptedAt. A flag is 0 or 1, and what is JSON is text. */
export type ColumnsOf<Value, Json extends keyof Value = never> = {
  readonly [Field in keyof Value & string as Snake<Field>]: Field extends Json
    ? string | Extract<Value[Field], null>
    : Value[Field] extends boolean
      ? 0 | 1
      : Value[Field];
};

/** Nothing where there is nothing. */
export const jsonOf = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null);

/** JSON without the fields that are as usual: whoever reads it puts them back. */
export const leanText = <Value extends object>(value: Value, usual: Partial<Value>): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(value).filter(([name, field]) => !isSame(field, usual[name as keyof Value] as unknown)),
    ),
  );

export const leanFrom = <Value extends object>(text: string, usual: Partial<Value>): Value =>
  withUsual(JSON.parse(text) as Partial<Value>, usual);

export const withUsual = <Value extends object>(lean: Partial<Value>, usual: Partial<Value>): Value =>
  ({ ...usual, ...lean }) as Value;

/** Lists and objects are usual where they are empty. */
const isSame = (field: unknown, usual: unknown): boolean =>
  field === usual || (typeof usual === 'object' && usual !== null && JSON.stringify(field) === JSON.stringify(usual));

export interface ScopeColumns {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
}

export interface OwnerColumns {
  readonly owner_kind: Owner['kind'];
  readonly owner_id: string;
}

export const scopeFrom = (row: ScopeColumns): Scope => ({
  userId: row.user_id,
  agentId: row.agent_id,
  runId: row.run_id,
  appId: row.app_id,
});

/**
 * Equal for equal scopes only. A digest: four ids of 256 characters are longer than an index entry may be. In hexadecimal digits, half of
 * them: no lane has so many scopes that two would be alike.
 */
export const scopeKey = ({ userId, agentId, runId, appId }: Scope): string =>
  sha256(JSON.stringify([userId, agentId, runId, appId])).slice(0, 32);

/** The same as it is stored. */
export const storedScopeKey = (scope: Scope): Buffer => Buffer.from(scopeKey(scope), 'hex');

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const ownerFrom = (row: OwnerColumns): Owner => ({ kind: row.owner_kind, id: row.owner_id });

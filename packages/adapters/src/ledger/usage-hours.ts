import { run, type Script } from './script.ts';

/** Both together, field by field. */
export const added = <Sums extends { readonly [Name in keyof Sums]: number }>(a: Sums, b: Sums): Sums =>
  Object.fromEntries(Object.entries<number>(a).map(([name, value]) => [name, value + b[name as keyof Sums]])) as Sums;

/** A single call, as it is stored. */
export interface CallRow {
  readonly id: string;
  readonly tenant: string;
  readonly lane: string;
  readonly consolidation_id: string;
  readonly app_id: string | null;
  readonly key_id: string | null;
  readonly step: string;
  readonly cause: string;
  readonly model: string;
  readonly state: string;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  /** null: the model has no price. */
  readonly cost: number | null;
  readonly took_ms: number;
  readonly at: number;
}

/** All that a row has. */
export const CALL_COLUMNS: readonly (keyof CallRow)[] = [
  ...(['id', 'tenant', 'lane', 'consolidation_id', 'app_id', 'key_id', 'step', 'cause', 'model', 'state'] as const),
  ...(['prompt_tokens', 'cached_tokens', 'completion_tokens', 'cost', 'took_ms', 'at'] as const),
];

export const HOUR_MS = 3_600_000;

/** Money is kept in billionths: sums of whole numbers are the same in any order. */
export const BILLIONTHS = 1_000_000_000;

const KEY = ['lane', 'at', 'app_id', 'key_id', 'step', 'cause', 'model'] as const;
const SUMS = ['calls', 'prompt_tokens', 'cached_tokens', 'completion_tokens', 'cost', 'unpriced', 'took_ms'] as const;

/** Answered calls that are rows no more are counted to their hours. Needs the lock of their lane. */
export const addToHours = (calls: readonly CallRow[]): Script<number> =>
  run(ADD, {
    rows: calls.map(({ app_id, key_id, cost, at, ...call }) => ({
      ...call,
      ...{ app_id: app_id ?? '', key_id: key_id ?? '', at: at - (at % HOUR_MS) },
      ...{ calls: 1, cost: cost ?? 0, unpriced: cost === null ? 1 : 0 },
    })),
  });

const given = (name: string): string =>
  name === 'at' ? `(value ->> 'at')::bigint AS at` : `value ->> '${name}' AS ${name}`;

const ADD = `
  INSERT INTO usage_hours (tenant, ${[...KEY, ...SUMS].join(', ')})
  SELECT value ->> 'tenant' AS tenant, ${KEY.map(given).join(', ')},
    ${SUMS.map((name) => `sum((value ->> '${name}')::bigint)`).join(', ')}
  FROM :rows AS r WHERE true GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 2, 3, 4, 5, 6, 7, 8
  ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET
    ${SUMS.map((name) => `${name} = usage_hours.${name} + excluded.${name}`).join(', ')}`;

/** Calls one by one and, of consolidations that have ended, by the hour, with a condition that both have the columns for. */
export const callsWhere = (condition: string): string => `(
  SELECT lane, app_id, key_id, step, cause, model, state, at, 1 AS calls, prompt_tokens, cached_tokens,
    completion_tokens, coalesce(cost, 0) AS cost, CASE WHEN cost IS NULL THEN 1 ELSE 0 END AS unpriced, took_ms
  FROM usage WHERE ${condition}
  UNION ALL
  SELECT lane, nullif(app_id, ''), nullif(key_id, ''), step, cause, model, 'answered', at, calls, prompt_tokens,
    cached_tokens, completion_tokens, cost, unpriced, took_ms
  FROM usage_hours WHERE ${condition})`;

/** Hours that are over by then. */
export const dropHours = (before: number, limit: number): Script<number> =>
  run(DROP, { before: before - HOUR_MS, limit });

const DROP = `
  DELETE FROM usage_hours WHERE :place IN (
    SELECT :place FROM usage_hours WHERE at <= @before ORDER BY at LIMIT @limit)`;

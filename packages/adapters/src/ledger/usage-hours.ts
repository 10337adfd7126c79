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

const SUMS = ['calls', 'prompt_tokens', 'cached_tokens', 'completion_tokens', 'cost', 'unpriced', 'took_ms'] as const;

/** Before calls of these consolidations are counted to their hours, and in a statement of its own. Needs the locks of their lanes. */
export const openKinds = (consolidations: readonly string[]): Script<number> =>
  run(OPEN_KINDS, { ids: consolidations });

/** In one order, so that nobody waits in a circle. */
const OPEN_KINDS = `
  INSERT INTO usage_kinds (tenant, step, cause, model)
  SELECT DISTINCT u.tenant, u.step, u.cause, u.model FROM usage u
  WHERE u.consolidation_id IN :ids AND u.state = 'answered' AND NOT EXISTS (
    SELECT 1 FROM usage_kinds k WHERE k.tenant = u.tenant AND k.step = u.step AND k.cause = u.cause AND k.model = u.model)
  ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`;

/** Answered calls that are rows no more are counted to their hours. Needs the lock of their lane. */
export const addToHours = (calls: readonly CallRow[]): Script<number> =>
  run(ADD, {
    rows: calls.map(({ app_id, key_id, cost, at, ...call }) => ({
      ...call,
      ...{ app_id: app_id ?? '', key_id: key_id ?? '', at: at - (at % HOUR_MS) },
      ...{ calls: 1, cost: cost ?? 0, unpriced: cost === null ? 1 : 0 },
    })),
  });

const ADD = `
  INSERT INTO usage_hours (kind, at, lane, app_id, key_id, ${SUMS.join(', ')})
  SELECT k.number, (r.value ->> 'at')::bigint, l.number, r.value ->> 'app_id', r.value ->> 'key_id',
    ${SUMS.map((name) => `sum((r.value ->> '${name}')::bigint)`).join(', ')}
  FROM :rows AS r JOIN lanes l ON l.id = r.value ->> 'lane'
  JOIN usage_kinds k ON k.tenant = r.value ->> 'tenant' AND k.step = r.value ->> 'step' AND k.cause = r.value ->> 'cause'
    AND k.model = r.value ->> 'model'
  WHERE true GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (kind, at, lane, app_id, key_id) DO UPDATE SET
    ${SUMS.map((name) => `${name} = usage_hours.${name} + excluded.${name}`).join(', ')}`;

/** Calls one by one and, of consolidations that have ended, by the hour, with a condition that both have the columns for. */
export const callsWhere = (condition: string): string => `(
  SELECT lane, app_id, key_id, step, cause, model, state, at, 1 AS calls, prompt_tokens, cached_tokens,
    completion_tokens, coalesce(cost, 0) AS cost, CASE WHEN cost IS NULL THEN 1 ELSE 0 END AS unpriced, took_ms
  FROM usage WHERE ${condition}
  UNION ALL
  SELECT lane, app_id, key_id, step, cause, model, 'answered', at, calls, prompt_tokens, cached_tokens,
    completion_tokens, cost, unpriced, took_ms
  FROM usage_by_hour WHERE ${condition})`;

/** Hours that are over by then. */
export const dropHours = (before: number, limit: number): Script<number> =>
  run(DROP, { before: before - HOUR_MS, limit });

const KEY = 'kind, at, lane, app_id, key_id';

const DROP = `
  DELETE FROM usage_hours WHERE (${KEY}) IN (
    SELECT ${KEY} FROM usage_hours WHERE kind IN (SELECT number FROM usage_kinds) AND at <= @before LIMIT @limit)`;

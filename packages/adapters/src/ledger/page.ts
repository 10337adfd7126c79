import type { Page, Paged } from '@slowwave/engine';
import { InvalidCursorError } from '@slowwave/engine/storing';
import { all, type Given, type Script, type Value } from './script.ts';

/** Joins the conditions that apply. */
export const where = (conditions: readonly (string | null)[]): string => {
  const given = conditions.filter((condition) => condition !== null);
  return given.length === 0 ? '' : `WHERE ${given.join(' AND ')}`;
};

/** A list of rows newest first. */
export interface Listing<Found, Made> {
  /** The statement without its conditions. */
  readonly select: string;
  /** The columns it is sorted by: a time, and an id. */
  readonly by: readonly [time: string, id: string];
  readonly always?: readonly string[];
  /** Conditions by the name of the value that each needs; what is not asked for is left out. */
  readonly asked: Readonly<Record<string, string>>;
  readonly make: (row: Found) => Made;
}

export function* newestFirst<Found, Made>(
  { select, by: [time, id], always = [], asked, make }: Listing<Found, Made>,
  page: Page,
  values: Readonly<Record<string, Value | undefined>>,
): Script<Paged<Made>> {
  const newest = newestPart(page, [time, id]);
  const { conditions, given } = askedFor(asked, values);
  const text = `${select} ${where([...always, ...conditions, newest.condition])} ${newest.order}`;
  const rows = yield* all<Found>(text, { ...given, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [at(row, time), at(row, id)]);
  return { results: results.map(make), nextCursor };
}

/** The value of a row in a column, which is written with its table. */
const at = (row: unknown, column: string): string | number =>
  (row as Readonly<Record<string, string | number>>)[column.replace(/^.*\./, '')] ?? '';

/** The conditions of what is asked for, with their values. */
export function askedFor(
  conditions: Readonly<Record<string, string>>,
  values: Readonly<Record<string, Value | undefined>>,
): { readonly conditions: readonly string[]; readonly given: Given } {
  const asked = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return {
    conditions: asked.flatMap(([name]) => conditions[name] ?? []),
    given: Object.fromEntries(asked) as Given,
  };
}

/** The part of a statement that pages through rows newest first. */
export function newestPart(page: Page, [time, id]: readonly [time: string, id: string]) {
  const after = readCursor(page.cursor, ['number', 'string']);
  return {
    condition: after === null ? null : `(${time}, ${id}) < (@afterTime, @afterId)`,
    // One more than asked for shows whether there is another page.
    order: `ORDER BY ${time} DESC, ${id} DESC LIMIT @limit`,
    params: { limit: page.limit + 1, afterTime: after?.[0] ?? null, afterId: after?.[1] ?? null },
  };
}

/** By their ids the numbers that rows of a table have in this ledger. */
export function* numbersIn(table: string, ids: readonly string[]): Script<ReadonlyMap<Value, number>> {
  const rows = yield* all<{ id: string; number: number }>(`SELECT id, number FROM ${table} WHERE id IN :ids`, { ids });
  return new Map(rows.map(({ id, number }) => [id, number]));
}

/** A lane by its number, as what hangs on it refers to it. */
export const LANE_NUMBER = '(SELECT number FROM lanes WHERE id = @lane)';

/** The same of several, as a condition on a column. */
export const inLanes = (column: string): string => `${column} IN FEW (SELECT number FROM lanes WHERE id IN :lanes;)`;

/** The id of the lane that a column has the number of, as one is shown. */
export const laneIdOf = (column: string): string => `(SELECT named.id FROM lanes named WHERE named.number = ${column})`;

/** A consolidation by its number, as its batches and events refer to it: of one, of several, and back. */
export const consolidationNumber = (id: string): string => `(SELECT number FROM consolidations WHERE id = ${id})`;
export const inConsolidations = (column: string, ids: string): string =>
  `${column} IN FEW (SELECT number FROM consolidations WHERE id IN :${ids};)`;
export const consolidationIdOf = (column: string): string =>
  `(SELECT thought.id FROM consolidations thought WHERE thought.number = ${column})`;

/** The lane of an owner, as conditions on `lanes`. PostgreSQL would look it up by the tenant alone while a ledger is young, and read all lanes. */
export const ofOwner = (kind: string, id: string): string =>
  `tenant IN FEW (SELECT @tenant;) AND owner_kind = ${kind} AND owner_id = ${id}`;

/** The lane of a user, as a condition on a column that has its id, or its number. */
export const laneOfUser = (column: string, by: 'id' | 'number' = 'id'): string =>
  `${column} = (SELECT ${by} FROM lanes WHERE ${ofOwner("'user'", '@userId')})`;

/** A condition that rows must not be looked up by, in either dialect: see script.ts. */
export const notBy = (condition: string): string =>
  NUMBERED.test(condition) ? condition.replace(NUMBERED, '$& + 0') : `+${condition}`;

const NUMBERED = /^\w+\.lane\b/;

/** That a lane is not cut off, as a condition on a column: what is being erased is nobody's to read. No join: it never leads. */
export const isStanding = (column: string): string =>
  `(SELECT standing.erasure FROM lanes standing WHERE standing.id = ${column}) IS NULL`;

/** The same where the lane is given by its number. */
export const isLaneStanding = (column: string): string =>
  `(SELECT standing.erasure FROM lanes standing WHERE standing.number = ${column}) IS NULL`;

/** Where a list goes on: the sort key of the last row given out. */
export type SortKey = readonly (string | number)[];

/** The shape of a list's sort key. */
type KeyShape = readonly ('string' | 'number')[];

/** One page of rows, of which one more than `limit` was read to know whether there is another page. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => SortKey): Paged<Row> {
  const results = rows.slice(0, limit);
  const last = results.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { results, nextCursor: more ? Buffer.from(JSON.stringify(keyOf(last))).toString('base64url') : null };
}

/** The sort key a cursor stands for, or null without a cursor. */
export function readCursor(cursor: string | null, shape: KeyShape): SortKey | null {
  if (cursor === null) return null;
  const key = parse(cursor);
  const fits = Array.isArray(key) && key.length === shape.length && key.every((part, i) => typeof part === shape[i]);
  if (!fits) throw new InvalidCursorError();
  return key as SortKey;
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new InvalidCursorError();
  }
}

/** One transaction takes so many rows: some ten milliseconds. */
const SLICE = 1_000;

/** The next rows by their ids. */
export interface SliceAfter {
  readonly after: string;
  readonly limit: number;
}

/** The last id of a slice; null where nothing was left. */
export interface Refilled {
  readonly last: string | null;
  readonly filled: number;
}

/** Does something to rows slice by slice in the order of their ids, each slice a transaction. Answers with how many were filled. */
export async function inSlices(refill: (slice: SliceAfter) => Promise<Refilled>): Promise<number> {
  let all = 0;
  for (let after: string | null = ''; after !== null; ) {
    const { last, filled }: Refilled = await refill({ after, limit: SLICE });
    after = last;
    all += filled;
  }
  return all;
}

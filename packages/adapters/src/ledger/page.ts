import type { Page } from '@slowwave/engine';
import { readCursor } from './cursor.ts';

/** Joins the conditions that apply. */
export const where = (conditions: readonly (string | null)[]): string => {
  const given = conditions.filter((condition) => condition !== null);
  return given.length === 0 ? '' : `WHERE ${given.join(' AND ')}`;
};

/** The part of a statement that pages through rows newest first, by a time and an id. */
export interface NewestFirst {
  readonly condition: string | null;
  readonly order: string;
  readonly params: Readonly<Record<string, string | number | null>>;
}

export function newestFirst(page: Page, time: string, id: string): NewestFirst {
  const after = readCursor(page.cursor, ['number', 'string']);
  return {
    condition: after === null ? null : `(${time}, ${id}) < (@afterTime, @afterId)`,
    // One more than asked for tells whether there is another page.
    order: `ORDER BY ${time} DESC, ${id} DESC LIMIT @limit`,
    params: { limit: page.limit + 1, afterTime: after?.[0] ?? null, afterId: after?.[1] ?? null },
  };
}

/** The lane of a user, as a condition on a column. */
export const laneOfUser = (column: string): string =>
  `${column} = (SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = 'user' AND owner_id = @userId)`;

/** That a lane is not cut off, as a condition on a column: what is being erased is nobody's to read. No join: it never leads. */
export const isStanding = (column: string): string =>
  `(SELECT standing.erasure FROM lanes standing WHERE standing.id = ${column}) IS NULL`;

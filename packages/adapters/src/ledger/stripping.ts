import type { LaneId, Millis, TenantId } from '@slowwave/engine';
import { all, counted, first, run, type Script } from './script.ts';

/**
 * Which rows retention comes to next. Nearly all of what a tenant has is still to be stripped one day, so that no index holds what is:
 * rows are stripped in the order of their time, and `stripped` says until when. What has not come to its end by then is marked as late,
 * and so is what arrives from elsewhere; an index has these few.
 */
export interface Stripping {
  readonly table: 'batches' | 'consolidations';
  /** Its time. */
  readonly at: string;
  /** The states in which it has come to its end. */
  readonly ended: string;
}

interface Asked {
  readonly tenant: TenantId;
  readonly before: Millis;
}

interface Next extends Asked {
  readonly limit: number;
  readonly locked: boolean;
  readonly condition?: string;
  /** What the condition asks for. */
  readonly lanes?: readonly LaneId[];
}

export function* countDue(of: Stripping, asked: Asked): Script<number> {
  let count = 0;
  for (const from of dueIn(of)) count += yield* counted(`SELECT count(*) AS count ${from}`, { ...asked });
  return count;
}

/** What there is of the next ones, and no more of them than the limit: to look at, or locked, without what others have locked. */
export function* nextDue<Found>(
  of: Stripping,
  columns: string,
  { locked, condition = '', ...given }: Next,
): Script<readonly Found[]> {
  const found: Found[] = [];
  for (const from of dueIn(of)) {
    const limit = given.limit - found.length;
    if (limit === 0) break;
    const text = `SELECT ${columns} ${from} ${condition} ORDER BY ${of.at} LIMIT @limit`;
    found.push(...(yield* all<Found>(locked ? `${text} FOR UPDATE SKIP LOCKED` : text, { ...given, limit })));
  }
  return found;
}

/** Once these were stripped: nobody needs to look again at what is behind the first that is not, but for what is late. */
export function* goOn({ table, at, ended }: Stripping, asked: Asked): Script<void> {
  const left = `FROM ${table} WHERE tenant = @tenant AND ${at} >= ${untilOf(table)} AND ${at} < @before AND stripped_at IS NULL AND NOT late`;
  const open = `SELECT id ${left} AND state NOT IN (${ended}) FOR UPDATE SKIP LOCKED`;
  yield* run(`UPDATE ${table} SET late = true WHERE id IN (${open})`, { ...asked });
  const next = yield* first<{ at: Millis | null }>(`SELECT min(${at}) AS at ${left}`, { ...asked });
  yield* run(NOTE, { tenant: asked.tenant, table, until: Math.min(asked.before, next?.at ?? asked.before) });
}

const dueIn = ({ table, at, ended }: Stripping): readonly string[] => {
  const due = `FROM ${table} WHERE tenant = @tenant AND ${at} < @before AND stripped_at IS NULL AND state IN (${ended})`;
  return [`${due} AND late`, `${due} AND NOT late AND ${at} >= ${untilOf(table)}`];
};

const untilOf = (table: string): string =>
  `coalesce((SELECT s.until FROM stripped s WHERE s.tenant = @tenant AND s.kind = '${table}'), 0)`;

const NOTE = `
  INSERT INTO stripped (tenant, kind, until) VALUES (@tenant, @table, @until)
  ON CONFLICT (tenant, kind) DO UPDATE SET until = greatest(stripped.until, excluded.until)`;

import type { Page, Paged, TenantId, TrailEntry, TrailFilter } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { type TrailRow, trailEntryFrom, trailPage } from '../../../ledger/rows/trail.ts';
import type { Sql } from '../sql.ts';

export async function listTrail(
  sql: Sql,
  of: { tenant: TenantId; filter: TrailFilter; page: Page },
): Promise<Paged<TrailEntry>> {
  const { text, params } = trailPage(of);
  const found = await sql.all<TrailRow>(text, params);
  const { results, nextCursor } = pageOf(found, of.page.limit, (row) => [row.at, row.id]);
  return { results: results.map(trailEntryFrom), nextCursor };
}

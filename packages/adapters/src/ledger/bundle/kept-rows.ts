import type { LaneId } from '@slowwave/engine';
import { type KeptThought, shownIn, type ThoughtRow, thoughtsFrom } from '../kept-thoughts.ts';
import { LANE_NUMBER } from '../page.ts';
import { all, type Given, type Row, type Script, type Value } from '../script.ts';

/** What is kept with consolidations that have ended. */
export type Folded = 'answers' | 'plans' | 'calls';

/** A window may have been long, and so what was thought of it. */
const AT_ONCE = 50;

/** At least so many rows, unless there are no more: what is kept of consolidations, and what is still rows, one consolidation after the other. */
export function* keptRows(
  kept: Folded,
  lane: LaneId,
  { after, least }: { readonly after: readonly Value[] | null; readonly least: number },
): Script<readonly Row[]> {
  const rows: Row[] = [];
  for (let place = after; rows.length < least; ) {
    const given: Given = place === null ? {} : { after0: place[0] ?? 0, after1: place[1] ?? '' };
    const found = yield* all<PlaceRow>(place === null ? FIRST : LATER, { lane, limit: AT_ONCE, ...given });
    const thoughts = yield* thoughtsFrom(found.filter((row): row is PlaceRow & ThoughtRow => row.thought !== null));
    const open = yield* openRows(kept, found);
    for (const { id, created_at } of found) {
      const of = [...rowsIn(kept, thoughts.get(id)), ...(open.get(id) ?? [])];
      rows.push(...of.map((row) => ({ ...row, after0: created_at, after1: id })));
    }
    const last = found.at(-1);
    if (last === undefined || found.length < AT_ONCE) break;
    place = [last.created_at, last.id];
  }
  return rows;
}

interface PlaceRow {
  readonly id: string;
  readonly created_at: number;
  readonly thought: Uint8Array | null;
}

type OpenRow = Row & { readonly consolidation_id: string };

const PLACES = `SELECT id, created_at, thought FROM consolidations WHERE lane = ${LANE_NUMBER}`;
const IN_ORDER = 'ORDER BY created_at, id LIMIT @limit';
const FIRST = `${PLACES} ${IN_ORDER}`;
const LATER = `${PLACES} AND created_at >= @after0 AND (created_at, id) > (@after0, @after1) ${IN_ORDER}`;

/** Calls that are rows are lines of their own. */
function* openRows(kept: Folded, found: readonly PlaceRow[]): Script<ReadonlyMap<string, readonly OpenRow[]>> {
  if (kept === 'calls') return new Map();
  const rows = yield* all<OpenRow>(OPEN[kept], { ids: found.map(({ id }) => id) });
  return Map.groupBy(rows, (row) => row.consolidation_id);
}

const OPEN = {
  answers: 'SELECT * FROM answers WHERE consolidation_id IN :ids ORDER BY seq',
  plans: 'SELECT * FROM plans WHERE consolidation_id IN :ids ORDER BY round',
} as const;

/** As they were before they were folded. */
function rowsIn(kept: Folded, thought: KeptThought | undefined): readonly Row[] {
  if (thought === undefined) return [];
  if (kept !== 'plans') return thought[kept] as unknown as readonly Row[];
  return thought.plans.map((plan) => ({
    consolidation_id: plan.consolidationId,
    round: plan.round,
    plan: JSON.stringify(plan),
    shown: shownIn(plan),
  }));
}

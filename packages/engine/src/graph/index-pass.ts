import type { IndexBuild } from '../ports/index-build.ts';
import type { GraphTelling } from '../ports/ledger/graph.ts';
import type { Cancellation } from '../ports/tools.ts';
import { orByWords, type WalkDeps } from '../projection/index-page.ts';
import type { LaneId } from '../words.ts';
import type { GraphPoints } from './points.ts';
import { laneOf, pointsInLane } from './project.ts';

const PER_PAGE = 200;

/**
 * Makes the vectors of all graphs before a new index takes over, since nothing is believed until they are in it. They are
 * kept in the ledger: a second time they are only looked up.
 */
export const embedGraph = (deps: WalkDeps, cancel: Cancellation): Promise<void> =>
  walkGraph(deps, cancel, async () => {});

/**
 * Writes all graphs into a new index that has taken over already. Whoever changes something from then on tells the new one:
 * what counts is written by them or by this, and what counted once is in neither. Answers with how many points it wrote.
 */
export async function fillGraph(deps: WalkDeps, build: IndexBuild, cancel: Cancellation): Promise<number> {
  let written = 0;
  await walkGraph(deps, cancel, async (lane, { points }) => {
    const [first] = points;
    if (first === undefined) return;
    await build.write(points);
    const { tenant, owner } = first;
    // Whoever erases the lane may have passed this index already.
    if (!(await deps.ledger.erasures.standing(lane))) await build.forget({ tenant, owner, lane });
    written += points.length;
  });
  return written;
}

type Visit = (lane: LaneId, made: GraphPoints) => Promise<void>;

/** Everything that counts and stands for itself, as points, page by page. */
async function walkGraph(deps: WalkDeps, cancel: Cancellation, visit: Visit): Promise<void> {
  for (const kind of ['entity', 'relation'] as const) {
    for (let after: string | null = null, more = true; more && !cancel.aborted; ) {
      const page: readonly GraphTelling[] = await deps.ledger.graph.every(kind, after, PER_PAGE);
      for (const [lane, tellings] of Map.groupBy(page, laneOf)) {
        const make = (given: WalkDeps): Promise<GraphPoints> => pointsInLane(given, { lane, tellings }, cancel);
        await visit(lane, await orByWords(deps, { lane, make }, cancel));
      }
      after = page.reduce<string | null>((_, telling) => idOf(telling), after);
      more = page.length === PER_PAGE;
    }
  }
}

const idOf = (telling: GraphTelling): string => (telling.kind === 'relation' ? telling.relation.id : telling.entity.id);

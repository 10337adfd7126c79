import type { EngineDeps } from '../deps.ts';
import { foldRelations, inOrder, standingOf } from '../graph/fold.ts';
import { endsOf } from '../graph/follow.ts';
import { nameKey } from '../graph/names.ts';
import { pages } from '../pages.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import { type Owner, ownerOf, type TenantId } from '../words.ts';
import { compareRelations, type NamedRelation, type RelationDifference } from './compare-relations.ts';
import { type GraphInLife, graphInLife, selfIn } from './graph-in-life.ts';
import type { LaneInLife } from './lives.ts';
import { isLaneStudied } from './seed-graph.ts';
import { spaceOf } from './space.ts';

/** How relations would be, had the batches of a what-if been studied so. */
export interface RelationsResult {
  readonly same: number;
  readonly added: number;
  /** They began or ended otherwise. */
  readonly changed: number;
  readonly gone: number;
  /** The first of them, DIFFERENCES_KEPT at most. */
  readonly differences: readonly RelationDifference[];
}

/** A result is read by people; past this they look at the numbers. */
export const DIFFERENCES_KEPT = 500;

type Deps = Pick<EngineDeps, 'ledger'>;

/** Compares the graph after the batches in life with that in the space; null where nothing was to be studied there. */
export async function relationsResult(
  deps: Deps,
  replay: Replay,
  lanes: readonly LaneInLife[],
): Promise<RelationsResult | null> {
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  let isAnyStudied = false;
  let same = 0;
  const differences: RelationDifference[] = [];
  for (const lane of lanes) {
    const [first] = lane.batches;
    if (first === undefined || !(await isLaneStudied(deps, replay, lane))) continue;
    isAnyStudied = true;
    const owner = ownerOf(first.scope);
    const life = relationsIn(await graphInLife(deps, lane));
    const compared = compareRelations(owner, { life, whatIf: await relationsInSpace(deps, space, owner) });
    same += compared.same;
    differences.push(...compared.differences);
  }
  if (!isAnyStudied) return null;
  return {
    same,
    added: differences.filter(({ life }) => life === null).length,
    changed: differences.filter(({ life, whatIf }) => life !== null && whatIf !== null).length,
    gone: differences.filter(({ whatIf }) => whatIf === null).length,
    differences: differences.slice(0, DIFFERENCES_KEPT),
  };
}

/** What follows from what was said before the batches and in them, had nobody said anything else. */
function relationsIn(graph: GraphInLife): readonly NamedRelation[] {
  const statements = [...graph.before, ...graph.own];
  const nameOf = namesIn(graph);
  return foldRelations(statements, standingOf(statements, selfIn(graph))).map((relation) => ({
    ...{ source: nameOf(relation.source), relationship: relation.relationship },
    ...{ destination: nameOf(relation.destination), validFrom: relation.validFrom, invalidAt: relation.invalidAt },
  }));
}

/** By the name that it had before the batches, else the first it has in them: others may have called it otherwise first. */
function namesIn({ before, own, entities }: GraphInLife): (id: string) => string {
  const old = new Set(before.flatMap(endsOf));
  const said = Map.groupBy(
    inOrder(own).flatMap((one) => (one.kind === 'named' ? [one] : [])),
    ({ source }) => source,
  );
  const names = new Map(
    entities.map(({ id, name, self }) => {
      const called = self || old.has(id) ? [] : (said.get(id) ?? []).map((one) => one.name);
      return [id, called.some((one) => nameKey(one) === nameKey(name)) ? name : (called[0] ?? name)];
    }),
  );
  return (id) => names.get(id) ?? id;
}

async function relationsInSpace({ ledger }: Deps, space: TenantId, owner: Owner): Promise<readonly NamedRelation[]> {
  const found: NamedRelation[] = [];
  for await (const one of pages((page) => ledger.graph.listRelations(space, owner, { at: 'ever' }, page))) {
    const { sourceName: source, relationship, destinationName: destination, validFrom, invalidAt } = one;
    found.push({ source, relationship, destination, validFrom, invalidAt });
  }
  return found;
}

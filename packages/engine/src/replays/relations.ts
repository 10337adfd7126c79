import type { EngineDeps } from '../deps.ts';
import { endsOf, foldRelations, inOrder, standingOf } from '../graph/fold.ts';
import { nameKey } from '../graph/names.ts';
import { STEP } from '../graph/study/values.ts';
import { spaceOf } from '../ids.ts';
import { costOf, usesOf } from '../models/prices.ts';
import type { StudyView } from '../ports/ledger/graph.ts';
import { allOf, pages } from '../ports/ledger/ledger.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import { type Millis, type Owner, ownerOf, type TenantId } from '../words.ts';
import { type GraphInLife, graphInLife, isLaneStudied, type LaneInLife, selfIn } from './lives.ts';

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
const DIFFERENCES_KEPT = 500;

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
  return { same, ...tallied(differences) };
}

/** How many differences there are of each kind, and the first of them. */
export const tallied = <T extends { readonly life: unknown; readonly whatIf: unknown }>(differences: readonly T[]) => ({
  added: differences.filter(({ life }) => life === null).length,
  changed: differences.filter(({ life, whatIf }) => life !== null && whatIf !== null).length,
  gone: differences.filter(({ whatIf }) => whatIf === null).length,
  differences: differences.slice(0, DIFFERENCES_KEPT),
});

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
  const found = await allOf((page) => ledger.graph.listRelations(space, owner, { at: 'ever' }, page));
  return found.map(({ sourceName: source, relationship, destinationName: destination, validFrom, invalidAt }) => ({
    ...{ source, relationship, destination, validFrom, invalidAt },
  }));
}

/** How long a relation held, on one side. */
export interface Time {
  readonly validFrom: Millis;
  /** null while it holds. */
  readonly invalidAt: Millis | null;
}

/** A relation by the names of its ends: ids differ from side to side. */
interface NamedRelation extends Time {
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
}

/** How a relation is in life and in the space. null: it is not there. */
export interface RelationDifference {
  readonly owner: Owner;
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly life: Time | null;
  readonly whatIf: Time | null;
}

interface ComparedRelations {
  readonly same: number;
  readonly differences: readonly RelationDifference[];
}

interface Sides {
  readonly life: readonly NamedRelation[];
  readonly whatIf: readonly NamedRelation[];
}

/** The graph of life against that of the space, for one owner: what is there on both sides, and began or ended otherwise, has changed. */
function compareRelations(owner: Owner, { life, whatIf }: Sides): ComparedRelations {
  const [ofLife, ofSpace] = [Map.groupBy(life, keyOf), Map.groupBy(whatIf, keyOf)];
  let same = 0;
  const differences: RelationDifference[] = [];
  for (const key of new Set([...ofLife.keys(), ...ofSpace.keys()])) {
    const sides = { life: ofLife.get(key) ?? [], whatIf: ofSpace.get(key) ?? [] };
    const left = withoutEqual(sides);
    same += sides.life.length - left.life.length;
    differences.push(...inPairs(owner, left));
  }
  return { same, differences };
}

const keyOf = ({ source, relationship, destination }: NamedRelation): string =>
  JSON.stringify([nameKey(source), relationship, nameKey(destination)]);

/** The same may have held at several times: each counts once. */
function withoutEqual({ life, whatIf }: Sides): Sides {
  const others = [...whatIf];
  const left = life.filter(({ validFrom, invalidAt }) => {
    const at = others.findIndex((other) => other.validFrom === validFrom && other.invalidAt === invalidAt);
    if (at !== -1) others.splice(at, 1);
    return at === -1;
  });
  return { life: left, whatIf: others };
}

/** The first with the first: what is left over is on one side only. */
function inPairs(owner: Owner, sides: Sides): readonly RelationDifference[] {
  const [life, whatIf] = [sides.life.toSorted(byTime), sides.whatIf.toSorted(byTime)];
  return Array.from({ length: Math.max(life.length, whatIf.length) }, (_, i) => i).flatMap((i) => {
    const [a, b] = [life[i] ?? null, whatIf[i] ?? null];
    const named = a ?? b;
    if (named === null) return [];
    const { source, relationship, destination } = named;
    return [{ owner, source, relationship, destination, life: timeOf(a), whatIf: timeOf(b) }];
  });
}

const byTime = (a: Time, b: Time): number => a.validFrom - b.validFrom;

const timeOf = (time: Time | null): Time | null =>
  time === null ? null : { validFrom: time.validFrom, invalidAt: time.invalidAt };

/** How the studies of one side ended, and what they cost. */
export interface StudiesResult {
  readonly applied: number;
  /** Their tries are used up: what they would have learned is missing. */
  readonly parked: number;
  /** Only in life: they were not made yet. */
  readonly waiting: number;
  /** null: a model that was asked has no price. */
  readonly cost: number | null;
}

/** Whether a space still has studies to make. The newest are looked at first: they are made last. */
export async function hasStudiesToMake({ ledger }: Deps, space: TenantId): Promise<boolean> {
  for await (const { id } of pages((page) => ledger.thoughts.list(space, {}, page))) {
    if ((await ledger.graph.study(space, id))?.state === 'pending') return true;
  }
  return false;
}

export async function consolidationsOf({ ledger }: Deps, tenant: TenantId): Promise<ReadonlySet<string>> {
  const all = await allOf((page) => ledger.thoughts.list(tenant, {}, page));
  return new Set(all.map(({ id }) => id));
}

/** Those of some consolidations. */
export async function studiesOf(
  { ledger }: Deps,
  tenant: TenantId,
  consolidations: ReadonlySet<string>,
): Promise<StudiesResult> {
  const { prices } = await ledger.settings.get(tenant);
  const count: Record<StudyView['state'], number> = { applied: 0, parked: 0, pending: 0 };
  let cost: number | null = 0;
  for (const id of consolidations) {
    const study = await ledger.graph.study(tenant, id);
    if (study === null) continue;
    count[study.state] += 1;
    // Parked ones were answered, too.
    const answers = (await ledger.thoughts.answers(id)).filter(({ step }) => step.startsWith(STEP));
    const own = costOf(usesOf(answers, prices));
    cost = cost === null || own === null ? null : cost + own;
  }
  return { applied: count.applied, parked: count.parked, waiting: count.pending, cost };
}

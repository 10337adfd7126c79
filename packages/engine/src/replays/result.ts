import type { EngineDeps } from '../deps.ts';
import { endsOf, foldRelations, inOrder, standingOf } from '../graph/fold.ts';
import { nameKey } from '../graph/names.ts';
import { STEP } from '../graph/study/decide.ts';
import { copyId, originOf, spaceOf } from '../ids.ts';
import { evolve, type Home, liveVersion } from '../memories/evolve.ts';
import { isRemoved } from '../memories/former.ts';
import { costOf, usesOf } from '../models/limits.ts';
import type { StudyView } from '../ports/ledger/graph.ts';
import type { Batch } from '../ports/ledger/lanes.ts';
import { allOf, pages } from '../ports/ledger/ledger.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import { sameText } from '../text/normalise.ts';
import { overlap } from '../text/terms.ts';
import {
  EVENT_KINDS,
  type EventKind,
  type Memory,
  type MemoryEvent,
  type Millis,
  type Owner,
  ownerOf,
  type Scope,
  type TenantId,
} from '../words.ts';
import {
  asIfAll,
  type GraphInLife,
  graphInLife,
  isLaneStudied,
  type LaneInLife,
  lanesInLife,
  livesBefore,
  saysAnything,
  selfIn,
} from './lives.ts';

/** What one side did with the batches, and what it cost. */
export interface SideResult {
  readonly operations: Readonly<Record<EventKind, number>>;
  readonly consolidations: number;
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Those of studies included. null: a model that was asked has no price. */
  readonly cost: number | null;
  /** Those for the graph. */
  readonly studies: StudiesResult;
}

/** What a what-if found: how memories would be, had its batches been consolidated so. */
export interface WhatIfResult {
  readonly batches: { readonly consolidated: number; readonly empty: number; readonly parked: number };
  readonly same: number;
  readonly added: number;
  readonly changed: number;
  readonly gone: number;
  /** The first of them, DIFFERENCES_KEPT at most. */
  readonly differences: readonly MemoryDifference[];
  /** null: nothing was to be studied in the space. */
  readonly relations: RelationsResult | null;
  readonly life: SideResult;
  readonly whatIf: SideResult;
}

type Deps = Pick<EngineDeps, 'ledger'>;

/** Compares what the batches did in life with what their copies did in the space. */
export async function resultOf(deps: Deps, replay: Replay, batches: readonly Batch[]): Promise<WhatIfResult> {
  const { ledger } = deps;
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  const lanes = await lanesInLife(deps, batches, replay.createdAt);
  let same = 0;
  const differences: MemoryDifference[] = [];
  for (const lane of lanes) {
    const [first] = lane.batches;
    if (first === undefined) continue;
    const life = await heldInLife(deps, lane);
    const whatIf = await heldInSpace(deps, { space, scope: first.scope, known: life.known });
    const compared = compare(ownerOf(first.scope), { life: life.held, whatIf });
    same += compared.same;
    differences.push(...compared.differences);
  }
  const { consolidated, empty, parked } = await ledger.overview.batches(space);
  return {
    batches: { consolidated, empty, parked },
    same,
    ...tallied(differences),
    relations: await relationsResult(deps, replay, lanes),
    ...(await sidesOf(deps, { lanes, space, replay })),
  };
}

/** What holds after the batches, had nothing else happened since the first of them. `known`: what was there before. */
export async function heldInLife(deps: Deps, lane: LaneInLife): Promise<{ held: Held[]; known: ReadonlySet<string> }> {
  const own = Map.groupBy(lane.own.values(), (event) => event.memoryId);
  const held: Held[] = [];
  const known = new Set<string>();
  for await (const page of livesBefore(deps, lane)) {
    for (const { memory, events } of page) {
      known.add(memory.id);
      held.push(...heldOf(memory, [...events, ...(own.get(memory.id) ?? [])], memory.id));
    }
  }
  const fresh = [...own.keys()].filter((id) => !known.has(id));
  const [tenant] = lane.batches.map((batch) => batch.tenant);
  const memories = tenant === undefined ? [] : await deps.ledger.memories.many(tenant, fresh);
  for (const memory of memories) held.push(...heldOf(memory, own.get(memory.id) ?? [], null));
  return { held, known };
}

/** A memory as some of its events make it; none where it does not hold. */
function heldOf(home: Home & { readonly id: string }, events: readonly MemoryEvent[], origin: string | null): Held[] {
  if (!saysAnything(events)) return [];
  const memory = evolve(home, null, asIfAll(events));
  return viewOf(memory, origin);
}

export function viewOf(memory: Memory, origin: string | null): Held[] {
  const version = liveVersion(memory);
  if (version === null || isRemoved(version)) return [];
  return [{ origin, id: memory.id, text: version.text, sources: new Set(version.details.sourceIds.map(originOf)) }];
}

/** What holds in the space. */
async function heldInSpace(
  { ledger }: Deps,
  { space, scope, known }: { space: TenantId; scope: Scope; known: ReadonlySet<string> },
): Promise<Held[]> {
  const owner = ownerOf(scope);
  const whole: Scope = { userId: null, agentId: null, runId: null, appId: null, [`${owner.kind}Id`]: owner.id };
  const held: Held[] = [];
  // As of the beginning of time: what has expired by now has not expired in life either, where only events are looked at.
  for await (const memory of pages((page) => ledger.memories.list(space, whole, 0, page)))
    held.push(...viewOf(memory, known.has(originOf(memory.id)) ? originOf(memory.id) : null));
  return held;
}

async function sidesOf(
  deps: Deps,
  { lanes, space, replay }: { lanes: readonly LaneInLife[]; space: TenantId; replay: Replay },
): Promise<Pick<WhatIfResult, 'life' | 'whatIf'>> {
  const batches = lanes.flatMap((lane) => lane.batches);
  const copied = await Promise.all(batches.map(({ id }) => deps.ledger.batches.events(space, copyId(id, replay.id))));
  const lived = new Set(batches.flatMap(({ consolidationId }) => consolidationId ?? []));
  return {
    life: await sideOf(
      deps,
      lanes.flatMap(({ own }) => [...own.values()]),
      { tenant: replay.tenant, consolidations: lived },
    ),
    whatIf: await sideOf(deps, copied.flat(), { tenant: space, consolidations: await consolidationsOf(deps, space) }),
  };
}

/** Events count once, however many batches they came from; of consolidations all is counted, whoever shares them. */
async function sideOf(
  deps: Deps,
  events: readonly MemoryEvent[],
  { tenant, consolidations }: { tenant: TenantId; consolidations: ReadonlySet<string> },
): Promise<SideResult> {
  const { ledger } = deps;
  const studies = await studiesOf(deps, tenant, consolidations);
  const distinct = [...new Map(events.map((event) => [event.id, event])).values()];
  const operations = Object.fromEntries(
    EVENT_KINDS.map((kind) => [kind, distinct.filter((event) => event.kind === kind).length]),
  ) as Record<EventKind, number>;
  const sum = { calls: 0, promptTokens: 0, completionTokens: 0 };
  let cost = studies.cost;
  for (const id of consolidations) {
    const [usage, plan] = await Promise.all([ledger.overview.usageOf(id), ledger.thoughts.plan(id)]);
    sum.calls += usage.calls;
    sum.promptTokens += usage.promptTokens;
    sum.completionTokens += usage.completionTokens;
    if (plan !== null) cost = cost === null || plan.cost === null ? null : cost + plan.cost;
  }
  return { operations, consolidations: consolidations.size, ...sum, cost, studies };
}

/** A memory that holds, on one side. */
interface Held {
  /** What both sides call it; null: it came from the batches. */
  readonly origin: string | null;
  readonly id: string;
  readonly text: string;
  /** The messages it came from, as they are called in life. */
  readonly sources: ReadonlySet<string>;
}

/** How a memory is in life and in the space. null: it does not hold there. */
export interface MemoryDifference {
  readonly owner: Owner;
  /** As it is called in life; null for one that is only in the space. */
  readonly memoryId: string | null;
  readonly life: string | null;
  readonly whatIf: string | null;
}

interface Compared {
  readonly same: number;
  readonly differences: readonly MemoryDifference[];
}

/** Two texts from the same messages that share this much say the same thing otherwise; below it they are two things. */
const ALIKE = 0.25;

/**
 * What holds in life against what holds in the space, for one owner. Memories that were there before are compared by
 * what they are; those that came from the batches by their text, and the rest by the messages they came from.
 */
function compare(owner: Owner, { life, whatIf }: { life: readonly Held[]; whatIf: readonly Held[] }): Compared {
  const pairs = [...byOrigin(life, whatIf), ...byText(newIn(life), newIn(whatIf))];
  const same = pairs.filter(([a, b]) => a !== null && b !== null && sameText(a.text, b.text)).length;
  const differences = pairs
    .filter(([a, b]) => a === null || b === null || !sameText(a.text, b.text))
    .map(([a, b]) => ({ owner, memoryId: a?.id ?? null, life: a?.text ?? null, whatIf: b?.text ?? null }));
  return { same, differences };
}

type Pair = readonly [life: Held | null, whatIf: Held | null];

const newIn = (side: readonly Held[]): Held[] => side.filter(({ origin }) => origin === null);

function byOrigin(life: readonly Held[], whatIf: readonly Held[]): Pair[] {
  const others = new Map(whatIf.flatMap((held) => (held.origin === null ? [] : [[held.origin, held] as const])));
  const pairs: Pair[] = [];
  for (const held of life) {
    if (held.origin === null) continue;
    pairs.push([held, others.get(held.origin) ?? null]);
    others.delete(held.origin);
  }
  return [...pairs, ...[...others.values()].map((held): Pair => [null, held])];
}

function byText(life: Held[], whatIf: Held[]): Pair[] {
  const pairs: Pair[] = [];
  const pair = (fits: (a: Held, b: Held) => number): void => {
    for (const a of [...life]) {
      const best = whatIf.map((b) => [fits(a, b), b] as const).sort(([x], [y]) => y - x)[0];
      if (best === undefined || best[0] <= 0) continue;
      pairs.push([a, best[1]]);
      life.splice(life.indexOf(a), 1);
      whatIf.splice(whatIf.indexOf(best[1]), 1);
    }
  };
  pair((a, b) => (sameText(a.text, b.text) ? 1 : 0));
  pair((a, b) => (shareSource(a, b) ? Math.max(0, overlap(a.text, b.text) - ALIKE) : 0));
  return [...pairs, ...life.map((a): Pair => [a, null]), ...whatIf.map((b): Pair => [null, b])];
}

const shareSource = (a: Held, b: Held): boolean => [...a.sources].some((id) => b.sources.has(id));

/** How relations would be, had the batches of a what-if been studied so. */
interface RelationsResult {
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

/** Compares the graph after the batches in life with that in the space; null where nothing was to be studied there. */
async function relationsResult(
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
const tallied = <T extends { readonly life: unknown; readonly whatIf: unknown }>(differences: readonly T[]) => ({
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
interface StudiesResult {
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

async function consolidationsOf({ ledger }: Deps, tenant: TenantId): Promise<ReadonlySet<string>> {
  const all = await allOf((page) => ledger.thoughts.list(tenant, {}, page));
  return new Set(all.map(({ id }) => id));
}

/** Those of some consolidations. */
async function studiesOf(
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

import { dependentsOf, type Life, undosInEffect, unitOf } from '../memories/undone.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Undo } from '../ports/ledger/reviews.ts';
import type { Dependent, UndoResult } from '../ports/writers.ts';
import { isoOf } from '../text/dates.ts';
import type { LaneId, MemoryEvent, Millis, Owner, TenantId } from '../words.ts';

/** One consolidation, and what depends on it. */
export async function decideUndo(
  ledger: Ledger,
  { tenant, id }: { tenant: TenantId; id: string },
  { cascade, dryRun }: { cascade: boolean; dryRun: boolean },
): Promise<Decision | UndoResult> {
  const consolidation = await ledger.thoughts.get(tenant, id);
  if (consolidation === null) return { kind: 'not_found' };
  const { lane, state } = consolidation;
  const owner = (await ledger.lanes.get(lane))?.owner;
  if (owner === undefined) return { kind: 'not_found' }; // erased in between
  if (state !== 'applied') return { kind: 'refused', why: `it is ${state}; only an applied one can be undone` };
  const earlier = await ledger.undos.ofLane(lane);
  const { lives, units, dependents } = await spread(ledger, tenant, id);
  if (dependents.length > 0 && !cascade && !dryRun) return { kind: 'dependents', dependents };
  const later = dependents.filter(({ kind }) => kind === 'consolidation').map((dependent) => dependent.id);
  return {
    lane,
    earlier,
    owner,
    what: { kindOfUndo: 'undo', consolidations: [id, ...later], undos: [], to: null },
    lives: takenBack(lives, (event) => event.kind !== 'UNDO' && units.has(unitOf(event))),
    statements: 0,
    dependents,
    actor: 'undo',
    reason: `consolidation ${id} was undone`,
  };
}

interface Spread {
  readonly lives: readonly Life[];
  /** Everything that goes: the consolidation, and whatever depends on something that goes. */
  readonly units: ReadonlySet<string>;
  readonly dependents: readonly Dependent[];
}

/** Follows what depends on what, until nothing is added. */
async function spread(ledger: Ledger, tenant: TenantId, id: string): Promise<Spread> {
  const units = new Set([id]);
  const lives = new Map<string, Life>();
  const found: MemoryEvent[] = [];
  for (let open = [id]; open.length > 0; ) {
    for (const life of await livesTouchedBy(ledger, tenant, open)) lives.set(life.memory.id, life);
    const added = addDependents(units, [...lives.values()]);
    found.push(...added);
    open = consolidationsOf(added);
  }
  return { lives: [...lives.values()], units, dependents: grouped(found) };
}

async function livesTouchedBy(
  ledger: Ledger,
  tenant: TenantId,
  consolidations: readonly string[],
): Promise<readonly Life[]> {
  return livesOf(ledger, tenant, await ledger.undos.touched(tenant, { consolidations }));
}

/** Adds to the units what depends on them in these lives, also by way of each other. */
function addDependents(units: Set<string>, lives: readonly Life[]): readonly MemoryEvent[] {
  const added: MemoryEvent[] = [];
  for (;;) {
    const events = lives.flatMap((life) => dependentsOf(units, life));
    if (events.length === 0) return added;
    added.push(...events);
    for (const event of events) units.add(unitOf(event));
  }
}

const consolidationsOf = (events: readonly MemoryEvent[]): string[] => [
  ...new Set(events.flatMap(({ consolidationId }) => consolidationId ?? [])),
];

/** Newest first: in this order they would be undone by hand. */
function grouped(events: readonly MemoryEvent[]): readonly Dependent[] {
  const groups = [...Map.groupBy(events, unitOf)].map(([id, of]) => ({
    kind: of[0]?.consolidationId === id ? ('consolidation' as const) : ('write' as const),
    id,
    memoryIds: [...new Set(of.map(({ memoryId }) => memoryId))],
    at: Math.max(...of.map(({ recordedAt }) => recordedAt)),
  }));
  return groups.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ at: _, ...dependent }) => dependent);
}

/**
 * Everything of an owner that was recorded after a time, undos included: what an undo took back since then is there
 * again. What was applied since then goes as a whole, by whatever clock its events were recorded.
 */
export async function decideRollback(
  ledger: Ledger,
  { tenant, owner }: { tenant: TenantId; owner: Owner },
  to: Millis,
): Promise<Decision | UndoResult> {
  const lane = (await ledger.lanes.find(tenant, owner))?.id;
  if (lane === undefined) return { kind: 'not_found' };
  const earlier = await ledger.undos.ofLane(lane);
  const consolidations = await ledger.undos.appliedAfter(lane, to);
  const changed = await ledger.undos.touched(tenant, { lane, after: to });
  const applied = await ledger.undos.touched(tenant, { consolidations });
  const lives = await livesOf(ledger, tenant, [...new Set([...changed, ...applied])]);
  const undos = earlier.filter(({ at }) => at > to).map(({ id }) => id);
  const since = { to, consolidations: new Set(consolidations) };
  return {
    lane,
    earlier,
    owner,
    what: { kindOfUndo: 'rollback', consolidations, undos, to },
    lives: lives.flatMap((life) => takenBack([life], ({ revision }) => revision >= firstSince(life, since))),
    statements: await ledger.graph.writtenAfter(lane, to),
    dependents: [],
    actor: 'rollback',
    reason: `rolled back to ${isoOf(to)}`,
  };
}

/** The first event of a memory after a time. All that follow it go with it, whatever clock they were recorded by. */
function firstSince(
  { events }: Life,
  { to, consolidations }: { to: Millis; consolidations: ReadonlySet<string> },
): number {
  const first = events.find(
    ({ recordedAt, consolidationId }) => recordedAt > to || consolidations.has(consolidationId ?? ''),
  );
  return first?.revision ?? Number.POSITIVE_INFINITY;
}

/** An undo or a rollback: what it took back counts again. */
export async function decideRedo(ledger: Ledger, tenant: TenantId, id: string): Promise<Decision | UndoResult> {
  const undo = await ledger.undos.get(tenant, id);
  if (undo === null) return { kind: 'not_found' };
  if (undo.kind === 'redo') return { kind: 'refused', why: 'it is a redo; undo or roll back again instead' };
  const earlier = await ledger.undos.ofLane(undo.lane);
  if (!undosInEffect(earlier).some((one) => one.id === id))
    return { kind: 'refused', why: 'it was already taken back' };
  const lives = await livesOf(ledger, tenant, await ledger.undos.touched(tenant, { undo: id }));
  return {
    lane: undo.lane,
    earlier,
    owner: undo.owner,
    what: { kindOfUndo: 'redo', consolidations: [], undos: [id], to: null },
    lives: takenBack(lives, ({ retraction }) => retraction?.undoId === id),
    statements: 0,
    dependents: [],
    actor: undo.kind,
    reason: `${undo.kind} ${id} was taken back`,
  };
}

/** What is to be taken back. */
export interface Decision {
  readonly lane: LaneId;
  /** The undos of the lane so far, oldest first: it was decided on no others. */
  readonly earlier: readonly Undo[];
  readonly owner: Owner;
  readonly what: Pick<Undo, 'consolidations' | 'undos' | 'to'> & { readonly kindOfUndo: Undo['kind'] };
  /** The memories it is about, with the events that are taken back of each. */
  readonly lives: readonly TakenBack[];
  /** How many explicit statements of the graph count no longer; the ledger finds them itself. */
  readonly statements: number;
  readonly dependents: readonly Dependent[];
  readonly actor: 'undo' | 'rollback';
  readonly reason: string;
}

export interface TakenBack extends Life {
  readonly retracts: readonly number[];
}

/** Memories with their events. In this order: an event that comes in between is seen, and its memory then conflicts. */
async function livesOf(ledger: Ledger, tenant: TenantId, ids: readonly string[]): Promise<readonly Life[]> {
  const memories = await ledger.memories.many(tenant, ids);
  const events = Map.groupBy(await ledger.undos.events(tenant, ids), ({ memoryId }) => memoryId);
  return memories.map((memory) => ({ memory, events: events.get(memory.id) ?? [] }));
}

/** The lives in which something is taken back. */
const takenBack = (lives: readonly Life[], isMeant: (event: MemoryEvent) => boolean): readonly TakenBack[] =>
  lives
    .map((life) => ({ ...life, retracts: life.events.filter(isMeant).map(({ revision }) => revision) }))
    .filter(({ retracts }) => retracts.length > 0);

import { dependentsOf, type Life, unitOf } from '../memories/dependents.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Dependent, UndoResult } from '../ports/undoer.ts';
import type { MemoryEvent, TenantId } from '../words.ts';
import { type Decision, livesOf, takenBack } from './decision.ts';

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

import type { EngineDeps } from '../deps.ts';
import { isLiving } from '../memories/conclusions.ts';
import { evolve, type Home, tombstoneOf } from '../memories/evolve.ts';
import type { Plan } from '../plan.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import type { NightChanges, NightRecord } from '../ports/ledger/nights.ts';
import { askedInSlices } from '../ports/tools.ts';
import type { NightResult, NightSettler, UndoResult } from '../ports/writers.ts';
import { type ProjectDeps, projectNow } from '../projection/project.ts';
import { type Decision, livesTouchedBy, takeBack, takenBack, type UndoDeps } from '../undo/undo.ts';
import type { LaneId, MemoryEvent, Owner, Scope, TenantId } from '../words.ts';

type ReadDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** What a plan changes as of now; null: one of its memories, or of what it concludes from, is no longer as it was decided on. */
export async function changesOf(
  { ledger, tools }: ReadDeps,
  { tenant, lane, owner, scope }: Home,
  plan: Plan,
): Promise<NightChanges | null> {
  const now = tools.now();
  const events = plan.events.map((event) => ({ ...event, recordedAt: now }));
  const byMemory = Map.groupBy(events, ({ memoryId }) => memoryId);
  const pieces = events.flatMap(({ details }) => details?.concluded?.from ?? []);
  const ids = [...new Set([...byMemory.keys(), ...pieces.map(({ memoryId }) => memoryId)])];
  const many = await askedInSlices(tools, ids, (some) => ledger.memories.many(tenant, some));
  const known = new Map(many.map((memory) => [memory.id, memory]));
  if (!pieces.every((piece) => isLiving(piece, (id) => known.get(id)))) return null;
  const changes = [...byMemory].flatMap(([id, own]): MemoryChange[] => {
    const memory = known.get(id) ?? null;
    const expectedRevision = memory?.revision ?? 0;
    if (own[0]?.revision !== expectedRevision + 1) return [];
    const of = memory ?? { tenant, lane, owner, scope: scopeOfNew(scope, own) };
    return [{ memory: evolve(of, memory, own), expectedRevision, events: own }];
  });
  if (changes.length < byMemory.size) return null;
  const tombstones = events.flatMap((event) => tombstoneOf(tools, event));
  return { changes, tombstones, reviews: plan.held, acts: plan.night?.acts ?? [] };
}

/** Of the owner, in the app in which all of its evidence was said; what a run came to, in that run. */
const scopeOfNew = (owner: Scope, [first]: readonly MemoryEvent[]): Scope => ({
  ...owner,
  appId: first?.under?.appId ?? null,
  ...(first?.details?.task !== undefined && { runId: first.details.task.runId }),
});

/** A person's word on plans that wait. */
export function nightSettler(deps: UndoDeps): NightSettler {
  const { ledger, tools } = deps;
  return {
    apply: (tenant, id) => settle(deps, { tenant, id }),
    discard: async (tenant, id) => {
      const night = await ledger.nights.get(tenant, id);
      if (night === null) return { kind: 'not_found' };
      const { kind } = await ledger.nights.decide(tenant, id, { state: 'discarded', now: tools.now() });
      return kind === 'ended' ? settledAs(deps, { tenant, id }, true) : { kind: 'over', state: night.state };
    },
    without: (tenant, owner) => withoutNights(deps, { tenant, owner }),
  };
}

async function settle(
  deps: ProjectDeps & Pick<EngineDeps, 'log'>,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
): Promise<NightResult> {
  const { ledger, tools } = deps;
  const [night, plan] = await Promise.all([ledger.nights.get(tenant, id), ledger.thoughts.plan(id)]);
  if (night === null) return { kind: 'not_found' };
  if (night.state !== 'waiting' || plan === null) return { kind: 'over', state: night.state };
  const now = tools.now();
  const changes = await changesOf(deps, night, plan);
  const applied =
    changes === null ? null : await ledger.nights.decide(tenant, id, { state: 'applied', now, ...changes });
  if (applied?.kind === 'over') return { kind: 'over', state: night.state };
  if (applied?.kind !== 'ended') {
    const { kind } = await ledger.nights.decide(tenant, id, { state: 'stale', now });
    return kind === 'ended' ? settledAs(deps, { tenant, id }, true) : { kind: 'over', state: night.state };
  }
  return settledAs(deps, { tenant, id }, await projectNight(deps, changes?.changes ?? []));
}

async function settledAs(
  { ledger }: Pick<ReadDeps, 'ledger'>,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
  searchable: boolean,
): Promise<NightResult> {
  const night: NightRecord | null = await ledger.nights.get(tenant, id);
  return night === null ? { kind: 'not_found' } : { kind: 'settled', night, searchable };
}

/** Whether all of it is in the index now. */
export async function projectNight(
  deps: ProjectDeps & Pick<EngineDeps, 'log'>,
  changes: readonly MemoryChange[],
): Promise<boolean> {
  const memoryIds = changes.map(({ memory }) => memory.id);
  return (await projectNow(deps, { memoryIds }, 'a night was applied, but is not in the index yet')) !== 'later';
}

const PAGE = 100;

/** What would be remembered of an owner who had never slept. Nothing is changed: no model is asked, and what came later counts. */
function withoutNights(
  deps: UndoDeps,
  { tenant, owner }: { readonly tenant: TenantId; readonly owner: Owner },
): Promise<UndoResult> {
  return takeBack(deps, { tenant, dryRun: true }, () => decide(deps.ledger, { tenant, owner }));
}

async function decide(
  ledger: Ledger,
  { tenant, owner }: { readonly tenant: TenantId; readonly owner: Owner },
): Promise<Decision | UndoResult> {
  const lane = (await ledger.lanes.find(tenant, owner))?.id;
  if (lane === undefined) return { kind: 'not_found' };
  const nights = await appliedNights(ledger, { tenant, owner, lane });
  const ofNights = new Set(nights);
  const lives = nights.length === 0 ? [] : await livesTouchedBy(ledger, tenant, nights);
  return {
    lane,
    earlier: await ledger.undos.ofLane(lane),
    owner,
    what: { kindOfUndo: 'undo', consolidations: nights, undos: [], to: null },
    lives: takenBack(lives, (event) => event.kind !== 'UNDO' && ofNights.has(event.consolidationId ?? '')),
    statements: 0,
    dependents: [],
    actor: 'undo',
    reason: 'as if there had been no nights',
  };
}

async function appliedNights(
  ledger: Ledger,
  { tenant, owner, lane }: { readonly tenant: TenantId; readonly owner: Owner; readonly lane: LaneId },
): Promise<readonly string[]> {
  const filter = { state: 'applied', ...(owner.kind === 'user' && { userId: owner.id }) } as const;
  const found: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = await ledger.nights.list(tenant, filter, { limit: PAGE, cursor });
    found.push(...page.results.filter((night) => night.lane === lane && !night.undone).map(({ id }) => id));
    cursor = page.nextCursor;
    if (cursor === null) return found;
  }
}

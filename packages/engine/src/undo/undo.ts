import type { EngineDeps } from '../deps.ts';
import { projectGraphNow } from '../graph/project.ts';
import { eventIdOf, ownerBitsOf } from '../ids.ts';
import { evolve, inEffect, KEY_OF, liveVersion, SAID_KINDS, tombstoneOf } from '../memories/evolve.ts';
import { dependentsOf, isHollow, type Life, livesOf, undoneBy, undosInEffect, unitOf } from '../memories/former.ts';
import { BEFORE_ALL, EXPLICIT_SEQ, fallsWithout, removeSlice, SLICE, saidUnder } from '../memories/write.ts';
import type { ReplayedBatch, Undo, Undoing } from '../ports/ledger/feedback.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { MemoryChange, Tombstone } from '../ports/ledger/memories.ts';
import type {
  Dependent,
  Difference,
  Undoer,
  UndoReport,
  UndoResult,
  Withdrawer,
  WithdrawHow,
  Withdrawn,
} from '../ports/writers.ts';
import { type ProjectDeps, projectNow } from '../projection/project.ts';
import { isoOf } from '../text/dates.ts';
import type { LaneId, Memory, MemoryEvent, Millis, NamedIds, Owner, TenantId } from '../words.ts';

/** What undoing works with: nothing that thinks. */
export type UndoDeps = ProjectDeps & Pick<EngineDeps, 'log' | 'meter'>;

/** Others may change a memory between reading and writing it; after this many times the caller gets a conflict. */
const TRIES_MAX = 5;

export function undoer(deps: UndoDeps): Undoer {
  const { ledger } = deps;
  return {
    undo: (tenant, id, how) => takeBack(deps, { tenant, ...how }, () => decideUndo(ledger, { tenant, id }, how)),
    rollback: (tenant, owner, { to, dryRun }) =>
      takeBack(deps, { tenant, dryRun }, () => decideRollback(ledger, { tenant, owner }, to)),
    redo: (tenant, id, how) => takeBack(deps, { tenant, ...how }, () => decideRedo(ledger, tenant, id)),
  };
}

/** Decides what is taken back and does it; again where something else was changed in between. */
export async function takeBack(
  deps: UndoDeps,
  { tenant, dryRun }: { tenant: TenantId; dryRun: boolean },
  decide: () => Promise<Decision | UndoResult>,
): Promise<UndoResult> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const decision = await decide();
    if ('kind' in decision) return decision;
    const result = await carryOut(deps, decision, { tenant, dryRun });
    if (result.kind !== 'conflict') return result;
  }
  return { kind: 'conflict' };
}

/** One transaction of so many memories holds other writes up for about three seconds on SQLite; callers wait five. */
const MEMORIES_MAX = 10_000;

/** Takes back what was decided, in one transaction; a dry run only reports. */
async function carryOut(
  deps: UndoDeps,
  decision: Decision,
  { tenant, dryRun }: { tenant: TenantId; dryRun: boolean },
): Promise<UndoResult> {
  const { ledger, log } = deps;
  const undoing = undoingOf(deps, decision, tenant);
  const report = reportOf(decision, undoing);
  const { lives, what } = decision;
  const hollow = undoing.changes.filter(({ memory }) => isHollow(memory)).map(({ memory }) => memory.id);
  if (hollow.length > 0) return { kind: 'removed', memoryIds: hollow };
  const replayed = undoing.redone.length === 0 ? [] : await ledger.undos.replayed(tenant, undoing.redone);
  if (replayed.length > 0) return { kind: 'refused', why: replayedSince(what.kindOfUndo, replayed) };
  const isNothing = lives.length + what.consolidations.length + what.undos.length + decision.statements === 0;
  if (dryRun || isNothing) return { kind: 'done', report: { ...report, undo: null }, searchable: true };
  if (lives.length > MEMORIES_MAX) return { kind: 'refused', why: tooLarge(lives.length) };
  const written = await ledger.undos.write(tenant, undoing);
  if (written.kind === 'conflict') return written;
  deps.meter.opinions(tenant, 'undo', [
    ...undoing.undone.map(() => 'against' as const),
    ...undoing.redone.map(() => 'for' as const),
  ]);
  const { id, kind, lane, memories, consolidations } = undoing.undo;
  const ids = undoing.changes.map(({ memory }) => memory.id);
  log.info({ undo: id, kind, lane, memories, consolidations: consolidations.length }, 'taken back');
  const changed = { memoryIds: ids, consolidationIds: [...undoing.undone, ...undoing.redone], lanes: [lane] };
  const otherwise = 'undone, but not in the index yet';
  const searchables = [await projectNow(deps, changed, otherwise), await projectGraphNow(deps, lane, otherwise)];
  return { kind: 'done', report, searchable: !searchables.includes('later') };
}

function undoingOf({ tools }: UndoDeps, decision: Decision, tenant: TenantId): Undoing {
  const { lane, earlier, owner, lives, what } = decision;
  const { kindOfUndo: kind, ...takes } = what;
  const at = tools.now();
  const id = tools.id('und', ownerBitsOf(tools, { tenant, owner }));
  const number = earlier.length + 1;
  const undo: Undo = { id, tenant, lane, owner, number, kind, ...takes, memories: lives.length, at };
  const [before, after] = [undoneBy(earlier), undoneBy([...earlier, undo])];
  const changes = lives.map((life) => changeOf(life, eventOf(life, { decision, undo })));
  return {
    undo,
    changes,
    tombstones: lives.flatMap((life, i) => tombstonesOf(tools, life, changes[i])),
    undone: [...after].filter((one) => !before.has(one)),
    redone: [...before].filter((one) => !after.has(one)),
    ...(decision.keepsReviews === true && { keepsReviews: true }),
  };
}

const tooLarge = (memories: number): string =>
  `it would change ${memories} memories at once, but at most ${MEMORIES_MAX} are allowed; roll back in steps, to later times first`;

/** Batches a refusal names. */
const NAMED = 20;

/** What would count again was said by batches that something else is made of by now: it would be remembered twice. */
function replayedSince(kind: Undo['kind'], replayed: readonly ReplayedBatch[]): string {
  const consolidations = [...new Set(replayed.map(({ consolidationId }) => consolidationId))].slice(0, NAMED);
  const batches = replayed.slice(0, NAMED).map(({ batchId }) => batchId);
  const instead =
    kind === 'rollback'
      ? 'roll back to a time after that undo, or undo single consolidations'
      : 'keep what the replay makes of them, or undo that; replay the other batches to bring them back as well';
  return (
    `${consolidations.join(', ')} would count again, but was undone before these batches of it were replayed: ` +
    `${batches.join(', ')}; ${instead}`
  );
}

const changeOf = ({ memory }: TakenBack, event: MemoryEvent): MemoryChange => ({
  memory: evolve(memory, memory, [event]),
  expectedRevision: memory.revision,
  events: [event],
});

function eventOf({ memory, retracts }: TakenBack, { decision, undo }: { decision: Decision; undo: Undo }): MemoryEvent {
  const revision = memory.revision + 1;
  return {
    id: eventIdOf(memory.id, revision),
    memoryId: memory.id,
    revision,
    kind: 'UNDO',
    actor: decision.actor,
    consolidationId: null,
    factId: null,
    reason: decision.reason,
    previous: textOf(memory),
    saidAt: { at: undo.at, seq: EXPLICIT_SEQ },
    validFrom: undo.at,
    recordedAt: undo.at,
    text: null,
    details: null,
    sourceIds: [],
    retraction: { undoId: undo.id, retracts },
  };
}

/** Deletions that count afterwards, and no others, block what was said before them. */
function tombstonesOf(tools: UndoDeps['tools'], life: TakenBack, change: MemoryChange | undefined): Tombstone[] {
  const counting = new Set(inEffect(change?.memory.timeline ?? []).map(({ revision }) => revision));
  return life.events.filter(({ revision }) => counting.has(revision)).flatMap((event) => tombstoneOf(tools, event));
}

function reportOf({ lives, dependents }: Decision, { undo, changes, undone, redone }: Undoing): UndoReport {
  const differences = lives.flatMap(({ memory }, i): Difference[] => {
    const change = changes[i];
    const [before, after] = [textOf(memory), change === undefined ? null : textOf(change.memory)];
    return before === after ? [] : [{ memoryId: memory.id, before, after }];
  });
  return { undo, differences, undone, redone, dependents };
}

const textOf = (memory: Memory): string | null => liveVersion(memory)?.text ?? null;

/** One consolidation, and what depends on it. */
async function decideUndo(
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

export async function livesTouchedBy(
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
async function decideRollback(
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
async function decideRedo(ledger: Ledger, tenant: TenantId, id: string): Promise<Decision | UndoResult> {
  const undo = await ledger.undos.get(tenant, id);
  if (undo === null) return { kind: 'not_found' };
  if (undo.kind === 'redo') return { kind: 'refused', why: 'it is a redo; undo or roll back again instead' };
  const earlier = await ledger.undos.ofLane(undo.lane);
  if (!undosInEffect(earlier).some((one) => one.id === id)) return { kind: 'refused', why: 'it was already undone' };
  const lives = await livesOf(ledger, tenant, await ledger.undos.touched(tenant, { undo: id }));
  return {
    lane: undo.lane,
    earlier,
    owner: undo.owner,
    what: { kindOfUndo: 'redo', consolidations: [], undos: [id], to: null },
    lives: takenBack(lives, ({ retraction }) => retraction?.undoId === id),
    statements: 0,
    dependents: [],
    actor: undo.kind === 'rollback' ? 'rollback' : 'undo',
    reason: `${undo.kind} ${id} was undone`,
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
  /** What people approved of it stays. Missing: it goes. */
  readonly keepsReviews?: true;
  readonly actor: 'undo' | 'rollback' | 'api';
  readonly reason: string;
}

interface TakenBack extends Life {
  readonly retracts: readonly number[];
}

/** The lives in which something is taken back. */
export const takenBack = (lives: readonly Life[], isMeant: (event: MemoryEvent) => boolean): readonly TakenBack[] =>
  lives
    .map((life) => ({ ...life, retracts: life.events.filter(isMeant).map(({ revision }) => revision) }))
    .filter(({ retracts }) => retracts.length > 0);

/**
 * Takes back what was said under an agent, run or app, in the memories of all owners. A memory that was said elsewhere, too, stays as
 * it was said there; its part is a further undo of its owner, which can be redone. A memory without any other saying is forgotten.
 * In slices, so that others can write in between, and that whoever asks again goes on where it stopped.
 */
export const withdrawer = (deps: UndoDeps): Withdrawer => ({
  withdraw: (tenant, named, how) => withdraw(deps, { tenant, named }, how),
});

interface Said {
  readonly tenant: TenantId;
  readonly named: NamedIds;
}

async function withdraw(deps: UndoDeps, said: Said, how: WithdrawHow): Promise<Withdrawn> {
  const { saidIds } = deps.ledger;
  const asked = { named: said.named, now: BEFORE_ALL };
  let sum: Withdrawn = { deleted: 0, kept: 0, first: [], more: false, searchable: true };
  for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
    if (!how.dryRun && sum.deleted + sum.kept >= how.most) return { ...sum, more: true };
    const page = await saidIds.memories(said.tenant, asked, { limit: SLICE, cursor });
    cursor = page.nextCursor;
    for (const [lane, memories] of Map.groupBy(page.results, (memory) => memory.lane)) {
      const done = how.dryRun ? wouldGo(memories, said.named) : await withdrawOfLane(deps, said, { lane, memories });
      sum = added(sum, done, how.listed);
    }
  }
  return sum;
}

const added = (sum: Withdrawn, done: Withdrawn, listed: number): Withdrawn => ({
  deleted: sum.deleted + done.deleted,
  kept: sum.kept + done.kept,
  first: [...sum.first, ...done.first].slice(0, listed),
  more: sum.more || done.more,
  searchable: sum.searchable && done.searchable,
});

function wouldGo(memories: readonly Memory[], named: NamedIds): Withdrawn {
  const first = memories.filter((memory) => fallsWithout(memory, named));
  return { deleted: first.length, kept: memories.length - first.length, first, more: false, searchable: true };
}

interface OfLane {
  readonly lane: LaneId;
  readonly memories: readonly Memory[];
}

/** More: something else kept changing them in between, and they are still to be done. */
async function withdrawOfLane(deps: UndoDeps, { tenant, named }: Said, { lane, memories }: OfLane): Promise<Withdrawn> {
  const ids = memories.map(({ id }) => id);
  const by = { actor: 'api', reason: `what was said under ${namesOf(named)} was withdrawn` } as const;
  const removed = await removeSlice(deps, tenant, { ids, by, without: named });
  const how = { tenant, dryRun: false };
  const taken = await takeBack(deps, how, () => decide(deps.ledger, { tenant, lane, ids, named, ...by }));
  const { count: deleted, first } = removed.kind === 'conflict' ? { count: 0, first: [] } : removed;
  return {
    deleted,
    kept: taken.kind === 'done' ? (taken.report.undo?.memories ?? 0) : 0,
    first,
    more: removed.kind === 'conflict' || taken.kind !== 'done',
    searchable: removed.kind !== 'unprojected' && (taken.kind !== 'done' || taken.searchable),
  };
}

const namesOf = (named: NamedIds): string =>
  SAID_KINDS.flatMap((kind) => (named[KEY_OF[kind]] === undefined ? [] : [`${kind} "${named[KEY_OF[kind]]}"`])).join(
    ' and ',
  );

interface Asked extends Said, Pick<Decision, 'lane' | 'actor' | 'reason'> {
  readonly ids: readonly string[];
}

/** Of the memories that stay: what was said of them under the ids. */
async function decide(ledger: Ledger, { ids, named, tenant, ...asked }: Asked): Promise<Decision | UndoResult> {
  const earlier = await ledger.undos.ofLane(asked.lane);
  const owner = (await ledger.lanes.get(asked.lane))?.owner;
  if (owner === undefined) return { kind: 'not_found' }; // erased in between
  const lives = (await livesOf(ledger, tenant, ids)).flatMap((life) => {
    if (fallsWithout(life.memory, named)) return [];
    const said = new Set(saidUnder(life.memory, named));
    return takenBack([life], ({ revision }) => said.has(revision));
  });
  const what = { kindOfUndo: 'withdrawal', consolidations: [], undos: [], to: null } as const;
  return { ...asked, earlier, owner, what, lives, statements: 0, dependents: [] };
}

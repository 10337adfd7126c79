import type { EngineDeps } from '../deps.ts';
import { endsOf, graphOf } from '../graph/fold.ts';
import { type Entity, type Relation, relationText, type Statement } from '../graph/words.ts';
import { eventIdOf, ownerBitsOf } from '../ids.ts';
import { attacksIn } from '../messages/messages.ts';
import type { Paged } from '../ports/ledger/ledger.ts';
import type { MemoryChange, Proposal } from '../ports/ledger/memories.ts';
import { portionsOf } from '../ports/tools.ts';
import type {
  Fall,
  MemoryPatch,
  MemoryWriter,
  NewMemory,
  Refusal,
  RemoveAllResult,
  WriteResult,
} from '../ports/writers.ts';
import { type ProjectDeps, projectNow } from '../projection/project.ts';
import { type Filter, filterableOf, matches } from '../search/filter/filter.ts';
import { normaliseText } from '../text/normalise.ts';
import {
  besideOwner,
  isUnder,
  type LaneId,
  type Mark,
  type Memory,
  type MemoryEvent,
  type MemoryVersion,
  type NamedIds,
  ownerOf,
  type SaidAt,
  type Scope,
  type TenantId,
  underOf,
  type VersionDetails,
} from '../words.ts';
import {
  evolve,
  type Home,
  idListsOf,
  inEffect,
  isOfForgotten,
  KEY_OF,
  lastSaidAt,
  liveVersion,
  newest,
  SAID_KINDS,
  saidIds,
  tombstoneOf,
} from './evolve.ts';
import { isHollow, isRemoved } from './former.ts';
import { isShared } from './in-app.ts';

/** What an explicit write works with: nothing that thinks. */
export type WriteDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

/** Explicit writes and undos are said after every message of their millisecond. */
export const EXPLICIT_SEQ = Number.MAX_SAFE_INTEGER;
/** A consolidation may change a memory between reading and writing it; after this many times the caller gets a conflict. */
export const TRIES_MAX = 5;
/** Deletions in one transaction: long work goes in slices, so that others can write in between. */
export const SLICE = 100;
/** Who writes, and why. */
type By = Pick<MemoryEvent, 'actor' | 'reason'>;
const BY_API: By = { actor: 'api', reason: 'written by API' };

/** Explicit writes: the same events and the same way to the index as a consolidation, without a model. */
export function memoryWriter(deps: WriteDeps): MemoryWriter {
  return {
    add: (tenant, memory) => add(deps, tenant, memory),
    change: (tenant, id, patch) =>
      attempt(deps, { tenant, id }, (memory) => refusalOf(memory, patch) ?? changed(deps, memory, patch)),
    restore: (tenant, id, version) =>
      attempt(deps, { tenant, id, orGone: true }, (memory) => restored(deps, memory, version)),
    remove: (tenant, id) => attempt(deps, { tenant, id }, (memory) => removed(deps, memory)),
    fallOf: async (tenant, id) => {
      const memory = await deps.ledger.memories.get(tenant, id);
      return memory === null || liveVersion(memory) === null ? null : fallOf(deps, memory);
    },
    removeAll: async (tenant, scope, { ownApp = false, where = null, dryRun = false, named = 0 } = {}) => {
      const wanted = { scope, where, appId: ownApp ? scope.appId : null };
      return removeAll(deps, tenant, { wanted, dryRun, named });
    },
  };
}

async function add(deps: WriteDeps, tenant: TenantId, wanted: NewMemory): Promise<WriteResult> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const result = await addOnce(deps, tenant, wanted);
    if (result.kind !== 'conflict') return result;
  }
  return { kind: 'conflict' };
}

/** A conflict: the owner was erased in between, and has another lane from now on. */
async function addOnce(deps: WriteDeps, tenant: TenantId, wanted: NewMemory): Promise<WriteResult> {
  const now = deps.tools.now();
  const owner = ownerOf(wanted.scope);
  const lane = await deps.ledger.memories.laneOf(tenant, owner, now);
  const home = { tenant, lane, owner, scope: wanted.scope };
  const event = eventOf(deps, home, {
    kind: 'ADD',
    under: underOf(wanted.scope),
    text: wanted.text,
    validFrom: wanted.validFrom ?? now,
    details: {
      category: wanted.category,
      language: null,
      about: 'user',
      trust: wanted.trust ?? 'imported',
      ...flagOf(wanted.text),
      quote: null,
      sourceIds: [],
      metadata: wanted.metadata,
      immutable: wanted.immutable,
      ...(wanted.pinned === true && { pinned: true }),
      ...(wanted.placed !== undefined && { placed: wanted.placed }),
      expiresAt: wanted.expiresAt,
    },
  });
  const change = changeOf(home, null, event);
  const written = await write(deps, tenant, { changes: [change] });
  return written.kind === 'conflict' ? written : { kind: written.kind, memory: change.memory };
}

/** Reads, changes and writes one memory; again where something else changed it in between. */
async function attempt(
  deps: WriteDeps,
  { tenant, id, orGone = false }: { tenant: TenantId; id: string; orGone?: boolean },
  next: (memory: Memory) => MemoryChange | Refusal,
): Promise<WriteResult> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const memory = await deps.ledger.memories.get(tenant, id);
    if (memory === null || !(orGone || liveVersion(memory) !== null)) return { kind: 'not_found' };
    const change = next(memory);
    if ('kind' in change) return change;
    const written = await write(deps, tenant, { changes: [change] });
    if (written.kind !== 'conflict') return { kind: written.kind, memory: change.memory };
  }
  return { kind: 'conflict' };
}

/** Memories that were expired all along hold, too. */
export const BEFORE_ALL = -Number.MAX_SAFE_INTEGER;

/** Which memories go: what is true of all of them in the moment in which they do. */
interface Wanted {
  readonly scope?: Scope;
  readonly where?: Filter | null;
  /** Those alone that nobody but this app was told; null: all. */
  readonly appId?: string | null;
  /** Those alone of which nothing is left without what was said under these ids. */
  readonly without?: NamedIds;
}

interface Owned {
  readonly scope: Scope;
}

interface RemovingAll {
  readonly wanted: Wanted & Owned;
  readonly dryRun: boolean;
  readonly named: number;
}

async function removeAll(
  deps: WriteDeps,
  tenant: TenantId,
  { wanted, dryRun, named }: RemovingAll,
): Promise<RemoveAllResult> {
  let count = 0;
  let unprojected = false;
  const first: Memory[] = [];
  for await (const slice of slicesOf(deps, tenant, wanted)) {
    const removed = dryRun ? removable(slice, wanted) : await removeRead(deps, tenant, { read: slice, wanted });
    if (removed.kind === 'conflict') return removed;
    if (removed.kind === 'unprojected') unprojected = true;
    count += removed.count;
    first.push(...removed.first.slice(0, named - first.length));
  }
  return { kind: unprojected ? 'unprojected' : 'written', count, first };
}

/** All that hold, or all that a filter is true of, slice by slice: an owner may have more than a process can hold. */
async function* slicesOf(
  { ledger }: Pick<WriteDeps, 'ledger'>,
  tenant: TenantId,
  { scope, where = null }: Wanted & Owned,
): AsyncGenerator<readonly Memory[]> {
  if (where === null) {
    const ids = await ledger.memories.liveIds(tenant, scope);
    for (const slice of portionsOf(ids, SLICE)) yield await ledger.memories.many(tenant, slice);
    return;
  }
  for (let cursor: string | null = null, more = true; more; ) {
    const asked = { scope, where, now: BEFORE_ALL };
    const page: Paged<Memory> = await ledger.filtered.list(tenant, asked, { limit: SLICE, cursor });
    yield page.results;
    cursor = page.nextCursor;
    more = cursor !== null;
  }
}

/** What would go. */
function removable(read: readonly Memory[], wanted: Wanted): RemoveAllResult {
  const going = read.filter((memory) => isWanted(memory, wanted));
  return { kind: 'written', count: going.length, first: going };
}

function isWanted(memory: Memory, { scope, where = null, appId = null, without }: Wanted): boolean {
  if (liveVersion(memory) === null || (appId !== null && isShared(memory, appId))) return false;
  if (without !== undefined && !fallsWithout(memory, without)) return false;
  if (scope !== undefined && !isUnder(idListsOf(memory), besideOwner(scope))) return false;
  return where === null || matches(where, filterableOf(memory));
}

/** Live ones of at most a slice of memories go; `by` is in their events. */
export async function removeSlice(
  deps: WriteDeps,
  tenant: TenantId,
  { ids, by, ...wanted }: { readonly ids: readonly string[]; readonly by: By } & Pick<Wanted, 'without'>,
): Promise<RemoveAllResult> {
  return removeRead(deps, tenant, { read: await deps.ledger.memories.many(tenant, ids), wanted, by });
}

interface Removing {
  /** As they were read: of what was changed since, nothing goes before it is read again. */
  readonly read: readonly Memory[];
  readonly wanted: Wanted;
  readonly by?: By;
}

async function removeRead(
  deps: WriteDeps,
  tenant: TenantId,
  { read, wanted, by = BY_API }: Removing,
): Promise<RemoveAllResult> {
  let memories = read;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (tries > 0) memories = await deps.ledger.memories.many(tenant, idsOf(read));
    const going = memories.filter((memory) => isWanted(memory, wanted));
    const changes = going.map((memory) => removed(deps, memory, by));
    const written = await write(deps, tenant, { changes });
    // What is gone is found no more, with vectors or without.
    const kind = written.kind === 'words' ? 'written' : written.kind;
    if (kind !== 'conflict') return { kind, count: going.length, first: going };
  }
  return { kind: 'conflict' };
}

const idsOf = (memories: readonly Memory[]): readonly string[] => memories.map(({ id }) => id);

const flagOf = (text: string): Pick<VersionDetails, 'flagged'> => (attacksIn(text).length > 0 ? { flagged: true } : {});

function refusalOf(memory: Memory, patch: MemoryPatch): Refusal | null {
  const version = newest(memory);
  if (patch.expectedVersion !== undefined && patch.expectedVersion !== version.number) return { kind: 'conflict' };
  const rewords = patch.text !== undefined && patch.text !== version.text;
  return rewords && version.details.immutable && patch.immutable !== false ? { kind: 'immutable' } : null;
}

function changed(deps: WriteDeps, memory: Memory, patch: MemoryPatch): MemoryChange {
  const { text, details, validFrom } = newest(memory);
  const rewords = patch.text !== undefined && normaliseText(patch.text) !== normaliseText(text);
  const { of, isSaid } = detailsSaid(details, { rewords, writesOut: patch.text !== undefined });
  const event = eventOf(deps, memory, {
    kind: 'UPDATE',
    text: patch.text ?? text,
    // Who says nothing of the text has no word in it: what was said in the meantime still counts.
    ...(patch.text === undefined ? { saidAt: lastSaidAt(memory) } : {}),
    validFrom: rewords ? deps.tools.now() : validFrom,
    details: {
      ...of,
      sourceIds: [],
      ...(rewords && flagOf(patch.text ?? text)),
      trust: patch.trust ?? (isSaid ? 'imported' : details.trust),
      category: patch.category === undefined ? details.category : patch.category,
      metadata: patch.metadata ?? details.metadata,
      immutable: patch.immutable ?? details.immutable,
      ...(patch.pinned !== undefined && { pinned: patch.pinned }),
      ...(patch.placed !== undefined && { placed: patch.placed }),
      expiresAt: patch.expiresAt === undefined ? details.expiresAt : patch.expiresAt,
    },
  });
  return changeOf(memory, memory, event);
}

/** Who writes out what was concluded, or made of a run's state, says it, in the same words, too. */
function detailsSaid(
  details: VersionDetails,
  { rewords, writesOut }: { readonly rewords: boolean; readonly writesOut: boolean },
): { readonly of: VersionDetails; readonly isSaid: boolean } {
  const { concluded, skill, task, ...said } = details;
  if ((concluded ?? task) !== undefined && writesOut) return { of: said, isSaid: true };
  // In other words, nobody has tried it yet.
  return { of: rewords && skill !== undefined ? said : details, isSaid: rewords };
}

/** A former state of it said once more, now. What has expired by then holds without an end. */
function restored(deps: WriteDeps, memory: Memory, number: number): MemoryChange | Refusal {
  const wanted = versionSaid(memory, number);
  if (wanted === null) return { kind: 'no_version' };
  if (isRemoved(wanted)) return { kind: 'removed' };
  const live = liveVersion(memory);
  const now = deps.tools.now();
  const rewords = live === null || normaliseText(live.text) !== normaliseText(wanted.text);
  if (rewords && live?.details.immutable === true) return { kind: 'immutable' };
  const { expiresAt, skill: _, ...details } = wanted.details;
  const event = eventOf(deps, memory, {
    kind: 'UPDATE',
    text: wanted.text,
    validFrom: rewords ? now : live.validFrom,
    details: { ...details, expiresAt: expiresAt !== null && expiresAt <= now ? null : expiresAt },
    // What nobody has said who counts is said again where it was made.
    ...(saidIds(memory).length === 0 && { under: underOf(memory.scope) }),
    reason: `version ${number} was restored`,
  });
  return changeOf(memory, memory, event);
}

/** Also one that was undone: its mark is still there. */
function versionSaid({ versions, timeline }: Memory, number: number): Pick<MemoryVersion, 'text' | 'details'> | null {
  const said = timeline.find((mark) => mark.kind === 'said' && mark.revision === number);
  return versions.find((version) => version.number === number) ?? (said?.kind === 'said' ? said : null);
}

/** Somebody has it forgotten, from now on. */
export function removed(deps: WriteDeps, memory: Memory, by: By = BY_API): MemoryChange {
  const event = { kind: 'DELETE', text: null, details: null, validFrom: deps.tools.now(), forgets: true } as const;
  return changeOf(memory, memory, { ...eventOf(deps, memory, event), ...by });
}

export function eventOf(
  { tools }: WriteDeps,
  of: Home | Memory,
  said: Pick<MemoryEvent, 'kind' | 'text' | 'details' | 'validFrom'> &
    Partial<Pick<MemoryEvent, 'saidAt' | 'reason' | 'under' | 'forgets' | 'rated'>>,
): MemoryEvent {
  const now = tools.now();
  const memory = 'versions' in of ? of : null;
  const memoryId = memory?.id ?? tools.id('mem', ownerBitsOf(tools, of));
  const revision = (memory?.revision ?? 0) + 1;
  return {
    saidAt: momentAfter(memory, now),
    ...BY_API,
    ...said,
    id: eventIdOf(memoryId, revision),
    memoryId,
    revision,
    consolidationId: null,
    factId: null,
    previous: memory === null ? null : (liveVersion(memory)?.text ?? null),
    recordedAt: now,
    sourceIds: [],
  };
}

/** Whoever writes explicitly has the last word, also against messages that claim to come from the future. */
function momentAfter(memory: Memory | null, now: number): SaidAt {
  const latest = Math.max(...inEffect(memory?.timeline ?? []).map((mark) => mark.saidAt.at), 0);
  return { at: latest < now ? now : latest + 1, seq: EXPLICIT_SEQ };
}

export const changeOf = (home: Home, memory: Memory | null, event: MemoryEvent): MemoryChange => ({
  memory: evolve(home, memory, [event]),
  expectedRevision: memory?.revision ?? 0,
  events: [event],
});

export async function write(
  deps: WriteDeps,
  tenant: TenantId,
  { changes, proposal }: { readonly changes: readonly MemoryChange[]; readonly proposal?: Proposal | undefined },
): Promise<{ kind: 'written' } | { kind: 'words' } | { kind: 'unprojected' } | { kind: 'conflict' }> {
  const { ledger, tools } = deps;
  const tombstones = changes.flatMap((change) => change.events.flatMap((event) => tombstoneOf(tools, event)));
  const written = await ledger.memories.write(tenant, { changes, tombstones, proposal, now: tools.now() });
  if (written.kind === 'conflict') return { kind: 'conflict' };
  const ids = changes.map((change) => change.memory.id);
  // What is forgotten hides more than its memory, and what reads otherwise takes conclusions along.
  const spreads = (change: MemoryChange): boolean => isOfForgotten(change) || change.expectedRevision > 0;
  const lanes = [...new Set(changes.filter(spreads).map(({ memory }) => memory.lane))];
  return { kind: WRITTEN[await projectNow(deps, { memoryIds: ids, lanes }, 'written, but not yet found by meaning')] };
}

const WRITTEN = { fully: 'written', words: 'words', later: 'unprojected' } as const;

/** What falls with a memory that is forgotten, and what stays although it leans on the same. Reads only. */
async function fallOf({ ledger }: Pick<EngineDeps, 'ledger'>, { tenant, lane, id }: Memory): Promise<Fall> {
  const { messages, statements } = await ledger.memories.leaning(lane, id);
  const summaries = (await ledger.contents.summaries(lane)).length;
  return { messages, ...(await fallInGraph(ledger, { tenant, lane, falling: statements })), summaries };
}

interface Falling {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly falling: readonly Statement[];
}

type InGraph = Pick<Fall, 'relations' | 'weakened' | 'entities'>;

/** The part of the graph that the statements are about, folded with them and without. */
async function fallInGraph(ledger: EngineDeps['ledger'], { tenant, lane, falling }: Falling): Promise<InGraph> {
  if (falling.length === 0) return { relations: [], weakened: [], entities: [] };
  const ends = [...new Set(falling.flatMap(endsOf))];
  const counting = (await ledger.graph.statements(lane, { entities: ends })).filter(({ counts }) => counts);
  const all = counting.map(({ statement }) => statement);
  const gone = new Set(falling.map(({ id }) => id));
  const left = all.filter(({ id }) => !gone.has(id));
  const entities = await ledger.graph.entities(tenant, [...new Set(all.flatMap(endsOf))]);
  const self = entities.find((entity) => entity.self)?.id ?? null;
  const [before, after] = [graphOf(entities, all, self), graphOf(entities, left, self)];
  const kept = new Map(after.relations.map((relation) => [endsText(relation), relation]));
  const named = new Map(entities.map((entity) => [entity.id, entity]));
  const shown = (relation: Relation) => ({ id: relation.id, text: textOf(relation, named) });
  const isWeaker = (relation: Relation): boolean =>
    (kept.get(endsText(relation))?.messageIds.length ?? 0) < relation.messageIds.length;
  return {
    relations: before.relations.filter((one) => !kept.has(endsText(one))).map(shown),
    weakened: before.relations.filter((one) => kept.has(endsText(one)) && isWeaker(one)).map(shown),
    entities: entities
      .filter(({ id }) => ends.includes(id) && !left.some((statement) => endsOf(statement).includes(id)))
      .map(({ id, name }) => ({ id, name })),
  };
}

const endsText = ({ source, relationship, destination }: Relation): string =>
  [source, relationship, destination].join(' ');

const textOf = (relation: Relation, named: ReadonlyMap<string, Entity>): string =>
  relationText({
    sourceName: named.get(relation.source)?.name ?? '',
    relationship: relation.relationship,
    destinationName: named.get(relation.destination)?.name ?? '',
  });

/** The revisions of what was said under all of these ids, and counts. */
export const saidUnder = ({ timeline }: Pick<Memory, 'timeline'>, named: NamedIds): readonly number[] =>
  inEffect(timeline).flatMap((mark) => (isSaidUnder(mark, named) ? [mark.revision] : []));

const isSaidUnder = (mark: Mark, named: NamedIds): boolean =>
  mark.kind === 'said' &&
  mark.under !== undefined &&
  SAID_KINDS.every((kind) => named[KEY_OF[kind]] === undefined || named[KEY_OF[kind]] === mark.under?.[KEY_OF[kind]]);

/**
 * Whether nothing is left of a memory without what was said under these ids: it belongs to one of them, nobody said it elsewhere, or
 * what was said elsewhere does not hold now. A change by a request is not a saying of its own.
 */
export function fallsWithout(memory: Memory, named: NamedIds): boolean {
  const { kind, id } = memory.owner;
  if (kind !== 'user' && named[KEY_OF[kind]] === id) return true;
  const isOthers = (mark: Mark): boolean =>
    mark.kind === 'said' && mark.under !== undefined && !isSaidUnder(mark, named);
  if (!inEffect(memory.timeline).some(isOthers)) return true;
  const left = without(memory, saidUnder(memory, named));
  return liveVersion(left) === null || isHollow(left);
}

/** The memory as if these marks did not count. */
function without(memory: Memory, retracts: readonly number[]): Memory {
  const { revision, updatedAt: recordedAt } = memory;
  const timeline: readonly Mark[] = [
    ...memory.timeline,
    { kind: 'retracted', revision: revision + 1, retracts, recordedAt },
  ];
  return evolve(memory, { ...memory, timeline }, []);
}

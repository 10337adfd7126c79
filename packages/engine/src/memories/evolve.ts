import { bestOf } from '../messages/messages.ts';
import type { MemoryChange, SaidId, Tombstone } from '../ports/ledger/memories.ts';
import type { Tools } from '../ports/tools.ts';
import { fingerprint, normaliseText, sameText } from '../text/normalise.ts';
import {
  compareSaid,
  type EventKind,
  type IdLists,
  type LaneId,
  type Mark,
  type Memory,
  type MemoryEvent,
  type MemoryVersion,
  type Millis,
  type Owner,
  type Rated,
  type SaidAt,
  type Scope,
  saidBefore,
  type TenantId,
  type Under,
} from '../words.ts';

/** Where a memory lives: known before its first event. */
export interface Home {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
}

type Said = Extract<Mark, { kind: 'said' }>;

type Marking = Pick<
  MemoryEvent,
  | 'id'
  | 'revision'
  | 'kind'
  | 'saidAt'
  | 'recordedAt'
  | 'text'
  | 'details'
  | 'validFrom'
  | 'retraction'
  | 'under'
  | 'forgets'
  | 'merged'
  | 'rated'
>;

/**
 * A memory as its events leave it. Pure, and blind to the order in which events arrive: only when things were said
 * decides which versions there are and when each of them held. What was undone counts as never said.
 *
 *   marks, as they arrived   1 Oslo at 9    2 Bergen at 12    3 Oslo at 10    4 deleted at 14    5 Rome at 16
 *   in the order of saying   1 Oslo   3 Oslo   │   2 Bergen   │   4 deleted   │   5 Rome
 *   stretches                run of Oslo       │   run        │   deletion    │   run
 *   versions                 1: 9 to 12        │   2: 12 to 14                │   5: since 16
 *
 * A mark is what is left of an event in the timeline. A version has the number of the mark of its run that arrived first.
 */
export function evolve(home: Home, memory: Memory | null, events: readonly MemoryEvent[]): Memory {
  let state = memory;
  for (const event of events) state = step(home, state, event);
  if (state === null) throw new Error('a memory needs at least one event');
  return { ...state, versions: versionsOf(state.timeline) };
}

/** The version that was said last: the one that none took the place of. Only for a memory that has one. */
export function newest(memory: Memory): MemoryVersion {
  const last = newestOrNull(memory);
  if (last === null) throw new Error(`memory ${memory.id} has no version`);
  return last;
}

/** The same of any memory; null when all that was said of it is undone. */
export const newestOrNull = (memory: Memory): MemoryVersion | null =>
  memory.versions.find((version) => version.supersededBy === null) ?? null;

/**
 * All versions in the order in which they took each other's place. Their times do not show it: several can come from one
 * and the same message.
 */
export function inOrder(memory: Memory): MemoryVersion[] {
  const before = new Map(memory.versions.map((version) => [version.supersededBy, version]));
  const ordered: MemoryVersion[] = [];
  for (let version = before.get(null); version !== undefined; version = before.get(version.number)) {
    ordered.unshift(version);
  }
  return ordered;
}

/** The version that holds now, or null when the memory was deleted or undone. */
export function liveVersion(memory: Memory): MemoryVersion | null {
  return deletedAt(memory) === null ? newestOrNull(memory) : null;
}

/** The revisions of the marks that make what holds by a timeline; none where nothing does. */
export function holdingMarks(timeline: readonly Mark[]): readonly number[] {
  const last = stretchesOf(timeline).at(-1);
  return last?.kind === 'run' ? last.run.map(({ revision }) => revision) : [];
}

/** When anything was said of it for the last time: its newest text, once more or for the first time, or its deletion. */
export function lastSaidAt(memory: Memory): SaidAt {
  const last = inSaidOrder(memory.timeline).at(-1);
  if (last === undefined) throw new Error(`nothing that was said of memory ${memory.id} counts`);
  return last.saidAt;
}

/** The deletion that still holds: said later than everything else that counts. */
export function deletedAt(memory: Memory): SaidAt | null {
  const last = inSaidOrder(memory.timeline).at(-1);
  return last?.kind === 'deleted' ? last.saidAt : null;
}

/**
 * When it was forgotten: a deletion since it was said last is one that forgets. What only ended is still found where somebody
 * asks for former times, what was forgotten is found by nobody.
 */
export function forgottenAt({ timeline }: Pick<Memory, 'timeline'>): SaidAt | null {
  return endings(timeline).find((mark) => mark.kind === 'deleted' && mark.forgets === true)?.saidAt ?? null;
}

/** Whether another memory has what was said of it: it is found there alone, and forgotten with it. */
export const isMerged = ({ timeline }: Pick<Memory, 'timeline'>): boolean =>
  endings(timeline).some((mark) => mark.kind === 'deleted' && mark.merged === true);

/** The deletions since it was said last. */
function endings(timeline: readonly Mark[]): readonly Spoken[] {
  const ordered = inSaidOrder(timeline);
  return ordered.slice(ordered.findLastIndex(({ kind }) => kind === 'said') + 1);
}

/**
 * Since when nobody finds anything of it, without a break: by when it was recorded that it is forgotten or merged, or that nothing counts of
 * what was said of it. null: something of it is found.
 */
export function goneSince({ timeline }: Pick<Memory, 'timeline'>): Millis | null {
  let since: Millis | null = null;
  for (const [i, { recordedAt }] of [...timeline.entries()].toReversed()) {
    if (!isGone(timeline.slice(0, i + 1))) break;
    since = recordedAt;
  }
  return since;
}

const isGone = (timeline: readonly Mark[]): boolean =>
  forgottenAt({ timeline }) !== null ||
  isMerged({ timeline }) ||
  !inSaidOrder(timeline).some(({ kind }) => kind === 'said');

/** Whether it is forgotten after a change, or was before. */
export function isOfForgotten({ memory, expectedRevision }: MemoryChange): boolean {
  const before = memory.timeline.filter(({ revision }) => revision <= expectedRevision);
  return forgottenAt({ timeline: before }) !== null || forgottenAt(memory) !== null;
}

/**
 * The memory as if its deletion only ended it. What was said before somebody had it forgotten must not bring it back: decisions on
 * such facts see it, as nobody else does.
 */
export const asEnded = (memory: Memory): Memory =>
  forgottenAt(memory) === null ? memory : { ...memory, timeline: memory.timeline.map(withoutForgetting) };

function withoutForgetting(mark: Mark): Mark {
  if (mark.kind !== 'deleted') return mark;
  const { forgets: _, ...deleted } = mark;
  return deleted;
}

function step(home: Home, memory: Memory | null, event: MemoryEvent): Memory {
  const revision = (memory?.revision ?? 0) + 1;
  if (event.revision !== revision) {
    throw new Error(`event ${event.id} makes revision ${event.revision} of ${event.memoryId}, expected ${revision}`);
  }
  const before = memory ?? born(home, event);
  const timeline = [...before.timeline, markOf(event)];
  // Who fades it, finds that it went well or gives it a place, says nothing of it, and a policy of forgetting still counts from the last that did.
  const isMarked =
    event.details?.faded === true ||
    (event.actor === 'sleep' && (event.details?.skill ?? event.details?.placed) !== undefined);
  const isAsItWas = event.kind === 'NONE' || event.kind === 'FEEDBACK' || isMarked;
  const updatedAt = isAsItWas ? before.updatedAt : event.recordedAt;
  return { ...before, revision, timeline, ...confirmationsOf(timeline), updatedAt };
}

/** How often a timeline confirms what it says, and when for the last time. */
export function confirmationsOf(timeline: readonly Mark[]): Pick<Memory, 'confirmations' | 'lastConfirmedAt'> {
  const confirming = inEffect(timeline).filter((mark) => mark.kind === 'said' && mark.confirms);
  return { confirmations: confirming.length, lastConfirmedAt: confirming.at(-1)?.recordedAt ?? null };
}

function born(home: Home, event: MemoryEvent): Memory {
  return {
    id: event.memoryId,
    ...home,
    versions: [],
    timeline: [],
    confirmations: 0,
    lastConfirmedAt: null,
    revision: 0,
    createdAt: event.recordedAt,
    updatedAt: event.recordedAt,
  };
}

/** What an event leaves in the timeline of its memory. */
export function markOf(event: Marking): Mark {
  const { revision, saidAt, recordedAt, text, details, validFrom, under, forgets, merged } = event;
  if (event.kind === 'UNDO') {
    const turns = event.retraction?.undoId === null ? { turns: true as const } : {};
    return { kind: 'retracted', revision, retracts: retractsOf(event), ...turns, recordedAt };
  }
  if (event.kind === 'DELETE') {
    return { kind: 'deleted', revision, saidAt, recordedAt, ...(forgets && { forgets }), ...(merged && { merged }) };
  }
  if (event.kind === 'FEEDBACK') {
    return { kind: 'rated', revision, ...ratedBy(event), recordedAt, ...(under !== undefined && { under }) };
  }
  if (text === null || details === null) throw new Error(`event ${event.id} says something without a text`);
  const how = { confirms: event.kind === 'NONE', recordedAt, ...(under !== undefined && { under }) };
  return { kind: 'said', revision, text, saidAt, validFrom, details, ...how };
}

function retractsOf({ id, revision, retraction }: Marking): readonly number[] {
  const retracts = retraction?.retracts ?? [];
  const isEarlier = retracts.every((one) => one > 0 && one < revision);
  if (retracts.length > 0 && isEarlier) return retracts;
  throw new Error(`event ${id} makes revision ${revision} and undoes [${retracts}], expected earlier ones`);
}

function ratedBy({ id, revision, rated }: Marking): Rated {
  if (rated !== undefined && rated.version > 0 && rated.version < revision) return rated;
  throw new Error(`event ${id} makes revision ${revision} and rates ${rated?.version}, expected an earlier one`);
}

/** What counts, in the order of saying. */
const inSaidOrder = (timeline: readonly Mark[]): Spoken[] =>
  [...inEffect(timeline)].sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.revision - b.revision);

/** A version in the making, or the deletion between two. All marks of a run say the same. */
type Stretch = { readonly kind: 'run'; readonly run: Said[] } | { readonly kind: 'deletion'; readonly at: Millis };

/**
 * Neighbouring marks with the same text are one version: said first by the first of them, confirmed by the others. It
 * ends where anything said later begins to hold or deletes it, at the earliest of them: no two overlap.
 */
export function versionsOf(timeline: readonly Mark[]): MemoryVersion[] {
  const versions: MemoryVersion[] = [];
  let end: Millis | null = null;
  let supersededBy: number | null = null;
  for (const stretch of stretchesOf(timeline).toReversed()) {
    if (stretch.kind === 'deletion') {
      end = earlier(end, stretch.at);
      continue;
    }
    const version = versionOf(stretch.run);
    versions.push({ ...version, invalidAt: end === null ? null : Math.max(version.validFrom, end), supersededBy });
    end = earlier(end, version.validFrom);
    supersededBy = version.number;
  }
  return versions.sort((a, b) => a.number - b.number);
}

const earlier = (a: Millis | null, b: Millis): Millis => Math.min(a ?? b, b);

/** What a timeline has in a row: runs that say the same, and what ends them. */
export function stretchesOf(timeline: readonly Mark[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const mark of inSaidOrder(timeline)) {
    const last = stretches.at(-1);
    if (mark.kind === 'deleted') stretches.push({ kind: 'deletion', at: mark.saidAt.at });
    else if (last?.kind === 'run' && saysTheSame(last, mark)) last.run.push(mark);
    else stretches.push({ kind: 'run', run: [mark] });
  }
  return stretches;
}

/** What retention has removed is still distinguished, by what it has left of each text. */
function saysTheSame({ run: [first] }: Extract<Stretch, { kind: 'run' }>, mark: Said): boolean {
  if (first === undefined) return false;
  if (first.details.removed !== undefined || mark.details.removed !== undefined)
    return printOf(first) === printOf(mark);
  return first.text === mark.text || sameText(first.text, mark.text);
}

const printOf = ({ text, details }: Said): string => details.removed ?? fingerprint(text);

/**
 * The mark said first gives wording and times, the last that is no mere confirmation the details; the one that arrived
 * first gives the number, which never changes. What retention has removed is represented by what was said the same and is still
 * there.
 */
function versionOf(run: readonly Said[]): MemoryVersion {
  const [first] = run;
  const [giver] = [...run].sort((a, b) => a.revision - b.revision);
  if (first === undefined || giver === undefined) throw new Error('a version needs at least one mark');
  const details = (run.findLast((mark) => !mark.confirms) ?? first).details;
  const clear = run.find((mark) => mark.details.removed === undefined);
  const { removed, faded: _, concluded, placed: __, ...rest } = details;
  const sourceIds = [...new Set(run.flatMap((mark) => mark.details.sourceIds))];
  const flagged = run.some((mark) => mark.details.flagged) ? { flagged: true as const } : {};
  const faded = run.at(-1)?.details.faded === true ? { faded: true as const } : {};
  const isSaid = run.some((mark) => mark.details.concluded === undefined);
  const trust = bestOf(run.map((mark) => mark.details.trust));
  return {
    number: giver.revision,
    text: (clear ?? first).text,
    saidAt: first.saidAt,
    validFrom: first.validFrom,
    invalidAt: null,
    supersededBy: null,
    details: {
      ...(clear === undefined && removed !== undefined ? { ...rest, removed } : rest),
      ...flagged,
      ...faded,
      ...(concluded !== undefined && !isSaid && { concluded }),
      sourceIds,
      trust,
    },
    recordedAt: giver.recordedAt,
  };
}

/** Whether the last word on it was that it is pinned: consolidations and corrections of its text have none. */
export function isPinned({ timeline }: Memory): boolean {
  const words = inEffect(timeline).flatMap((mark) => (mark.kind === 'said' ? (mark.details.pinned ?? []) : []));
  return words.at(-1) ?? false;
}

/** What a deletion leaves behind, so that nothing said before it brings the same back. */
export function tombstoneOf({ hash }: Pick<Tools, 'hash'>, event: MemoryEvent): Tombstone[] {
  const textHash = blockedHash({ hash }, event);
  return textHash === null ? [] : [{ memoryId: event.memoryId, textHash, deletedAt: event.saidAt }];
}

/** By what a deletion blocks; null where it ended nothing. */
export function blockedHash({ hash }: Pick<Tools, 'hash'>, event: MemoryEvent): string | null {
  if (event.kind !== 'DELETE' || event.previous === null) return null;
  return event.previousHash ?? hash(normaliseText(event.previous));
}

/** Whether a memory reads so already at a moment; before its first version, as that one reads. */
export function holdsAt(memory: Memory, saidAt: SaidAt, text: string): boolean {
  const held = versionAt(memory, saidAt);
  if (held === undefined) return false;
  // What nobody sees any more has to be said anew, not confirmed.
  const { expiresAt } = held.details;
  const isExpired = expiresAt !== null && expiresAt <= saidAt.at;
  return !isExpired && sameText(held.text, text);
}

/** What a memory said at a moment; before its first version that one, undefined where it was deleted. */
function versionAt(memory: Memory, saidAt: SaidAt): MemoryVersion | undefined {
  if (isDeletedAt(memory, saidAt)) return undefined;
  const versions = inOrder(memory);
  return versions.findLast((version) => !saidBefore(saidAt, version.saidAt)) ?? versions[0];
}

/** The text that held; for a deletion the one it ends, which is a former one where it is said late. */
export function previousOf(before: Memory, kind: EventKind, saidAt: SaidAt): string | null {
  const live = liveVersion(before)?.text ?? null;
  return kind === 'DELETE' ? (versionAt(before, saidAt)?.text ?? live) : live;
}

/** Whether the last that was said of it until then was its deletion. */
export function isDeletedAt({ timeline }: Memory, saidAt: SaidAt): boolean {
  const until = inEffect(timeline).filter((mark) => !saidBefore(saidAt, mark.saidAt));
  const last = until.sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.revision - b.revision).at(-1);
  return last?.kind === 'deleted';
}

/** A mark that says something of its memory. */
export type Spoken = Extract<Mark, { kind: 'said' } | { kind: 'deleted' }>;

/**
 * What counts of a timeline, in the order of arrival. A mark counts unless a retraction that counts itself names it; so
 * an undo that is undone leaves everything as it was. Retractions name earlier marks only.
 */
export const inEffect = (timeline: readonly Mark[]): readonly Spoken[] =>
  timeline.every(isSpoken) ? timeline : unretracted(timeline).filter(isSpoken);

export function unretracted(timeline: readonly Mark[]): readonly Mark[] {
  const retracted = new Set<number>();
  for (const mark of timeline.toReversed()) {
    if (mark.kind !== 'retracted' || retracted.has(mark.revision)) continue;
    for (const one of mark.retracts) retracted.add(one);
  }
  return timeline.filter(({ revision }) => !retracted.has(revision));
}

export const isSpoken = (mark: Mark): mark is Spoken => mark.kind === 'said' || mark.kind === 'deleted';

/** What the ids are called that something may be said under, beside its user's, and where a scope has them. */
export const SAID_KINDS = ['agent', 'run', 'app'] as const;
export type SaidKind = (typeof SAID_KINDS)[number];
export const KEY_OF = { agent: 'agentId', run: 'runId', app: 'appId' } as const satisfies Record<SaidKind, keyof Under>;

/** So many ids of a kind, the newest, are in the index; of the others it asks the ledger. */
const IDS_IN_INDEX = 32;

/**
 * The ids under which a memory was said or confirmed, of each kind the newest first. They follow from what counts of its
 * timeline, in whatever order it arrived: a confirmation is the last saying of its ids, and what is undone was under none.
 */
export function saidIds({ timeline }: Pick<Memory, 'timeline'>): readonly SaidId[] {
  const ids = new Map<string, Omit<SaidId, 'indexed'>>();
  for (const mark of inEffect(timeline)) {
    if (mark.kind !== 'said' || mark.under === undefined) continue;
    for (const kind of SAID_KINDS) {
      const id = mark.under[KEY_OF[kind]];
      if (id === null) continue;
      const { at } = mark.saidAt;
      const known = ids.get(`${kind} ${id}`) ?? { kind, id, first: at, last: at };
      ids.set(`${kind} ${id}`, { ...known, first: Math.min(known.first, at), last: Math.max(known.last, at) });
    }
  }
  const ofKind = Map.groupBy([...ids.values()].sort(newestFirst), ({ kind }) => kind);
  return [...ofKind.values()].flatMap((some) => some.map((one, place) => ({ ...one, indexed: place < IDS_IN_INDEX })));
}

type Sayings = Pick<SaidId, 'last' | 'id'>;

/** Of equal moments by id, the same on every machine. */
const newestFirst = (a: Sayings, b: Sayings): number => b.last - a.last || (a.id < b.id ? -1 : 1);

/** All ids of a memory, by kind. */
export const idListsOf = (memory: Pick<Memory, 'timeline'>): IdLists => listsOf(saidIds(memory));

/** Those that the index has. */
export const indexedIds = (memory: Pick<Memory, 'timeline'>): IdLists =>
  listsOf(saidIds(memory).filter(({ indexed }) => indexed));

function listsOf(ids: readonly SaidId[]): IdLists {
  const of = (kind: SaidKind): string[] => ids.flatMap((one) => (one.kind === kind ? [one.id] : []));
  return { agentId: of('agent'), runId: of('run'), appId: of('app') };
}

/** Of something that was said once. */
export const listsOfOne = ({ agentId, runId, appId }: Under): IdLists => ({
  agentId: agentId === null ? [] : [agentId],
  runId: runId === null ? [] : [runId],
  appId: appId === null ? [] : [appId],
});

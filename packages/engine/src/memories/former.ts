import { REMOVED } from '../ports/ledger/erasures.ts';
import type { Review, RewrittenReview, Undo } from '../ports/ledger/feedback.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { IndexPoint } from '../ports/search-index.ts';
import type { Tools } from '../ports/tools.ts';
import { saidAsOf, saysAt } from '../search/hits.ts';
import { canonical, fingerprint, normaliseText } from '../text/normalise.ts';
import {
  compareSaid,
  type Mark,
  type Memory,
  type MemoryEvent,
  type MemoryVersion,
  type Millis,
  type TenantId,
  type VersionDetails,
} from '../words.ts';
import {
  blockedHash,
  deletedAt,
  evolve,
  forgottenAt,
  holdingMarks,
  inEffect,
  inOrder,
  isMerged,
  isSpoken,
  liveVersion,
  newest,
  type Spoken,
} from './evolve.ts';

type Said = Extract<Mark, { kind: 'said' }>;

/** A life without the contents of what no longer holds. */
interface Emptied {
  /** At the same revision, with the same versions under the same numbers. */
  readonly memory: Memory;
  /** Those that read otherwise than before. */
  readonly events: readonly MemoryEvent[];
  /** What it said before and says nowhere now. */
  readonly texts: readonly string[];
}

/**
 * What has not held since before a moment loses text, quote and metadata, and the events of that time with it; null where
 * there is nothing to remove. Times, numbers and ids stay, and so does everything that was recorded since.
 */
export function withoutFormer({ hash }: Pick<Tools, 'hash'>, life: Life, before: Millis): Emptied | null {
  const { memory, events } = life;
  const gone = formerSince(memory, before);
  const emptied = (mark: Mark): Mark => (mark.kind === 'said' && gone.has(mark.revision) ? emptyMark(mark) : mark);
  const timeline = memory.timeline.map(emptied);
  const kept = new Set(timeline.filter(isClear).map(({ text }) => normaliseText(text)));
  const said = memory.timeline.filter(isClear).map(({ text }) => text);
  const texts = [...new Set(said)].filter((text) => !kept.has(normaliseText(text)));
  const empty = new Set(timeline.flatMap((mark) => (mark.kind === 'said' && isRemoved(mark) ? [mark.revision] : [])));
  const end = endOfOld(memory.timeline, before);
  const changed = events.flatMap((event) => {
    const { revision, previous, kind } = event;
    const isOld = revision <= end;
    const mentions = previous !== null && !kept.has(normaliseText(previous)) && (isOld || texts.includes(previous));
    const explains = (isOld && kind === 'DELETE') || (event.rated !== undefined && empty.has(event.rated.version));
    return emptyEvent({ hash }, event, { says: gone.has(revision), mentions, explains });
  });
  if (gone.size + changed.length === 0) return null;
  return { memory: evolve(memory, { ...memory, timeline }, []), events: changed, texts };
}

/**
 * The revisions of marks that are still there, and that nobody has seen to hold at the moment or since.
 *
 *   recorded   1 Oslo   2 Bergen   ┆ before ┆   3 Rome
 *              gone     stays: it held then     stays
 */
export function formerSince({ timeline }: Pick<Memory, 'timeline'>, before: Millis): ReadonlySet<number> {
  const end = endOfOld(timeline, before);
  const gone = new Set(
    timeline
      .slice(0, end)
      .filter(isClear)
      .map(({ revision }) => revision),
  );
  for (let i = end; i <= timeline.length && gone.size > 0; i += 1) {
    for (const revision of holdingMarks(timeline.slice(0, i))) gone.delete(revision);
  }
  return gone;
}

/**
 * Since when a memory may have something to remove: no later than the first of it stopped holding. null: all of it holds,
 * or is removed.
 */
export function historyFrom({ timeline }: Pick<Memory, 'timeline'>): Millis | null {
  const holding = new Set(holdingMarks(timeline));
  const former = timeline.filter((mark) => isClear(mark) && !holding.has(mark.revision));
  if (former.length === 0) return null;
  const ends = endsOf(timeline);
  return Math.min(...former.map(({ revision, recordedAt }) => ends.get(revision) ?? recordedAt));
}

/** How many marks were recorded before the first that was not, by whatever clock. Their revisions are 1 to this. */
function endOfOld(timeline: readonly Mark[], before: Millis): number {
  const first = timeline.findIndex(({ recordedAt }) => recordedAt >= before);
  return first === -1 ? timeline.length : first;
}

const isClear = (mark: Mark): mark is Said => mark.kind === 'said' && !isRemoved(mark);

/** When each mark stopped holding, at the earliest: what was said before something known already never held. */
function endsOf(timeline: readonly Mark[]): ReadonlyMap<number, Millis> {
  const ends = new Map<number, Millis>();
  const late = lateMarks(timeline);
  let next: Mark | null = null;
  let end: Millis | null = null;
  for (const mark of timeline.toReversed()) {
    if (mark.kind === 'rated') continue;
    if (next !== null && !sayTheSame(mark, next)) end = next.recordedAt;
    ends.set(mark.revision, late.has(mark.revision) ? mark.recordedAt : (end ?? mark.recordedAt));
    next = mark;
  }
  return ends;
}

function lateMarks(timeline: readonly Mark[]): ReadonlySet<number> {
  const late = new Set<number>();
  let latest: Spoken | null = null;
  for (const mark of timeline) {
    if (!isSpoken(mark)) continue;
    if (latest !== null && compareSaid(mark.saidAt, latest.saidAt) < 0) late.add(mark.revision);
    else latest = mark;
  }
  return late;
}

const sayTheSame = (one: Mark, other: Mark): boolean =>
  one.kind === 'said' && other.kind === 'said' && isClear(one) && reads(other, normaliseText(one.text));

const emptyMark = (mark: Said): Said => ({ ...mark, text: REMOVED, details: emptyDetails(mark.details, mark.text) });

const emptyDetails = (details: VersionDetails, text: string): VersionDetails => ({
  ...details,
  quote: null,
  metadata: {},
  removed: details.removed ?? fingerprint(text),
});

/** `says` a text that is gone, `mentions` one, or only `explains` its end or what somebody thought of it; none where it reads so already. */
function emptyEvent(
  tools: Pick<Tools, 'hash'>,
  event: MemoryEvent,
  { says, mentions, explains }: { says: boolean; mentions: boolean; explains: boolean },
): MemoryEvent[] {
  const { text, details } = event;
  if (!says && !mentions && !explains) return [];
  const previousHash = mentions ? blockedHash(tools, event) : null;
  const emptied = {
    ...event,
    reason: REMOVED,
    ...(says && text !== null && details !== null && { text: REMOVED, details: emptyDetails(details, text) }),
    ...(mentions && { previous: REMOVED }),
    ...(previousHash !== null && { previousHash }),
  };
  return canonical(emptied) === canonical(event) ? [] : [emptied];
}

/**
 * What is left of a decided review once its time is over: the texts that its memory still says or that retention has not removed
 * from it. What was never carried out its memory never said. null: nothing of it goes.
 */
export function withoutPast(review: Review, memory: Memory | null): RewrittenReview | null {
  const { repeats: _, ...operation } = review.operation;
  const said = new Set(memory?.timeline.filter(isClear).map(({ text }) => normaliseText(text)));
  const left = (text: string | null) => (text === null || said.has(normaliseText(text)) ? text : REMOVED);
  const [before, after] = [left(operation.before), left(operation.after)];
  if (before === operation.before && after === operation.after) return null;
  const { factText, details } = operation;
  const isGone = (after ?? before) === REMOVED;
  return {
    id: review.id,
    operation: {
      ...{ ...operation, before, after, reason: REMOVED },
      factText: isGone && factText !== null ? REMOVED : factText,
      details: isGone && details !== null ? emptyDetails(details, operation.after ?? '') : details,
    },
    note: review.note === UNDONE_NOTE ? `${UNDONE_NOTE}; ${GONE_NOTE}` : review.note,
  };
}

/** Something said, or what is left of it. */
interface Wording {
  readonly text: string;
  readonly details: Pick<VersionDetails, 'removed'>;
}

/** Whether retention has removed what it said. */
export const isRemoved = ({ details }: Wording): boolean => details.removed !== undefined;

/** Whether this is what it says or, once it was removed, said. `words` are normalised. */
export const reads = (said: Wording, words: string): boolean =>
  said.details.removed === undefined ? normaliseText(said.text) === words : said.details.removed === fingerprint(words);

/** Whether it would hold again, but nothing is left of what it says. */
export function isHollow(memory: Memory): boolean {
  const live = liveVersion(memory);
  return live !== null && isRemoved(live);
}

/** Why a review is stale whose consolidation was undone; with the consolidation it comes back, unless it has lost its texts. */
export const UNDONE_NOTE = 'its consolidation was undone';
const GONE_NOTE = 'what it said was removed by retention';

/** The consolidations of a lane that are undone, by all its undos, oldest first. An undo takes earlier ones back only. */
export function undoneBy(undos: readonly Undo[]): ReadonlySet<string> {
  return new Set(undosInEffect(undos).flatMap(({ consolidations }) => consolidations));
}

/** The undos that count. */
export function undosInEffect(undos: readonly Undo[]): readonly Undo[] {
  const takenBack = new Set<string>();
  for (const { id, undos: earlier } of undos.toReversed()) {
    if (!takenBack.has(id)) for (const one of earlier) takenBack.add(one);
  }
  return undos.filter(({ id }) => !takenBack.has(id));
}

/** A memory with all its events. */
export interface Life {
  readonly memory: Memory;
  readonly events: readonly MemoryEvent[];
}

/** What is undone as a whole: a consolidation with all its events, or one explicit write. */
export const unitOf = (event: MemoryEvent): string => event.consolidationId ?? event.id;

/**
 * Events that depend on these units: they count, and came after something of a unit that counts, to the same memory.
 * What is said of a memory was decided on all that was said of it before.
 */
export function dependentsOf(units: ReadonlySet<string>, { memory, events }: Life): readonly MemoryEvent[] {
  const counting = new Set(inEffect(memory.timeline).map(({ revision }) => revision));
  const said = events.filter(({ revision }) => counting.has(revision));
  const first = said.findIndex((event) => units.has(unitOf(event)));
  return first === -1 ? [] : said.slice(first).filter((event) => !units.has(unitOf(event)));
}

/** The versions that an index holds: none of what is forgotten or merged, so that no question finds it. */
export const foundVersions = (memory: Memory): readonly MemoryVersion[] =>
  forgottenAt(memory) === null && !isMerged(memory) ? memory.versions.filter((version) => !isRemoved(version)) : [];

/** The messages that those of some memories came from, each once. */
export const sourcesOf = (memories: readonly Memory[]): readonly string[] => [
  ...new Set(memories.flatMap(foundVersions).flatMap(({ details }) => details.sourceIds)),
];

/** Memories with their events. In this order: an event that comes in between is seen, and its memory then conflicts. */
export async function livesOf(ledger: Ledger, tenant: TenantId, ids: readonly string[]): Promise<readonly Life[]> {
  const memories = await ledger.memories.many(tenant, ids);
  const events = Map.groupBy(await ledger.undos.events(tenant, ids), ({ memoryId }) => memoryId);
  return memories.map((memory) => ({ memory, events: events.get(memory.id) ?? [] }));
}

/** What a memory that is not deleted says at a moment, as a search at that moment shows it. */
export function shownVersion(memory: Memory, at: Millis): MemoryVersion {
  const sight = sightOf(memory, false);
  return (
    foundVersions(memory).find((version) => saysAt({ ...sight(version), invalidAt: version.invalidAt }, at)) ??
    newest(memory)
  );
}

/** What a memory said at another moment, as a search as of that moment shows it; null: nothing. */
export function versionAsOf(memory: Memory, at: Millis): MemoryVersion | null {
  const sight = sightOf(memory, deletedAt(memory) !== null);
  return foundVersions(memory).find((version) => saidAsOf({ ...timesOf(version), ...sight(version) }, at)) ?? null;
}

const timesOf = ({ validFrom, invalidAt, details }: MemoryVersion) => ({
  validFrom,
  invalidAt,
  expiresAt: details.expiresAt,
});

type Sight = Pick<IndexPoint, 'live'> & Partial<Pick<IndexPoint, 'shownFrom'>>;

/**
 * Who says today what begins on Monday changes what holds on Monday: until then the version before is shown. Where there was
 * nothing before, what is to come is shown since it was said: it is all that is known.
 */
export function sightOf(memory: Memory, isDeleted: boolean): (version: MemoryVersion) => Sight {
  const ordered = inOrder(memory);
  const isLater = ({ validFrom, saidAt }: MemoryVersion): boolean => validFrom > saidAt.at;
  return (version) => {
    const place = ordered.indexOf(version);
    const endsLater = ordered.slice(place + 1).some((next) => next.validFrom === version.invalidAt && isLater(next));
    const live = !isDeleted && (version.supersededBy === null || endsLater);
    if (!isLater(version)) return { live };
    const isChange = ordered.slice(0, place).some((before) => holdsAfter(before, version.saidAt.at));
    return { live, shownFrom: isChange ? version.validFrom : version.saidAt.at };
  };
}

const holdsAfter = ({ validFrom, invalidAt }: MemoryVersion, at: number): boolean =>
  invalidAt === null || (invalidAt > at && invalidAt > validFrom);

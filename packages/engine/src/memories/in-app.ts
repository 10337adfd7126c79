import { normaliseText } from '../text/normalise.ts';
import type { Mark, Memory, MemoryEvent } from '../words.ts';
import { confirmationsOf, inEffect, versionsOf } from './evolve.ts';
import { marksBeside } from './ratings.ts';

/**
 * A memory as one app knows it, which is to see nothing that only others were told: versions, times and counts as if nothing
 * had been said elsewhere. null: nothing that counts was said in the app.
 *
 *   said               1 Oslo, in A   2 Bergen, in B   3 Oslo, confirmed in B   4 Rome, in A
 *   the memory         Oslo           Bergen           Oslo                     Rome
 *   as A knows it      Oslo                                                     Rome
 *   as B knows it                     Bergen           Oslo
 *
 * A deletion is one of the memory, for every app. What was changed explicitly, under no ids, is known to an app that had the
 * memory to itself until then: where others have said it, too, the change may repeat what they said.
 */
export function inApp(memory: Memory, appId: string): Memory | null {
  const own = ownMarks(memory.timeline, appId);
  const said = inEffect(own).filter((mark) => mark.kind === 'said');
  const first = said.find((mark) => mark.under?.appId === appId);
  if (first === undefined) return null;
  if (own.length === memory.timeline.length && memory.scope.appId === appId) return memory;
  // What is the first that the app was told confirms nothing that it knows.
  const timeline = own.map((mark) => (mark === first ? { ...first, confirms: false } : mark));
  const changed = said.findLast(({ confirms }) => !confirms) ?? first;
  return {
    ...memory,
    scope: { ...memory.scope, ...first.under },
    timeline,
    versions: versionsOf(timeline),
    ...confirmationsOf(timeline),
    createdAt: first.recordedAt,
    updatedAt: changed.recordedAt,
  };
}

/** Whether others than this app were told the memory, too. */
export const isShared = ({ timeline }: Memory, appId: string): boolean =>
  inEffect(timeline).some((mark) => isOthers(mark, appId));

const isOthers = (mark: Mark, appId: string): boolean =>
  mark.kind === 'said' && mark.under !== undefined && mark.under.appId !== appId;

function ownMarks(timeline: readonly Mark[], appId: string): readonly Mark[] {
  const kept = new Set<number>();
  const shared = timeline.findIndex((mark) => isOthers(mark, appId));
  const isOwn = (mark: Said, place: number): boolean =>
    mark.under === undefined ? shared === -1 || place < shared : mark.under.appId === appId;
  const said = new Set(
    timeline.flatMap((mark, place) => (mark.kind === 'said' && isOwn(mark, place) ? [mark.revision] : [])),
  );
  const telling = { appId, said, kept, timeline };
  return timeline.flatMap((mark) => {
    const own = ownPart(mark, telling);
    if (own === null) return [];
    kept.add(own.revision);
    return [own];
  });
}

type Said = Extract<Mark, { kind: 'said' }>;

interface Telling {
  readonly appId: string;
  /** What the app was told, by its revisions. */
  readonly said: ReadonlySet<number>;
  /** What of the timeline so far the app knows. */
  readonly kept: ReadonlySet<number>;
  readonly timeline: readonly Mark[];
}

/** What an app knows of a mark; null: nothing. */
function ownPart(mark: Mark, { appId, said, kept, timeline }: Telling): Mark | null {
  if (mark.kind === 'deleted') return mark;
  if (mark.kind === 'said') return said.has(mark.revision) ? mark : null;
  if (mark.kind === 'rated') {
    if (mark.under !== undefined && mark.under.appId !== appId) return null;
    // A rating under no app may name what another app was told first: it is of the text, which this one was told, too.
    const version = [mark.version, ...marksBeside({ timeline }, mark.version)].find((revision) => said.has(revision));
    return version === undefined ? null : { ...mark, version };
  }
  const retracts = mark.retracts.filter((one) => kept.has(one));
  if (retracts.length === 0) return null;
  return retracts.length === mark.retracts.length ? mark : { ...mark, retracts };
}

/** In the place of a reason that may tell of what others were told. */
const ELSEWHERE = 'decided with information from other apps';

/** The events of a memory that an app may know of: `known` is the memory as it knows it. */
export function eventsInApp(known: Memory, events: readonly MemoryEvent[], appId: string): readonly MemoryEvent[] {
  const marks = new Map(known.timeline.map((mark) => [mark.revision, mark]));
  const texts = new Set(known.timeline.flatMap((mark) => (mark.kind === 'said' ? [normaliseText(mark.text)] : [])));
  return events.flatMap((event) => {
    const mark = marks.get(event.revision);
    if (mark === undefined) return [];
    const { previous, retraction } = event;
    const knows = previous !== null && texts.has(normaliseText(previous));
    const isOwn = mark.kind === 'said' || event.under?.appId === appId;
    return [
      {
        ...event,
        previous: knows ? previous : null,
        reason: isOwn && (previous === null || knows) ? event.reason : ELSEWHERE,
        ...(retraction !== undefined &&
          mark.kind === 'retracted' && { retraction: { ...retraction, retracts: mark.retracts } }),
        ...(event.rated !== undefined && mark.kind === 'rated' && { rated: { ...event.rated, version: mark.version } }),
      },
    ];
  });
}

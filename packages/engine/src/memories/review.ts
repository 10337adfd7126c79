import type { EngineDeps } from '../deps.ts';
import { eventIdOf, ownerBitsOf } from '../ids.ts';
import type { HeldOperation } from '../plan.ts';
import type { Review, Settlement } from '../ports/ledger/feedback.ts';
import type { MemoryChange, Proposal } from '../ports/ledger/memories.ts';
import type { NewFeedback, Rater, Reviewer, ReviewResult, WriteResult } from '../ports/writers.ts';
import { type ProjectDeps, projectNow } from '../projection/project.ts';
import { normaliseText } from '../text/normalise.ts';
import {
  type Memory,
  type MemoryEvent,
  type MemoryVersion,
  saidBefore,
  type TenantId,
  type Under,
  underOf,
} from '../words.ts';
import {
  blockedHash,
  deletedAt,
  evolve,
  holdingMarks,
  holdsAt,
  inEffect,
  liveVersion,
  newestOrNull,
  previousOf,
  tombstoneOf,
} from './evolve.ts';
import { isRemoved, shownVersion } from './former.ts';
import { inApp } from './in-app.ts';
import { GONE, lastRating, proposalOver, ratingsOf } from './ratings.ts';
import { changeOf, eventOf, removed, TRIES_MAX, type WriteDeps, write } from './write.ts';

/** What a review works with: nothing that thinks. */
type ReviewDeps = ProjectDeps & Pick<EngineDeps, 'log' | 'meter'>;

/** More operations on one new memory than a consolidation ever holds back. */
const SIBLINGS_MAX = 100;

/**
 * Ends reviews. An approved operation is carried out with the time its fact was said: whatever came in between, the
 * memory's versions are what they would have been had it been done at once.
 */
export function reviewer(deps: ReviewDeps): Reviewer {
  return {
    approve: (tenant, id, text) =>
      attempt(deps, { tenant, id }, async (review) => {
        if (text === undefined) return approval(deps, review);
        return review.operation.kind === 'DELETE' ? { kind: 'no_text' } : approval(deps, reworded(review, text));
      }),
    reject: (tenant, id) =>
      attempt(deps, { tenant, id }, async () => ({ state: 'rejected', now: deps.tools.now() }) as const),
  };
}

type NotNow = Extract<ReviewResult, { kind: 'early' | 'no_text' }>;

/** What repeats it confirms the text of who approved it. */
function reworded(review: Review, after: string): Review {
  const { operation } = review;
  const reason = `${operation.reason}; the text was edited by the reviewer`;
  const repeats = operation.repeats?.map((repeat) => ({ ...repeat, after }));
  return { ...review, operation: { ...operation, after, reason, ...(repeats && { repeats }) } };
}

/** Decides how a pending review ends, and ends it; again where something else changed its memory in between. */
async function attempt(
  deps: ReviewDeps,
  { tenant, id }: { tenant: TenantId; id: string },
  decide: (review: Review) => Promise<Settlement | NotNow>,
): Promise<ReviewResult> {
  const { reviews } = deps.ledger;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const review = await reviews.get(tenant, id);
    if (review === null) return { kind: 'not_found' };
    if (review.state !== 'pending') return { kind: 'over', state: review.state };
    const settlement = await decide(review);
    if ('kind' in settlement) return settlement;
    const settled = await reviews.settle(tenant, id, settlement);
    if (settled.kind === 'settled') return over(deps, review, settlement);
  }
  return { kind: 'conflict' };
}

async function approval(deps: ReviewDeps, review: Review): Promise<Settlement | NotNow> {
  const { ledger, tools } = deps;
  const { tenant, operation } = review;
  if (operation.rated !== undefined) return deletion(deps, review, operation.rated);
  const now = tools.now();
  const memory = await ledger.memories.get(tenant, operation.memoryId);
  const first = memory === null && operation.kind === 'DELETE' ? await additionOf(deps, review) : null;
  if (first !== null) return { kind: 'early', first };
  const note = (await tooLate(deps, review, memory)) ?? (await buried(deps, review));
  if (note !== null) return { state: 'stale', note, now };
  const event = reviewEventOf(deps, review, memory);
  const { lane, owner, scope } = review;
  const home = { tenant, lane, owner, scope };
  const made = evolve(home, memory, [event]);
  const repeats = repeatsOf(deps, review, made);
  const change = {
    memory: repeats.length === 0 ? made : evolve(home, made, repeats),
    expectedRevision: memory?.revision ?? 0,
    events: [event, ...repeats],
  };
  return { state: 'approved', change, tombstones: tombstoneOf(tools, event), now };
}

/** What was rated so badly that it is proposed is deleted, as if who approves it did so: unless it no longer says that, or the rating is gone. */
async function deletion(deps: ReviewDeps, { tenant, operation }: Review, version: number): Promise<Settlement> {
  const now = deps.tools.now();
  const memory = await deps.ledger.memories.get(tenant, operation.memoryId);
  if (memory === null) return { state: 'stale', note: GONE, now };
  const note = proposalOver(memory, version);
  if (note !== null) return { state: 'stale', note, now };
  const change = removed(deps, memory, { actor: 'review', reason: operation.reason });
  return {
    state: 'approved',
    change,
    tombstones: change.events.flatMap((event) => tombstoneOf(deps.tools, event)),
    now,
  };
}

/** The pending review that would make the memory this one is about. */
async function additionOf({ ledger }: ReviewDeps, { id, tenant, operation }: Review): Promise<string | null> {
  const { memoryId } = operation;
  const page = { limit: SIBLINGS_MAX, cursor: null };
  const { results } = await ledger.reviews.list(tenant, { state: 'pending', memoryId }, page);
  return results.find((other) => other.id !== id && other.operation.kind === 'ADD')?.id ?? null;
}

async function tooLate(deps: ReviewDeps, review: Review, memory: Memory | null): Promise<string | null> {
  const { operation } = review;
  const last = memory === null ? null : newestOrNull(memory);
  if (memory === null || last === null)
    return operation.kind === 'ADD' ? null : 'the memory it would change no longer exists';
  if (deletedAt(memory) !== null) {
    const deletions = await deletionsByOthers(deps, review, [memory.id]);
    const isAfter = deletions.some(({ saidAt }) => !saidBefore(saidAt, operation.saidAt));
    if (isAfter) return 'the memory it would change was deleted';
  }
  return last.details.immutable ? 'the memory it would change is now immutable' : null;
}

/** What was deleted after it was said stays deleted. */
async function buried(deps: ReviewDeps, review: Review): Promise<string | null> {
  const { lane, operation } = review;
  if (operation.after === null) return null;
  const textHash = deps.tools.hash(normaliseText(operation.after));
  const stones = await deps.ledger.memories.tombstones(lane, [textHash]);
  const later = stones.filter((stone) => saidBefore(operation.saidAt, stone.deletedAt));
  const deletions = await deletionsByOthers(deps, review, [...new Set(later.map(({ memoryId }) => memoryId))]);
  const isAfter = deletions.some(
    (event) => blockedHash(deps.tools, event) === textHash && saidBefore(operation.saidAt, event.saidAt),
  );
  return isAfter ? 'the same memory was deleted after this was said' : null;
}

/**
 * The deletions of these memories that count, but for those of the operation's own consolidation: it knew of the
 * operation when it decided on them. Had nothing waited, they would have left it as it is, or as a former version.
 */
async function deletionsByOthers(
  { ledger }: ReviewDeps,
  { tenant, consolidationId }: Review,
  memoryIds: readonly string[],
): Promise<readonly MemoryEvent[]> {
  if (memoryIds.length === 0) return [];
  const memories = await ledger.memories.many(tenant, memoryIds);
  const counting = new Map(memories.map(({ id, timeline }) => [id, new Set(inEffect(timeline).map(revisionOf))]));
  const events = await ledger.undos.events(tenant, memoryIds);
  const deletions = events.filter(({ kind, memoryId, revision }) => {
    return kind === 'DELETE' && counting.get(memoryId)?.has(revision) === true;
  });
  return deletions.filter((event) => event.consolidationId !== consolidationId);
}

const revisionOf = ({ revision }: { readonly revision: number }): number => revision;

function reviewEventOf({ tools }: ReviewDeps, review: Review, memory: Memory | null): MemoryEvent {
  const { operation, consolidationId } = review;
  const { memoryId, fact, reason, saidAt, validFrom, after, details, sourceIds, forgets } = operation;
  const kind = memory === null || operation.kind === 'DELETE' ? operation.kind : kindOn(memory, operation);
  const revision = (memory?.revision ?? 0) + 1;
  return {
    id: eventIdOf(memoryId, revision),
    memoryId,
    revision,
    kind,
    actor: 'review',
    consolidationId,
    factId: fact,
    reason,
    previous: memory === null ? null : previousOf(memory, kind, saidAt),
    saidAt,
    validFrom,
    recordedAt: tools.now(),
    text: after,
    details,
    sourceIds,
    under: underOf(review.scope),
    ...(forgets && { forgets }),
  };
}

/** What its memory says by then, it confirms. */
const kindOn = (memory: Memory, { saidAt, after }: Review['operation']): 'NONE' | 'UPDATE' =>
  holdsAt(memory, saidAt, after ?? '') ? 'NONE' : 'UPDATE';

/** The facts that waited with it because they say the same: each confirms it, as it would have had nothing waited. */
function repeatsOf(
  { tools }: ReviewDeps,
  { operation, consolidationId, ...review }: Review,
  made: Memory,
): readonly MemoryEvent[] {
  const previous = liveVersion(made)?.text ?? null;
  return (operation.repeats ?? []).map(({ fact, after, ...said }, i) => ({
    id: eventIdOf(made.id, made.revision + 1 + i),
    memoryId: made.id,
    revision: made.revision + 1 + i,
    kind: 'NONE',
    actor: 'review',
    consolidationId,
    factId: fact,
    previous,
    recordedAt: tools.now(),
    text: after,
    under: underOf(review.scope),
    ...said,
  }));
}

async function over(deps: ReviewDeps, before: Review, settlement: Settlement): Promise<ReviewResult> {
  const { state, now } = settlement;
  const review = { ...before, state, note: state === 'stale' ? settlement.note : null, settledAt: now };
  if (state !== 'stale') deps.meter.opinions(review.tenant, 'review', [state === 'approved' ? 'for' : 'against']);
  const { memoryIds, lanes } = changedBy(review);
  const searchable =
    memoryIds.length + lanes.length === 0 ||
    (await projectNow(deps, { memoryIds, lanes }, `${state}, but the index is not up to date`)) !== 'later';
  return { kind: 'settled', review, searchable };
}

/** A wish to forget is readable again where its deletion was not carried out. */
const changedBy = ({ lane, state, operation: { memoryId, forgets } }: Review) => ({
  memoryIds: state === 'approved' ? [memoryId] : [],
  lanes: forgets === true ? [lane] : [],
});

type RateDeps = WriteDeps & Pick<EngineDeps, 'meter'>;

export const rater = (deps: RateDeps): Rater => ({
  rate: (tenant, id, feedback) => rate(deps, { ...feedback, tenant, id }),
});

interface Rating extends NewFeedback {
  readonly tenant: TenantId;
  readonly id: string;
}

/** Somebody rates a version of a memory: one more event of its history, which leaves what it says as it is. */
async function rate(deps: RateDeps, rating: Rating): Promise<WriteResult> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const memory = await deps.ledger.memories.get(rating.tenant, rating.id);
    const known = memory === null ? null : asKnown(memory, rating);
    if (memory === null || known === null || liveVersion(known) === null) return { kind: 'not_found' };
    const version = versionMeant(deps, known, rating);
    if (version === undefined) return { kind: 'no_version' };
    if (isRemoved(version)) return { kind: 'removed' };
    if (await isSaid(deps, { memory, version, rating })) return { kind: 'written', memory: known };
    const change = changeOf(memory, memory, eventFor(deps, memory, { version, rating }));
    const proposal = proposalOf(deps, { change, version, rating });
    const written = await write(deps, rating.tenant, { changes: [change], proposal });
    if (written.kind === 'conflict') continue;
    noteOpinion(deps, rating);
    return { kind: written.kind, memory: asKnown(change.memory, rating) ?? known };
  }
  return { kind: 'conflict' };
}

function noteOpinion({ meter }: RateDeps, { tenant, rating }: Rating): void {
  if (rating !== null) meter.opinions(tenant, 'rating', [rating === 'positive' ? 'for' : 'against']);
}

const asKnown = (memory: Memory, { appId }: Rating): Memory | null => (appId === null ? memory : inApp(memory, appId));

function versionMeant(
  { tools }: WriteDeps,
  known: Memory,
  { version = shownVersion(known, tools.now()).number }: Rating,
): MemoryVersion | undefined {
  return known.versions.find(({ number }) => number === version);
}

interface Meant {
  readonly version: MemoryVersion;
  readonly rating: Rating;
}

/**
 * Whether a rating changes nothing, for nobody: it is the last one of all, and the last one that its app has given. The same rating
 * with another reason says something new; without any it does not.
 */
async function isSaid({ ledger }: WriteDeps, of: Meant & { readonly memory: Memory }): Promise<boolean> {
  const { memory, version, rating } = of;
  const ratings = ratingsOf(memory)(version.number);
  const own = ratings.filter(({ under }) => (under?.appId ?? null) === rating.appId);
  if (lastRating(ratings) !== rating.rating || lastRating(own) !== rating.rating) return false;
  const last = own.at(-1);
  if (rating.reason === null || rating.rating === null || last === undefined) return true;
  const asked = { tenant: memory.tenant, owner: memory.owner, ids: [memory.id] };
  const since = await ledger.lookups.histories(asked, memory.revision - last.revision + 1);
  const event = since.get(memory.id)?.find(({ revision }) => revision === last.revision);
  return event?.reason === rating.reason;
}

const WITHOUT_REASON = 'rated by API';
const OF_NO_OTHER_ID = { agentId: null, runId: null } as const;

function eventFor(deps: WriteDeps, memory: Memory, { version, rating }: Meant): MemoryEvent {
  const { appId, reason } = rating;
  const under: Under | null = appId === null ? null : { ...OF_NO_OTHER_ID, appId };
  return eventOf(deps, memory, {
    ...{ kind: 'FEEDBACK', text: null, details: null, validFrom: deps.tools.now() },
    ...{ reason: reason ?? WITHOUT_REASON, rated: { version: version.number, rating: rating.rating } },
    ...(under !== null && { under }),
  });
}

/**
 * Whether a memory is to be deleted that somebody finds very bad, a person decides. What ended is not proposed; a proposal ends by
 * itself with its rating.
 */
function proposalOf(deps: WriteDeps, of: Meant & { readonly change: MemoryChange }): Proposal | undefined {
  const { version, rating, change } = of;
  const { memory } = change;
  const isProposed = rating.rating === 'very_negative' && holdingMarks(memory.timeline).includes(version.number);
  return isProposed ? { memoryId: memory.id, note: 'it was rated again', opens: deletionOf(deps, of) } : undefined;
}

function deletionOf(
  { tools }: WriteDeps,
  { version, rating, change }: Meant & { readonly change: MemoryChange },
): HeldOperation {
  const { memory, events } = change;
  const [event] = events;
  return {
    id: tools.id('rev', ownerBitsOf(tools, memory)),
    kind: 'DELETE',
    fact: null,
    factText: null,
    memoryId: memory.id,
    before: version.text,
    after: null,
    reason: rating.reason ?? 'rated very negative',
    decidedBy: 'feedback',
    rated: version.number,
    saidAt: event?.saidAt ?? version.saidAt,
    validFrom: event?.validFrom ?? version.validFrom,
    details: null,
    sourceIds: [...version.details.sourceIds],
    forgets: true,
  };
}

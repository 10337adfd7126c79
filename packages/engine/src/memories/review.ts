import type { EngineDeps } from '../deps.ts';
import { eventIdOf } from '../ids.ts';
import type { Review, Settlement } from '../ports/ledger/feedback.ts';
import type { Reviewer, ReviewResult } from '../ports/writers.ts';
import { type ProjectDeps, projectNow } from '../projection/project.ts';
import { normaliseText } from '../text/normalise.ts';
import { type Memory, type MemoryEvent, saidBefore, type TenantId, underOf } from '../words.ts';
import {
  blockedHash,
  deletedAt,
  evolve,
  holdsAt,
  inEffect,
  liveVersion,
  newestOrNull,
  previousOf,
  tombstoneOf,
} from './evolve.ts';
import { GONE, proposalOver } from './ratings.ts';
import { removed } from './write.ts';

/** What a review works with: nothing that thinks. */
type ReviewDeps = ProjectDeps & Pick<EngineDeps, 'log' | 'meter'>;

/** A consolidation may change the memory between reading and writing it; after this many times the caller gets a conflict. */
const TRIES_MAX = 5;
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
  const event = eventOf(deps, review, memory);
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

function eventOf({ tools }: ReviewDeps, review: Review, memory: Memory | null): MemoryEvent {
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

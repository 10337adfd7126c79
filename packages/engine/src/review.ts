import type { EngineDeps } from './deps.ts';
import type { Review, Settlement } from './ports/ledger/reviews.ts';
import type { Reviewer, ReviewResult } from './ports/reviewer.ts';
import { deletedAt, evolve, liveVersion, newestOrNull } from './rules/evolve.ts';
import { tombstoneOf } from './rules/tombstone.ts';
import type { ProjectDeps } from './steps/project.ts';
import { projectNow } from './steps/project-now.ts';
import { normaliseText } from './text/normalise.ts';
import { type Memory, type MemoryEvent, saidBefore, type TenantId } from './words.ts';

/** What a review works with: nothing that thinks. */
type ReviewDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

/** A consolidation may change the memory between reading and writing it; after this many times the caller is told. */
const TRIES_MAX = 5;
/** More operations on one new memory than a consolidation ever holds back. */
const SIBLINGS_MAX = 100;

/**
 * Ends reviews. An approved operation is carried out with the time its fact was said: whatever came in between, the
 * memory's versions are what they would have been had it been done at once.
 */
export function reviewer(deps: ReviewDeps): Reviewer {
  return {
    approve: (tenant, id) => attempt(deps, { tenant, id }, (review) => approval(deps, review)),
    reject: (tenant, id) =>
      attempt(deps, { tenant, id }, async () => ({ state: 'rejected', now: deps.tools.now() }) as const),
  };
}

type Early = Extract<ReviewResult, { kind: 'early' }>;

/** Decides how a pending review ends, and ends it; again where something else changed its memory in between. */
async function attempt(
  deps: ReviewDeps,
  { tenant, id }: { tenant: TenantId; id: string },
  decide: (review: Review) => Promise<Settlement | Early>,
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

async function approval(deps: ReviewDeps, review: Review): Promise<Settlement | Early> {
  const { ledger, tools } = deps;
  const { tenant, operation } = review;
  const now = tools.now();
  const memory = await ledger.memories.get(tenant, operation.memoryId);
  const first = memory === null && operation.kind === 'DELETE' ? await additionOf(deps, review) : null;
  if (first !== null) return { kind: 'early', first };
  const note = tooLate(review, memory) ?? (await buried(deps, review));
  if (note !== null) return { state: 'stale', note, now };
  const event = eventOf(deps, review, memory);
  const { lane, owner, scope } = review;
  const change = {
    memory: evolve({ tenant, lane, owner, scope }, memory, [event]),
    expectedRevision: memory?.revision ?? 0,
    events: [event],
  };
  return { state: 'approved', change, tombstones: tombstoneOf(tools, event), now };
}

/** The pending review that would make the memory this one is about. */
async function additionOf({ ledger }: ReviewDeps, { id, tenant, operation }: Review): Promise<string | null> {
  const { memoryId } = operation;
  const page = { limit: SIBLINGS_MAX, cursor: null };
  const { results } = await ledger.reviews.list(tenant, { state: 'pending', memoryId }, page);
  return results.find((other) => other.id !== id && other.operation.kind === 'ADD')?.id ?? null;
}

function tooLate({ operation }: Review, memory: Memory | null): string | null {
  const last = memory === null ? null : newestOrNull(memory);
  if (memory === null || last === null) return operation.kind === 'ADD' ? null : 'the memory it would change is gone';
  const deleted = deletedAt(memory);
  if (deleted !== null && !saidBefore(deleted, operation.saidAt)) return 'the memory it would change was deleted';
  return last.details.immutable ? 'the memory it would change is immutable by now' : null;
}

/** What was deleted after it was said stays deleted. */
async function buried({ ledger, tools }: ReviewDeps, { lane, operation }: Review): Promise<string | null> {
  if (operation.after === null) return null;
  const stones = await ledger.memories.tombstones(lane, [tools.hash(normaliseText(operation.after))]);
  const later = stones.some((stone) => saidBefore(operation.saidAt, stone.deletedAt));
  return later ? 'the same was deleted after it was said' : null;
}

function eventOf({ tools }: ReviewDeps, { operation, consolidationId }: Review, memory: Memory | null): MemoryEvent {
  const { kind, memoryId, fact, reason, saidAt, validFrom, after, details, sourceIds } = operation;
  return {
    id: tools.id('evt'),
    memoryId,
    revision: (memory?.revision ?? 0) + 1,
    kind: kind === 'ADD' && memory !== null ? 'UPDATE' : kind,
    actor: 'review',
    consolidationId,
    factId: fact,
    reason,
    previous: memory === null ? null : (liveVersion(memory)?.text ?? null),
    saidAt,
    validFrom,
    recordedAt: tools.now(),
    text: after,
    details,
    sourceIds,
  };
}

async function over(deps: ReviewDeps, before: Review, settlement: Settlement): Promise<ReviewResult> {
  const { state, now } = settlement;
  const review = { ...before, state, note: state === 'stale' ? settlement.note : null, settledAt: now };
  const searchable =
    state !== 'approved' ||
    (await projectNow(deps, { memoryIds: [review.operation.memoryId] }, 'approved, but not found by meaning yet')) !==
      'later';
  return { kind: 'settled', review, searchable };
}

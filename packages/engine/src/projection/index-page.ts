import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { embedderAnswers, isDoubtful } from '../models/doubt.ts';
import { withoutVectors } from '../models/embed.ts';
import type { SpokenBatch } from '../ports/ledger/outbox.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { LaneId, Memory, Millis } from '../words.ts';
import { type LaneContents, type Made, type MakingDeps, makePoints } from './make-points.ts';

/** A part of the ledger to be indexed: memories, or batches with their messages, in the order of their ids. */
export interface IndexPageRequest {
  /** The last one of the page before; null: from the first on. */
  readonly after: string | null;
  readonly limit: number;
  /** Only what was changed since; null: all. */
  readonly changedSince: Millis | null;
}

export interface IndexPage {
  /** Every version of the page's memories, or every message of its batches, embedded. */
  readonly points: readonly IndexPoint[];
  /** What they have no more. */
  readonly withdrawals: readonly Withdrawal[];
  /** How many were looked at, and the last of them, whether or not it has points; null: there was none. */
  readonly looked: number;
  readonly last: string | null;
  readonly more: boolean;
}

export type PageDeps = MakingDeps & WalkDeps;

/** What an index that is built anew is given of the ledger's memories, page by page. */
export async function memoryPage(
  deps: PageDeps,
  { after, limit, changedSince }: IndexPageRequest,
  cancel: Cancellation,
): Promise<IndexPage> {
  const looked = await deps.ledger.memories.every(after, limit);
  const memories = looked.filter((memory) => changedSince === null || changedAt(memory) >= changedSince);
  return pageOf(looked, limit, await madeOf(deps, { memories, batches: [] }, cancel));
}

/**
 * The same of its messages, batch by batch. Where retention has removed what a batch said, the memories that were
 * found by it are written again: they were not changed by that, and a page before may have them as they were.
 */
export async function speechPage(deps: PageDeps, request: IndexPageRequest, cancel: Cancellation): Promise<IndexPage> {
  const batches = await deps.ledger.speech.every(request);
  const memories = request.changedSince === null ? [] : await hearersOf(deps, batches);
  return pageOf(batches, request.limit, await madeOf(deps, { memories, batches }, cancel));
}

async function hearersOf({ ledger }: MakingDeps, batches: readonly SpokenBatch[]): Promise<readonly Memory[]> {
  const silent = batches.filter(({ counts }) => !counts);
  const hearers: Memory[] = [];
  for (const [tenant, ofTenant] of Map.groupBy(silent, (batch) => batch.tenant)) {
    const ids = await ledger.speech.hearers(ofTenant.map(({ id }) => id));
    hearers.push(...(await ledger.memories.many(tenant, ids)));
  }
  return hearers;
}

async function madeOf(
  deps: PageDeps,
  { memories, batches }: Pick<LaneContents, 'memories' | 'batches'>,
  cancel: Cancellation,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  const tenants = new Map([...memories, ...batches].map(({ lane, tenant }) => [lane, tenant]));
  for (const [lane, tenant] of tenants) {
    const isOfLane = (one: { readonly lane: LaneId }): boolean => one.lane === lane;
    const contents = { tenant, lane, memories: memories.filter(isOfLane), batches: batches.filter(isOfLane) };
    const make = (given: PageDeps): Promise<Made> => makePoints(given, contents, cancel);
    made.push(await orByWords(deps, { lane, make }, cancel));
  }
  return made;
}

const pageOf = (looked: readonly { readonly id: string }[], limit: number, made: readonly Made[]): IndexPage => ({
  points: made.flatMap(({ points }) => points),
  withdrawals: made.flatMap(({ withdrawals }) => withdrawals),
  looked: looked.length,
  last: looked.at(-1)?.id ?? null,
  more: looked.length === limit,
});

/** A confirmation leaves the text as it is, but not what the index says of it. */
const changedAt = ({ updatedAt, lastConfirmedAt }: Memory): Millis => Math.max(updatedAt, lastConfirmedAt ?? 0);

/** What walks through all lanes. */
export type WalkDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'> & {
  /** Lanes that were written by their words alone, to be projected once more. Without it such a failure ends the walk. */
  readonly left?: Set<LaneId>;
};

interface InLane<Deps, T> {
  readonly lane: LaneId;
  readonly make: (deps: Deps) => Promise<T>;
}

/**
 * Makes what a walk writes of one lane. Where the embedder fails on some of its texts and answers others, the lane is made of
 * its words: one owner does not keep all others from a new index. Fails where the embedder, or a store, is away.
 */
export async function orByWords<Deps extends WalkDeps, T>(
  deps: Deps,
  { lane, make }: InLane<Deps, T>,
  cancel: Cancellation,
): Promise<T> {
  try {
    return await make(deps);
  } catch (error) {
    const failure = asEngineError(error);
    const isOfModel = failure.countsAsTry && (isDoubtful(failure) || failure.code === 'model_rejected');
    if (cancel.aborted || deps.left === undefined || !isOfModel || !(await embedderAnswers(deps, cancel))) throw error;
    deps.left.add(lane);
    return make(withoutVectors(deps));
  }
}

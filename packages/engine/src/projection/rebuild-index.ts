import type { EngineDeps } from '../deps.ts';
import { asEngineError, EngineError } from '../errors.ts';
import { type GraphPoints, idOf, laneOf, pointsInLane } from '../graph/project.ts';
import { ratedAt } from '../memories/ratings.ts';
import { embedderAnswers, isDoubtful } from '../models/away.ts';
import { withoutVectors } from '../models/embed.ts';
import type { GraphItem } from '../ports/ledger/graph.ts';
import { slicesOf } from '../ports/ledger/ledger.ts';
import type { SpokenBatch } from '../ports/ledger/outbox.ts';
import type { BuildNote, IndexBuild, IndexLane, IndexPoint, Withdrawal } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { LaneId, Memory, Millis } from '../words.ts';
import { type LaneContents, type Made, type MakingDeps, makePoints } from './make-points.ts';
import { markerOf } from './project.ts';

export interface RebuildProgress {
  /** all: every memory, once; changes: those changed meanwhile; last changes: those changed until everybody moved. */
  readonly pass: 'all' | 'changes' | 'last changes';
  /** Memories behind it in this pass, also by an earlier try. */
  readonly memories: number;
  /** Points written since the rebuild began, also by an earlier try. */
  readonly points: number;
}

export interface Rebuilt {
  readonly memories: number;
  readonly points: number;
  /** Owners of whom the embedder failed on some text: found by words, until the sweep has projected them once more. */
  readonly byWords: number;
  /** It went on where an earlier try had stopped. */
  readonly resumed: boolean;
}

export interface Rebuilding {
  readonly cancel: Cancellation;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

type RebuildDeps = MakingDeps;

/** Small enough that little is done again after a stop. A batch has a handful of messages, and may have two thousand. */
const MEMORIES_PER_PAGE = 200;
const BATCHES_PER_PAGE = 50;
const FROM_THE_START = { after: null, afterBatch: null, memories: 0, points: 0 };
/** Clocks of processes that write to one ledger may be this far apart. */
const CLOCKS_APART_MS = 300_000;

/**
 * Builds the index anew from the ledger beside the one in use, then lets it take over. Stopped anywhere, it goes on there:
 *
 *   all           every memory, then every message, page by page; the place is noted in the new index after each page
 *   changes       what was changed since the beginning, so that little is left to do after the move
 *   take over     whoever has another embedder is refused from here on, and waits
 *   last changes  what was written to the old index while `changes` ran
 *   graph         all that counts; its vectors were made before the move
 *   reproject     owners on whose texts the embedder failed are projected once more, by the sweep
 *   finish        only now the new index is believed
 *
 * Nothing that others write meanwhile is missed: a change is in the ledger before it is projected to any index. What was in
 * the ledger when a walk read it is written by that walk, and what came later by the next one, or by whoever projects
 * the index that has taken over.
 */
export async function rebuildIndex(given: RebuildDeps, build: IndexBuild, how: Rebuilding): Promise<Rebuilt> {
  const { ledger, tools } = given;
  const known = await build.begun(ledger.id);
  const left = new Set<LaneId>(known?.byWords);
  const deps = { ...given, left };
  const start = known ?? { ledgerId: ledger.id, startedAt: tools.now(), ...FROM_THE_START };
  if (known === null) await build.begin(start);
  const walk = walker({ deps, build, how });
  const all = await walk(start, { pass: 'all', changedSince: null });
  const changesFrom = tools.now();
  const changed = await walk(all, { pass: 'changes', changedSince: start.startedAt - CLOCKS_APART_MS });
  await embedGraph(deps, how.cancel);
  refuseIfStopped(how.cancel);
  await build.takeOver();
  const last = await walk(changed, { pass: 'last changes', changedSince: changesFrom - CLOCKS_APART_MS });
  const inGraph = await fillGraph(deps, build, how.cancel);
  refuseIfStopped(how.cancel);
  // Only now: what is projected before goes to the index that was in use.
  for (const lane of left) await ledger.outbox.reproject(lane);
  await build.finish(markerOf(deps));
  return { memories: all.memories, points: last.points + inGraph, byWords: left.size, resumed: known !== null };
}

/** What a walk through the ledger writes to. */
export type Filled = Pick<IndexBuild, 'write' | 'forget' | 'withdraw' | 'note'>;

/**
 * Fills an index that whoever projects writes to as well, from where an earlier try stopped. What is just being projected is
 * left to whoever does, so that nothing is embedded twice; what was changed before everybody wrote to it, the second walk finds.
 */
export async function fillIndex(
  deps: RebuildDeps,
  { into, from }: { readonly into: Filled; readonly from: BuildNote },
  how: Rebuilding,
): Promise<BuildNote> {
  const walk = walker({ deps, build: into, how, leavesPending: true });
  const all = await walk(from, { pass: 'all', changedSince: null });
  const changed = await walk(all, { pass: 'changes', changedSince: from.startedAt - CLOCKS_APART_MS });
  const points = await fillGraph(deps, into, how.cancel);
  refuseIfStopped(how.cancel);
  return { ...changed, points: changed.points + points };
}

interface Pass {
  readonly pass: RebuildProgress['pass'];
  readonly changedSince: Millis | null;
}

interface Walking {
  readonly deps: PageDeps;
  readonly build: Filled;
  readonly how: Rebuilding;
  /** Without what the outbox still has. */
  readonly leavesPending?: boolean;
}

/** One walk through the ledger. The place is noted only while everything is written: other walks are walked again. */
const walker =
  (walking: Walking) =>
  async (from: BuildNote, pass: Pass): Promise<BuildNote> => {
    const place = pass.pass === 'all' ? from : { ...from, ...FROM_THE_START, points: from.points };
    const behind = await walkMemories(walking, pass, place);
    const end = await walkSpeech(walking, pass, behind);
    return pass.pass === 'all' ? end : { ...from, points: end.points };
  };

async function walkMemories(walking: Walking, pass: Pass, from: BuildNote): Promise<BuildNote> {
  let note = from;
  for (let more = true; more; ) {
    const request = { after: note.after, limit: MEMORIES_PER_PAGE };
    const page = await takePage(walking, { ...pass, ...request, read: memoryPage });
    note = { ...note, after: page.last ?? note.after, memories: note.memories + page.looked };
    note = await noted(walking, pass, { ...note, points: note.points + page.points.length });
    more = page.more;
  }
  return note;
}

async function walkSpeech(walking: Walking, pass: Pass, from: BuildNote): Promise<BuildNote> {
  let note = from;
  for (let more = true; more; ) {
    const request = { after: note.afterBatch, limit: BATCHES_PER_PAGE };
    const page = await takePage(walking, { ...pass, ...request, read: speechPage });
    note = { ...note, afterBatch: page.last ?? note.afterBatch, points: note.points + page.points.length };
    note = await noted(walking, pass, note);
    more = page.more;
  }
  return note;
}

interface Reading extends IndexPageRequest {
  readonly read: (deps: PageDeps, request: IndexPageRequest, cancel: Cancellation) => Promise<IndexPage>;
}

async function takePage(
  { deps, build, how, leavesPending = false }: Walking,
  { read, ...request }: Reading,
): Promise<IndexPage> {
  refuseIfStopped(how.cancel);
  const page = await read({ ...deps, leavesPending }, request, how.cancel);
  await build.write(page.points);
  await build.withdraw(page.withdrawals);
  await takeBack(deps, build, [...page.points, ...page.withdrawals]);
  return page;
}

async function noted({ deps, build, how }: Walking, { pass }: Pass, note: BuildNote): Promise<BuildNote> {
  if (pass === 'all') await build.note({ ...note, byWords: [...(deps.left ?? [])] });
  how.onProgress?.({ pass, memories: note.memories, points: note.points });
  return note;
}

function refuseIfStopped({ aborted }: Cancellation): void {
  if (!aborted) return;
  throw new EngineError('the rebuild was stopped; it continues when it is started again', {
    code: 'cancelled',
    retryable: true,
  });
}

/** Who was being erased while the page was read: whoever erases them may have passed this index already. */
async function takeBack({ ledger }: RebuildDeps, build: Filled, written: readonly IndexLane[]): Promise<void> {
  const lanes = new Map(written.map(({ tenant, owner, lane }) => [lane, { tenant, owner, lane }]));
  for (const of of lanes.values()) if (!(await ledger.erasures.standing(of.lane))) await build.forget(of);
}

/**
 * Makes the vectors of all graphs before a new index takes over, since nothing is believed until they are in it. They are
 * kept in the ledger: a second time they are only looked up.
 */
const embedGraph = (deps: WalkDeps, cancel: Cancellation): Promise<void> => walkGraph(deps, cancel, async () => {});

/**
 * Writes all graphs into a new index that has taken over already. Whoever changes something from then on writes to the new one:
 * what counts is written by them or by this, and what counted once is in neither. Answers with how many points it wrote.
 */
async function fillGraph(deps: WalkDeps, build: Filled, cancel: Cancellation): Promise<number> {
  let written = 0;
  await walkGraph(deps, cancel, async (lane, { points }) => {
    const [first] = points;
    if (first === undefined) return;
    await build.write(points);
    const { tenant, owner } = first;
    // Whoever erases the lane may have passed this index already.
    if (!(await deps.ledger.erasures.standing(lane))) await build.forget({ tenant, owner, lane });
    written += points.length;
  });
  return written;
}

type Visit = (lane: LaneId, made: GraphPoints) => Promise<void>;

/** Everything that counts and stands for itself, as points, page by page. */
async function walkGraph(deps: WalkDeps, cancel: Cancellation, visit: Visit): Promise<void> {
  for (const kind of ['entity', 'relation'] as const) {
    const every = (last: GraphItem | null, limit: number) =>
      deps.ledger.graph.every(kind, last === null ? null : idOf(last), limit);
    for await (const page of slicesOf(every)) {
      if (cancel.aborted) return;
      for (const [lane, items] of Map.groupBy(page, laneOf)) {
        const make = (given: WalkDeps): Promise<GraphPoints> => pointsInLane(given, { lane, items }, cancel);
        await visit(lane, await orByWords(deps, { lane, make }, cancel));
      }
    }
  }
}

/** A part of the ledger to be indexed: memories, or batches with their messages, in the order of their ids. */
interface IndexPageRequest {
  /** The last one of the page before; null: from the first on. */
  readonly after: string | null;
  readonly limit: number;
  /** Only what was changed since; null: all. */
  readonly changedSince: Millis | null;
}

interface IndexPage {
  /** Every version of the page's memories, or every message of its batches, embedded. */
  readonly points: readonly IndexPoint[];
  /** What they have no more. */
  readonly withdrawals: readonly Withdrawal[];
  /** How many were looked at, and the last of them, whether or not it has points; null: there was none. */
  readonly looked: number;
  readonly last: string | null;
  readonly more: boolean;
}

type PageDeps = MakingDeps & WalkDeps & { readonly leavesPending?: boolean };

/** What an index that is built anew is given of the ledger's memories, page by page. */
export async function memoryPage(
  deps: PageDeps,
  { after, limit, changedSince }: IndexPageRequest,
  cancel: Cancellation,
): Promise<IndexPage> {
  const looked = await deps.ledger.memories.every(after, limit);
  const changed = changedSince === null ? looked : await changedAmong(deps, looked, changedSince);
  const memories = deps.leavesPending ? await settledAmong(deps, changed) : changed;
  return pageOf(looked, limit, await madeOf(deps, { memories, batches: [] }, cancel));
}

/**
 * The same of its messages, batch by batch. Where what a batch said was removed, hidden or there again, the memories
 * that are found by it are written again: they were not changed by that, and a page before may have them as they were.
 */
async function speechPage(deps: PageDeps, request: IndexPageRequest, cancel: Cancellation): Promise<IndexPage> {
  const looked = await deps.ledger.speech.every(request);
  const batches = deps.leavesPending ? looked.filter(({ projected }) => projected) : looked;
  const memories = request.changedSince === null ? [] : await hearersOf(deps, batches);
  return pageOf(looked, request.limit, await madeOf(deps, { memories, batches }, cancel));
}

async function hearersOf({ ledger }: MakingDeps, batches: readonly SpokenBatch[]): Promise<readonly Memory[]> {
  const revised = batches.filter(({ revision }) => revision > 1);
  const hearers: Memory[] = [];
  for (const [tenant, ofTenant] of Map.groupBy(revised, (batch) => batch.tenant)) {
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

async function changedAmong(
  { ledger }: MakingDeps,
  memories: readonly Memory[],
  since: Millis,
): Promise<readonly Memory[]> {
  const credits = memories.length === 0 ? [] : await ledger.receipts.credits(memories.map(({ id }) => id));
  const credited = new Set(credits.filter(({ at }) => at >= since).map(({ memoryId }) => memoryId));
  return memories.filter((memory) => credited.has(memory.id) || changedAt(memory) >= since);
}

async function settledAmong({ ledger }: MakingDeps, memories: readonly Memory[]): Promise<readonly Memory[]> {
  const pending = memories.length === 0 ? [] : await ledger.outbox.ofMemories(memories.map(({ id }) => id));
  const ids = new Set(pending.map(({ memoryId }) => memoryId));
  return memories.filter(({ id }) => !ids.has(id));
}

/** A confirmation and a rating leave the text as it is, but not what the index says of it. */
const changedAt = (memory: Memory): Millis =>
  Math.max(memory.updatedAt, memory.lastConfirmedAt ?? 0, ratedAt(memory) ?? 0);

/** What walks through all lanes. */
type WalkDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'> & {
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
async function orByWords<Deps extends WalkDeps, T>(
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

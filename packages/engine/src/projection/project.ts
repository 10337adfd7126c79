import type { EngineDeps, MessagesInIndex } from '../deps.ts';
import { asEngineError, type EngineError, retryDelay } from '../errors.ts';
import { laneOf, projectGraph } from '../graph/project.ts';
import { spaceIn } from '../ids.ts';
import { embedderIsAway, isDoubtful } from '../models/away.ts';
import { askedBy, embedApart, withoutVectors } from '../models/embed.ts';
import type { Credit } from '../ports/ledger/feedback.ts';
import type { GraphItem } from '../ports/ledger/graph.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { OutboxEntry, SaidInLane, SetAside, SpokenBatch } from '../ports/ledger/outbox.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexMarker } from '../ports/search-index.ts';
import { askedInSlices, type Cancellation, NEVER, portionsOf } from '../ports/tools.ts';
import type { LaneId, Memory, Millis, TenantId } from '../words.ts';
import { type Made, type MakingDeps, makePoints } from './make-points.ts';

export type ProjectDeps = MakingDeps & Pick<EngineDeps, 'index' | 'meter'>;

/** Memories and batches that are to be projected. */
interface Unprojected {
  readonly entries: readonly OutboxEntry[];
  /** Those of the entries, where they were read with them. */
  readonly memories?: readonly Memory[] | null;
  /** What those came from, where they are of one lane and it was read with them. */
  readonly said?: SaidInLane | null;
  /** What the outcomes of answers credit to them, where that was read with them. */
  readonly credits?: readonly Credit[] | null;
  readonly batches: readonly SpokenBatch[];
  /** Vectors of messages that were made before. */
  readonly made?: ReadonlyMap<string, Float32Array> | undefined;
}

/**
 * Projects what the ledger holds now, then clears the outbox up to what was projected. A change that comes in between
 * has an entry of its own, and the index never lets an older revision replace a newer one.
 */
export async function project(deps: ProjectDeps, unprojected: Unprojected, cancel: Cancellation): Promise<Projected> {
  let byWords = false;
  const { made, said = null, credits = null } = unprojected;
  for (const group of byLane(unprojected))
    byWords = (await projectLane(deps, { ...group, made, said, credits }, cancel)) || byWords;
  return { byWords };
}

interface Projected {
  /** Some memory is found by its words alone: its text has no vector. */
  readonly byWords: boolean;
}

/** Answers whether some memory that holds is found by its words alone. */
async function projectLane(deps: ProjectDeps, group: LaneGroup, cancel: Cancellation): Promise<boolean> {
  const { ledger, tools, meter } = deps;
  const { tenant, lane, entries, batches, made, said, credits } = group;
  const ids = [...new Set(entries.map((entry) => entry.memoryId))];
  const memories = group.memories ?? (await askedInSlices(tools, ids, (some) => ledger.memories.many(tenant, some)));
  const points = await makePoints(deps, { tenant, lane, memories, batches, made, said, credits }, cancel);
  await write(deps, points);
  const now = tools.now();
  const accepted = await clear(deps, { group, made: points, now });
  if (spaceIn(tenant) === null) meter.searchable(accepted.map((at) => now - at));
  return points.points.some(({ shelf, live, vector }) => shelf === 'memories' && live && askedBy(vector) === null);
}

/** Points that go to the index together: they are copied for it in one piece. */
const POINTS_PER_CALL = 200;

async function upsertInSlices(index: ProjectDeps['index'], points: Made['points']): Promise<void> {
  for (const part of portionsOf(points, POINTS_PER_CALL)) await index.upsert(part);
}

/** A lane that was cut off before is not projected: by then its owner's name may stand for somebody new. */
async function write({ index }: ProjectDeps, { stands, points, withdrawals }: Made): Promise<void> {
  if (!stands) return;
  if (points.length > 0) await upsertInSlices(index, points);
  if (withdrawals.length > 0) await index.withdraw(withdrawals);
}

interface Written {
  readonly group: LaneGroup;
  readonly made: Made;
  readonly now: Millis;
}

/**
 * A lane that was cut off meanwhile is taken back: whoever erases it may have passed already. So is what retention removed
 * meanwhile. Nothing is cleared before that.
 */
async function clear(deps: ProjectDeps, { group, made, now }: Written): Promise<readonly Millis[]> {
  const { ledger, index } = deps;
  const { tenant, lane, entries } = group;
  const seqs = entries.map(({ seq }) => seq);
  const batches = made.stands ? made.projected : made.projected.map((batch) => ({ ...batch, points: 0 }));
  const [first] = made.stands ? [...made.points, ...made.withdrawals] : [];
  let from = first === undefined ? null : made.from;
  for (;;) {
    const accepted = await ledger.outbox.clear({ seqs, batches, from }, now);
    if (accepted !== null || first === undefined) return accepted ?? [];
    const anew = await made.anew();
    if (anew.stands) await upsertInSlices(index, anew.points);
    else await index.forget({ tenant, owner: first.owner, lane });
    from = anew.stands ? anew.from : null;
  }
}

interface LaneGroup extends Unprojected {
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

function byLane({ entries, memories = null, batches }: Unprojected): LaneGroup[] {
  const entriesOf = Map.groupBy(entries, ({ lane }) => lane);
  const batchesOf = Map.groupBy(batches, ({ lane }) => lane);
  const tenants = new Map([...entries, ...batches].map(({ lane, tenant }) => [lane, tenant]));
  return [...tenants].map(([lane, tenant]) => ({
    ...{ tenant, lane },
    entries: entriesOf.get(lane) ?? [],
    memories: memories?.filter((memory) => memory.lane === lane) ?? null,
    batches: batchesOf.get(lane) ?? [],
  }));
}

/** Memories projected in one go, and consolidations whose messages are. */
const SLICE = 200;
const CONSOLIDATIONS = 20;

interface Changed {
  readonly memoryIds: readonly string[];
  /** Those whose messages are found, or no more, from now on. */
  readonly consolidationIds?: readonly string[];
  /** Lanes in which something was forgotten or is there again: messages, other memories and the graph change with it. */
  readonly lanes?: readonly LaneId[];
}

/**
 * fully   found by words and meaning
 * words   by its words alone: the embedder refuses the text for good, or does not answer in time; then the sweep embeds it
 * later   not yet: the outbox has it, and is swept
 */
export type Searchable = 'fully' | 'words' | 'later';

type NowDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

/**
 * Projects what somebody changed and waits to find changed. It waits for the embedder no longer than the embedder
 * of its deps does: without vectors it projects the words. `otherwise` is what is logged where that fails as well.
 */
export async function projectNow(deps: NowDeps, changed: Changed, otherwise: string): Promise<Searchable> {
  try {
    return (await projectAll(deps, changed)) ? 'words' : 'fully';
  } catch (error) {
    const isProjected = asEngineError(error).code !== 'index_unavailable' && (await projectedByWords(deps, changed));
    const searchable = isProjected ? 'words' : 'later';
    deps.log.warn({ error: String(error), searchable }, otherwise);
    return searchable;
  }
}

/** Answers whether some of the memories are found by words alone. */
async function projectAll(deps: ProjectDeps, changed: Changed): Promise<boolean> {
  const { memoryIds, consolidationIds = [], lanes = [] } = changed;
  let some = false;
  for (const lane of lanes) some = (await projectRest(deps, lane, NEVER)) || some;
  for (const ids of portionsOf(memoryIds, SLICE)) {
    const { byWords } = await project(deps, { entries: await deps.ledger.outbox.ofMemories(ids), batches: [] }, NEVER);
    some ||= byWords;
  }
  for (const ids of portionsOf(consolidationIds, CONSOLIDATIONS))
    await project(deps, { entries: [], batches: await deps.ledger.speech.unprojectedOf(ids) }, NEVER);
  return some;
}

/** What a lane has for the index, of each kind; a lane with more has been waiting for the index before. */
const REST_MAX = 1_000;
const REST_BATCHES_MAX = 100;

/** What somebody has forgotten is in nothing that is found, from the answer on. */
export async function projectRest(deps: ProjectDeps, lane: LaneId, cancel: Cancellation): Promise<boolean> {
  const { outbox, speech, graph } = deps.ledger;
  const entries = portionsOf(await outbox.ofLane(lane, REST_MAX), SLICE);
  const batches = portionsOf(await speech.unprojectedIn(lane, REST_BATCHES_MAX), CONSOLIDATIONS);
  let some = false;
  for (let i = 0; i < Math.max(entries.length, batches.length); i += 1) {
    const { byWords } = await project(deps, { entries: entries[i] ?? [], batches: batches[i] ?? [] }, cancel);
    some ||= byWords;
  }
  for (const items of portionsOf(await graph.unprojectedOf(lane, REST_MAX), SLICE))
    await projectGraph(deps, items, cancel);
  return some;
}

/** Projects what a lane has for the index, also if that is much. What is left when the time is over, or if the index is away, is swept. */
export async function projectWithin(deps: NowDeps, lane: LaneId, ms: number): Promise<void> {
  const { ledger, tools, log } = deps;
  try {
    for (const end = tools.now() + ms; tools.now() < end; ) {
      await projectRest(deps, lane, NEVER);
      if ((await ledger.outbox.ofLane(lane, 1)).length === 0) return;
    }
  } catch (error) {
    log.warn({ error: String(error) }, 'imported data will be searchable later');
  }
}

async function projectedByWords(deps: ProjectDeps, changed: Changed): Promise<boolean> {
  try {
    await projectAll(byWordsAlone(deps), changed);
    return true;
  } catch {
    return false;
  }
}

/** The outbox keeps it all: the sweep projects it once more, with vectors. */
function byWordsAlone(deps: ProjectDeps): ProjectDeps {
  const wordless = withoutVectors(deps);
  const { outbox, graph } = deps.ledger;
  const clear: typeof outbox.clear = ({ from }, now) => outbox.clear({ seqs: [], batches: [], from }, now);
  const unnoted = { outbox: { ...outbox, clear }, graph: { ...graph, projected: async () => {} } };
  return { ...wordless, ledger: { ...wordless.ledger, ...unnoted } };
}

/** Memories projected in one go: small enough that a stop never waits long. */
const OUTBOX_MAX = 100;
/** Batches whose messages are: a batch may have two thousand. */
const BATCHES_MAX = 20;
/** Entities and relations that are: short texts, most of them embedded before. */
const GRAPH_MAX = 200;
/** Lanes set aside that are tried again in one pass: they take little from those that never failed. */
const AGAIN_MAX = 20;
/** How long the next passes do not ask an embedder that was found to be away: each question may take a minute. */
const AWAY_MS = 5_000;
/** So often the texts of a lane may fail together; then the ones at fault are looked for. */
const FAILURES_TOGETHER = 3;
/** Waits double with every failure; while only the embedder is away no further than this often, so that all are projected soon after. */
const AWAY_DOUBLINGS = 3;

type SweepDeps = ProjectDeps & Pick<EngineDeps, 'log' | 'settings'>;

/** What one lane has for the index. */
interface LaneWork {
  readonly lane: LaneId;
  readonly entries: readonly OutboxEntry[];
  readonly batches: readonly SpokenBatch[];
  readonly items: readonly GraphItem[];
  /** How it was set aside before; null: it was not. */
  readonly aside: SetAside | null;
}

/**
 * Projects what the index missed, oldest first and lane by lane. A lane that cannot be projected is set aside in the ledger, with
 * a time of its own to be tried again, so that it never stands before the others; only an index or a ledger that is away ends
 * the pass. Answers with how many changes it projected and lanes it newly set aside: 0, there is nothing left to do now.
 * `leftMs`: so long what was applied is left to whoever applied it, who is projecting it as well.
 */
export async function sweepOutbox(deps: SweepDeps, cancel: Cancellation, { leftMs = 0 } = {}): Promise<number> {
  const embedder = untilAway(deps, cancel);
  const ended: Ended = { projected: [], failed: [] };
  let done = 0;
  try {
    for (const work of [...(await freshWork(deps, leftMs)), ...(await workAgain(deps))]) {
      if (cancel.aborted) break;
      const failure = await sweepLane({ ...deps, embedder: embedderFor(work, embedder) }, work, cancel);
      done += failure === null ? sizeOf(work) : work.aside === null ? 1 : 0;
      if (failure === null) ended.projected.push(work);
      else ended.failed.push(failedIn(deps, work, { failure, isAway: embedder.isAway() }));
    }
  } finally {
    await noteAside(deps, ended);
  }
  return done;
}

const embedderFor = ({ aside }: LaneWork, embedder: Embedder): Embedder =>
  aside !== null && aside.failures >= FAILURES_TOGETHER ? embedApart(embedder) : embedder;

interface Ended {
  readonly projected: LaneWork[];
  readonly failed: Waiting[];
}

/** A lane that is tried again after a while. */
interface Waiting extends Pick<SetAside, 'lane' | 'failures'> {
  readonly failure: Pick<EngineError, 'code' | 'message'>;
  readonly waitMs: Millis;
}

/** Waits begin when they are written: a clock that was ahead while the pass went on would have made days of them. */
async function noteAside({ ledger: { outbox }, tools }: SweepDeps, { projected, failed }: Ended): Promise<void> {
  const back = projected.filter(({ aside }) => aside !== null).map(({ lane }) => lane);
  if (back.length > 0) await outbox.takeUp(back);
  const now = tools.now();
  const lanes = failed.map(({ waitMs, failure, ...rest }) => ({
    ...{ ...rest, notBefore: now + waitMs },
    failure: { code: failure.code, message: failure.message, at: now },
  }));
  if (lanes.length > 0) await outbox.setAside(lanes);
}

async function freshWork({ ledger, tools }: SweepDeps, leftMs: Millis): Promise<readonly LaneWork[]> {
  const now = tools.now();
  const left = { after: now - leftMs, upTo: now + leftMs };
  const entries = Map.groupBy(await ledger.outbox.pending(OUTBOX_MAX, left), ({ lane }) => lane);
  const batches = Map.groupBy(await ledger.speech.unprojected(BATCHES_MAX, left), ({ lane }) => lane);
  const items = Map.groupBy(await ledger.graph.unprojected(GRAPH_MAX), laneOf);
  return [...new Set([...entries.keys(), ...batches.keys(), ...items.keys()])].map((lane) => ({
    ...{ lane, aside: null, entries: entries.get(lane) ?? [] },
    ...{ batches: batches.get(lane) ?? [], items: items.get(lane) ?? [] },
  }));
}

/** What is left of a lane after this is projected with all the others. */
async function workAgain({ ledger, tools }: SweepDeps): Promise<readonly LaneWork[]> {
  const due = await ledger.outbox.aside(tools.now(), AGAIN_MAX);
  return Promise.all(
    due.map(async (aside) => ({
      ...{ lane: aside.lane, aside, entries: await ledger.outbox.ofLane(aside.lane, OUTBOX_MAX) },
      batches: await ledger.speech.unprojectedIn(aside.lane, BATCHES_MAX),
      items: await ledger.graph.unprojectedOf(aside.lane, GRAPH_MAX),
    })),
  );
}

const sizeOf = ({ entries, batches, items }: LaneWork): number => entries.length + batches.length + items.length;

/** Answers with what is wrong with this lane, if anything. Throws what is wrong for all of them. */
async function sweepLane(deps: SweepDeps, work: LaneWork, cancel: Cancellation): Promise<EngineError | null> {
  try {
    await project(deps, work, cancel);
    await projectGraph(deps, work.items, cancel);
    return null;
  } catch (error) {
    const failure = asEngineError(error);
    const isOfStore = failure.code === 'index_unavailable' || failure.code === 'ledger_unavailable';
    if (cancel.aborted || (isOfStore && failure.retryable)) throw error;
    return failure;
  }
}

interface Failed {
  readonly failure: EngineError;
  readonly isAway: boolean;
}

function failedIn(deps: SweepDeps, { lane, aside }: LaneWork, { failure, isAway }: Failed): Waiting {
  const failures = (aside?.failures ?? 0) + 1;
  const waitMs = retryDelay(deps, isAway ? Math.min(failures, AWAY_DOUBLINGS) : failures, failure);
  const fields = { lane, code: failure.code, error: failure.message, failures, until: deps.tools.now() + waitMs };
  if (isAway) deps.log.debug(fields, 'a lane is waiting for the embedder; it will be written to the index later');
  else deps.log.warn(fields, 'could not write a lane to the index; it is set aside and retried separately');
  return { lane, failures, waitMs, failure };
}

/** Those that were found to be away, by the passes of this process. */
const AWAY = new WeakMap<Embedder, { readonly failure: EngineError; readonly until: Millis }>();

/**
 * The embedder until it is known to be away: then nobody else of this pass waits for it, and lanes whose vectors are known go
 * on without. A failure that may be of the texts is distinguished from one of the embedder by a question that any embedder answers.
 */
function untilAway(deps: SweepDeps, cancel: Cancellation): Embedder & { isAway(): boolean } {
  const { embedder, log, tools } = deps;
  const known = AWAY.get(embedder);
  let away: EngineError | null = known !== undefined && tools.now() < known.until ? known.failure : null;
  return {
    ...embedder,
    isAway: () => away !== null,
    embed: async (texts, given) => {
      if (away !== null) throw away;
      try {
        return await embedder.embed(texts, given);
      } catch (error) {
        const failure = asEngineError(error);
        if (!cancel.aborted && (!failure.countsAsTry || isDoubtful(failure)) && (await embedderIsAway(deps, cancel))) {
          log.warn(
            { code: failure.code, error: failure.message },
            'the embedder is unavailable; changes without vectors are waiting',
          );
          away = failure;
          AWAY.set(embedder, { failure, until: tools.now() + AWAY_MS });
        }
        throw error;
      }
    },
  };
}

/**
 * Makes the index this ledger's own before anything relies on it: an empty one is filled from the ledger, and one that
 * was made from another ledger, by another embedder or with other messages in it is emptied first. Until the outbox is caught up, decisions
 * read what is missing from the ledger itself, so nothing known looks new.
 */
export async function adoptIndex(
  deps: Pick<EngineDeps, 'index' | 'ledger' | 'embedder' | 'log'> & Pick<MakingDeps, 'settings'>,
): Promise<void> {
  const { index, ledger, log } = deps;
  const marker = await index.marker();
  const mine = markerOf(deps);
  if (sameMarker(marker, mine)) return;
  if (marker !== null) {
    log.warn({ index: marker, expected: mine }, 'the index was built from other data; rebuilding it from the ledger');
    await index.clear();
  }
  const count = (await ledger.outbox.refill()) + (await ledger.graph.refill());
  await index.stamp(mine);
  if (count > 0) log.info({ count }, 'the index is being filled from the ledger');
}

/** Goes up whenever other points are made of the same ledger: an index made with another number has to be rebuilt. */
const POINTS_VERSION = 4;

interface Maker {
  readonly ledger: Pick<Ledger, 'id'>;
  readonly embedder: Pick<Embedder, 'fingerprint'>;
  readonly settings: { readonly messagesInIndex: MessagesInIndex };
}

/** Whose projection an index has to be to be believed: of this ledger, in this vector space, with these messages in it. */
export const markerOf = ({ ledger, embedder, settings }: Maker): IndexMarker => ({
  ledgerId: ledger.id,
  fingerprint: `${embedder.fingerprint}, messages ${settings.messagesInIndex}, points ${POINTS_VERSION}`,
});

export const sameMarker = (found: IndexMarker | null, wanted: IndexMarker): boolean =>
  found?.ledgerId === wanted.ledgerId && found.fingerprint === wanted.fingerprint;

import type { EngineDeps } from './deps.ts';
import { EngineError } from './errors.ts';
import { pointsInLane } from './graph/project.ts';
import { ownerBitsOf } from './ids.ts';
import { withoutVectors } from './models/embed.ts';
import type { BundleStore } from './ports/ledger/bundles.ts';
import type { GraphItem } from './ports/ledger/graph.ts';
import type { BatchPoints, ColdStore, IdleOwner, Oldest, Segment, StandingOwner } from './ports/ledger/owners-away.ts';
import type { IndexPoint } from './ports/search-index.ts';
import type { SegmentContent, SegmentStore } from './ports/segments.ts';
import { type Cancellation, portionsOf } from './ports/tools.ts';
import { type MakingDeps, makePoints } from './projection/make-points.ts';
import { markerOf, sameMarker } from './projection/project.ts';
import { limits } from './retention/retain.ts';
import type { TenantSettings } from './settings.ts';
import { DAY_MS } from './text/dates.ts';
import type { LaneId, Millis } from './words.ts';

export type ColdDeps = Pick<EngineDeps, 'ledger' | 'index' | 'tools' | 'log' | 'embedder'> &
  MakingDeps & {
    readonly cold: ColdStore;
    readonly bundles: BundleStore;
    readonly segments: SegmentStore;
    /** Of one transaction. Missing: as long as others can wait for it. */
    readonly linesAtOnce?: number;
  };

type Cooled =
  | { readonly kind: 'cooled'; readonly name: string }
  /** Something is left to do, was just written, or there is too much. */
  | { readonly kind: 'kept' };

/** Rows of one kind that go in one transaction. */
const ROWS = 200;

/**
 * Lays an owner to sleep: all of it is written to a segment and read again before anything goes, and nothing goes if something was written
 * to the owner meanwhile. Stopped anywhere, the sweep goes on: a segment that nobody cooled is deleted, and rows that were going go.
 */
export async function coolOwner(deps: ColdDeps, owner: IdleOwner, cancel: Cancellation): Promise<Cooled> {
  const { cold, segments, tools, ledger } = deps;
  const standing = await cold.standing(owner.lane);
  if (standing === null) return { kind: 'kept' };
  const { rules } = await ledger.settings.terms(owner.tenant);
  if (isDue(standing.oldest, rules, tools.now())) return { kind: 'kept' };
  const content = await segmentOf(deps, standing, cancel);
  if (content === null) return { kind: 'kept' };
  const name = tools.id('seg');
  const { tenant, lane, memories, oldest } = standing;
  const lastSum = sumOf(content.lines.at(-1));
  const bits = ownerBitsOf(tools, standing);
  const lines = content.lines.length;
  await cold.note({ name, tenant, lane, bits, memories, oldest, lines, lastSum }, tools.now());
  const bytes = await segments.put(name, content);
  if (!(await cold.cool(name, { stamp: standing.stamp, bytes, now: tools.now() }))) {
    await cold.drop(name, tools.now());
    return { kind: 'kept' };
  }
  await removeRows(deps, { ...standing, name }, cancel);
  return { kind: 'cooled', name };
}

/** The checksum that ends a line. */
const sumOf = (line: string | undefined): string => (JSON.parse(line ?? '{"sum":""}') as { sum: string }).sum;

/** What is in the segment goes out of the ledger and the index. */
async function removeRows(
  { cold, index, tools }: Pick<ColdDeps, 'cold' | 'index' | 'tools'>,
  { name, ...of }: Pick<Segment, 'name' | 'tenant' | 'owner' | 'lane'>,
  cancel: Cancellation,
): Promise<void> {
  await index.forget(of);
  for (let more = true; more; ) {
    if (cancel.aborted) return;
    ({ more } = await cold.slice(name, ROWS, tools.now()));
  }
}

/** Whether retention has something to do, by the oldest of each kind. */
function isDue(oldest: Oldest, rules: Pick<TenantSettings, 'retention' | 'forgetting'>, now: Millis): boolean {
  const before = limits(rules, now);
  const isOld = (at: Millis | null, limit: Millis | null): boolean => at !== null && limit !== null && at < limit;
  return (
    isOld(oldest.messages, before.messages) ||
    isOld(oldest.plans, before.plans) ||
    isOld(oldest.history, before.history) ||
    isOld(oldest.forgotten, before.forgotten) ||
    isOld(oldest.memories, before.unchanged)
  );
}

/** Characters of an owner's lines. One with more would fill the memory of whoever wakes it, and stays awake. */
const LINES_MAX = 64_000_000;
/** Memories, batches, entities or relations whose points are made at a time. */
const SLICE = 100;
/** Points whose vectors are read at a time. */
const VECTORS = 500;
/** Of what comes back batches, entities and relations begin anew: whatever is written of them later is newer than this. */
const FIRST_REVISION = 1;

/** All of an owner, read in parts. null: it changes, is gone, or is too large; `cool` finds out what was written after its stamp. */
async function segmentOf(
  deps: ColdDeps,
  standing: StandingOwner,
  cancel: Cancellation,
): Promise<SegmentContent | null> {
  const lines = await linesOf(deps, standing);
  if (lines === null) return null;
  const { points, told } = await pointsOf(deps, { standing, ids: idsByType(lines) }, cancel);
  return { lines, points, told, space: markerOf(deps).fingerprint };
}

async function linesOf(
  { bundles }: Pick<ColdDeps, 'bundles'>,
  { tenant, owner }: StandingOwner,
): Promise<readonly string[] | null> {
  const lines: string[] = [];
  let characters = 0;
  let cursor: string | null = null;
  do {
    const page = await bundles.lines(tenant, owner, { cursor, moving: false });
    if (page.kind !== 'page') return null;
    for (const line of page.lines) {
      lines.push(line);
      characters += line.length;
    }
    if (characters > LINES_MAX) return null;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return lines;
}

type Ids = ReadonlyMap<string, readonly string[]>;

function idsByType(lines: readonly string[]): Ids {
  const wanted = new Set(['batch', 'memory', 'entity', 'relation']);
  const parsed = lines.map((line) => JSON.parse(line) as { readonly type: string; readonly id: string });
  const named = parsed.filter(({ type }) => wanted.has(type));
  return new Map([...Map.groupBy(named, ({ type }) => type)].map(([type, of]) => [type, of.map(({ id }) => id)]));
}

/** Made without a model: their vectors are those that the index has. */
async function pointsOf(
  given: ColdDeps,
  { standing: { tenant, lane }, ids }: { readonly standing: StandingOwner; readonly ids: Ids },
  cancel: Cancellation,
): Promise<Pick<SegmentContent, 'points' | 'told'>> {
  const deps = { ...given, ...withoutVectors(given) };
  const { ledger } = deps;
  const idsOf = (type: string): (readonly string[])[] => portionsOf(ids.get(type) ?? [], SLICE);
  const points = new Map<string, IndexPoint>();
  const add = (made: readonly IndexPoint[]): void => {
    for (const point of made) points.set(`${point.shelf} ${point.memoryId} ${point.version}`, point);
  };
  const told: BatchPoints[] = [];
  for (const some of idsOf('memory')) {
    const memories = await ledger.memories.many(tenant, some);
    add((await makePoints(deps, { tenant, lane, memories, batches: [] }, cancel)).points);
  }
  for (const some of idsOf('batch')) {
    const batches = await ledger.speech.batches(some);
    const made = await makePoints(deps, { tenant, lane, memories: [], batches }, cancel);
    add(made.points);
    told.push(...made.projected.map(({ id, points: count }) => ({ id, points: count })));
  }
  for (const some of idsOf('entity')) {
    const entities = await ledger.graph.entities(tenant, some);
    add(await graphPoints(entities.map((entity) => ({ kind: 'entity', entity }))));
  }
  for (const some of idsOf('relation')) {
    const relations = await ledger.graph.relations(tenant, some);
    add(await graphPoints(relations.map((relation) => ({ kind: 'relation', relation }))));
  }
  async function graphPoints(items: readonly GraphItem[]): Promise<readonly IndexPoint[]> {
    return (await pointsInLane(deps, { lane, items }, cancel)).points;
  }
  return { points: await withVectors(given, [...points.values()].map(revised)), told };
}

const revised = (point: IndexPoint): IndexPoint =>
  point.shelf === 'memories' ? point : { ...point, revision: FIRST_REVISION };

async function withVectors(
  { index, embedder }: Pick<ColdDeps, 'index' | 'embedder'>,
  points: readonly IndexPoint[],
): Promise<readonly IndexPoint[]> {
  const none = new Float32Array(embedder.dimensions);
  const full: IndexPoint[] = [];
  for (const some of portionsOf(points, VECTORS)) {
    const vectors = await index.vectors(some);
    full.push(...some.map((point, i) => ({ ...point, vector: vectors[i] ?? none })));
  }
  return full;
}

/** Lines that are stored in one transaction: as long as others can wait for it. */
const LINES = 2_000;
/** Points that go to the index together. */
const POINTS = 200;

/**
 * Has an owner back as it was: nobody sees anything of it until all is there, and searches find it from then on. Can be done again, by
 * anybody, at any time: it goes on where it was. false: it is not asleep, or is being erased.
 */
export async function wakeOwner(deps: ColdDeps, name: string, cancel: Cancellation): Promise<boolean> {
  const { cold, index, log } = deps;
  const segment = await cold.get(name);
  if (segment === null || segment.state === 'dropped' || segment.state === 'written') return false;
  if (segment.state === 'cooling') await removeRows(deps, segment, cancel);
  const content = await segmentContent(deps, segment);
  const told = (await tellIndex(deps, content)) ? content.told : null;
  const woke =
    (await restored(deps, segment, { content, told })) || (await takenBack(deps, segment, { content, told }));
  if (woke) log.info({ segment: name, memories: segment.memories }, 'an owner woke');
  // Erased by now: whoever erases it may have passed the index already. Or awake thanks to somebody else, who has told the index the same.
  else if (!(await deps.ledger.erasures.standing(segment.lane))) await index.forget(segment);
  return woke;
}

interface Waking {
  readonly content: SegmentContent;
  readonly told: SegmentContent['told'] | null;
}

/** Of most owners all lines go in one transaction. */
async function restored(
  { cold, tools, linesAtOnce = LINES }: ColdDeps,
  { name, state }: Segment,
  { content: { lines }, told }: Waking,
): Promise<boolean> {
  if (state === 'waking' || lines.length > linesAtOnce) return false;
  return (await cold.restore(name, { lines, told, now: tools.now() })) === 'woken';
}

/** Some lines at a time, from where somebody else has stopped. */
async function takenBack(deps: ColdDeps, { name }: Segment, { content, told }: Waking): Promise<boolean> {
  const { cold, tools } = deps;
  const begun = await cold.wake(name, tools.now());
  if (begun === null || !(await takeLines(deps, { name, content, from: begun.taken }))) return false;
  return cold.woken(name, { told, now: tools.now() });
}

/** The content of a segment that an owner needs. Throws where it is not there. */
export async function segmentContent(
  { segments }: Pick<ColdDeps, 'segments'>,
  { name, lines }: Pick<Segment, 'name' | 'lines'>,
): Promise<SegmentContent> {
  const content = await segments.get(name);
  if (content?.lines.length === lines) return content;
  const got = content === null ? 'none' : `${content.lines.length}`;
  throw new EngineError(
    `expected the segment ${name} with ${lines} lines, got ${got}; restore it from the backup of the segments, or erase its owner`,
    { code: 'segment_unavailable', retryable: true },
  );
}

async function takeLines(
  { bundles, linesAtOnce = LINES }: ColdDeps,
  {
    name,
    content: { lines },
    from,
  }: { readonly name: string; readonly content: SegmentContent; readonly from: number },
): Promise<boolean> {
  for (let taken = from; taken < lines.length; ) {
    const step = await bundles.take(name, taken, lines.slice(taken, taken + linesAtOnce));
    if (step.kind === 'gone') return false;
    if (step.kind === 'damaged' || step.kind === 'refused') {
      const what = step.kind === 'damaged' ? `expected the checksum ${step.expected}, got ${step.got}` : step.problem;
      throw new EngineError(`line ${step.line} of the segment ${name} cannot be stored: ${what}`, {
        code: 'segment_unavailable',
        retryable: false,
      });
    }
    taken = step.taken;
  }
  return true;
}

/** Before anybody searches the index for it. false: its vectors are those of another embedder, and it is embedded anew. */
async function tellIndex({ index }: Pick<ColdDeps, 'index'>, { points, space }: SegmentContent): Promise<boolean> {
  if ((await index.marker())?.fingerprint !== space) return false;
  for (const some of portionsOf(points, POINTS)) await index.upsert(some);
  return true;
}

interface SweepingCold {
  /** Of nothing written, until an owner is laid to sleep; null: nobody is, unless somebody asks for it. */
  readonly afterMs: Millis | null;
  /** So long the object of an owner that woke stays, for backups of the ledger from before. */
  readonly keepMs: Millis;
}

/** Longer than anybody takes to write a segment and lay its owner to sleep. */
const WRITTEN_MS = 3_600_000;
/** Whoever began to cool or to wake is dead, or very slow; both can be done twice. */
const STOPPED_MS = 60_000;
const PAGE = 100;

/** What is left of what was stopped goes on, retention wakes whom it concerns, and who was silent for long enough goes to sleep. */
export async function sweepCold(deps: ColdDeps, how: SweepingCold, cancel: Cancellation): Promise<void> {
  const { cold, tools } = deps;
  const now = tools.now();
  for (const segment of await cold.since('cooling', now - STOPPED_MS, PAGE)) await removeRows(deps, segment, cancel);
  for (const { name } of await cold.since('waking', now - STOPPED_MS, PAGE))
    await tried(deps, name, () => wakeOwner(deps, name, cancel));
  for (const { name } of await cold.since('written', now - WRITTEN_MS, PAGE)) await deleteSegment(deps, name);
  for (const { name } of await cold.since('dropped', now - how.keepMs, PAGE)) await deleteSegment(deps, name);
  await wakeForRetention(deps, cancel);
  if (how.afterMs !== null) await coolIdle(deps, now - how.afterMs, cancel);
}

/** The object first: while there is one, there is a row. */
export async function deleteSegment(
  { cold, segments }: { readonly cold: Pick<ColdStore, 'forget'>; readonly segments: Pick<SegmentStore, 'delete'> },
  name: string,
  erasure: string | null = null,
): Promise<void> {
  await segments.delete(name);
  await cold.forget(name, erasure);
}

/** At most once a day: whoever is asleep for less is looked at tomorrow. */
async function wakeForRetention(deps: ColdDeps, cancel: Cancellation): Promise<void> {
  const { cold, tools, ledger } = deps;
  const now = tools.now();
  let after: string | null = null;
  for (let page: readonly Segment[] = [], more = true; more && !cancel.aborted; more = page.length === PAGE) {
    page = await cold.list(null, after, PAGE);
    for (const { name, tenant, oldest, since } of page) {
      if (since > now - DAY_MS || !isDue(oldest, await ledger.settings.get(tenant), now)) continue;
      await tried(deps, name, () => wakeOwner(deps, name, cancel));
    }
    after = page.at(-1)?.name ?? null;
  }
}

/** While the index is not whole, nobody knows what it would have to find. */
async function coolIdle(deps: ColdDeps, before: Millis, cancel: Cancellation): Promise<void> {
  const { cold, ledger, index, log } = deps;
  if (!sameMarker(await index.marker(), markerOf(deps)) || (await ledger.outbox.refilling())) return;
  let cooled = 0;
  let after: LaneId | null = null;
  for (let full = true; full && !cancel.aborted; ) {
    const page = await cold.idle(before, after, PAGE);
    for (const owner of page) {
      if (cancel.aborted) break;
      const done = await tried(deps, owner.lane, () => coolOwner(deps, owner, cancel));
      if (done?.kind === 'cooled') cooled += 1;
    }
    after = page.at(-1)?.lane ?? null;
    full = page.length === PAGE;
  }
  if (cooled > 0) log.info({ owners: cooled }, 'owners were put to sleep');
}

/** One that cannot be done stands before nobody else. */
async function tried<T>({ log }: Pick<ColdDeps, 'log'>, of: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    log.error({ of, error: String(error) }, 'an owner could not be put to sleep or woken; the next sweep will retry');
    return null;
  }
}

import type { EngineDeps } from '../deps.ts';
import { asEngineError, EngineError } from '../errors.ts';
import { spaceIn } from '../ids.ts';
import { asEnded, deletedAt, inEffect, lastSaidAt, liveVersion, newest, newestOrNull } from '../memories/evolve.ts';
import { isRemoved, reads } from '../memories/former.ts';
import { isShared } from '../memories/in-app.ts';
import { embedderAnswers, isLastTry } from '../models/away.ts';
import { askedBy, embedTexts } from '../models/embed.ts';
import type { Candidate, Fact } from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Tombstone, Unindexed } from '../ports/ledger/memories.ts';
import type { IndexQuery } from '../ports/search-index.ts';
import { askedInSlices, type Cancellation, inSlices, type Sliced, type Tools } from '../ports/tools.ts';
import { NOTHING_SAID, pointsOf, textsOf, vectorTextsOfMessages } from '../projection/make-points.ts';
import { markerOf, sameMarker } from '../projection/project.ts';
import { scan } from '../search/hits.ts';
import { normaliseText } from '../text/normalise.ts';
import { terms } from '../text/terms.ts';
import { saysChange } from '../text/wording.ts';
import { type Memory, type Millis, saidBefore } from '../words.ts';
import type { Extracted, Recalled } from './consolidate.ts';
import { isWishToForget } from './extract/rules.ts';
import { isProcedure, PROCEDURAL } from './extract.ts';
import {
  askIndex,
  askIndexInApp,
  isNear,
  knownTo,
  type Neighbour,
  nearEachOther,
  nearest,
  ownAppOf,
  ownTombstones,
  pairNear,
} from './nearest.ts';

/** Finds for each fact the owner's nearest memories, those the index does not have yet included. */
export async function recall(deps: EngineDeps, extracted: Extracted, cancel: Cancellation): Promise<Recalled> {
  const { facts, turn } = extracted;
  if (facts.length === 0) return { ...extracted, ...NOTHING };
  await believeIndex(deps);
  const passing = messageTexts(deps, extracted);
  const texts = facts.map((fact) => fact.text);
  // Read before the index is asked: what is projected in between is then seen twice, never not at all.
  const [vectorOf, unindexed] = await Promise.all([
    vectorsFor(deps, { turn, texts, passing }, cancel),
    unindexedFor(deps, extracted),
  ]);
  const neighbours = await neighboursOf(deps, { extracted, vectorOf, unindexed: unindexed.memories, cancel });
  const { memories, shared } = await memoriesOf(deps, turn, neighbours);
  const candidates = candidatesOf(facts, neighbours, memories);
  const ground = { candidates, memories, near: pairNear(vectorOf, deps.settings.near) };
  return {
    ...extracted,
    // What has none so far is asked for again where it is projected.
    vectors: new Map(
      [...texts, ...passing].map((text) => [text, vectorOf(text)] as const).filter(([, vector]) => askedBy(vector)),
    ),
    candidates,
    memories,
    shared,
    repeats: await repeatsAmong(deps, facts, ground),
    tombstones: await laterDeletions(deps, extracted, unindexed.tombstones),
    undecided: await isUndecided(deps, facts, ground),
  };
}

const NOTHING = {
  candidates: [],
  memories: new Map(),
  shared: new Set<string>(),
  repeats: new Map(),
  tombstones: new Map(),
  undecided: false,
};

/** An index that lost its data would make known things look new. */
async function believeIndex(deps: EngineDeps): Promise<void> {
  const marker = await deps.index.marker();
  const mine = markerOf(deps);
  if (sameMarker(marker, mine)) return;
  const got = marker === null ? 'an empty one' : `one of ledger ${marker.ledgerId} for ${marker.fingerprint}`;
  throw new EngineError(
    `expected the index of ledger ${mine.ledgerId} for ${mine.fingerprint}, got ${got}; it is rebuilt at the next start`,
    { code: 'index_unavailable', retryable: true },
  );
}

/**
 * Embedded with the facts, in one call: nobody waits for another one when the messages are projected, and the last one before
 * them once more.
 */
const messageTexts = ({ settings }: EngineDeps, { turn, messages, recent }: Extracted): readonly string[] =>
  settings.messagesInIndex === 'hybrid' && spaceIn(turn.tenant) === null
    ? vectorTextsOfMessages([...recent.slice(-1), ...messages.filter(({ batchId }) => turn.batchIds.includes(batchId))])
    : [];

/** Facts that a rule may decide: nothing but repeats of what is there. */
async function repeatsAmong(
  { tools }: EngineDeps,
  facts: readonly Fact[],
  ground: Ground,
): Promise<Recalled['repeats']> {
  const remembered = facts.filter((fact) => !isWishToForget(fact));
  const repeats = await inSlices(tools, repeatsOf(remembered, ground.candidates, ground.memories));
  return inSlices(tools, undisputed(facts, repeats, ground));
}

/** Whether there is anything for a model to decide. */
async function isUndecided({ tools, settings }: EngineDeps, facts: readonly Fact[], ground: Ground): Promise<boolean> {
  const { candidates, near } = ground;
  // What somebody wants forgotten need not share a word with the wish: whatever was recalled is looked at.
  if (candidates.length > 0 && facts.some(isWishToForget)) return true;
  // Nor need what ended share one with what it became, be it remembered or said beside it.
  if (candidates.length + facts.length > 1 && facts.some(({ text }) => saysChange(text))) return true;
  if (candidates.some(({ recalledBy }) => recalledBy.some((scores) => isNear(scores, settings.near)))) return true;
  return inSlices(tools, nearEachOther(facts, near));
}

/**
 * Each leg brings more than is kept: what is twelfth in both legs may well be among the nearest ten of both together.
 * A memory to update is missed half as often as with equal limits; more than three times as many change nothing.
 */
const LEG_FACTOR = 3;

interface Recalling {
  readonly extracted: Extracted;
  readonly vectorOf: (text: string) => Float32Array;
  readonly unindexed: readonly Memory[];
  readonly cancel: Cancellation;
}

/** Per fact its nearest memories, nearest first, each once. */
async function neighboursOf(deps: EngineDeps, recalling: Recalling): Promise<ReadonlyMap<string, Neighbour[]>> {
  const { extracted, vectorOf, unindexed, cancel } = recalling;
  const { tenant, lane, owner } = extracted.turn;
  const limit = deps.settings.recallPerFact;
  const queries: IndexQuery[] = [];
  for (const fact of extracted.facts) {
    queries.push({
      tenant,
      owner,
      lane,
      shelf: 'memories',
      filter: {},
      visibility: { kind: 'live_or_said_after', after: fact.saidAt },
      vector: askedBy(vectorOf(fact.text)),
      terms: terms(fact.text),
      where: null,
      wide: false,
      limit: limit * LEG_FACTOR,
    });
    await deps.tools.breathe();
  }
  const appId = ownAppOf(extracted.turn);
  const indexed = await (appId === null
    ? askIndex(deps, queries)
    : askIndexInApp(deps, { tenant, lane, queries, appId }));
  const behind = knownTo(appId, unindexed);
  const texts = behind.flatMap(textsOf);
  const behindVector = behind.length === 0 ? vectorOf : await vectorsFor(deps, { turn: extracted.turn, texts }, cancel);
  const points = behind.flatMap((memory) => pointsOf(memory, { vectorOf: behindVector, said: NOTHING_SAID }));
  const overtaken = new Set(unindexed.map((memory) => memory.id));
  const neighbours = new Map<string, Neighbour[]>();
  for (const [i, fact] of extracted.facts.entries()) {
    const hits = (indexed[i] ?? []).filter((hit) => !overtaken.has(hit.point.memoryId));
    const query = queries[i];
    const fresh = query === undefined ? [] : scan(points, query);
    neighbours.set(fact.id, nearest(fact.text, [...hits, ...fresh], deps.settings));
    await deps.tools.breathe();
  }
  return neighbours;
}

async function unindexedFor({ ledger, tools }: EngineDeps, { turn, facts }: Extracted): Promise<Unindexed> {
  const textHashes = [...new Set(facts.map((fact) => hashOf(tools, fact)))];
  const { memories, tombstones } = await ledger.memories.unindexed(turn.lane, {
    forgottenSince: earliestOf(facts),
    textHashes,
  });
  return { memories: memories.map(asEnded), tombstones };
}

const hashOf = (tools: Tools, { text }: Fact): string => tools.hash(normaliseText(text));

const earliestOf = (facts: readonly Fact[]): Millis => Math.min(...facts.map(({ saidAt }) => saidAt.at));

/**
 * Some text may be one on which the embedder fails every time, though it answers others: the last try of a batch goes by words
 * alone. What somebody said is remembered, and nothing said before parks what is said now; the sweep finds the text at fault.
 */
async function vectorsFor(
  deps: EngineDeps,
  { turn, texts, passing = [] }: { turn: Turn; texts: readonly string[]; passing?: readonly string[] },
  cancel: Cancellation,
): Promise<(text: string) => Float32Array> {
  try {
    return await embedTexts(deps, { lane: turn.lane, texts, passing }, cancel);
  } catch (error) {
    const { code, message, countsAsTry } = asEngineError(error);
    const mayBeOfTexts = countsAsTry && !cancel.aborted && (await isLastTry(deps, turn));
    if (!mayBeOfTexts || !(await embedderAnswers(deps, cancel))) throw error;
    deps.log.warn(
      { lane: turn.lane, code, error: message },
      'no vectors for a batch; it is consolidated by keywords only',
    );
    const none = new Float32Array(deps.embedder.dimensions);
    return () => none;
  }
}

/** The memories behind what was found, as the ledger has them now, by id. */
async function memoriesOf(
  { ledger, tools }: EngineDeps,
  turn: Turn,
  neighbours: ReadonlyMap<string, readonly Neighbour[]>,
): Promise<Pick<Recalled, 'memories' | 'shared'>> {
  const ids = [...new Set([...neighbours.values()].flat().map((neighbour) => neighbour.memoryId))];
  const { tenant, lane } = turn;
  const all = await askedInSlices(tools, ids, (some) => ledger.memories.many(tenant, some));
  // The index is asked for this lane alone; what is shown of a memory is the ledger's word, and so is whose it is.
  const appId = ownAppOf(turn);
  const own = knownTo(appId, all).filter((memory) => memory.lane === lane && isSaid(memory));
  const shared = appId === null ? [] : all.filter((memory) => isShared(memory, appId));
  return { memories: new Map(own.map((memory) => [memory.id, memory])), shared: new Set(shared.map(({ id }) => id)) };
}

/** What is undone as a whole was never said, and what retention has emptied says nothing, also where the index does not know it yet. */
function isSaid(memory: Memory): boolean {
  const version = newestOrNull(memory);
  return version !== null && !isRemoved(version);
}

/** The union of all neighbours as the ledger has them now, numbered for the model in the order of the facts. */
function candidatesOf(
  facts: readonly Fact[],
  neighbours: ReadonlyMap<string, readonly Neighbour[]>,
  memories: ReadonlyMap<string, Memory>,
): readonly Candidate[] {
  const candidates = new Map<string, Omit<Candidate, 'shortId'>>();
  for (const fact of facts) {
    for (const { memoryId, vector, keyword } of neighbours.get(fact.id) ?? []) {
      const memory = memories.get(memoryId);
      if (memory === undefined || isPast(memory, fact) || isOtherKind(memory, fact)) continue;
      const known = candidates.get(memoryId) ?? candidateOf(memory);
      candidates.set(memoryId, {
        ...known,
        recalledBy: [...known.recalledBy, { fact: fact.id, vector: shortened(vector), keyword: shortened(keyword) }],
      });
    }
  }
  return [...candidates.values()].map((candidate, i) => ({ ...candidate, shortId: String(i) }));
}

/** Plans keep scores for people to look at, and for limits of two digits. */
const shortened = (score: number | null): number | null => (score === null ? null : Number(score.toPrecision(5)));

/** Procedures are never merged with facts. */
const isOtherKind = (memory: Memory, fact: Fact): boolean => isProcedure(memory) !== (fact.category === PROCEDURAL);

/** Deleted before the fact was said: what is said anew is new. */
function isPast(memory: Memory, fact: Fact): boolean {
  const deleted = deletedAt(memory);
  return deleted !== null && !saidBefore(fact.saidAt, deleted);
}

function candidateOf(memory: Memory): Omit<Candidate, 'shortId'> {
  const version = newest(memory);
  return {
    memoryId: memory.id,
    version: version.number,
    revision: memory.revision,
    text: version.text,
    // What was said once more since is not older than a fact said in between.
    saidAt: lastSaidAt(memory),
    ...(version.details.utcOffset !== undefined && { utcOffset: version.details.utcOffset }),
    standing: deletedAt(memory) === null ? 'live' : 'deleted',
    immutable: version.details.immutable,
    recalledBy: [],
  };
}

/** Later deletions of exactly what the facts say, by fact. */
async function laterDeletions(
  { ledger, tools }: EngineDeps,
  { turn, facts }: Extracted,
  tombstones: readonly Tombstone[],
): Promise<Map<string, Tombstone>> {
  const stones = await ownTombstones(ledger, { turn, stones: tombstones });
  if (stones.length === 0) return new Map();
  return new Map(
    facts.flatMap((fact) => {
      const hash = hashOf(tools, fact);
      const later = stones.find((stone) => stone.textHash === hash && saidBefore(fact.saidAt, stone.deletedAt));
      return later === undefined ? [] : [[fact.id, later] as const];
    }),
  );
}

/** What a fact repeats word for word: a memory, or an earlier fact. */
export type Repeat =
  | { readonly kind: 'memory'; readonly memoryId: string }
  | { readonly kind: 'fact'; readonly fact: string };

/** Facts that need no decision, because the same words are there already, in a version or in an earlier fact. */
export function* repeatsOf(
  facts: readonly Fact[],
  candidates: readonly Candidate[],
  memories: ReadonlyMap<string, Memory>,
): Sliced<ReadonlyMap<string, Repeat>> {
  const recalled = candidatesByFact(candidates);
  const repeats = new Map<string, Repeat>();
  const firstWith = new Map<string, string>();
  for (const fact of facts) {
    const words = normaliseText(fact.text);
    const saying = (recalled.get(fact.id) ?? []).filter(({ memoryId }) => says(memories.get(memoryId), words));
    // One that holds goes before one that once did: else the fact would change that one into a second of the first.
    const memory = saying.find((candidate) => holds(memories.get(candidate.memoryId), words)) ?? saying[0];
    const earlier = firstWith.get(words);
    if (memory !== undefined) repeats.set(fact.id, { kind: 'memory', memoryId: memory.memoryId });
    else if (earlier !== undefined) repeats.set(fact.id, { kind: 'fact', fact: earlier });
    if (earlier === undefined) firstWith.set(words, fact.id);
    yield;
  }
  return repeats;
}

/** What was recalled for each fact, in the order in which it is shown. */
export function candidatesByFact(candidates: readonly Candidate[]): ReadonlyMap<string, readonly Candidate[]> {
  const byFact = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const { fact } of candidate.recalledBy) byFact.set(fact, [...(byFact.get(fact) ?? []), candidate]);
  }
  return byFact;
}

interface Ground {
  readonly candidates: readonly Candidate[];
  readonly memories: ReadonlyMap<string, Memory>;
  /** Whether two facts may be about the same. */
  near(one: Fact, other: Fact): boolean;
}

/**
 * Repeats that a rule may decide; the others are for the model to decide. Something near that was said since may have
 * ended what is repeated, so that it begins anew. And what was said before its memory began may belong to another one
 * that is gone.
 */
export function* undisputed(
  facts: readonly Fact[],
  repeats: ReadonlyMap<string, Repeat>,
  ground: Ground,
): Sliced<ReadonlyMap<string, Repeat>> {
  const recalled = candidatesByFact(ground.candidates);
  const ruled = new Map<string, Repeat>();
  const open: Fact[] = [];
  for (const fact of facts) {
    const repeat = repeats.get(fact.id);
    const candidates = recalled.get(fact.id) ?? [];
    if (repeat !== undefined && !isDisputed(fact, repeat, { ...ground, candidates, open })) ruled.set(fact.id, repeat);
    else open.push(fact);
    yield;
  }
  return ruled;
}

/** `candidates`: those of the fact. */
function isDisputed(fact: Fact, repeat: Repeat, ground: Ground & { readonly open: readonly Fact[] }): boolean {
  const { open, near, memories, candidates } = ground;
  if (repeat.kind === 'fact') {
    const first = open.findIndex(({ id }) => id === repeat.fact);
    return open.slice(first + 1).some((between) => near(between, fact));
  }
  const memory = memories.get(repeat.memoryId);
  if (memory === undefined) return true;
  const since = open.filter(({ saidAt }) => saidBefore(lastSaidAt(memory), saidAt));
  const isBegun = inEffect(memory.timeline).some(({ saidAt }) => !saidBefore(fact.saidAt, saidAt));
  const others = candidates.filter(({ memoryId }) => memoryId !== memory.id);
  const isLate = !isBegun && others.some(({ standing }) => standing === 'deleted');
  return isLate || since.some((between) => near(between, fact));
}

/** Former versions count: what is said of an earlier time confirms what held then. */
const says = (memory: Memory | undefined, words: string): boolean =>
  memory?.versions.some((version) => reads(version, words)) ?? false;

function holds(memory: Memory | undefined, words: string): boolean {
  const live = memory === undefined ? null : liveVersion(memory);
  return live !== null && normaliseText(live.text) === words;
}

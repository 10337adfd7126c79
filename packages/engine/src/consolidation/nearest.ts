import type { EngineDeps, NearThresholds } from '../deps.ts';
import { inApp } from '../memories/in-app.ts';
import type { Fact } from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import type { IndexHit, IndexQuery } from '../ports/search-index.ts';
import { askedInSlices, type Sliced } from '../ports/tools.ts';
import { queriesInApp, toldTo } from '../search/beyond.ts';
import { cosine, type FusedHit, fuse } from '../search/hits.ts';
import { readHit } from '../search/read-text.ts';
import { topicsIn } from '../search/traits.ts';
import { factTerms } from '../text/claims.ts';
import { normaliseText, sharedBeginning } from '../text/normalise.ts';
import { once, overlap, withoutFrame } from '../text/terms.ts';
import type { LaneId, Memory, TenantId } from '../words.ts';

/** One memory near a fact, with the raw scores that found it. */
export interface Neighbour {
  readonly memoryId: string;
  readonly vector: number | null;
  readonly keyword: number | null;
}

/** The memories nearest to a fact's text, nearest first, each once. */
export function nearest(
  text: string,
  hits: readonly IndexHit[],
  { recallPerFact, vectors }: Pick<EngineDeps['settings'], 'recallPerFact' | 'vectors'>,
): Neighbour[] {
  const best = new Map<string, IndexHit>();
  for (const hit of byWordsAndTopics(text, fuse(hits, { mode: 'hybrid', vectors }))) {
    if (!best.has(hit.point.memoryId)) best.set(hit.point.memoryId, hit);
  }
  const kept = withAlike(text, [...best.values()], recallPerFact);
  return kept.map(({ point, vectorScore, keywordScore }) => ({
    memoryId: point.memoryId,
    vector: vectorScore,
    keyword: keywordScore,
  }));
}

/** What a fact changes often shares no word with it, but what both are about: "became a teacher" and "works as a nurse". */
const TOPICS = 0.3;

function byWordsAndTopics(text: string, found: readonly FusedHit[]): readonly IndexHit[] {
  const hits = found.map(({ hit }) => hit);
  const { topics } = topicsIn({ text }, hits.map(readHit));
  const sums = found.map(({ score }, i) => score + TOPICS * (topics[i] ?? 0));
  const order = sums.map((_, i) => i).sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b);
  return order.flatMap((i) => hits[i] ?? []);
}

/** One place in so many is for what begins like the fact, and is not among the nearest. */
const PLACES_PER_ALIKE = 5;
/** The share of the fact's text that has to be the same. */
const ALIKE_LEAST = 1 / 3;

/**
 * What changes begins as it did: "Ann Lee works as a nurse" replaces "Ann Lee works as a cook". Among many thousands of memories it
 * falls behind all the others who are nurses: then the new words are rarer than those that both have.
 */
function withAlike(text: string, hits: readonly IndexHit[], places: number): readonly IndexHit[] {
  const nearest = hits.slice(0, places - Math.floor(places / PLACES_PER_ALIKE));
  const said = wordingOf(text);
  const alike = hits
    .slice(nearest.length)
    .map((hit) => ({ hit, shared: sharedBeginning(said, wordingOf(hit.point.text)) }))
    .filter(({ shared }) => shared >= ALIKE_LEAST * said.length)
    .sort((a, b) => b.shared - a.shared);
  return [...new Set([...nearest, ...alike.map(({ hit }) => hit).slice(0, places - nearest.length), ...hits])].slice(
    0,
    places,
  );
}

/** Any two facts about a user begin alike. */
const wordingOf = (text: string): string => normaliseText(withoutFrame(text));

/** Close enough on either leg that only a decision can say what the fact does to the memory. */
export const isNear = (
  scores: { readonly vector: number | null; readonly keyword: number | null },
  near: NearThresholds,
): boolean => (scores.vector ?? 0) >= near.vector || (scores.keyword ?? 0) >= near.keyword;

/** Facts of one consolidation beyond which comparing each with each is not worth the time: they are simply decided. */
const PAIRS_MAX_FACTS = 200;

/** Whether two of the facts might be about the same thing. */
export function* nearEachOther(facts: readonly Fact[], isPairNear: PairNear): Sliced<boolean> {
  if (facts.length > PAIRS_MAX_FACTS) return true;
  for (const [i, one] of facts.entries()) {
    if (facts.slice(i + 1).some((other) => isPairNear(one, other))) return true;
    yield;
  }
  return false;
}

/** Whether two facts might be about the same thing; what they are compared by is worked out once for each. */
type PairNear = (one: Fact, other: Fact) => boolean;

export function pairNear(vectorOf: (text: string) => Float32Array, near: NearThresholds): PairNear {
  const comparable = once(({ text }: Fact) => ({ vector: vectorOf(text), terms: factTerms(text) }));
  return (one, other) => {
    const [a, b] = [comparable(one), comparable(other)];
    return cosine(a.vector, b.vector) >= near.pair || overlap(a.terms, b.terms) >= near.overlap;
  };
}

/** The app to which a batch of its key is kept: it must neither show nor change what only others were told. null: to none. */
export const ownAppOf = ({ settings, scope }: Turn): string | null =>
  settings.ownAppOnly === true ? scope.appId : null;

/** Memories as an app knows them, where a batch is kept to one. */
export const knownTo = (appId: string | null, memories: readonly Memory[]): readonly Memory[] =>
  appId === null ? memories : memories.flatMap((memory) => inApp(memory, appId) ?? []);

type Hits = readonly IndexHit[];

export const askIndex = (
  { tools, index }: Pick<EngineDeps, 'tools' | 'index'>,
  queries: readonly IndexQuery[],
): Promise<readonly Hits[]> => askedInSlices(tools, queries, index.search);

interface Asking {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly queries: readonly IndexQuery[];
  readonly appId: string;
}

/** The same by what one app was told, and nothing else: last of each memory, or after the fact. */
export async function askIndexInApp(
  deps: Pick<EngineDeps, 'ledger' | 'tools' | 'index'>,
  { tenant, lane, queries, appId }: Asking,
): Promise<readonly Hits[]> {
  const { ledger, tools } = deps;
  const beyond = await ledger.saidIds.beyondIndex(lane, [{ kind: 'app', id: appId }]);
  const asked = queries.map((query) => [...queriesInApp(query, appId, beyond), { ...query, filter: { appId } }]);
  const answers = await askIndex(deps, asked.flat());
  const ids = [...new Set(answers.flat().map(({ point }) => point.memoryId))];
  const memories = await askedInSlices(tools, ids, (some) => ledger.memories.many(tenant, some));
  const isTold = toldTo(appId, memories);
  const perQuery = asked[0]?.length ?? 0;
  return queries.map((_, i) => {
    const hits = answers.slice(i * perQuery, (i + 1) * perQuery).flat();
    return hits.filter(isTold);
  });
}

interface Deletions {
  readonly turn: Turn;
  readonly stones: readonly Tombstone[];
}

/** What was deleted that an app was never told blocks nothing that it says. */
export async function ownTombstones(
  ledger: EngineDeps['ledger'],
  { turn, stones }: Deletions,
): Promise<readonly Tombstone[]> {
  const appId = ownAppOf(turn);
  if (appId === null || stones.length === 0) return stones;
  const memories = await ledger.memories.many(turn.tenant, [...new Set(stones.map(({ memoryId }) => memoryId))]);
  const own = new Set(knownTo(appId, memories).map(({ id }) => id));
  return stones.filter(({ memoryId }) => own.has(memoryId));
}

import type { EngineDeps } from '../../deps.ts';
import { asEngineError } from '../../errors.ts';
import { pointsOf, textsOf } from '../../memories/standing.ts';
import { embedderAnswers, isLastTry } from '../../models/doubt.ts';
import { askedBy, embedTexts } from '../../models/embed.ts';
import type { Turn } from '../../ports/ledger/lanes.ts';
import type { IndexHit, IndexQuery } from '../../ports/search-index.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { NOTHING_SAID } from '../../projection/found-by.ts';
import { fuse, scan } from '../../search/hits.ts';
import { askedInSlices } from '../../slices.ts';
import { terms } from '../../text/terms.ts';
import type { Extracted } from '../values.ts';

/** One memory near a fact, with the raw scores that found it. */
export interface Neighbour {
  readonly memoryId: string;
  readonly vector: number | null;
  readonly keyword: number | null;
}

/**
 * Each leg brings more than is kept: what is twelfth in both legs may well be among the nearest ten of both together.
 * A memory to update is missed half as often as with equal limits; more than three times as many change nothing.
 */
const LEG_FACTOR = 3;

interface Recalling {
  readonly extracted: Extracted;
  readonly vectorOf: (text: string) => Float32Array;
  readonly cancel: Cancellation;
}

/** Per fact its nearest memories, nearest first, each once. */
export async function neighboursOf(deps: EngineDeps, recalling: Recalling): Promise<ReadonlyMap<string, Neighbour[]>> {
  const { extracted, vectorOf, cancel } = recalling;
  const { tenant, lane, owner } = extracted.turn;
  const limit = deps.settings.recallPerFact;
  const queries: IndexQuery[] = [];
  for (const fact of extracted.facts) {
    queries.push({
      tenant,
      owner,
      lane,
      shelf: 'memories',
      filter: appFilter(extracted.turn),
      visibility: { kind: 'live_or_said_after', after: fact.saidAt },
      vector: askedBy(vectorOf(fact.text)),
      terms: terms(fact.text),
      where: null,
      wide: false,
      limit: limit * LEG_FACTOR,
    });
    await deps.tools.breathe();
  }
  // Read before the index is asked: what is projected in between is then seen twice, never not at all.
  const behind = await deps.ledger.memories.unprojected(lane);
  const indexed = await askedInSlices(deps.tools, queries, deps.index.search);
  const texts = behind.flatMap(textsOf);
  const behindVector = behind.length === 0 ? vectorOf : await vectorsFor(deps, { turn: extracted.turn, texts }, cancel);
  const points = behind.flatMap((memory) => pointsOf(memory, { vectorOf: behindVector, said: NOTHING_SAID }));
  const overtaken = new Set(behind.map((memory) => memory.id));
  const neighbours = new Map<string, Neighbour[]>();
  for (const [i, fact] of extracted.facts.entries()) {
    const found = (indexed[i] ?? []).filter((hit) => !overtaken.has(hit.point.memoryId));
    const query = queries[i];
    const fresh = query === undefined ? [] : scan(points, query);
    neighbours.set(fact.id, nearest([...found, ...fresh], limit));
    await deps.tools.breathe();
  }
  return neighbours;
}

/** A batch of a key for one app must neither show nor change what was said to other apps. */
const appFilter = ({ settings, scope }: Turn): IndexQuery['filter'] =>
  settings.ownAppOnly === true && scope.appId !== null ? { appId: scope.appId } : {};

/**
 * Some text may be one on which the embedder fails every time, though it answers others: the last try of a batch goes by words
 * alone. What somebody said is remembered, and nothing said before parks what is said now; the sweep finds the text at fault.
 */
export async function vectorsFor(
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
      'no vectors for a batch; it is consolidated by words alone',
    );
    const none = new Float32Array(deps.embedder.dimensions);
    return () => none;
  }
}

function nearest(hits: readonly IndexHit[], limit: number): Neighbour[] {
  const best = new Map<string, Neighbour>();
  for (const { hit } of fuse(hits, 'hybrid')) {
    const memoryId = hit.point.memoryId;
    if (!best.has(memoryId)) best.set(memoryId, { memoryId, vector: hit.vectorScore, keyword: hit.keywordScore });
  }
  return [...best.values()].slice(0, limit);
}

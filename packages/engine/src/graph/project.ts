import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { embedTexts, withoutVectors } from '../models/embed.ts';
import type { GraphTelling, ToldOfGraph } from '../ports/ledger/graph.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { Searchable } from '../projection/project.ts';
import type { LaneId } from '../words.ts';
import { type GraphPoints, pointsOfGraph, vectorTextsOfGraph } from './points.ts';

export type ProjectGraphDeps = Pick<EngineDeps, 'ledger' | 'index' | 'embedder' | 'tools'>;

/** Entities and relations told to the index in one go. */
const SLICE = 200;
/** Told by their words at most: a lane with more has been waiting for the embedder before. */
const BY_WORDS_MAX = 1_000;
const NEVER: Cancellation = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };

/**
 * Tells the index of entities and relations as they were when they were read, then the ledger what was told. A change that
 * comes in between is untold again by its revision, and the index never lets an older one replace a newer one.
 */
export async function projectGraph(
  deps: ProjectGraphDeps,
  tellings: readonly GraphTelling[],
  cancel: Cancellation,
): Promise<void> {
  for (const [lane, ofLane] of Map.groupBy(tellings, laneOf)) {
    const made = await pointsInLane(deps, { lane, tellings: ofLane }, cancel);
    await tell(deps, lane, made);
    await deps.ledger.graph.told(ofLane.map(toldOf));
  }
}

/**
 * Tells the index of everything in a lane's graph that it does not know yet, and waits to have it found; for the embedder no
 * longer than that of its deps does: without vectors it tells the words. `otherwise` is what is logged where that is needed.
 */
export async function projectGraphNow(
  deps: ProjectGraphDeps & Pick<EngineDeps, 'log'>,
  lane: LaneId,
  otherwise: string,
): Promise<Searchable> {
  try {
    for (let told = SLICE; told >= SLICE; ) {
      const tellings = await deps.ledger.graph.untoldOf(lane, SLICE);
      await projectGraph(deps, tellings, NEVER);
      told = tellings.length;
    }
    return 'fully';
  } catch (error) {
    const isTold = asEngineError(error).code !== 'index_unavailable' && (await toldByWords(deps, lane));
    const searchable = isTold ? 'words' : 'later';
    deps.log.warn({ error: String(error), searchable }, otherwise);
    return searchable;
  }
}

/** The ledger is not told of it: the sweep tells it once more, with vectors. */
async function toldByWords(deps: ProjectGraphDeps, lane: LaneId): Promise<boolean> {
  try {
    const tellings = await deps.ledger.graph.untoldOf(lane, BY_WORDS_MAX);
    for (let from = 0; from < tellings.length; from += SLICE) {
      const slice = tellings.slice(from, from + SLICE);
      await tell(deps, lane, await pointsInLane(withoutVectors(deps), { lane, tellings: slice }, NEVER));
    }
    return tellings.length < BY_WORDS_MAX;
  } catch {
    return false;
  }
}

interface InLane {
  readonly lane: LaneId;
  readonly tellings: readonly GraphTelling[];
}

/** Points and withdrawals of one lane: all vectors that are new in one call, and kept in the ledger. */
export async function pointsInLane(
  deps: Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>,
  { lane, tellings }: InLane,
  cancel: Cancellation,
): Promise<GraphPoints> {
  const vectorOf = await embedTexts(deps, { lane, texts: vectorTextsOfGraph(tellings) }, cancel);
  return pointsOfGraph(tellings, { vectorOf });
}

/**
 * A lane that was cut off before is not told of: by then its owner's name may stand for somebody new. One that is cut off
 * meanwhile is taken back: whoever erases it may have passed already.
 */
async function tell(
  { ledger, index }: ProjectGraphDeps,
  lane: LaneId,
  { points, withdrawals }: GraphPoints,
): Promise<void> {
  const [first] = [...points, ...withdrawals];
  if (first === undefined || !(await ledger.erasures.standing(lane))) return;
  if (points.length > 0) await index.upsert(points);
  if (withdrawals.length > 0) await index.withdraw(withdrawals);
  const { tenant, owner } = first;
  if (!(await ledger.erasures.standing(lane))) await index.forget({ tenant, owner, lane });
}

export const laneOf = (telling: GraphTelling): LaneId =>
  telling.kind === 'relation' ? telling.relation.lane : telling.entity.lane;

function toldOf(telling: GraphTelling): ToldOfGraph {
  const { id, revision } = telling.kind === 'relation' ? telling.relation : telling.entity;
  return { kind: telling.kind, id, revision };
}

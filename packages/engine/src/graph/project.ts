import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { listsOfOne } from '../memories/evolve.ts';
import { embedTexts, withoutVectors } from '../models/embed.ts';
import type { GraphItem, ProjectedItem } from '../ports/ledger/graph.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import { type Cancellation, NEVER, portionsOf } from '../ports/tools.ts';
import type { Searchable } from '../projection/project.ts';
import { terms } from '../text/terms.ts';
import type { LaneId, Owner, Scope } from '../words.ts';
import { type Entity, type KeptRelation, relationText } from './words.ts';

type ProjectGraphDeps = Pick<EngineDeps, 'ledger' | 'index' | 'embedder' | 'tools'>;

/** Entities and relations projected in one go. */
const SLICE = 200;
/** Projected by their words at most: a lane with more has been waiting for the embedder before. */
const BY_WORDS_MAX = 1_000;

/**
 * Projects entities and relations as they were when they were read, then notes in the ledger what was projected. A change that
 * comes in between is unprojected again by its revision, and the index never lets an older one replace a newer one.
 */
export async function projectGraph(
  deps: ProjectGraphDeps,
  items: readonly GraphItem[],
  cancel: Cancellation,
): Promise<void> {
  for (const [lane, ofLane] of Map.groupBy(items, laneOf)) {
    const made = await pointsInLane(deps, { lane, items: ofLane }, cancel);
    await write(deps, lane, made);
    await deps.ledger.graph.projected(ofLane.map(projectedOf));
  }
}

/**
 * Projects everything in a lane's graph that the index does not have yet, and waits to have it found; for the embedder no
 * longer than that of its deps does: without vectors it projects the words. `otherwise` is what is logged where that is needed.
 */
export async function projectGraphNow(
  deps: ProjectGraphDeps & Pick<EngineDeps, 'log'>,
  lane: LaneId,
  otherwise: string,
): Promise<Searchable> {
  try {
    for (let projected = SLICE; projected >= SLICE; ) {
      const items = await deps.ledger.graph.unprojectedOf(lane, SLICE);
      await projectGraph(deps, items, NEVER);
      projected = items.length;
    }
    return 'fully';
  } catch (error) {
    const isProjected = asEngineError(error).code !== 'index_unavailable' && (await projectByWords(deps, lane));
    const searchable = isProjected ? 'words' : 'later';
    deps.log.warn({ error: String(error), searchable }, otherwise);
    return searchable;
  }
}

/** The ledger does not note it: the sweep projects it once more, with vectors. */
async function projectByWords(deps: ProjectGraphDeps, lane: LaneId): Promise<boolean> {
  try {
    const items = await deps.ledger.graph.unprojectedOf(lane, BY_WORDS_MAX);
    for (const part of portionsOf(items, SLICE))
      await write(deps, lane, await pointsInLane(withoutVectors(deps), { lane, items: part }, NEVER));
    return items.length < BY_WORDS_MAX;
  } catch {
    return false;
  }
}

interface InLane {
  readonly lane: LaneId;
  readonly items: readonly GraphItem[];
}

/** Points and withdrawals of one lane: all vectors that are new in one call, and kept in the ledger. */
export async function pointsInLane(
  deps: Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>,
  { lane, items }: InLane,
  cancel: Cancellation,
): Promise<GraphPoints> {
  const vectorOf = await embedTexts(deps, { lane, texts: vectorTextsOfGraph(items) }, cancel);
  return pointsOfGraph(items, { vectorOf });
}

/**
 * A lane that was cut off before is not projected: by then its owner's name may stand for somebody new. One that is cut off
 * meanwhile is taken back: whoever erases it may have passed already.
 */
async function write(
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

export const idOf = (item: GraphItem): string => (item.kind === 'relation' ? item.relation.id : item.entity.id);
export const laneOf = (item: GraphItem): LaneId => (item.kind === 'relation' ? item.relation.lane : item.entity.lane);

function projectedOf(item: GraphItem): ProjectedItem {
  const { id, revision } = item.kind === 'relation' ? item.relation : item.entity;
  return { kind: item.kind, id, revision };
}

/** An entity or a relation does not have versions: it has one, for ever, which is written anew. */
const VERSION = 1;

export interface GraphPoints {
  readonly points: readonly IndexPoint[];
  readonly withdrawals: readonly Withdrawal[];
}

/** What is projected of entities and relations: those that are shown, and those that are shown no more. */
export function pointsOfGraph(
  items: readonly GraphItem[],
  { vectorOf }: { readonly vectorOf: (text: string) => Float32Array },
): GraphPoints {
  const shown = items.filter(isShown);
  return {
    points: shown.map((item) => ({
      ...pointOf(item),
      ...{ vector: vectorOf(vectorTextOf(item)), version: VERSION },
    })),
    withdrawals: items.filter((item) => !isShown(item)).map(placeOf),
  };
}

/** Everything of them that an index needs a vector for. */
const vectorTextsOfGraph = (items: readonly GraphItem[]): string[] => items.filter(isShown).map(vectorTextOf);

/** What a relation's point says of it beside its text: enough to answer without the ledger. */
export interface RelationDetails {
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly source_name: string;
  readonly destination_name: string;
  readonly memory_ids: readonly string[];
}

const isShown = (item: GraphItem): boolean =>
  item.kind === 'relation' ? item.relation.counts : item.entity.counts && item.entity.mergedInto === null;

/** An entity by its name alone, so that somebody of the same name is as near as can be; its other names are words of it. */
const vectorTextOf = (item: GraphItem): string =>
  item.kind === 'relation' ? relationText(item.relation) : item.entity.name;

const pointOf = (item: GraphItem): Omit<IndexPoint, 'vector' | 'version'> =>
  item.kind === 'relation' ? pointOfRelation(item.relation) : pointOfEntity(item.entity);

function pointOfRelation(relation: KeptRelation): Omit<IndexPoint, 'vector' | 'version'> {
  const { validFrom, invalidAt, saidAt, confirmations, messageIds, quote, recordedAt, updatedAt } = relation;
  const text = relationText(relation);
  return {
    ...placeOf({ kind: 'relation', relation }),
    ...NOTHING_BESIDE,
    ...{ text, terms: terms(text), contextTerms: quote === null ? [] : terms(quote) },
    ...{ live: invalidAt === null, saidAt, validFrom, invalidAt, confirmations },
    metadata: { ...detailsOf(relation), memory_ids: [...relation.memoryIds] },
    ...{ category: relation.relationship, sourceIds: messageIds, createdAt: recordedAt, updatedAt },
    ...scopeOf(relation.owner),
  };
}

const detailsOf = (relation: KeptRelation): RelationDetails => ({
  source: relation.source,
  relationship: relation.relationship,
  destination: relation.destination,
  source_name: relation.sourceName,
  destination_name: relation.destinationName,
  memory_ids: relation.memoryIds,
});

function pointOfEntity(entity: Entity): Omit<IndexPoint, 'vector' | 'version'> {
  const text = [entity.name, ...entity.aliases].join(', ');
  const { createdAt } = entity;
  return {
    ...placeOf({ kind: 'entity', entity }),
    ...NOTHING_BESIDE,
    ...{ text, terms: terms(text), contextTerms: [], live: true, confirmations: 0 },
    ...{ saidAt: { at: createdAt, seq: 0 }, validFrom: createdAt, invalidAt: null },
    metadata: { name: entity.name, aliases: [...entity.aliases], self: entity.self },
    ...{ category: entity.kind, sourceIds: [], createdAt, updatedAt: createdAt },
    ...scopeOf(entity.owner),
  };
}

const NOTHING_BESIDE = {
  speaker: null,
  expiresAt: null,
  deletedAt: null,
  immutable: false,
  trust: 'inferred',
  flagged: false,
} as const;

function placeOf(item: GraphItem): Withdrawal {
  const of = item.kind === 'relation' ? item.relation : item.entity;
  const { tenant, lane, owner, id, revision } = of;
  const shelf = item.kind === 'relation' ? 'relations' : 'entities';
  return { shelf, tenant, lane, owner, memoryId: id, version: VERSION, revision };
}

/** What is in a graph is the owner's, whatever else the conversation was part of. */
function scopeOf({ kind, id }: Owner): Pick<IndexPoint, 'scope' | 'ids'> {
  const scope: Scope = {
    userId: kind === 'user' ? id : null,
    agentId: kind === 'agent' ? id : null,
    runId: kind === 'run' ? id : null,
    appId: null,
  };
  return { scope, ids: listsOfOne(scope) };
}

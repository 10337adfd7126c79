import type { GraphTelling } from '../ports/ledger/graph.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import { terms } from '../text/terms.ts';
import type { Owner, Scope } from '../words.ts';
import type { Entity, KeptRelation } from './words.ts';
import { relationText } from './words.ts';

/** An entity or a relation does not have versions: it has one, for ever, which is written anew. */
const VERSION = 1;

export interface GraphPoints {
  readonly points: readonly IndexPoint[];
  readonly withdrawals: readonly Withdrawal[];
}

/** What the index is told of entities and relations: those that are shown, and those that are shown no more. */
export function pointsOfGraph(
  tellings: readonly GraphTelling[],
  { vectorOf }: { readonly vectorOf: (text: string) => Float32Array },
): GraphPoints {
  const shown = tellings.filter(isShown);
  return {
    points: shown.map((telling) => ({
      ...pointOf(telling),
      ...{ vector: vectorOf(vectorTextOf(telling)), version: VERSION },
    })),
    withdrawals: tellings.filter((telling) => !isShown(telling)).map(placeOf),
  };
}

/** Everything of them that an index needs a vector for. */
export const vectorTextsOfGraph = (tellings: readonly GraphTelling[]): string[] =>
  tellings.filter(isShown).map(vectorTextOf);

/** What a relation's point says of it beside its text: enough to answer without the ledger. */
export interface RelationDetails {
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly source_name: string;
  readonly destination_name: string;
  readonly memory_ids: readonly string[];
}

const isShown = (telling: GraphTelling): boolean =>
  telling.kind === 'relation' ? telling.relation.counts : telling.entity.counts && telling.entity.mergedInto === null;

/** An entity by its name alone, so that somebody of the same name is as near as can be; its other names are words of it. */
const vectorTextOf = (telling: GraphTelling): string =>
  telling.kind === 'relation' ? relationText(telling.relation) : telling.entity.name;

const pointOf = (telling: GraphTelling): Omit<IndexPoint, 'vector' | 'version'> =>
  telling.kind === 'relation' ? pointOfRelation(telling.relation) : pointOfEntity(telling.entity);

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
    scope: scopeOf(relation.owner),
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
    scope: scopeOf(entity.owner),
  };
}

const NOTHING_BESIDE = { speaker: null, expiresAt: null, deletedAt: null, immutable: false };

function placeOf(telling: GraphTelling): Withdrawal {
  const of = telling.kind === 'relation' ? telling.relation : telling.entity;
  const { tenant, lane, owner, id, revision } = of;
  const shelf = telling.kind === 'relation' ? 'relations' : 'entities';
  return { shelf, tenant, lane, owner, memoryId: id, version: VERSION, revision };
}

/** What is in a graph is the owner's, whatever else the conversation was part of. */
const scopeOf = ({ kind, id }: Owner): Scope => ({
  userId: kind === 'user' ? id : null,
  agentId: kind === 'agent' ? id : null,
  runId: kind === 'run' ? id : null,
  appId: null,
});

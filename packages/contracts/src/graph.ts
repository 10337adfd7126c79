import { z } from 'zod';
import { ExternalId, formedAs, listOf, Moment, PageQuery, ScopeView } from './common.ts';

/** The owner of a graph. */
export const GraphOwner = {
  user_id: ExternalId.optional(),
  agent_id: ExternalId.optional(),
  run_id: ExternalId.optional(),
};

interface OwnerIds {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
}

export const hasOneOwner = ({ user_id, agent_id, run_id }: OwnerIds): boolean =>
  [user_id, agent_id, run_id].filter((id) => id !== undefined).length === 1;

export const ONE_OWNER = {
  message: 'expected exactly one of user_id, agent_id, run_id: a graph belongs to one owner',
  path: ['user_id'],
};

/** Selects relations by when they are valid. */
const GraphTime = {
  as_of: Moment.optional().describe('Return what was true at this time instead of now.'),
  ended: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: also include relations that have ended. Cannot be combined with as_of.'),
};

export const oneTime = ({ as_of, ended }: { as_of?: string | undefined; ended: boolean | string }): boolean =>
  as_of === undefined || String(ended) === 'false';
export const ONE_TIME = { message: 'as_of and ended cannot be combined; remove one', path: ['ended'] };

export const EntityKind = z
  .enum(['person', 'animal', 'organisation', 'place', 'product', 'work', 'event', 'activity', 'concept', 'thing'])
  .describe('The type of an entity; thing if none of the others applies.');

const OwnerView = ScopeView.pick({ user_id: true, agent_id: true, run_id: true });

export const EntityView = OwnerView.extend({
  id: z.string(),
  name: z.string().describe('The first name it was mentioned by.'),
  kind: EntityKind,
  self: z.boolean().describe('true: the entity of the owner (“I”).'),
  aliases: z.array(z.string()).describe('Other names, including those of entities merged into it.'),
  merged_into: z.string().nullable().describe('The entity it was merged into; null: not merged.'),
  created_at: z.string(),
}).meta({ id: 'Entity' });
export type EntityView = z.infer<typeof EntityView>;

const End = z.object({ id: z.string(), name: z.string() });

/** The fields of a relation that every view has. */
export const RelationCore = z.object({
  id: z.string(),
  source: End,
  relationship: z.string().describe('A general, tenseless name, like works_at.'),
  destination: End,
  text: z.string().describe('The relation as text: "Ana works at Acme".'),
  valid_from: z.string(),
  invalid_at: z.string().nullable().describe('When it ended; null: it has not ended.'),
  memory_ids: z.array(z.string()).describe('Memories extracted from the same messages.'),
});

export const RelationView = OwnerView.extend({
  ...RelationCore.shape,
  said_at: z.string(),
  confirmations: z.number().int().describe('How often it was repeated.'),
  quote: z.string().nullable().describe('The quote that states it; null if it was written by API without one.'),
  message_ids: z.array(z.string()),
}).meta({ id: 'Relation' });
export type RelationView = z.infer<typeof RelationView>;

export const EntityList = listOf(EntityView).meta({ id: 'EntityList' });
export const RelationList = listOf(RelationView).meta({ id: 'RelationList' });

/** Entities with relations between them. */
export const GraphView = z
  .object({
    entities: z.array(EntityView),
    relations: z.array(RelationView),
    truncated: z.boolean().describe('true: there is more; increase limit, or page through GET /v1/relations.'),
  })
  .meta({ id: 'Graph' });
export type GraphView = z.infer<typeof GraphView>;

export const EntityNeighbourhood = GraphView.extend({ entity: EntityView }).meta({ id: 'EntityNeighbourhood' });

const GraphFormat = z.enum(['json', 'dot', 'mermaid', 'svg']);

/** Relations of one answer: the maximum and the default. */
const GRAPH_RELATIONS_MAX = 1_000;
const GRAPH_RELATIONS = 200;
/** The most relations of a drawing: more are unreadable. */
export const DRAWN_RELATIONS_MAX = 150;

const RelationLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(GRAPH_RELATIONS_MAX)
  .default(GRAPH_RELATIONS)
  .describe(`The maximum number of relations. An svg drawing has at most ${DRAWN_RELATIONS_MAX}.`);

export const GetGraphQuery = z
  .strictObject({ ...GraphOwner, ...GraphTime, format: GraphFormat.default('json'), limit: RelationLimit })
  .refine(hasOneOwner, ONE_OWNER)
  .refine(oneTime, ONE_TIME);

export const GetEntityQuery = z
  .strictObject({
    ...GraphTime,
    depth: z.coerce.number().int().min(1).max(2).default(1).describe('How many relations to follow from the entity.'),
    format: GraphFormat.default('json'),
    limit: RelationLimit,
  })
  .refine(oneTime, ONE_TIME);

const LIKE_MAX = 100;
export const ListEntitiesQuery = z
  .strictObject({
    ...GraphOwner,
    like: z.string().min(1).max(LIKE_MAX).optional().describe('Only entities with this text in one of their names.'),
    ...PageQuery,
  })
  .refine(hasOneOwner, ONE_OWNER);

export const ListRelationsQuery = z
  .strictObject({
    ...GraphOwner,
    ...GraphTime,
    relationship: z
      .string()
      .max(LIKE_MAX)
      .check(formedAs(/^[\p{L}\p{M}\p{N}_]+$/u, 'must be a relationship name like works_at'))
      .optional(),
    ...PageQuery,
  })
  .refine(hasOneOwner, ONE_OWNER)
  .refine(oneTime, ONE_TIME);

export const ListProposalsQuery = z.strictObject(GraphOwner).refine(hasOneOwner, ONE_OWNER);
export const ProposalList = listOf(
  z.object({ source: EntityView, destination: EntityView, likeness: z.number().describe('0 to 1.') }),
).meta({ id: 'ProposalList' });

/** A statement about the graph; relations are derived from statements. */
export const StatementView = z
  .object({
    id: z.string(),
    kind: z.enum(['holds', 'ended', 'denied', 'same', 'apart', 'named']),
    counts: z.boolean().describe('false: it was undone and no longer counts.'),
    source: z.string(),
    relationship: z.string().nullable(),
    destination: z.string().nullable(),
    name: z.string().nullable().describe('Only for named: the additional name.'),
    valid_from: z.string().nullable().describe('Only for holds: when it became true.'),
    until: z.string().nullable().describe('Only for ended, and for holds about the past: when it ended.'),
    reason: z.string().nullable(),
    quote: z.string().nullable(),
    actor: z.enum(['api', 'study']),
    consolidation_id: z.string().nullable(),
    message_ids: z.array(z.string()),
    memory_ids: z.array(z.string()),
    said_at: z.string(),
    recorded_at: z.string(),
  })
  .meta({ id: 'Statement' });
export type StatementView = z.infer<typeof StatementView>;
export const StatementList = listOf(StatementView).meta({ id: 'StatementList' });

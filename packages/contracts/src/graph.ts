import { z } from 'zod';
import { ExternalId, listOf, Moment, PageQuery, ScopeView } from './common.ts';

/** Whose graph: a graph belongs to one owner, and says nothing of others. */
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
  message: 'exactly one of user_id, agent_id, run_id is needed: a graph belongs to one owner',
  path: ['user_id'],
};

/** Which relations are meant, by when they hold. */
const GraphTime = {
  as_of: Moment.optional().describe('What held then, instead of what holds now.'),
  ended: z.enum(['true', 'false']).default('false').describe('true: also what is over. Not with as_of.'),
};

export const oneTime = ({ as_of, ended }: { as_of?: string | undefined; ended: boolean | string }): boolean =>
  as_of === undefined || String(ended) === 'false';
export const ONE_TIME = { message: 'as_of asks for one moment, ended for all of them: leave one out', path: ['ended'] };

export const EntityKind = z
  .enum(['person', 'animal', 'organisation', 'place', 'product', 'work', 'event', 'activity', 'concept', 'thing'])
  .describe('What an entity is; what is none of the others is a thing.');

const OwnerView = ScopeView.pick({ user_id: true, agent_id: true, run_id: true });

export const EntityView = OwnerView.extend({
  id: z.string(),
  name: z.string().describe('As it was first called.'),
  kind: EntityKind,
  self: z.boolean().describe("The owner's own entity: I, the user."),
  aliases: z.array(z.string()).describe('Its other names, those of entities that were merged into it among them.'),
  merged_into: z.string().nullable().describe('The entity it is the same as; null: it stands for itself.'),
  created_at: z.string(),
}).meta({ id: 'Entity' });
export type EntityView = z.infer<typeof EntityView>;

const End = z.object({ id: z.string(), name: z.string() });

/** What a relation says, wherever it is shown. */
export const RelationCore = z.object({
  id: z.string(),
  source: End,
  relationship: z.string().describe('General and timeless, like works_at.'),
  destination: End,
  text: z.string().describe('How it reads: "Ana works at Acme".'),
  valid_from: z.string(),
  invalid_at: z.string().nullable().describe('When it ended; null: it holds.'),
  memory_ids: z.array(z.string()).describe('Memories that came from the same messages.'),
});

export const RelationView = OwnerView.extend({
  ...RelationCore.shape,
  said_at: z.string(),
  confirmations: z.number().int().describe('How often it was said again.'),
  quote: z.string().nullable().describe('The words that say it; null where somebody wrote it without any.'),
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
    truncated: z.boolean().describe('There is more: ask for a larger limit, or page through GET /v1/relations.'),
  })
  .meta({ id: 'Graph' });
export type GraphView = z.infer<typeof GraphView>;

export const EntityNeighbourhood = GraphView.extend({ entity: EntityView }).meta({ id: 'EntityNeighbourhood' });

const GraphFormat = z.enum(['json', 'dot', 'mermaid', 'svg']);

/** Relations of one answer, at most and unless said otherwise. */
const GRAPH_RELATIONS_MAX = 1_000;
const GRAPH_RELATIONS = 200;
/** Relations of one drawing, at most: more are no picture any more. */
export const DRAWN_RELATIONS_MAX = 150;

const RelationLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(GRAPH_RELATIONS_MAX)
  .default(GRAPH_RELATIONS)
  .describe(`Relations at most. A drawing as svg has ${DRAWN_RELATIONS_MAX} at most.`);

export const GetGraphQuery = z
  .strictObject({ ...GraphOwner, ...GraphTime, format: GraphFormat.default('json'), limit: RelationLimit })
  .refine(hasOneOwner, ONE_OWNER)
  .refine(oneTime, ONE_TIME);

export const GetEntityQuery = z
  .strictObject({
    ...GraphTime,
    depth: z.coerce.number().int().min(1).max(2).default(1).describe('How many relations away its neighbours may be.'),
    format: GraphFormat.default('json'),
    limit: RelationLimit,
  })
  .refine(oneTime, ONE_TIME);

const LIKE_MAX = 100;
export const ListEntitiesQuery = z
  .strictObject({
    ...GraphOwner,
    like: z.string().min(1).max(LIKE_MAX).optional().describe('A part of one of its names.'),
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
      .regex(/^[\p{L}\p{M}\p{N}_]+$/u, 'must be one like works_at')
      .optional(),
    ...PageQuery,
  })
  .refine(hasOneOwner, ONE_OWNER)
  .refine(oneTime, ONE_TIME);

export const ListProposalsQuery = z.strictObject(GraphOwner).refine(hasOneOwner, ONE_OWNER);
export const ProposalList = listOf(
  z.object({ source: EntityView, destination: EntityView, likeness: z.number().describe('0 to 1.') }),
).meta({ id: 'ProposalList' });

/** What was said of the graph; relations follow from it. */
export const StatementView = z
  .object({
    id: z.string(),
    kind: z.enum(['holds', 'ended', 'denied', 'same', 'apart', 'named']),
    counts: z.boolean().describe('false: it was undone.'),
    source: z.string(),
    relationship: z.string().nullable(),
    destination: z.string().nullable(),
    name: z.string().nullable().describe('Of named: how the entity is also called.'),
    valid_from: z.string().nullable().describe('Of holds: from when on.'),
    until: z.string().nullable().describe('Of holds told of the past, and of ended: until when.'),
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

import { z } from 'zod';
import { ExternalId, FailureView, formedAs, listOf, Moment, PageQuery, ScopeView, whole } from './common.ts';
import { GRAPH_QUERIES, RELATION_PATCHES, RELATIONS } from './examples.ts';

/** The owner of a graph. */
const GraphOwner = {
  user_id: ExternalId.optional(),
  agent_id: ExternalId.optional(),
  run_id: ExternalId.optional(),
};

interface OwnerIds {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
}

const hasOneOwner = ({ user_id, agent_id, run_id }: OwnerIds): boolean =>
  [user_id, agent_id, run_id].filter((id) => id !== undefined).length === 1;

const ONE_OWNER = {
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

const oneTime = ({ as_of, ended }: { as_of?: string | undefined; ended: boolean | string }): boolean =>
  as_of === undefined || String(ended) === 'false';
const ONE_TIME = { message: 'as_of and ended cannot be combined; remove one', path: ['ended'] };

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
  confirmations: z.int().describe('How often it was repeated.'),
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

/** Longest name of an entity and of a relationship, in characters. */
const ENTITY_NAME_MAX = 100;
const RELATIONSHIP_MAX = 40;
/** Patterns of one query: each may search around everything that the previous ones found. */
const PATTERNS_MAX = 4;
const HOPS_MAX = 4;
const MATCHES_MAX = 200;
const MATCHES = 50;

const EntityName = z.string().max(ENTITY_NAME_MAX).regex(/\S/u, 'must not be blank');
const RelationshipName = z
  .string()
  .max(RELATIONSHIP_MAX)
  .check(formedAs(/^(?=.*\p{L})[^\p{Cc}\p{Cs}]+$/u, 'must contain a letter and no control characters'));
/** An id that this service generated. */
const GivenId = z.string().max(ENTITY_NAME_MAX).regex(/^\w+$/, 'must be an id like ent_0198c1a2');

/** The ways to name an entity; exactly one is used. */
const EntityNaming = {
  id: GivenId.optional(),
  name: EntityName.optional().describe('One of its names, case-insensitive.'),
  self: z.literal(true).optional().describe('The owner.'),
};

interface Named {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly self?: true | undefined;
}

const isNamedOnce = ({ id, name, self }: Named): boolean =>
  [id, name, self].filter((given) => given !== undefined).length === 1;
const NAMED_ONCE = 'expected exactly one of id, name, self';

/** An existing entity. */
export const KnownEntity = z.strictObject(EntityNaming).refine(isNamedOnce, { message: NAMED_ONCE });
export type KnownEntity = z.infer<typeof KnownEntity>;

const Term = z
  .union([
    z.string().check(formedAs(/^\?[\p{L}_][\p{L}\p{N}_]{0,30}$/u, 'expected a variable like "?who"')),
    KnownEntity,
  ])
  .describe('A variable like "?who", or an entity: {"name"}, {"id"} or {"self": true}. Omit it to match any entity.');

const Pattern = z.strictObject({
  source: Term.optional(),
  relationship: RelationshipName.optional().describe('Omit it to match any relationship.'),
  destination: Term.optional(),
});

const Path = z.strictObject({
  from: KnownEntity,
  to: KnownEntity,
  max_hops: whole(1, HOPS_MAX)
    .default(HOPS_MAX)
    .describe('The maximum length of a path in relations, followed in either direction.'),
});

export const PostGraphQuery = z
  .strictObject({
    ...GraphOwner,
    match: z
      .array(Pattern)
      .min(1)
      .max(PATTERNS_MAX)
      .optional()
      .describe('Patterns that relations must match together; a variable stands for the same entity in all of them.'),
    path: Path.optional().describe('Finds paths from one entity to another, shortest first.'),
    as_of: Moment.optional().describe('Return what was true at this time instead of now.'),
    ended: z
      .boolean()
      .default(false)
      .describe('true: also include relations that have ended. Cannot be combined with as_of.'),
    limit: z.int().min(1).max(MATCHES_MAX).default(MATCHES),
    cursor: PageQuery.cursor,
  })
  .refine(hasOneOwner, ONE_OWNER)
  .refine(oneTime, ONE_TIME)
  .refine(({ match, path }) => (match === undefined) !== (path === undefined), {
    message: 'expected exactly one of match, path',
    path: ['match'],
  })
  .meta({ id: 'PostGraphQuery', examples: GRAPH_QUERIES });
export type PostGraphQuery = z.infer<typeof PostGraphQuery>;

const GraphMatch = z
  .object({
    entities: z
      .record(z.string(), EntityView)
      .describe('With match: the entity each variable stands for, by its name without "?". With path: from and to.'),
    relations: z.array(RelationView).describe('With match: one for each pattern. With path: in the order of the path.'),
  })
  .meta({ id: 'GraphMatch' });

export const GraphMatches = listOf(GraphMatch)
  .extend({
    truncated: z
      .boolean()
      .describe(
        'true: the query reaches more relations than were examined, so there may be more matches. Make it ' +
          'more specific.',
      ),
  })
  .meta({ id: 'GraphMatches' });

const REASON_MAX = 500;
const Reason = z.string().max(REASON_MAX).optional().describe('Why; stored with the statement.');

/** An existing entity, or one to create. */
const EntityGiven = z
  .strictObject({
    ...EntityNaming,
    kind: EntityKind.optional().describe('The kind of an entity that is created by name.'),
  })
  .refine(isNamedOnce, { message: NAMED_ONCE })
  .refine(({ name, kind }) => name !== undefined || kind === undefined, {
    message: 'kind only goes with name; remove it',
    path: ['kind'],
  })
  .describe('An entity by id, by name (created if it does not exist), or {"self": true} for the owner.');
export type EntityGiven = z.infer<typeof EntityGiven>;

const inOrder = ({
  valid_from,
  invalid_at,
}: {
  valid_from?: string | undefined;
  invalid_at?: string | null | undefined;
}) => valid_from === undefined || invalid_at == null || Date.parse(valid_from) <= Date.parse(invalid_at);
const IN_ORDER = { message: 'invalid_at must not be before valid_from', path: ['invalid_at'] };

export const PostRelation = z
  .strictObject({
    ...GraphOwner,
    source: EntityGiven,
    relationship: RelationshipName,
    destination: EntityGiven,
    valid_from: Moment.optional().describe('When it became true. Defaults to now.'),
    invalid_at: Moment.optional().describe('When it stopped being true.'),
    single: z
      .boolean()
      .optional()
      .describe(
        'true: the source has only one such destination at a time, so the previous relation ends. The default ' +
          'depends on the relationship.',
      ),
    quote: z.string().max(1_000).optional().describe('A quote that states it.'),
  })
  .refine(hasOneOwner, ONE_OWNER)
  .refine(inOrder, IN_ORDER)
  .meta({ id: 'PostRelation', examples: RELATIONS });
export type PostRelation = z.infer<typeof PostRelation>;

export const PatchRelation = z
  .strictObject({
    source: EntityGiven.optional(),
    relationship: RelationshipName.optional(),
    destination: EntityGiven.optional(),
    valid_from: Moment.optional(),
    invalid_at: Moment.nullable().optional().describe('When it ended. null: it has not ended.'),
    reason: Reason,
  })
  .refine((patch) => Object.keys(patch).some((key) => key !== 'reason'), {
    message: 'expected at least one field to change, got none',
  })
  .refine(inOrder, IN_ORDER)
  .meta({ id: 'PatchRelation', examples: RELATION_PATCHES });
export type PatchRelation = z.infer<typeof PatchRelation>;

export const ChangedRelation = RelationView.extend({
  replaces: z.string().nullable().describe('The previous id: a restated relation gets a new id.'),
}).meta({ id: 'ChangedRelation' });

export const PatchEntity = z
  .strictObject({ alias: EntityName.describe('An additional name; the original name stays.') })
  .meta({ id: 'PatchEntity', examples: [{ alias: 'Bee' }] });

export const PostMerge = z
  .strictObject({ into: GivenId.describe('The entity to keep.'), reason: Reason })
  .meta({ id: 'PostMerge', examples: [{ into: 'ent_0198c1a2', reason: 'Bee is what Bea is called' }] });

export const PostSplit = z.strictObject({}).meta({ id: 'PostSplit', examples: [{}] });

/** What the study of a consolidation decided. */
const StudyPlanView = z.object({
  entities: z
    .array(z.object({ id: z.string(), name: z.string(), kind: z.string() }))
    .describe('Entities that the study created.'),
  statements: z
    .array(
      z.object({
        id: z.string(),
        kind: z.enum(['holds', 'ended', 'denied', 'same', 'apart', 'named']),
        source: z.string(),
        relationship: z.string().nullable(),
        destination: z.string().nullable(),
        name: z.string().nullable(),
        said_at: z.string(),
        quote: z.string().nullable(),
        message_ids: z.array(z.string()),
      }),
    )
    .describe('Statements added to the graph; relations are derived from them.'),
  proposals: z
    .array(z.object({ source: z.string(), destination: z.string(), likeness: z.number() }))
    .describe('Entities that may be the same, for a person to review.'),
  remarks: z
    .array(z.object({ asked: z.string(), did: z.string() }))
    .describe('What the model proposed that was rejected or repaired, and why.'),
  prompts: z.array(z.object({ name: z.string(), version: z.string(), hash: z.string() })),
  usage: z.json(),
});

export const StudyView = z
  .object({
    consolidation_id: z.string(),
    state: z.enum(['pending', 'applied', 'parked']),
    attempts: z.int(),
    error: FailureView.nullable(),
    requested_at: z.string(),
    applied_at: z.string().nullable(),
    plan: StudyPlanView.nullable().describe('null until it is applied.'),
  })
  .meta({ id: 'Study' });

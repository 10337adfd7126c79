import { z } from 'zod';
import { formedAs, listOf, Moment, PageQuery, whole } from './common.ts';
import { GRAPH_QUERIES } from './examples.ts';
import { EntityView, GraphOwner, hasOneOwner, ONE_OWNER, ONE_TIME, oneTime, RelationView } from './graph.ts';

/** Longest name of an entity and of a relationship, in characters. */
const ENTITY_NAME_MAX = 100;
const RELATIONSHIP_MAX = 40;
/** Patterns of one query: each may search around everything that the previous ones found. */
const PATTERNS_MAX = 4;
const HOPS_MAX = 4;
const MATCHES_MAX = 200;
const MATCHES = 50;

export const EntityName = z.string().max(ENTITY_NAME_MAX).regex(/\S/u, 'must not be blank');
export const RelationshipName = z
  .string()
  .max(RELATIONSHIP_MAX)
  .check(formedAs(/^(?=.*\p{L})[^\p{Cc}\p{Cs}]+$/u, 'must contain a letter and no control characters'));
/** An id that this service generated. */
export const GivenId = z.string().max(ENTITY_NAME_MAX).regex(/^\w+$/, 'must be an id like ent_0198c1a2');

/** The ways to name an entity; exactly one is used. */
export const EntityNaming = {
  id: GivenId.optional(),
  name: EntityName.optional().describe('One of its names, case-insensitive.'),
  self: z.literal(true).optional().describe('The owner.'),
};

interface Named {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly self?: true | undefined;
}

export const isNamedOnce = ({ id, name, self }: Named): boolean =>
  [id, name, self].filter((given) => given !== undefined).length === 1;
export const NAMED_ONCE = 'expected exactly one of id, name, self';

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

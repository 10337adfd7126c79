import { z } from 'zod';
import { Moment } from './common.ts';
import { RELATION_PATCHES, RELATIONS } from './examples.ts';
import { EntityKind, GraphOwner, hasOneOwner, ONE_OWNER, RelationView } from './graph.ts';
import { EntityName, EntityNaming, GivenId, isNamedOnce, NAMED_ONCE, RelationshipName } from './graph-query.ts';

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

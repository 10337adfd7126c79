import { z } from 'zod';
import { Moment } from './common.ts';
import { RELATION_PATCHES, RELATIONS } from './examples.ts';
import { EntityKind, GraphOwner, hasOneOwner, ONE_OWNER, RelationView } from './graph.ts';
import { EntityName, EntityNaming, GivenId, isNamedOnce, NAMED_ONCE, RelationshipName } from './graph-query.ts';

const REASON_MAX = 500;
const Reason = z.string().max(REASON_MAX).optional().describe('Why; kept with the statement.');

/** An entity that is there, or one that is made by it. */
const EntityGiven = z
  .strictObject({ ...EntityNaming, kind: EntityKind.optional().describe('Of one that is made by its name.') })
  .refine(isNamedOnce, { message: NAMED_ONCE })
  .refine(({ name, kind }) => name !== undefined || kind === undefined, {
    message: 'it is about a name: leave it out',
    path: ['kind'],
  })
  .describe('An entity by id, by name (made if there is none), or {"self": true}: the owner.');
export type EntityGiven = z.infer<typeof EntityGiven>;

const inOrder = ({
  valid_from,
  invalid_at,
}: {
  valid_from?: string | undefined;
  invalid_at?: string | null | undefined;
}) => valid_from === undefined || invalid_at == null || Date.parse(valid_from) <= Date.parse(invalid_at);
const IN_ORDER = { message: 'it cannot end before it begins', path: ['invalid_at'] };

export const PostRelation = z
  .strictObject({
    ...GraphOwner,
    source: EntityGiven,
    relationship: RelationshipName,
    destination: EntityGiven,
    valid_from: Moment.optional().describe('From when on it holds; left out: from now on.'),
    invalid_at: Moment.optional().describe('It held until then.'),
    single: z
      .boolean()
      .optional()
      .describe(
        'Its source has one such destination at a time: what held before ends. Left out: as its relationship is.',
      ),
    quote: z.string().max(1_000).optional().describe('The words that say it.'),
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
    invalid_at: Moment.nullable().optional().describe('When it ended; null: it holds after all.'),
    reason: Reason,
  })
  .refine((patch) => Object.keys(patch).some((key) => key !== 'reason'), { message: 'nothing to change was given' })
  .refine(inOrder, IN_ORDER)
  .meta({ id: 'PatchRelation', examples: RELATION_PATCHES });
export type PatchRelation = z.infer<typeof PatchRelation>;

export const ChangedRelation = RelationView.extend({
  replaces: z.string().nullable().describe('The id it had before: what is said anew has a new one.'),
}).meta({ id: 'ChangedRelation' });

export const PatchEntity = z
  .strictObject({ alias: EntityName.describe('A further name; its first one stays.') })
  .meta({ id: 'PatchEntity', examples: [{ alias: 'Bee' }] });

export const PostMerge = z
  .strictObject({ into: GivenId.describe('The entity that stays.'), reason: Reason })
  .meta({ id: 'PostMerge', examples: [{ into: 'ent_0198c1a2', reason: 'Bee is what Bea is called' }] });

export const PostSplit = z.strictObject({}).meta({ id: 'PostSplit', examples: [{}] });

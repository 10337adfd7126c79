import { z } from 'zod';
import { ExternalId, listOf, PageQuery } from './common.ts';
import { FiltersText } from './filters.ts';
import { DELETED_LISTED, DELETED_TEXT_MAX } from './memories.ts';

/** Ids that memories carry: at least one of agent, run, app. */
const IdFields = {
  agent_id: ExternalId.optional(),
  run_id: ExternalId.optional(),
  app_id: ExternalId.optional(),
};

type Ids = { readonly [Name in keyof typeof IdFields]?: string | undefined };

const hasId = (ids: Ids): boolean => ids.agent_id !== undefined || ids.run_id !== undefined || ids.app_id !== undefined;
const ID_MISSING = { message: 'expected at least one of agent_id, run_id, app_id', path: ['run_id'] };

export const UsedIdView = z
  .object({
    kind: z.enum(['agent', 'run', 'app']),
    id: z.string(),
    memories: z
      .number()
      .int()
      .describe('The number of current memories said or confirmed under this id, over all owners.'),
    first_said_at: z.string(),
    last_said_at: z.string(),
  })
  .meta({ id: 'UsedId' });
export type UsedIdView = z.infer<typeof UsedIdView>;
export const UsedIdList = listOf(UsedIdView).meta({ id: 'UsedIdList' });
export const ListIdsQuery = z.strictObject(PageQuery);

export const ListMemoriesOfIdsQuery = z
  .strictObject({ ...IdFields, filters: FiltersText.optional(), ...PageQuery })
  .refine(hasId, ID_MISSING);

export const WithdrawQuery = z
  .strictObject({
    ...IdFields,
    dry_run: z.enum(['true', 'false']).default('false').describe('true: only counts; nothing is changed.'),
  })
  .refine(hasId, ID_MISSING);

/** Memories that one request withdraws. */
export const WITHDRAWN_MAX = 1_000;

export const WithdrawnView = z
  .object({
    deleted: z.number().int().describe('Memories that were said nowhere else: they are deleted.'),
    kept: z.number().int().describe('Memories that were also said elsewhere: they keep what was said there.'),
    dry_run: z.boolean(),
    memories: z
      .array(z.object({ id: z.string(), memory: z.string() }))
      .describe(
        `The first ${DELETED_LISTED} of the deleted, each with the first ${DELETED_TEXT_MAX} characters of its text.`,
      ),
    more: z.boolean().describe('true: there are others; repeat the request.'),
  })
  .meta({ id: 'Withdrawn' });
export type WithdrawnView = z.infer<typeof WithdrawnView>;

import { z } from 'zod';
import { ofTenant } from './access.ts';
import { ExternalId, FiltersText, formedAs, isUnique, listOf, OwnerKind, PageQuery, TWICE } from './common.ts';
import { COLD_OWNERS, PROFILE_LINES } from './examples.ts';
import { DELETED_LISTED, DELETED_TEXT_MAX, MemoryText } from './memories.ts';

export const OwnerParams = z.strictObject({ id: ExternalId });

const SLOTS_MAX = 30;
const ABOUT_MAX = 200;
const LINES_MAX = 20;
const CATEGORY_MAX = 64;
const CATEGORIES_MAX = 20;
/** Everything that belongs to a profile and into none of its slots stands there. */
const OTHER = 'other';

const SlotName = z.string().check(formedAs(/^[a-z][a-z0-9_]{0,39}$/u, 'expected a name like diet_and_health'));

const ProfileSlot = z
  .strictObject({
    name: SlotName.refine((name) => name !== OTHER, `“${OTHER}” is built in; choose another name`),
    about: z.string().trim().min(1).max(ABOUT_MAX).describe('What belongs in the slot, for nights and people.'),
    lines: z.int().min(1).max(LINES_MAX).default(5).describe('The maximum number of lines.'),
    categories: z
      .array(z.string().trim().min(1).max(CATEGORY_MAX))
      .max(CATEGORIES_MAX)
      .default([])
      .describe('Memories of these categories belong in it, without a model.'),
  })
  .meta({ id: 'ProfileSlot' });

export const ProfileSlots = z
  .array(ProfileSlot)
  .max(SLOTS_MAX)
  .refine((slots) => isUnique(slots.map(({ name }) => name)), TWICE);

export const ProfileSlotView = z.object({
  name: z.string(),
  about: z.string(),
  lines: z.int(),
  categories: z.array(z.string()),
});

const ProfileLineView = z
  .object({
    memory_id: z.string(),
    version: z.int().describe('The version of the memory behind the line.'),
    memory: z.string(),
    by: z
      .enum(['person', 'night', 'rule'])
      .describe('Who put it there. rule: by its category, or because it is pinned or was repeated.'),
    said_at: z.string(),
    valid_from: z.string(),
  })
  .meta({ id: 'ProfileLine' });

export const ProfileView = z
  .object({
    user_id: z.string(),
    slots: z.array(
      z
        .object({
          name: z.string(),
          about: z.string(),
          lines: z.array(ProfileLineView),
          left_out: z.int().describe('The number of lines that do not fit in the slot.'),
        })
        .meta({ id: 'FilledSlot' }),
    ),
  })
  .meta({ id: 'Profile' });
export type ProfileView = z.infer<typeof ProfileView>;

export const ProfileSlotParams = OwnerParams.extend({ slot: SlotName });
export const ProfileLineParams = ProfileSlotParams.extend({ memory: z.string() });

export const PutProfileLine = z
  .strictObject({
    memory: MemoryText.optional().describe('The text of the line. It becomes a pinned memory of the user.'),
    memory_id: z.string().min(1).max(128).optional().describe('An existing memory of the user, which becomes pinned.'),
  })
  .refine(({ memory, memory_id }) => (memory === undefined) !== (memory_id === undefined), {
    message: 'expected either memory or memory_id',
  })
  .meta({ id: 'PutProfileLine', examples: PROFILE_LINES });

export const ErasureState = z.enum(['requested', 'erasing', 'compacting', 'erased']);

export const ErasureAccepted = z
  .object({ erasure_id: z.string(), state: ErasureState, status_url: z.string() })
  .meta({ id: 'ErasureAccepted' });

export const ErasureView = z
  .object({
    id: z.string(),
    state: ErasureState.describe(
      'requested: accepted; nothing is consolidated or written for the owner any more. erasing: rows are being ' +
        'deleted. compacting: rows are deleted and files are being rewritten. erased: complete.',
    ),
    counts: z.record(z.string(), z.int()).describe('How much has been erased so far, by kind.'),
    remains: z
      .array(z.string())
      .describe('Data that could not be overwritten immediately: where it is, and until when.'),
    requested_at: z.string(),
    erased_at: z.string().nullable(),
  })
  .meta({ id: 'Erasure' });
export type ErasureView = z.infer<typeof ErasureView>;

export const ErasureList = z.object({ results: z.array(ErasureView) }).meta({ id: 'ErasureList' });

/** One line of an export; its other keys depend on the type. */
export const ExportLine = z
  .looseObject({
    type: z.enum([
      'user',
      'batch',
      'message',
      'memory',
      'event',
      'consolidation',
      'review',
      'summary',
      'task_state',
      'profile',
      'entity',
      'relation',
      'statement',
      'end',
    ]),
  })
  .meta({ id: 'ExportLine' });

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
    memories: z.int().describe('The number of current memories said or confirmed under this id, over all owners.'),
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
    deleted: z.int().describe('Memories that were said nowhere else: they are deleted.'),
    kept: z.int().describe('Memories that were also said elsewhere: they keep what was said there.'),
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

export const ListColdQuery = z.strictObject({ ...ofTenant, ...PageQuery });

export const ColdOwner = z
  .object({
    kind: OwnerKind,
    id: z.string(),
    segment: z.string().describe('The name of its object in the store.'),
    state: z
      .enum(['cooling', 'cold', 'waking'])
      .describe('cooling: its rows are being removed; waking: they are being restored.'),
    since: z.string(),
    memories: z.int(),
    bytes: z.int().describe('Of the object.'),
  })
  .meta({ id: 'ColdOwner' });
export type ColdOwner = z.infer<typeof ColdOwner>;

export const ColdOwnerList = listOf(ColdOwner).meta({ id: 'ColdOwnerList' });

const named = z.strictObject({ ...ofTenant, kind: OwnerKind, id: ExternalId });
export const PostCold = named.meta({ id: 'PostCold', examples: COLD_OWNERS });
export const PostWaking = named.meta({ id: 'PostWaking', examples: COLD_OWNERS });

export const CooledView = z
  .object({
    state: z
      .enum(['asleep', 'kept'])
      .describe(
        'kept: it stays awake because work is pending, something was just written, retention has data to remove, or it is too large.',
      ),
  })
  .meta({ id: 'Cooled' });

export const WokenView = z.object({ woken: z.boolean().describe('false: it was awake.') }).meta({ id: 'Woken' });

export const SweptView = z
  .object({ deleted: z.array(z.string()).describe('Objects that the ledger did not know.') })
  .meta({ id: 'SweptSegments' });

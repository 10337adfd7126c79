import { z } from 'zod';
import {
  ExternalId,
  FiltersText,
  hasOwnerId,
  listOf,
  Metadata,
  MetadataView,
  Moment,
  OWNER_ID_MISSING,
  OwnerKind,
  PageQuery,
  ScopeFields,
  ScopeView,
} from './common.ts';
import { FEEDBACKS, MEMORIES, PATCHES } from './examples.ts';
import { Role } from './messages.ts';

const MEMORY_TEXT_MAX = 8_000;
/** Still a list, because memories are returned with one. */
const CATEGORIES_MAX = 1;
const CATEGORY_MAX = 64;

const Categories = z
  .array(z.string().min(1).max(CATEGORY_MAX))
  .max(CATEGORIES_MAX)
  .describe('The best matching category.');
export const MemoryText = z
  .string()
  .max(MEMORY_TEXT_MAX)
  .regex(/\S/u, 'must not be blank')
  .refine(
    (text) => text.isWellFormed(),
    'expected valid Unicode, got half of a surrogate pair; cut texts between characters',
  );

const UtcOffset = z.int().optional().describe('The speaker’s UTC offset in minutes, if known.');

export const Trust = z
  .enum(['user', 'imported', 'agent', 'tool', 'inferred', 'external'])
  .describe(
    'Where it comes from. imported: written through the API. inferred: concluded from other memories. external: content ' +
      'from outside, like a pasted email.',
  );

const Rating = z.enum(['positive', 'negative', 'very_negative']);

export const ConclusionView = z
  .object({
    certainty: z.enum(['low', 'medium', 'high']).describe('low: at least 2 pieces of evidence. medium: 3. high: 5.'),
    evidence: z.array(z.object({ memory_id: z.string(), version: z.int() })),
  })
  .meta({ id: 'Conclusion' });
export type ConclusionView = z.infer<typeof ConclusionView>;

export const MemoryView = ScopeView.extend({
  id: z.string(),
  memory: z.string(),
  version: z.int(),
  metadata: MetadataView,
  categories: z.array(z.string()),
  immutable: z.boolean(),
  trust: Trust,
  flagged: z.boolean().describe('true: one of its messages addresses the model (injection, role play, exfiltration).'),
  conclusion: ConclusionView.optional().describe(
    'Only set if a night concluded it from other memories. It is removed when too few of them still hold.',
  ),
  skill: z
    .object({
      successes: z.int().describe('The number of answers that used it and went well when it became a skill.'),
    })
    .optional()
    .describe('Only set for procedures that a night found to work, according to reported outcomes.'),
  task: z
    .object({ run_id: z.string(), version: z.int() })
    .meta({ id: 'TaskSource' })
    .optional()
    .describe(
      'Only set if it records the result of a run: the version of the run’s state with the result. Not included in search results.',
    ),
  pinned: z.boolean().optional().describe('true: forgetting policies never delete it. Not included in search results.'),
  feedback: Rating.nullable()
    .optional()
    .describe('The latest rating of this version; null: none. Not included in search results.'),
  said_at: z.string(),
  valid_from: z.string(),
  utc_offset: UtcOffset,
  invalid_at: z.string().nullable(),
  expires_at: z.string().nullable(),
  confirmations: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
}).meta({ id: 'Memory' });
export type MemoryView = z.infer<typeof MemoryView>;

/** A memory as returned after it was written. */
export const WrittenMemory = MemoryView.extend({
  searchable: z
    .literal('words')
    .optional()
    .describe(
      'Only set while the memory can be found by keywords but not by meaning: the embedding model rejects the text, ' +
        'or did not answer within 2 s (it is then embedded later).',
    ),
}).meta({ id: 'WrittenMemory' });
export type WrittenMemory = z.infer<typeof WrittenMemory>;

export const MemoryList = listOf(MemoryView).meta({ id: 'MemoryList' });
export const ListMemoriesQuery = z
  .strictObject({
    ...ScopeFields,
    filters: FiltersText.optional(),
    as_of: Moment.optional().describe('Return what was true at this time instead of now.'),
    ...PageQuery,
  })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] });

const Withheld = z
  .enum(['retention', 'personal_data', 'forgotten', 'paused'])
  .optional()
  .describe(
    'Why there is no content: it was removed by retention, contained personal data that is not stored, says what was forgotten, ' +
      'or was said while memory was paused for the user.',
  );

/** A message as it was said. */
export const SaidMessage = z.object({
  message_id: z.string(),
  batch_id: z.string(),
  id: z.string().nullable().describe('The message id set by the caller.'),
  role: Role,
  name: z.string().nullable(),
  content: z.string(),
  withheld: Withheld,
  said_at: z.string(),
  utc_offset: UtcOffset,
});

export type SaidMessage = z.infer<typeof SaidMessage>;

export const SourceView = SaidMessage.extend({
  is_source: z.boolean().describe('false: a neighbouring message requested with before or after.'),
  quotes: z
    .array(z.string())
    .optional()
    .describe('The words the memory is based on, if known. Not included in search results.'),
}).meta({ id: 'Source' });

export const HistoryEvent = z
  .object({
    id: z.string(),
    memory_id: z.string(),
    event: z.enum(['ADD', 'UPDATE', 'DELETE', 'NONE', 'UNDO', 'FEEDBACK']),
    version: z.int(),
    previous: z.string().nullable(),
    memory: z.string().nullable(),
    reason: z.string(),
    actor: z.string(),
    consolidation_id: z.string().nullable(),
    retracts: z.array(z.int()).describe('Only for UNDO: the versions of the earlier events that no longer count.'),
    undo_id: z.string().nullable().describe('Only for UNDO: the undo it belongs to, see /v1/undos.'),
    rated: z
      .object({
        version: z.int(),
        rating: Rating.nullable().describe('null: an earlier rating was removed.'),
      })
      .optional()
      .describe('Only for FEEDBACK: the version that was rated, and how.'),
    sources: z
      .array(z.object({ message_id: z.string(), role: Role, name: z.string().nullable() }))
      .describe(
        'The messages it came from, and who said them; empty for explicit changes. GET /v1/messages?around={id of the ' +
          'event} shows them with the conversation around them.',
      ),
    said_at: z.string(),
    created_at: z.string(),
  })
  .meta({ id: 'HistoryEvent' });
export type HistoryEvent = z.infer<typeof HistoryEvent>;

export const History = listOf(HistoryEvent).meta({ id: 'History' });

/** The most messages before and after one that is asked for. */
const NEARBY_MAX = 50;
const NEARBY_DEFAULT = 5;

/** The most messages before and after a source. */
export const NEIGHBOURS_MAX = 20;
const Neighbours = z.coerce.number().int().min(0).max(NEIGHBOURS_MAX).default(0);
export const SourcesQuery = z.strictObject({
  before: Neighbours.meta({ description: 'How many messages to include before each source.', examples: [2] }),
  after: Neighbours.meta({ description: 'How many messages to include after each source.', examples: [1] }),
});
export const SourceList = listOf(SourceView).meta({ id: 'SourceList' });

const Nearby = z.coerce.number().int().min(0).max(NEARBY_MAX).default(NEARBY_DEFAULT);
export const MessagesQuery = z.strictObject({
  around: z.string().min(1).max(256).describe('The id of a message, or of an event in the history of a memory.'),
  before: Nearby.meta({ description: 'How many messages to include before each of them.', examples: [5] }),
  after: Nearby.meta({ description: 'How many messages to include after each of them.', examples: [5] }),
});

/** Messages of one answer. */
export const NEAR_MAX = 200;
/** Characters of all of them together. */
export const NEAR_CHARACTERS_MAX = 1_000_000;

export const MessageList = z
  .object({
    results: z.array(
      SaidMessage.extend({
        is_asked: z.boolean().describe('true: the message itself, or one that the event came from.'),
      }),
    ),
    more: z
      .boolean()
      .describe(
        `true: more were requested than one answer holds, which is ${NEAR_MAX} messages of ${NEAR_CHARACTERS_MAX} ` +
          'characters in total. The requested messages and those nearest to them are kept.',
      ),
  })
  .meta({ id: 'MessageList' });

export const PostMemory = z
  .strictObject({
    memory: MemoryText,
    ...ScopeFields,
    metadata: Metadata.optional(),
    categories: Categories.optional(),
    immutable: z.boolean().default(false),
    pinned: z.boolean().default(false).describe('true: forgetting policies never delete it.'),
    trust: Trust.default('imported'),
    valid_from: Moment.optional(),
    expires_at: Moment.optional(),
  })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .meta({ id: 'PostMemory', examples: MEMORIES });
export type PostMemory = z.infer<typeof PostMemory>;

export const PatchMemory = z
  .strictObject({
    memory: MemoryText.optional(),
    metadata: Metadata.optional(),
    categories: Categories.optional(),
    immutable: z.boolean().optional(),
    pinned: z.boolean().optional(),
    trust: Trust.optional().describe(
      'The new origin; a new text counts as imported unless this says otherwise. If several sources said the same, the most trusted one counts.',
    ),
    expires_at: Moment.nullable().optional(),
    version: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Only change the memory if this is still its latest version. For a change that takes effect later, use the ' +
          'version in its history.',
      ),
  })
  .refine((patch) => Object.keys(patch).some((key) => key !== 'version'), {
    message: 'expected at least one field to change, got none',
  })
  .meta({ id: 'PatchMemory', examples: PATCHES });

const REASON_MAX = 2_000;

export const PostFeedback = z
  .strictObject({
    rating: z.enum([...Rating.options, 'none']).describe('none: removes the rating.'),
    reason: z
      .string()
      .max(REASON_MAX)
      .regex(/\S/u, 'must not be blank')
      .refine((text) => text.isWellFormed(), 'expected valid Unicode, got half of a surrogate pair')
      .optional()
      .describe('Kept in the history of the memory.'),
    version: z.int().min(1).optional().describe('The version that is rated. Default: the current one.'),
  })
  .meta({ id: 'PostFeedback', examples: FEEDBACKS });

const DryDelete = z
  .enum(['true', 'false'])
  .default('false')
  .describe('true: only shows what would be forgotten; nothing is changed.');

export const DeleteMemoriesQuery = z
  .strictObject({ ...ScopeFields, filters: FiltersText.optional(), dry_run: DryDelete })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] });
/** Memories named in the answer to a deletion of many. */
export const DELETED_LISTED = 100;
/** Characters of each that are shown. */
export const DELETED_TEXT_MAX = 200;

export const DeletedMemoriesView = z
  .object({
    deleted: z.int().describe('0 for a dry run.'),
    dry_run: z.boolean(),
    count: z.int().describe('The number of memories that are deleted, or would be.'),
    memories: z
      .array(z.object({ id: z.string(), memory: z.string() }))
      .describe(
        `The first ${DELETED_LISTED} of them, each with the first ${DELETED_TEXT_MAX} characters of its text. ` +
          'DELETE /v1/memories/{id}?dry_run=true shows what one of them takes with it.',
      ),
    more: z.boolean().describe('true: there are others that are not listed.'),
  })
  .meta({ id: 'DeletedMemories' });
export type DeletedMemoriesView = z.infer<typeof DeletedMemoriesView>;

export const DeletedView = z.object({ deleted: z.int() }).meta({ id: 'Deleted' });

export const DeleteMemoryQuery = z.strictObject({ dry_run: DryDelete });

const RelationTold = z.object({ id: z.string(), text: z.string() });

export const ForgottenView = z
  .object({
    deleted: z.int().describe('1; 0 for a dry run.'),
    dry_run: z.boolean(),
    fell: z
      .object({
        messages: z.array(
          z.object({
            message_id: z.string(),
            hidden: z.enum(['words', 'all']).describe('words: only the words that say it; all: the whole message.'),
          }),
        ),
        relations: z.array(RelationTold),
        entities: z.array(z.object({ id: z.string(), name: z.string() })),
        summaries: z.int().describe('Removed, and written again when the next one is due.'),
      })
      .describe('What can no longer be found together with it. Restoring the memory restores it.'),
    stays: z
      .object({
        messages: z.array(z.object({ message_id: z.string(), memory_ids: z.array(z.string()) })),
        relations: z.array(RelationTold),
      })
      .describe(
        'messages: the rest of a message, because of these memories. relations: also stated elsewhere, now by fewer sources.',
      ),
  })
  .meta({ id: 'ForgottenMemory' });
export type ForgottenView = z.infer<typeof ForgottenView>;

export const UserView = z
  .object({
    kind: OwnerKind,
    // Whatever is stored is listed, also what nobody may send any more.
    id: z.string(),
    memories: z.int(),
    pending: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'User' });
export type UserView = z.infer<typeof UserView>;
export const UserList = listOf(UserView).meta({ id: 'UserList' });
export const ListUsersQuery = z.strictObject({
  id_prefix: ExternalId.optional().describe('Only those whose id begins with this.'),
  order: z
    .enum(['created', 'updated'])
    .default('created')
    .describe('created: newest owners first. updated: last active first.'),
  ...PageQuery,
});

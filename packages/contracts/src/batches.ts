import { z } from 'zod';
import {
  ExternalId,
  FailureView,
  hasOwnerId,
  listOf,
  Metadata,
  Moment,
  OWNER_ID_MISSING,
  PageQuery,
  ScopeFields,
  ScopeView,
  TimeZone,
  UsageView,
} from './common.ts';
import { ACCEPTED, BATCHES, PREVIEWS } from './examples.ts';
import { hasImage, MESSAGES_MAX, type MessageBody, messagesUpTo, textOf } from './messages.ts';
import { Categories, TriedSettings } from './settings.ts';

const INSTRUCTIONS_MAX = 4_000;

const hasContent = (message: MessageBody): boolean =>
  textOf(message.content).trim() !== '' || hasImage(message.content);

/** What to consolidate, and how. */
const BatchFields = {
  messages: messagesUpTo(MESSAGES_MAX),
  ...ScopeFields,
  metadata: Metadata.optional(),
  mode: z
    .enum(['decide', 'add_only', 'verbatim', 'procedural'])
    .default('decide')
    .describe(
      'decide: extract facts and add, update or delete memories. add_only: extract facts and only add them. verbatim: ' +
        'store each message as a memory, without a model. procedural: record what an agent did.',
    ),
  instructions: z.string().min(1).max(INSTRUCTIONS_MAX).optional(),
  includes: z.string().min(1).max(INSTRUCTIONS_MAX).optional(),
  excludes: z.string().min(1).max(INSTRUCTIONS_MAX).optional(),
  timestamp: Moment.optional().describe('When messages without their own timestamp were said.'),
  timezone: TimeZone.optional().describe(
    'The time zone of the speakers, like Asia/Tokyo; “yesterday” is resolved in it. Not needed if timestamps have ' +
      'an offset (+09:00). Defaults to the tenant’s setting, or UTC.',
  ),
  categories: Categories.optional().describe(
    'Replaces the categories of the tenant, or the built-in ones, for these messages.',
  ),
  expires_at: Moment.optional(),
};

interface Asked {
  messages: MessageBody[];
  user_id?: string | undefined;
  agent_id?: string | undefined;
  run_id?: string | undefined;
  mode: string;
}

/** Rules that concern several fields. */
const makesSense = <T extends z.ZodType<Asked>>(body: T): T =>
  body
    .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
    .refine((batch) => batch.messages.some(hasContent), {
      message: 'every message is empty; send at least one with text',
      path: ['messages'],
      when: ({ issues }) => issues.length === 0, // until then they are as they were sent
    })
    .refine((batch) => batch.mode !== 'procedural' || (batch.agent_id ?? batch.run_id) !== undefined, {
      message: 'a procedural memory records what an agent did; set agent_id or run_id',
      path: ['agent_id'],
    });

export const PostBatch = makesSense(
  z.strictObject({
    ...BatchFields,
    flush: z
      .boolean()
      .default(false)
      .describe('Consolidate everything that is waiting for this owner now, instead of after a pause.'),
    end_of_conversation: z
      .boolean()
      .default(false)
      .describe('true: the conversation ends with these messages, so they are consolidated without waiting for more.'),
    priority: z
      .enum(['live', 'backfill'])
      .default('live')
      .describe(
        'backfill: for importing old conversations. They are consolidated when no live batch is due, in order with ' +
          'new messages of the same owner.',
      ),
    graph: z
      .boolean()
      .optional()
      .describe(
        'Whether to extract relations between people, places and things as well as memories. Defaults to the ' +
          'tenant’s setting. The modes verbatim and procedural have no relations.',
      ),
    idempotency_key: z.string().min(1).max(256).optional(),
  }),
)
  .refine((batch) => batch.graph !== true || batch.mode === 'decide' || batch.mode === 'add_only', {
    message: 'relations are only extracted in the modes decide and add_only; remove graph or change mode',
    path: ['graph'],
  })
  .meta({ id: 'PostBatch', examples: BATCHES });
export type PostBatch = z.infer<typeof PostBatch>;

/** A batch whose consolidation is only previewed. */
export const PostPreview = makesSense(
  z.strictObject({
    ...BatchFields,
    settings: TriedSettings.optional().describe(
      'Settings to try in place of those of the tenant; omitted ones have their defaults. Not for keys bound to a user or app.',
    ),
  }),
).meta({
  id: 'PostPreview',
  examples: PREVIEWS,
});

export const BatchState = z.enum(['pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone']);
export type BatchState = z.infer<typeof BatchState>;

/** The step of its consolidation that a batch is in. */
export const BatchStage = z.enum(['waiting', 'extract', 'decide', 'apply', 'project', 'done']);

/** Only in the answer to a POST. */
const Paused = z
  .enum(['some', 'all'])
  .optional()
  .describe(
    'Memory was paused for this user, now or when it was said: for some or all of these messages nothing is stored except that ' +
      'they were sent.',
  );

export const BatchAccepted = z
  .object({ batch_id: z.string(), state: BatchState, status_url: z.string(), paused: Paused })
  .meta({ id: 'BatchAccepted', examples: ACCEPTED });
export type BatchAccepted = z.infer<typeof BatchAccepted>;

const BatchEvent = z
  .object({
    id: z.string(),
    event: z.enum(['ADD', 'UPDATE', 'DELETE', 'NONE', 'UNDO']),
    memory_id: z.string(),
    memory: z.string(),
    previous: z.string().nullable(),
  })
  .meta({ id: 'BatchEvent' });

export const BatchView = ScopeView.extend({
  id: z.string(),
  lane: z.string().describe('The lane of its owner. The names of its jobs at /queues start with it.'),
  state: BatchState,
  stage: BatchStage,
  attempts: z.int(),
  error: FailureView.nullable(),
  failures: z
    .array(FailureView)
    .describe('The most recent failed attempts, oldest first, including those before a replay.'),
  consolidation_id: z.string().nullable(),
  messages: z.int(),
  priority: z.enum(['live', 'backfill']),
  events: z.array(BatchEvent),
  timings: z.object({
    accepted_at: z.string(),
    claimed_at: z.string().nullable(),
    applied_at: z.string().nullable(),
    searchable_at: z.string().nullable(),
  }),
  usage: UsageView.nullable(),
  paused: Paused,
}).meta({ id: 'Batch' });
export type BatchView = z.infer<typeof BatchView>;

const BatchSummary = BatchView.omit({ events: true, failures: true, usage: true, paused: true }).meta({
  id: 'BatchSummary',
});
export const BatchList = listOf(BatchSummary).meta({ id: 'BatchList' });

/** Longer than any id or code of this service. */
const NAME_MAX = 128;

export const ListBatchesQuery = z.strictObject({
  state: BatchState.optional(),
  user_id: ExternalId.optional(),
  lane: z
    .string()
    .min(1)
    .max(NAME_MAX)
    .optional()
    .describe('Only batches of this lane; see the field lane of a batch.'),
  error_code: z.string().min(1).max(NAME_MAX).optional().describe('Only batches with this error code.'),
  since: Moment.optional().meta({
    description: 'Only batches accepted at or after this time.',
    examples: ['2026-03-01T09:30:00Z'],
  }),
  ...PageQuery,
});

/** Why batches are parked: one entry for each error code. */
export const ParkedView = z
  .object({
    code: z.string(),
    batches: z.int(),
    owners: z.int().describe('The number of users, agents and runs they belong to.'),
    example: z.string().describe('The message of one of them.'),
    remedy: z.string().describe('What to do.'),
    oldest_at: z.string().describe('When the first of them was accepted.'),
    newest_at: z.string(),
  })
  .meta({ id: 'Parked' });

export type ParkedView = z.infer<typeof ParkedView>;

export const ParkedList = z
  .object({
    results: z.array(ParkedView),
    studies: z
      .array(
        ScopeView.extend({
          consolidation_id: z.string(),
          error: FailureView.nullable(),
          attempts: z.int(),
          requested_at: z.string(),
        }),
      )
      .describe(
        'Consolidations whose graph update failed, newest first, at most 100. POST ' +
          '/v1/consolidations/{id}/graph tries again.',
      ),
  })
  .meta({ id: 'ParkedList' });

export const PostFlush = z
  .strictObject({ user_id: ExternalId.optional(), agent_id: ExternalId.optional(), run_id: ExternalId.optional() })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .meta({ id: 'PostFlush', examples: [{ user_id: 'ana' }] });

export const FlushView = z
  .object({ pending: z.int().describe('The number of waiting batches of this owner that are due now.') })
  .meta({ id: 'Flush' });

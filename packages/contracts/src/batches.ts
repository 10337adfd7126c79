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
  takenAtOnce,
  UsageView,
} from './common.ts';
import { ACCEPTED, BATCHES, PREVIEWS } from './examples.ts';
import { TriedSettings } from './settings.ts';

/** Most messages in one POST; a longer transcript is sent as several batches. */
export const MESSAGES_MAX = 2_000;
/** Longest text of one message, in characters. */
export const CONTENT_MAX = 500_000;
export const PARTS_MAX = 100;
/** A data URL of an image of about six megabytes. */
const IMAGE_URL_MAX = 8_000_000;
const INSTRUCTIONS_MAX = 4_000;

export const Role = z.enum(['user', 'assistant', 'system', 'tool']);

const TextPart = z
  .strictObject({ type: z.literal('text'), text: z.string().max(CONTENT_MAX) })
  .meta({ id: 'TextPart' });
const ImagePart = z
  .strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({
      url: z.string().min(1).max(IMAGE_URL_MAX).describe('A public URL or a data URL.'),
      detail: z.enum(['auto', 'low', 'high']).optional(),
    }),
  })
  .meta({ id: 'ImagePart' });

const AnyMessage = z
  .strictObject({
    role: Role,
    content: z.union([
      z.string().max(CONTENT_MAX),
      z
        .array(z.discriminatedUnion('type', [TextPart, ImagePart]))
        .min(1)
        .max(PARTS_MAX),
    ]),
    name: ExternalId.optional().describe('The name of the speaker.'),
    trust: z
      .enum(['tool', 'external'])
      .optional()
      .describe(
        'Where the content comes from, if the role does not say it. external: content nobody here answers for, like a ' +
          'pasted mail. tool: output of a tool you answer for; other messages of the role tool count as external.',
      ),
    timestamp: Moment.optional().describe(
      'When it was said. Defaults to the time the batch was accepted. Include the speaker’s UTC offset (+09:00) so ' +
        'that dates resolve in their time zone.',
    ),
    id: ExternalId.optional().describe(
      'Must be unique for the owner. A message sent again with the same id is not processed twice.',
    ),
  })
  .meta({ id: 'Message' });
export const MessageBody = takenAtOnce(AnyMessage, isPlain);
export type MessageBody = z.infer<typeof MessageBody>;

/** Whether a message is of the usual form: one text, ASCII ids, and not from the last days of a month. */
function isPlain(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false;
  const fields = message as Readonly<Record<string, unknown>>;
  if (fields.role === undefined || fields.content === undefined) return false;
  for (const field in fields) if (!isPlainField(field, fields[field])) return false;
  return true;
}

const PLAIN_ID = /^[!-~][ -~]{0,255}$/u;
const PLAIN_MOMENT =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/u;

function isPlainField(field: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  switch (field) {
    case 'role':
      return value === 'user' || value === 'assistant' || value === 'system' || value === 'tool';
    case 'trust':
      return value === 'tool' || value === 'external';
    case 'content':
      return value.length <= CONTENT_MAX;
    case 'id':
    case 'name':
      return PLAIN_ID.test(value);
    case 'timestamp':
      return PLAIN_MOMENT.test(value);
    default:
      return false;
  }
}

/** The plain text of a message's content, parts joined by line breaks. */
export const textOf = (content: MessageBody['content']): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

export const hasImage = (content: MessageBody['content']): boolean =>
  typeof content !== 'string' && content.some((part) => part.type === 'image_url');

const hasContent = (message: MessageBody): boolean =>
  textOf(message.content).trim() !== '' || hasImage(message.content);

/** What to consolidate, and how. */
const BatchFields = {
  messages: z.array(MessageBody).min(1).max(MESSAGES_MAX),
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
      .describe('Consolidate everything that is waiting for this owner now, instead of when nothing more is posted.'),
    end_of_conversation: z
      .boolean()
      .default(false)
      .describe('Whether the conversation ends with these messages: nothing more is waited for.'),
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
      'Settings to try in place of those of the tenant; omitted ones have their default. Not for keys bound to a user or app.',
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

export const BatchAccepted = z
  .object({ batch_id: z.string(), state: BatchState, status_url: z.string() })
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
  lane: z.string().describe('The line of its owner. Names of its jobs at /queues begin with it.'),
  state: BatchState,
  stage: BatchStage,
  attempts: z.number().int(),
  error: FailureView.nullable(),
  failures: z
    .array(FailureView)
    .describe('The most recent failed attempts, oldest first, including those before a replay.'),
  consolidation_id: z.string().nullable(),
  messages: z.number().int(),
  priority: z.enum(['live', 'backfill']),
  events: z.array(BatchEvent),
  timings: z.object({
    accepted_at: z.string(),
    claimed_at: z.string().nullable(),
    applied_at: z.string().nullable(),
    searchable_at: z.string().nullable(),
  }),
  usage: UsageView.nullable(),
}).meta({ id: 'Batch' });
export type BatchView = z.infer<typeof BatchView>;

const BatchSummary = BatchView.omit({ events: true, failures: true, usage: true }).meta({ id: 'BatchSummary' });
export const BatchList = listOf(BatchSummary).meta({ id: 'BatchList' });

/** Longer than any id or code of this service. */
const NAME_MAX = 128;

export const ListBatchesQuery = z.strictObject({
  state: BatchState.optional(),
  user_id: ExternalId.optional(),
  lane: z.string().min(1).max(NAME_MAX).optional().describe('Only batches of this line, see lane of a batch.'),
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
    owners: z.int().describe('How many users, agents and runs they belong to.'),
    example: z.string().describe('The message of one of them.'),
    remedy: z.string().describe('What to do.'),
    oldest_at: z.string().describe('When the first of them was accepted.'),
    newest_at: z.string(),
  })
  .meta({ id: 'Parked' });

export type ParkedView = z.infer<typeof ParkedView>;

export const ParkedList = z.object({ results: z.array(ParkedView) }).meta({ id: 'ParkedList' });

export const PostFlush = z
  .strictObject({ user_id: ExternalId.optional(), agent_id: ExternalId.optional(), run_id: ExternalId.optional() })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .meta({ id: 'PostFlush', examples: [{ user_id: 'ana' }] });

export const FlushView = z
  .object({ pending: z.number().int().describe('The number of waiting batches of this owner that are due now.') })
  .meta({ id: 'Flush' });

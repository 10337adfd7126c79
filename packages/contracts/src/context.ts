import { z } from 'zod';
import { ExternalId, Filters, hasOwnerId, Moment, OWNER_ID_MISSING, ScopeFields, whole } from './common.ts';
import { CONTEXTS } from './examples.ts';
import { SaidMessage } from './memories.ts';
import {
  Cut,
  latestTurns,
  QUERY_MAX,
  Receipted,
  ReceiptId,
  SearchMode,
  Threshold,
  TIMEOUT_MAX_MS,
  TOP_K_MAX,
} from './search.ts';

/** Less than a tenth of a page is not useful. */
const TOKENS_MIN = 100;
/** More does not help a model, and takes long to count. */
const TOKENS_MAX = 16_000;
const TOKENS_DEFAULT = 1_000;
/** As many short memories as fit in a thousand tokens. */
const TOP_K_DEFAULT = 30;

const ContextSection = z.enum(['profile', 'summary', 'memories', 'relations', 'task', 'pending']);

export const PostContext = z
  .strictObject({
    query: z
      .string()
      .max(QUERY_MAX)
      .regex(/\S/u, 'expected text, got none; omit query to get the profile, summary and pending messages')
      .optional()
      .describe('What the next answer is about. Defaults to the last user messages in messages.'),
    messages: latestTurns('The latest turns, which are already in your prompt: the context does not repeat them.'),
    rewrite: z
      .boolean()
      .optional()
      .describe('Has the chat model rewrite a query that refers to messages before memories are searched.'),
    ...ScopeFields,
    filters: Filters.optional(),
    max_tokens: whole(TOKENS_MIN, TOKENS_MAX)
      .default(TOKENS_DEFAULT)
      .describe('The token budget of the block, counted with o200k_base.'),
    top_k: whole(1, TOP_K_MAX).default(TOP_K_DEFAULT).describe('How many memories to consider for the block.'),
    threshold: Threshold,
    cut: Cut.optional(),
    mode: SearchMode.default('hybrid'),
    as_of: Moment.optional().describe(
      'Return what was true at this time. Summary, task and pending messages only exist ' +
        'for the present and are omitted.',
    ),
    format: z.enum(['text', 'openai', 'anthropic']).default('text'),
    sections: z
      .array(ContextSection)
      .min(1)
      .max(ContextSection.options.length)
      .optional()
      .describe(
        'Defaults to all sections except relations and task, which is what the run works on: /v1/runs/{id}/state.',
      ),
    conversation_id: ExternalId.optional().describe(
      'Your id of the conversation. Memories from its last context keep their places, and new ' +
        'memories come after it, so that prompt caches hit.',
    ),
    after: ExternalId.optional().describe(
      'The receipt_id of the previous context of the conversation, instead of a conversation_id. An unknown id is ' +
        'ignored.',
    ),
    receipt: Receipted,
    timeout_ms: whole(1, TIMEOUT_MAX_MS)
      .optional()
      .describe('Sections that are not ready in time are omitted and listed in degraded.'),
  })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .refine(
    ({ as_of, sections = [] }) =>
      as_of === undefined || !['summary', 'task', 'pending'].some((one) => isIn(sections, one)),
    {
      message: 'as_of cannot be combined with the sections summary, task and pending; remove one or the other',
      path: ['sections'],
    },
  )
  .refine(
    ({ query, messages, sections = [] }) =>
      (query ?? messages) !== undefined || !BY_QUERY.some((one) => isIn(sections, one)),
    {
      message: 'the sections memories and relations need a query or messages; add one, or remove these sections',
      path: ['query'],
    },
  )
  .refine(({ sections = [], run_id }) => run_id !== undefined || !isIn(sections, 'task'), {
    message: 'the section task needs a run; add its run_id, or remove the section',
    path: ['run_id'],
  })
  .refine(({ after, conversation_id }) => after === undefined || conversation_id === undefined, {
    message: 'after and conversation_id both identify the previous context; remove one of them',
    path: ['after'],
  })
  .refine(({ rewrite, messages }) => rewrite !== true || messages !== undefined, {
    message: 'rewrite needs messages; add the latest turns, or remove it',
    path: ['rewrite'],
  })
  .meta({ id: 'PostContext', examples: CONTEXTS });
export type PostContext = z.infer<typeof PostContext>;

const BY_QUERY = ['memories', 'relations'];
const isIn = (sections: readonly string[], section: string): boolean => sections.includes(section);

const SectionView = z
  .object({
    shown: z.int(),
    left_out: z.int().describe('Omitted because it did not fit or is already included elsewhere.'),
  })
  .meta({ id: 'ContextSection' });

const CitationView = z.object({
  ref: z.string().describe('The citation mark used in the block: m1, m2, …'),
  section: z.enum(['profile', 'memories']),
  memory_id: z.string(),
  version: z.int(),
  said_at: z.string(),
  valid_from: z.string(),
});

const PendingView = SaidMessage.omit({ withheld: true, utc_offset: true }).extend({
  cut: z.boolean().describe('true: only the beginning is included.'),
});

const CoveredView = z
  .object({ first_message_id: z.string(), last_message_id: z.string(), messages: z.int() })
  .meta({ id: 'CoveredMessages' });

const TurnView = z
  .object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
  .meta({ id: 'ContextTurn' });

export const ContextResult = z
  .object({
    text: z.string().optional().describe('Only with format text. Empty if nothing is known.'),
    system: z
      .string()
      .optional()
      .describe('Only with format anthropic. Empty if there is no memory, profile or summary to include.'),
    messages: z
      .array(TurnView)
      .optional()
      .describe('Only with formats openai and anthropic: the messages to put before your own turns.'),
    tokens: z.int(),
    sections: z.object({
      profile: SectionView.optional(),
      summary: SectionView.optional(),
      memories: SectionView.optional(),
      relations: SectionView.optional(),
      task: SectionView.optional(),
      pending: SectionView.optional(),
    }),
    summary_covers: CoveredView.optional().describe(
      'Only if the summary is included: the first and the last message it was made of, and of how many. ' +
        'GET /v1/messages?around={message_id} shows the conversation there.',
    ),
    citations: z.array(CitationView),
    memory_ids: z.array(z.string()),
    pending: z.array(PendingView),
    pending_trimmed: z.boolean().describe('true: older pending messages were omitted.'),
    rewritten_query: z.string().optional().describe('Only with rewrite: what was searched for.'),
    receipt_id: ReceiptId,
    took_ms: z.number(),
    degraded: z.array(z.string()).optional().describe('What is missing from the answer, and why.'),
  })
  .meta({ id: 'ContextResult' });
export type ContextResult = z.infer<typeof ContextResult>;

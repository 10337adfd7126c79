import { z } from 'zod';
import { MessageBody, Role } from './batches.ts';
import { hasOwnerId, Moment, OWNER_ID_MISSING, ScopeFields } from './common.ts';
import { CONTEXTS } from './examples.ts';
import { Filters } from './filters.ts';
import { QUERY_MAX, SearchMode, TIMEOUT_MAX_MS, TOP_K_MAX } from './search.ts';

/** A tenth of a page is the least that says anything. */
const TOKENS_MIN = 100;
/** More is no help to a model, and counting it takes its time. */
const TOKENS_MAX = 16_000;
const TOKENS_DEFAULT = 1_000;
/** As many short memories as there is room for in a thousand tokens. */
const TOP_K_DEFAULT = 30;
/** The last turns; a transcript belongs into a batch. */
const MESSAGES_MAX = 50;

const ContextSection = z.enum(['profile', 'summary', 'memories', 'relations', 'pending']);

export const PostContext = z
  .strictObject({
    query: z
      .string()
      .max(QUERY_MAX)
      .regex(/\S/u, 'expected text; leave it out to be told the profile, the summary and what is pending')
      .optional()
      .describe('What the next answer is about. Without it, the last messages of the user say.'),
    messages: z
      .array(MessageBody)
      .min(1)
      .max(MESSAGES_MAX)
      .optional()
      .describe('The last turns, which the caller has in its prompt anyway: they are not told again.'),
    ...ScopeFields,
    filters: Filters.optional(),
    max_tokens: z.int().min(TOKENS_MIN).max(TOKENS_MAX).default(TOKENS_DEFAULT).describe('Counted as o200k_base does.'),
    top_k: z.int().min(1).max(TOP_K_MAX).default(TOP_K_DEFAULT).describe('Memories that are looked at for the block.'),
    threshold: z.number().min(0).max(1).optional(),
    mode: SearchMode.default('hybrid'),
    as_of: Moment.optional().describe('What held then. Summary and pending messages are of now and left out.'),
    format: z.enum(['text', 'openai', 'anthropic']).default('text'),
    sections: z
      .array(ContextSection)
      .min(1)
      .max(ContextSection.options.length)
      .optional()
      .describe('Unless some are named, all but relations.'),
    timeout_ms: z
      .int()
      .min(1)
      .max(TIMEOUT_MAX_MS)
      .optional()
      .describe('What is late is left out and told in degraded.'),
  })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .refine(
    ({ as_of, sections = [] }) => as_of === undefined || !['summary', 'pending'].some((one) => isIn(sections, one)),
    {
      message: 'summary and pending are of now: leave them out, or as_of',
      path: ['sections'],
    },
  )
  .refine(
    ({ query, messages, sections = [] }) =>
      (query ?? messages) !== undefined || !BY_QUERY.some((one) => isIn(sections, one)),
    {
      message: 'memories and relations are found by a query, or by messages: give one, or leave them out',
      path: ['query'],
    },
  )
  .meta({ id: 'PostContext', examples: CONTEXTS });
export type PostContext = z.infer<typeof PostContext>;

const BY_QUERY = ['memories', 'relations'];
const isIn = (sections: readonly string[], section: string): boolean => sections.includes(section);

const SectionView = z
  .object({
    shown: z.number().int(),
    left_out: z.number().int().describe('For want of room, or because it is told already.'),
  })
  .meta({ id: 'ContextSection' });

const CitationView = z.object({
  ref: z.string().describe('As the block marks it: m1, m2, …'),
  section: z.enum(['profile', 'memories']),
  memory_id: z.string(),
  version: z.number().int(),
  said_at: z.string(),
  valid_from: z.string(),
});

const PendingView = z.object({
  message_id: z.string(),
  batch_id: z.string(),
  id: z.string().nullable().describe('The id the caller gave the message.'),
  role: Role,
  name: z.string().nullable(),
  content: z.string(),
  said_at: z.string(),
  cut: z.boolean().describe('Only its beginning is told.'),
});

const TurnView = z
  .object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
  .meta({ id: 'ContextTurn' });

export const ContextResult = z
  .object({
    text: z.string().optional().describe('Of the format text. Empty where there is nothing to tell.'),
    system: z
      .string()
      .optional()
      .describe('Of the format anthropic. Empty where no memory, profile or summary is told.'),
    messages: z
      .array(TurnView)
      .optional()
      .describe('Of the formats openai and anthropic: what goes before the turns of the caller.'),
    tokens: z.number().int(),
    sections: z.object({
      profile: SectionView.optional(),
      summary: SectionView.optional(),
      memories: SectionView.optional(),
      relations: SectionView.optional(),
      pending: SectionView.optional(),
    }),
    citations: z.array(CitationView),
    memory_ids: z.array(z.string()),
    pending: z.array(PendingView),
    pending_trimmed: z.boolean().describe('Older pending messages are left out.'),
    took_ms: z.number(),
    degraded: z.array(z.string()).optional().describe('What is missing, and why.'),
  })
  .meta({ id: 'ContextResult' });
export type ContextResult = z.infer<typeof ContextResult>;

import { z } from 'zod';
import { ExternalId, FailureView, listOf, Moment, PageQuery, ScopeView } from './common.ts';
import { MemoryText, SaidMessage, Trust } from './memories.ts';
import { ReviewedEvent } from './settings.ts';

export const ConsolidationState = z.enum(['thinking', 'planned', 'waiting', 'applied', 'split', 'parked', 'undone']);
export type ConsolidationState = z.infer<typeof ConsolidationState>;

const ConsolidationSummary = ScopeView.extend({
  id: z.string(),
  state: ConsolidationState,
  batch_ids: z.array(z.string()),
  attempts: z.int(),
  error: FailureView.nullable(),
  created_at: z.string(),
  applied_at: z.string().nullable(),
  removed_at: z.string().nullable().describe('When retention removed its plan and model answers.'),
}).meta({ id: 'ConsolidationSummary' });

const EventKind = z.enum(['ADD', 'UPDATE', 'DELETE', 'NONE']);

const FactView = z.object({
  id: z.string(),
  text: z.string(),
  source_ids: z.array(z.string()).describe('The messages it was found in.'),
  quote: z.string().nullable().describe('The words it is based on.'),
  category: z.string().nullable(),
  language: z.string().nullable(),
  about: z.enum(['user', 'agent']),
  trust: Trust,
  said_at: z.string(),
  valid_from: z.string(),
});

const CandidateView = z
  .object({
    short_id: z.string(),
    memory_id: z.string(),
    version: z.number(),
    text: z.string(),
    said_at: z.string(),
    standing: z.enum(['live', 'former', 'deleted']),
    immutable: z.boolean(),
    recalled_by: z.array(z.object({ fact: z.string(), vector: z.number().nullable(), keyword: z.number().nullable() })),
  })
  .describe('A memory that facts were compared with, and the scores by which each fact found it.');

const operationOf = <Decider extends string>(deciders: readonly Decider[]) => ({
  fact: z.string().nullable(),
  event: EventKind,
  memory_id: z.string().nullable(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  reason: z.string(),
  decided_by: z.enum(deciders),
});

const DECIDERS = ['model', 'rule', 'guard'] as const;

/** What models were asked, and what that cost. */
const Used = { calls: z.number(), prompt_tokens: z.number(), completion_tokens: z.number() };

/** A plan: what was read, thought, decided and changed, and its cost. */
export const PlanView = z
  .object({
    round: z.number().describe('More than 1 if an explicit write changed the memories during the decision.'),
    facts: z.array(FactView),
    discards: z.array(z.object({ text: z.string(), reason: z.string() })),
    candidates: z.array(CandidateView),
    operations: z.array(z.object(operationOf(DECIDERS))),
    held: z
      .array(z.object({ review_id: z.string(), ...operationOf([...DECIDERS, 'feedback']) }))
      .describe('Operations that wait for a review.'),
    outcomes: z.array(
      z.object({ fact: z.string(), outcome: z.enum(['ADD', 'UPDATE', 'NONE', 'DROPPED']), reason: z.string() }),
    ),
    remarks: z.array(z.object({ asked: z.string(), did: z.string() })),
    attacks: z.array(z.object({ message_id: z.string(), kinds: z.array(z.string()) })),
    events: z.array(
      z.object({
        id: z.string(),
        memory_id: z.string(),
        version: z.number(),
        event: z.string(),
        previous: z.string().nullable(),
        memory: z.string().nullable(),
        reason: z.string(),
      }),
    ),
    prompts: z.array(z.object({ name: z.string(), version: z.string(), hash: z.string() })),
    models: z
      .object({ chat: z.string(), extract: z.string().optional(), decide: z.string().optional(), embedder: z.string() })
      .describe(
        'As configured; extract and decide only where they differ from chat. Which fallback answered is in usage.',
      ),
    usage: z.object({
      ...Used,
      models: z.array(z.object({ model: z.string(), ...Used, cost: z.number().nullable() })),
    }),
    cost: z.number().nullable(),
    variant: z.string().nullable().describe('The canary whose changes it was made with; null: none.'),
    rung: z.int().describe('The tenant’s saving level at that time, see docs/costs.md; 0: none.'),
    timings_ms: z.record(z.string(), z.number()),
  })
  .meta({ id: 'Plan' });
export type PlanView = z.infer<typeof PlanView>;

/** What models were sent, one entry for each of their answers. */
export const PromptList = z
  .object({
    results: z.array(
      z.object({
        step: z.string(),
        at: z.string().describe('When it was answered.'),
        prompt: z
          .object({ system: z.string(), user: z.string() })
          .nullable()
          .describe('null: it cannot be rebuilt any more.'),
      }),
    ),
  })
  .meta({ id: 'PromptList' });

export const ConsolidationView = ConsolidationSummary.extend({
  plan: PlanView.nullable().describe('What was read, extracted and decided; null until a plan is stored.'),
  answers: z.array(
    z.object({
      step: z.string(),
      model: z.string(),
      output: z.string(),
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      at: z.string(),
      reused_from: z
        .string()
        .nullable()
        .describe(
          'The undone consolidation of the same batches whose identical call was reused, and which paid for it.',
        ),
    }),
  ),
  messages: z
    .array(SaidMessage)
    .optional()
    .describe('Only with include=messages: the messages of its batches, in the order of arrival.'),
}).meta({ id: 'Consolidation' });

export const GetConsolidationQuery = z.strictObject({ include: z.enum(['messages']).optional() });

export const ConsolidationList = listOf(ConsolidationSummary).meta({ id: 'ConsolidationList' });
export const ListConsolidationsQuery = z.strictObject({
  state: ConsolidationState.optional(),
  user_id: ExternalId.optional(),
  ...PageQuery,
});

const DryRun = z.boolean().default(false).describe('true: only report what would change.');

export const PostUndo = z
  .strictObject({
    cascade: z.boolean().default(false).describe('true: also undo later changes that depend on it.'),
    dry_run: DryRun,
  })
  .meta({ id: 'PostUndo', examples: [{}, { dry_run: true }, { cascade: true }] });

export const PostRollback = z
  .strictObject({ to: Moment.describe('Everything recorded later is undone.'), dry_run: DryRun })
  .meta({
    id: 'PostRollback',
    examples: [{ to: '2026-03-01T09:30:00Z', dry_run: true }, { to: '2026-03-01T09:30:00Z' }],
  });

export const PostRedo = z.strictObject({ dry_run: DryRun }).meta({ id: 'PostRedo', examples: [{ dry_run: true }, {}] });

export const PostRestore = z
  .strictObject({ version: z.int().min(1).describe('A version of the memory or of an event in its history.') })
  .meta({ id: 'PostRestore', examples: [{ version: 1 }] });

/** A later change that changed or confirmed a memory which would be reverted. */
export const DependentView = z
  .object({
    kind: z.enum(['consolidation', 'write']).describe('write: an explicit write; its id is the id of its event.'),
    id: z.string(),
    memory_ids: z.array(z.string()),
  })
  .meta({ id: 'Dependent' });
export type DependentView = z.infer<typeof DependentView>;

const UndoKind = z.enum(['undo', 'rollback', 'withdrawal', 'redo']);

export const UndoView = ScopeView.pick({ user_id: true, agent_id: true, run_id: true })
  .extend({
    id: z.string(),
    kind: UndoKind,
    to: z.string().nullable().describe('Only for a rollback: the time it rolled back to.'),
    consolidation_ids: z.array(z.string()).describe('The consolidations it undid.'),
    undo_ids: z.array(z.string()).describe('Earlier undos that it reversed.'),
    memories: z.int().describe('How many memories it changed.'),
    created_at: z.string(),
  })
  .meta({ id: 'Undo' });
export type UndoView = z.infer<typeof UndoView>;

export const UndoList = listOf(UndoView).meta({ id: 'UndoList' });
export const ListUndosQuery = z.strictObject({ user_id: ExternalId.optional(), ...PageQuery });

export const UndoReport = z
  .object({
    undo: UndoView.nullable().describe(
      'null: nothing was changed, because of dry_run or because there was nothing to change.',
    ),
    memories: z
      .array(z.object({ id: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe('The first 1,000 memories whose text changed; null: no text.'),
    changed: z.int().describe('The total number of changed memories.'),
    undone: z.array(z.string()).describe('Consolidations that were undone, together with their batches.'),
    redone: z.array(z.string()).describe('Consolidations that were redone.'),
    dependents: z.array(DependentView).describe('What was undone together with it, newest first.'),
  })
  .meta({ id: 'UndoReport' });
export type UndoReport = z.infer<typeof UndoReport>;

export const ReviewState = z.enum(['pending', 'approved', 'rejected', 'stale']);

/** An operation that needs or needed approval. */
export const ReviewView = ScopeView.extend({
  id: z.string(),
  state: ReviewState,
  event: ReviewedEvent,
  memory_id: z.string().nullable().describe('null: approving it creates a new memory.'),
  before: z.string().nullable(),
  after: z.string().nullable(),
  reason: z.string(),
  fact: z
    .object({
      id: z.string(),
      text: z.string().nullable(),
      quote: z.string().nullable(),
      source_ids: z.array(z.string()),
    })
    .nullable()
    .describe(
      'null: the review comes from a very negative rating of the memory or from topics common to most users of the agent, not from a fact.',
    ),
  forgotten: z
    .literal(true)
    .optional()
    .describe('true: the memory is forgotten; before, after and the text and quote of the fact are null.'),
  consolidation_id: z
    .string()
    .nullable()
    .describe(
      'The consolidation that proposed it; its plan shows the reasoning. null: proposed by a rating, or by nights that counted common topics of the agent’s users.',
    ),
  said_at: z.string(),
  valid_from: z.string(),
  note: z
    .string()
    .nullable()
    .describe(
      'Why it is stale: the memory it would change no longer exists or can no longer be changed, the rating was removed, or it is known of fewer than 20 users of the agent.',
    ),
  created_at: z.string(),
  settled_at: z.string().nullable(),
}).meta({ id: 'Review' });
export type ReviewView = z.infer<typeof ReviewView>;

export const ReviewList = listOf(ReviewView).meta({ id: 'ReviewList' });

export const ListReviewsQuery = z.strictObject({
  state: ReviewState.optional(),
  user_id: ExternalId.optional(),
  ...PageQuery,
});

export const PostReview = z
  .strictObject({
    decision: z.enum(['approve', 'reject']),
    memory: MemoryText.optional().describe(
      'Only with approve, and not for a deletion: the text to remember instead of the proposed one.',
    ),
  })
  .refine(({ decision, memory }) => decision === 'approve' || memory === undefined, {
    message: 'a text can only be approved; remove memory, or set decision to approve',
    path: ['memory'],
  })
  .meta({
    id: 'PostReview',
    examples: [{ decision: 'approve' }, { decision: 'approve', memory: 'Lives in Bergen' }, { decision: 'reject' }],
  });

import { z } from 'zod';
import { BatchState } from './batches.ts';
import { ExternalId, FailureView, listOf, Moment, PageQuery, ScopeView } from './common.ts';
import { REPLAYS } from './examples.ts';

/** Most batches one request may name. */
const IDS_MAX = 1_000;
/** Several times what an id of this service has. */
const ID_MAX = 128;

const ReplayFilter = z.strictObject({
  batch_ids: z.array(z.string().min(1).max(ID_MAX)).min(1).max(IDS_MAX).optional(),
  state: z
    .enum(['parked', 'consolidated', 'empty', 'undone'])
    .optional()
    .describe('parked unless a what-if is asked for, which takes consolidated and empty ones unless told otherwise.'),
  user_id: ExternalId.optional(),
  error_code: z.string().min(1).max(128).optional().describe('Of the error the batches show.'),
  since: Moment.optional().describe('Accepted at or after.'),
  until: Moment.optional().describe('Accepted before.'),
});

const INSTRUCTIONS_MAX = 4_000;
const PROMPT_MAX = 20_000;
const Instructions = z.string().trim().min(1).max(INSTRUCTIONS_MAX).optional();
const Threshold = z.number().min(0).max(100).optional();

/** What a what-if does otherwise. */
const ChangeFields = {
  model: z.string().trim().min(1).max(256).optional().describe('Another chat model at the same place.'),
  mode: z.enum(['decide', 'add_only']).optional().describe('In place of what the batches asked for.'),
  graph: z.boolean().optional().describe('Whether relations are read, in place of what batches and settings ask for.'),
  instructions: Instructions.describe('This and the next five in place of the settings.'),
  includes: Instructions,
  excludes: Instructions,
  decide_instructions: Instructions,
  prompts: z
    .strictObject({
      extract: z.string().trim().min(1).max(PROMPT_MAX).optional(),
      decide: z.string().trim().min(1).max(PROMPT_MAX).optional(),
    })
    .optional(),
  recall_per_fact: z.int().min(1).max(50).optional(),
  near: z
    .strictObject({ vector: Threshold, keyword: Threshold, overlap: Threshold })
    .optional()
    .describe('From where on a memory is a neighbour worth a decision.'),
};

export const PostReplay = z
  .strictObject({
    filter: ReplayFilter,
    shadow: z.boolean().default(false).describe('Into a shadow space, even without a change.'),
    ...ChangeFields,
    dry_run: z.boolean().default(false).describe('Only says how many and which batches match.'),
    idempotency_key: z.string().min(1).max(256).optional(),
  })
  .meta({ id: 'PostReplay', examples: REPLAYS });
export type PostReplay = z.infer<typeof PostReplay>;

export const ReplayRehearsal = z
  .object({
    dry_run: z.literal(true),
    matched: z.number().int(),
    sample: z
      .array(
        ScopeView.extend({ id: z.string(), state: BatchState, error: FailureView.nullable(), accepted_at: z.string() }),
      )
      .describe('The oldest of them.'),
  })
  .meta({ id: 'ReplayRehearsal' });

const ReplayState = z.enum(['preparing', 'running', 'done', 'failed', 'discarding', 'discarded']);

const ReplaySummary = z
  .object({
    id: z.string(),
    kind: z.enum(['live', 'what_if']),
    state: ReplayState,
    filter: z.json(),
    changes: z.json().describe('What a what-if does otherwise.'),
    matched: z.number().int().describe('Batches that matched when it was asked for.'),
    created_at: z.string(),
    finished_at: z.string().nullable(),
    expires_at: z.string().nullable().describe('When the shadow space of a what-if goes by itself.'),
    error: FailureView.nullable().describe('Why it failed.'),
  })
  .meta({ id: 'ReplaySummary' });

const Side = z
  .object({
    operations: z.object({
      ADD: z.number().int(),
      UPDATE: z.number().int(),
      DELETE: z.number().int(),
      NONE: z.number().int(),
    }),
    consolidations: z.number().int(),
    calls: z.number().int(),
    prompt_tokens: z.number().int(),
    completion_tokens: z.number().int(),
    cost: z.number().nullable().describe('Studies included. null: a model that was asked has no price.'),
    studies: z
      .object({
        applied: z.number().int(),
        parked: z.number().int().describe('What they would have learned is missing.'),
        waiting: z.number().int().describe('Only in life: those that were not made yet.'),
        cost: z.number().nullable().describe('null: a model that was asked has no price.'),
      })
      .describe('Those for the graph.'),
  })
  .meta({ id: 'ReplaySide' });

const Difference = z
  .object({
    ...ScopeView.omit({ app_id: true }).shape,
    memory_id: z.string().nullable().describe('As it is called in life.'),
    life: z.string().nullable().describe('What holds in life; null: nothing.'),
    what_if: z.string().nullable().describe('What holds in the shadow space; null: nothing.'),
  })
  .meta({ id: 'ReplayDifference' });

const Time = z
  .object({ valid_from: z.string(), invalid_at: z.string().nullable().describe('null: it holds.') })
  .nullable()
  .describe('null: there is no such relation.');

const RelationDifference = z
  .object({
    ...ScopeView.omit({ app_id: true }).shape,
    source: z.string().describe('By its name, like the destination.'),
    relationship: z.string(),
    destination: z.string(),
    life: Time,
    what_if: Time,
  })
  .meta({ id: 'ReplayRelationDifference' });

const Relations = z
  .object({
    same: z.number().int(),
    added: z.number().int(),
    changed: z.number().int().describe('Those that began or ended otherwise.'),
    gone: z.number().int(),
    differences: z.array(RelationDifference),
  })
  .meta({ id: 'ReplayRelations' });

const WhatIfResult = z
  .object({
    batches: z.object({ consolidated: z.number().int(), empty: z.number().int(), parked: z.number().int() }),
    memories: z.object({
      same: z.number().int(),
      added: z.number().int(),
      changed: z.number().int(),
      gone: z.number().int(),
    }),
    differences: z.array(Difference),
    relations: Relations.nullable().describe('How the graph would be. null: no batch was to be studied.'),
    life: Side,
    what_if: Side,
  })
  .meta({ id: 'WhatIfResult' });

export const ReplayView = ReplaySummary.extend({
  replayed: z.number().int().describe('Batches that wait again, or have since been consolidated or parked again.'),
  waiting: z.number().int(),
  consolidated: z.number().int().describe('Those without facts included.'),
  parked: z.number().int().describe('Parked again.'),
  waiting_for: FailureView.nullable().describe('What batches of it wait for, or failed of last.'),
  result: WhatIfResult.nullable().describe('Of a what-if that is done: what would be different.'),
}).meta({ id: 'Replay' });
export type ReplayView = z.infer<typeof ReplayView>;

export const ReplayList = listOf(ReplaySummary).meta({ id: 'ReplayList' });
export const ListReplaysQuery = z.strictObject(PageQuery);
export const GetReplayQuery = z.strictObject({
  format: z.enum(['json', 'text']).default('json').describe('text: to be read by people.'),
});

import { z } from 'zod';
import { BatchState } from './batches.ts';
import { ExternalId, FailureView, listOf, Moment, PageQuery, ScopeView } from './common.ts';
import { REPLAYS } from './examples.ts';
import { StepModels } from './models.ts';
import { Categories } from './settings.ts';
import { ForecastView } from './usage.ts';

/** Most batches one request may name. */
const IDS_MAX = 1_000;
/** Several times what an id of this service has. */
const ID_MAX = 128;

const ReplayFilter = z.strictObject({
  batch_ids: z.array(z.string().min(1).max(ID_MAX)).min(1).max(IDS_MAX).optional(),
  state: z
    .enum(['parked', 'consolidated', 'empty', 'undone'])
    .optional()
    .describe(
      'Defaults to parked; for a what-if, to consolidated and empty. Live, only parked and undone are allowed.',
    ),
  user_id: ExternalId.optional(),
  error_code: z.string().min(1).max(128).optional().describe('Only batches with this error code.'),
  since: Moment.optional().describe('Only batches accepted at or after this time.'),
  until: Moment.optional().describe('Only batches accepted before this time.'),
});

const INSTRUCTIONS_MAX = 4_000;
const PROMPT_MAX = 20_000;
const Instructions = z.string().trim().min(1).max(INSTRUCTIONS_MAX).optional();
const Threshold = z.number().min(0).max(100).optional();

/** What a what-if or a canary changes. */
export const ChangeFields = {
  model: z
    .string()
    .trim()
    .min(1)
    .max(256)
    .optional()
    .describe('Another chat model, for all steps. A model that is not configured is called on the same model server.'),
  models: StepModels.optional().describe('Other chat models by step.'),
  mode: z.enum(['decide', 'add_only']).optional().describe('Overrides the mode of the batches.'),
  graph: z.boolean().optional().describe('Whether to extract relations; overrides batches and settings.'),
  instructions: Instructions.describe('Like the next six fields, overrides the settings.'),
  includes: Instructions,
  excludes: Instructions,
  decide_instructions: Instructions,
  categories: Categories.optional(),
  prompts: z
    .strictObject({
      extract: z.string().trim().min(1).max(PROMPT_MAX).optional(),
      decide: z.string().trim().min(1).max(PROMPT_MAX).optional(),
    })
    .optional(),
  recall_per_fact: z.int().min(1).max(50).optional(),
  near: z
    .strictObject({ vector: Threshold, keyword: Threshold, pair: Threshold, overlap: Threshold })
    .optional()
    .describe(
      'The similarity from which a known memory is compared with a new fact. pair and overlap: the same for two facts of one batch.',
    ),
};

export const PostReplay = z
  .strictObject({
    filter: ReplayFilter,
    shadow: z.boolean().default(false).describe('true: replay into a shadow space even if nothing is changed.'),
    ...ChangeFields,
    dry_run: z.boolean().default(false).describe('true: only report how many and which batches match.'),
    idempotency_key: z.string().min(1).max(256).optional(),
  })
  .meta({ id: 'PostReplay', examples: REPLAYS });
export type PostReplay = z.infer<typeof PostReplay>;

export const ReplayRehearsal = z
  .object({
    dry_run: z.literal(true),
    matched: z.int(),
    sample: z
      .array(
        ScopeView.extend({ id: z.string(), state: BatchState, error: FailureView.nullable(), accepted_at: z.string() }),
      )
      .describe('The oldest matching batches.'),
    forecast: ForecastView.describe(
      'The estimated usage of consolidating them again, based on the tenant’s past usage.',
    ),
  })
  .meta({ id: 'ReplayRehearsal' });

const ReplayState = z.enum(['preparing', 'running', 'done', 'failed', 'discarding', 'discarded']);

const ReplaySummary = z
  .object({
    id: z.string(),
    kind: z.enum(['live', 'what_if', 'suite']),
    state: ReplayState,
    filter: z.json(),
    changes: z.json().describe('What a what-if changes.'),
    matched: z.int().describe('How many batches matched when the replay was requested.'),
    created_at: z.string(),
    finished_at: z.string().nullable(),
    expires_at: z.string().nullable().describe('When the shadow space of a what-if is deleted automatically.'),
    error: FailureView.nullable().describe('Why it failed.'),
  })
  .meta({ id: 'ReplaySummary' });

const Side = z
  .object({
    operations: z.object({
      ADD: z.int(),
      UPDATE: z.int(),
      DELETE: z.int(),
      NONE: z.int(),
    }),
    consolidations: z.int(),
    calls: z.int(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    cost: z.number().nullable().describe('Includes studies. null: a model that was used has no price.'),
    studies: z
      .object({
        applied: z.int(),
        parked: z.int().describe('Parked studies, whose results are missing.'),
        waiting: z.int().describe('Only for live: studies that have not run yet.'),
        cost: z.number().nullable().describe('null: a model that was used has no price.'),
      })
      .describe('Studies that update the graph.'),
  })
  .meta({ id: 'ReplaySide' });

const Difference = z
  .object({
    ...ScopeView.omit({ app_id: true }).shape,
    memory_id: z.string().nullable().describe('The id of the live memory.'),
    life: z.string().nullable().describe('The live text; null: there is none.'),
    what_if: z.string().nullable().describe('The text in the shadow space; null: there is none.'),
  })
  .meta({ id: 'ReplayDifference' });

const Time = z
  .object({ valid_from: z.string(), invalid_at: z.string().nullable().describe('null: it has not ended.') })
  .nullable()
  .describe('null: the relation does not exist.');

const RelationDifference = z
  .object({
    ...ScopeView.omit({ app_id: true }).shape,
    source: z.string().describe('The name of the source entity.'),
    relationship: z.string(),
    destination: z.string(),
    life: Time,
    what_if: Time,
  })
  .meta({ id: 'ReplayRelationDifference' });

const Relations = z
  .object({
    same: z.int(),
    added: z.int(),
    changed: z.int().describe('Relations with a different start or end.'),
    gone: z.int(),
    differences: z.array(RelationDifference),
  })
  .meta({ id: 'ReplayRelations' });

const WhatIfResult = z
  .object({
    batches: z.object({ consolidated: z.int(), empty: z.int(), parked: z.int() }),
    memories: z.object({
      same: z.int(),
      added: z.int(),
      changed: z.int(),
      gone: z.int(),
    }),
    differences: z.array(Difference),
    relations: Relations.nullable().describe(
      'How the graph would differ. null: relations were not extracted from any batch.',
    ),
    life: Side,
    what_if: Side,
  })
  .meta({ id: 'WhatIfResult' });

export const ReplayView = ReplaySummary.extend({
  replayed: z.int().describe('Batches put back so far, including those since consolidated, undone or parked again.'),
  waiting: z.int(),
  consolidated: z.int().describe('Includes batches without facts.'),
  parked: z.int().describe('Parked again.'),
  waiting_for: FailureView.nullable().describe('What its batches wait for, or their latest failure.'),
  result: WhatIfResult.nullable().describe('Only for a finished what-if: what would be different.'),
}).meta({ id: 'Replay' });
export type ReplayView = z.infer<typeof ReplayView>;

export const ReplayList = listOf(ReplaySummary).meta({ id: 'ReplayList' });
export const ListReplaysQuery = z.strictObject(PageQuery);
export const GetReplayQuery = z.strictObject({
  format: z.enum(['json', 'text']).default('json').describe('text: a human-readable report.'),
});

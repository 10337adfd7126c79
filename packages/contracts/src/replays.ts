import { z } from 'zod';
import { BatchState } from './batches.ts';
import { ExternalId, listOf, Moment, PageQuery, ScopeView } from './common.ts';

/** Most batches one request may name. */
const IDS_MAX = 1_000;

const ReplayFilter = z.strictObject({
  batch_ids: z.array(z.string().min(1)).min(1).max(IDS_MAX).optional(),
  state: z.literal('parked').default('parked'),
  user_id: ExternalId.optional(),
  error_code: z.string().min(1).max(128).optional().describe('Of the error the batches show.'),
  since: Moment.optional().describe('Accepted at or after.'),
  until: Moment.optional().describe('Accepted before.'),
});

export const PostReplay = z
  .strictObject({
    filter: ReplayFilter,
    dry_run: z.boolean().default(false).describe('Only says how many and which batches match.'),
    idempotency_key: z.string().min(1).max(256).optional(),
  })
  .meta({ id: 'PostReplay' });
export type PostReplay = z.infer<typeof PostReplay>;

const Told = z.object({ code: z.string(), message: z.string(), at: z.string() });

export const ReplayRehearsal = z
  .object({
    dry_run: z.literal(true),
    matched: z.number().int(),
    sample: z
      .array(ScopeView.extend({ id: z.string(), state: BatchState, error: Told.nullable(), accepted_at: z.string() }))
      .describe('The oldest of them.'),
  })
  .meta({ id: 'ReplayRehearsal' });

const ReplayState = z.enum(['preparing', 'running', 'done', 'failed', 'discarding', 'discarded']);

const ReplaySummary = z.object({
  id: z.string(),
  state: ReplayState,
  filter: z.json(),
  matched: z.number().int().describe('Batches that matched when it was asked for.'),
  created_at: z.string(),
  finished_at: z.string().nullable(),
});

export const ReplayView = ReplaySummary.extend({
  replayed: z.number().int().describe('Batches that wait again, or have since been consolidated or parked again.'),
  waiting: z.number().int(),
  consolidated: z.number().int().describe('Those without facts included.'),
  parked: z.number().int().describe('Parked again.'),
  waiting_for: Told.nullable().describe('What batches of it wait for, or failed of last.'),
}).meta({ id: 'Replay' });
export type ReplayView = z.infer<typeof ReplayView>;

export const ReplayList = listOf(ReplaySummary).meta({ id: 'ReplayList' });
export const ListReplaysQuery = z.strictObject(PageQuery);

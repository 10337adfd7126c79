import { z } from 'zod';
import { FailureView } from './common.ts';

/** What the study of a consolidation decided. */
const StudyPlanView = z.object({
  entities: z
    .array(z.object({ id: z.string(), name: z.string(), kind: z.string() }))
    .describe('Entities that the study created.'),
  statements: z
    .array(
      z.object({
        id: z.string(),
        kind: z.enum(['holds', 'ended', 'denied', 'same', 'apart', 'named']),
        source: z.string(),
        relationship: z.string().nullable(),
        destination: z.string().nullable(),
        name: z.string().nullable(),
        said_at: z.string(),
        quote: z.string().nullable(),
        message_ids: z.array(z.string()),
      }),
    )
    .describe('Statements added to the graph; relations are derived from them.'),
  proposals: z
    .array(z.object({ source: z.string(), destination: z.string(), likeness: z.number() }))
    .describe('Entities that may be the same, for a person to review.'),
  remarks: z
    .array(z.object({ asked: z.string(), did: z.string() }))
    .describe('What the model proposed that was rejected or repaired, and why.'),
  prompts: z.array(z.object({ name: z.string(), version: z.string(), hash: z.string() })),
  usage: z.json(),
});

export const StudyView = z
  .object({
    consolidation_id: z.string(),
    state: z.enum(['pending', 'applied', 'parked']),
    attempts: z.number().int(),
    error: FailureView.nullable(),
    requested_at: z.string(),
    applied_at: z.string().nullable(),
    plan: StudyPlanView.nullable().describe('null until it is applied.'),
  })
  .meta({ id: 'Study' });

import { z } from 'zod';
import { RETENTIONS } from './examples.ts';
import { ForgettingBody, RetentionBody } from './settings.ts';

export const PostRetentionPreview = z
  .strictObject({
    retention: RetentionBody.optional(),
    forgetting: ForgettingBody.optional(),
  })
  .meta({ id: 'PostRetentionPreview', examples: RETENTIONS });

export const RetentionPreview = z
  .object({
    batches: z.number().int().describe('Batches whose message content would be removed.'),
    consolidations: z.number().int().describe('Consolidations whose plan and model answers would be removed.'),
    histories: z.number().int().describe('Memories whose former versions and events would lose their text.'),
    memories: z
      .object({ age: z.number().int(), unconfirmed: z.number().int(), budget: z.number().int() })
      .describe('Memories that would be forgotten, by reason.'),
    forgotten: z.number().int().describe('Forgotten memories that would be erased and could no longer be restored.'),
  })
  .meta({ id: 'RetentionPreview' });

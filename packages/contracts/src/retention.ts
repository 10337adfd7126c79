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
    batches: z.number().int().describe('Batches whose messages would lose their content.'),
    consolidations: z.number().int().describe('Consolidations that would lose their plan and the answers of models.'),
    histories: z.number().int().describe('Memories whose former versions and their events would lose their text.'),
    memories: z
      .object({ age: z.number().int(), unconfirmed: z.number().int(), budget: z.number().int() })
      .describe('Memories that would be forgotten, by the reason.'),
  })
  .meta({ id: 'RetentionPreview' });

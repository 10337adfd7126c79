import { z } from 'zod';
import { ExternalId } from './common.ts';

export const OwnerParams = z.strictObject({ id: ExternalId });

export const ErasureState = z.enum(['requested', 'erasing', 'compacting', 'erased']);

export const ErasureAccepted = z
  .object({ erasure_id: z.string(), state: ErasureState, status_url: z.string() })
  .meta({ id: 'ErasureAccepted' });

export const ErasureView = z
  .object({
    id: z.string(),
    state: ErasureState.describe(
      'requested: accepted; nothing is consolidated or written for the owner any more. erasing: rows are being ' +
        'deleted. compacting: rows are deleted and files are being rewritten. erased: complete.',
    ),
    counts: z.record(z.string(), z.number().int()).describe('How much has been erased so far, by kind.'),
    remains: z
      .array(z.string())
      .describe('Data that could not be overwritten immediately: where it is, and until when.'),
    requested_at: z.string(),
    erased_at: z.string().nullable(),
  })
  .meta({ id: 'Erasure' });
export type ErasureView = z.infer<typeof ErasureView>;

export const ErasureList = z.object({ results: z.array(ErasureView) }).meta({ id: 'ErasureList' });

/** One line of an export; its other keys depend on the type. */
export const ExportLine = z
  .looseObject({
    type: z.enum([
      'user',
      'batch',
      'message',
      'memory',
      'event',
      'consolidation',
      'review',
      'summary',
      'task_state',
      'profile',
      'entity',
      'relation',
      'statement',
      'end',
    ]),
  })
  .meta({ id: 'ExportLine' });

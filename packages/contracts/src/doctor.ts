import { z } from 'zod';

export const GetDoctorQuery = z.strictObject({
  depth: z
    .enum(['quick', 'usual'])
    .default('usual')
    .describe(
      'quick: figures that are at hand. usual: also everything that is counted, and samples of what has to be read. ' +
        'Everything is read by `slowwave doctor --full` beside the stores.',
    ),
});

export const ExaminationView = z
  .object({
    at: z.string(),
    depth: z.enum(['quick', 'usual', 'full']),
    healthy: z.boolean().describe('No promise is broken; there may be warnings.'),
    checks: z.array(z.object({ check: z.string(), looked: z.number().int(), findings: z.number().int() })),
    findings: z.array(
      z.object({
        check: z.string(),
        severity: z.enum(['error', 'warning']),
        what: z.string(),
        count: z.number().int(),
        examples: z.array(z.string()),
        remedy: z.string(),
      }),
    ),
  })
  .meta({ id: 'Examination' });
export type ExaminationView = z.infer<typeof ExaminationView>;

import { z } from 'zod';

export const GetDoctorQuery = z.strictObject({
  depth: z
    .enum(['quick', 'usual'])
    .default('usual')
    .describe(
      'quick: only figures that are already known. usual: also counts, and checks samples of stored data. To check ' +
        'everything, run `slowwave doctor --full` on a machine with access to the stores.',
    ),
});

export const ExaminationView = z
  .object({
    at: z.string(),
    depth: z.enum(['quick', 'usual', 'full']),
    healthy: z.boolean().describe('true: all checks passed, possibly with warnings.'),
    checks: z.array(z.object({ check: z.string(), looked: z.number().int(), findings: z.number().int() })),
    last_backup: z
      .object({ at: z.string(), bytes: z.number() })
      .nullable()
      .describe('The last backup by `slowwave backup`. null: none is known.'),
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

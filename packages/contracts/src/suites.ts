import { z } from 'zod';
import { ExternalId, FailureView, ID_MAX, listOf, Moment, PageQuery, ScopeView, SuiteName } from './common.ts';
import { SUITE_ASSESSMENTS, SUITE_MARGINS, SUITE_RUNS, SUITES } from './examples.ts';
import { CONTENT_MAX } from './messages.ts';
import { ChangeFields } from './replays.ts';
import { AllSettings } from './settings.ts';

const OWNERS_MAX = 200;
const BATCHES_MAX = 50;
const CASES_MAX = 1_000;
const LIST_MAX = 2_000;
const TOKENS_MAX = 1_000_000_000;

/** Whatever can be said can be recorded, and whatever is recorded is exported: cases have the limits of messages. */
const Text = z.string().min(1).max(CONTENT_MAX);
const Name = z.string().min(1).max(ID_MAX);
const Language = z.string().min(1).max(ID_MAX).nullable().default(null);

const Margin = z
  .strictObject({
    by: z.number().min(0).max(1_000),
    relative: z.literal(true).optional().describe('true: relative to the value of the baseline.'),
  })
  .nullable()
  .describe('How much worse a figure may get. null: the figure is shown and never blocks.');

const Margins = z
  .record(z.string().max(64), Margin)
  .describe('By figure; other figures have the margins of docs/suites.md.');

const CaseMessage = z.strictObject({
  id: Name.optional().describe('A name within the case that facts refer to.'),
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z.string().max(CONTENT_MAX),
  name: Name.nullable().default(null),
  timestamp: Moment.optional(),
});

const CaseMemory = z.strictObject({
  text: Text,
  said_at: Moment.optional(),
  category: Name.nullable().default(null),
  language: Language,
});

const ExpectedFact = z.strictObject({
  text: Text,
  quote: Text.nullable().default(null),
  language: Language,
  messages: z.array(Name).max(LIST_MAX).default([]).describe('The ids of the messages it comes from.'),
});

const Tally = z.strictObject({ part: z.number(), of: z.number() });

const SuiteCase = z.strictObject({
  name: ExternalId.describe('A name for the user whose conversation it is; unique among the cases.'),
  language: Language,
  memories: z.array(CaseMemory).max(LIST_MAX).default([]).describe('The memories known before.'),
  batches: z
    .array(
      z.strictObject({
        mode: z.enum(['decide', 'add_only']).default('decide'),
        window: z
          .int()
          .min(0)
          .max(LIST_MAX)
          .optional()
          .describe('Batches with the same number are consolidated together.'),
        messages: z.array(CaseMessage).min(1).max(LIST_MAX),
      }),
    )
    .min(1)
    .max(LIST_MAX),
  expected: z
    .strictObject({
      facts: z.array(ExpectedFact).max(LIST_MAX).default([]),
      changes: z
        .array(z.strictObject({ event: z.enum(['UPDATE', 'DELETE']), before: Text }))
        .max(LIST_MAX)
        .default([])
        .describe('Known memories, by their text, that are replaced or end.'),
      memories: z.array(Text).max(LIST_MAX).default([]).describe('The memories that hold at the end.'),
    })
    .nullable()
    .default(null)
    .describe('The expected result. null: only figures that do not need an expected result are measured.'),
  questions: z
    .array(z.strictObject({ query: Text, expects: z.array(Text).max(LIST_MAX).default([]) }))
    .max(LIST_MAX)
    .default([])
    .describe('Searches, each with memories that answer it; without any: nothing should be found.'),
  measured: z
    .strictObject({ figures: z.record(z.string().max(64), Tally), calls: z.int().min(0), tokens: z.int().min(0) })
    .nullable()
    .default(null)
    .describe('The result where it was recorded.'),
});

export const SuiteFile = z.strictObject({
  format: z.literal('slowwave-suite'),
  version: z.literal(1),
  masked: z.boolean().default(false),
  margins: Margins.default({}),
  cases: z.array(SuiteCase).min(1).max(CASES_MAX),
});
export const SuiteExport = SuiteFile.meta({ id: 'SuiteExport' });
export type SuiteFile = z.infer<typeof SuiteFile>;

export const PostSuite = z
  .strictObject({
    name: SuiteName,
    record: z
      .strictObject({
        owners: z
          .int()
          .min(1)
          .max(OWNERS_MAX)
          .default(50)
          .describe('The number of owners, chosen by hash among those that differ most.'),
        batches_per_owner: z.int().min(1).max(BATCHES_MAX).default(10).describe('The newest ones.'),
        mask: z.boolean().default(false).describe('Mask personal data, as the setting personal_data does.'),
      })
      .optional()
      .describe('Record the suite from past consolidations.'),
    file: SuiteFile.optional().describe('Or import it from a file.'),
  })
  .refine(({ record, file }) => (record === undefined) !== (file === undefined), {
    message: 'expected either record or file',
  })
  .meta({ id: 'PostSuite', examples: SUITES });
export type PostSuite = z.infer<typeof PostSuite>;

export const PutSuiteMargins = z
  .strictObject({ margins: Margins })
  .meta({ id: 'PutSuiteMargins', examples: SUITE_MARGINS });

export const SuiteParams = z.strictObject({ name: z.string().min(1) });
export const SuiteRunParams = z.strictObject({ name: z.string().min(1), id: z.string().min(1) });

const Estimate = {
  cases: z.int(),
  batches: z.int(),
  calls: z.int().describe('Calls of chat models.'),
  tokens: z.int().describe('The expected number of tokens.'),
  spread: z.int().describe('The uncertainty of the estimate, plus or minus.'),
  budget_tokens: z.int().describe('The budget of a run without one.'),
};

const SuiteSummary = z.object({
  name: z.string(),
  origin: z.enum(['production', 'file']),
  masked: z.boolean(),
  margins: z.json(),
  created_at: z.string(),
});

export const SuiteView = SuiteSummary.extend({ estimate: z.object(Estimate).describe('What a run takes.') }).meta({
  id: 'Suite',
});
export type SuiteView = z.infer<typeof SuiteView>;
export const SuiteList = listOf(SuiteSummary).meta({ id: 'SuiteList' });

export const PostSuiteRun = z
  .strictObject({
    ...ChangeFields,
    settings: AllSettings.optional().describe('Try these settings, in the format of PUT /v1/settings.'),
    embedder: Name.optional().describe(
      'Ask the questions of the suite with this embedding model instead: one of the embedding server, or builtin.',
    ),
    budget_tokens: z.int().min(1).max(TOKENS_MAX).optional().describe('The run never uses more tokens.'),
    dry_run: z.boolean().default(false).describe('true: only estimate.'),
    idempotency_key: z.string().min(1).max(256).optional(),
  })
  .meta({ id: 'PostSuiteRun', examples: SUITE_RUNS });
export type PostSuiteRun = z.infer<typeof PostSuiteRun>;

export const SuiteRunEstimate = z.object({ dry_run: z.literal(true), ...Estimate }).meta({ id: 'SuiteRunEstimate' });
export type SuiteRunEstimate = z.infer<typeof SuiteRunEstimate>;

const Interval = z.object({ value: z.number(), low: z.number(), high: z.number() }).nullable();

const HeldFigure = z
  .object({
    figure: z.string(),
    says: z.string(),
    language: z.string().nullable().describe('Only facts in this language; null: all.'),
    baseline: z.number().nullable(),
    variant: z.number().nullable(),
    interval: Interval.describe('The variant with its 99% interval; null: too few cases for a comparison.'),
    difference: Interval.describe('With its 99% interval; null: too few cases for a comparison.'),
    margin: z.object({ by: z.number(), relative: z.literal(true).optional() }).nullable(),
    n: z.object({ baseline: z.number(), variant: z.number() }),
    verdict: z
      .enum(['fine', 'worse', 'unclear', 'shown'])
      .describe(
        'worse: beyond the margin, and statistically significant. unclear: too few data to decide. shown: no margin.',
      ),
  })
  .meta({ id: 'HeldFigure' });

const SuiteRunSummary = z.object({
  id: z.string(),
  suite: z.string(),
  state: z.enum(['preparing', 'running', 'done', 'failed', 'discarding', 'discarded']),
  changes: z.json(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  error: FailureView.nullable(),
  passed: z.boolean().nullable().describe('null: it has not finished.'),
  embedder: z.string().nullable().describe('The embedding model used for its questions; null: the configured one.'),
  budget_tokens: z.int(),
  spent_tokens: z.int(),
});

export const SuiteRunView = SuiteRunSummary.extend({
  batches: z.object({ total: z.int(), done: z.int(), parked: z.int() }),
  report: z
    .object({
      baseline_run: z
        .string()
        .nullable()
        .describe('The run without changes it is compared with; null: the stored results.'),
      tokens: z.int(),
      figures: z.array(HeldFigure),
      lost: z.int().describe('Expected facts that were not found.'),
      lost_facts: z.array(z.object({ ...ScopeView.omit({ app_id: true }).shape, text: z.string() })),
    })
    .nullable(),
}).meta({ id: 'SuiteRun' });
export type SuiteRunView = z.infer<typeof SuiteRunView>;
export const SuiteRunList = listOf(SuiteRunSummary).meta({ id: 'SuiteRunList' });

const SAMPLE_MAX = 100;
const Assessor = z.string().trim().min(1).max(64).describe('The name of the assessor, as given by themselves.');
const Verdict = z
  .enum(['agree', 'wrong', 'complete', 'missing'])
  .describe(
    'For a fact: agree or wrong. For a message: complete, or missing if something worth remembering was not found.',
  );

export const SuiteSampleQuery = z.strictObject({
  by: Assessor.optional().describe('Also list this person’s earlier verdicts.'),
  messages: z.coerce.number().int().min(1).max(SAMPLE_MAX).default(20).describe('How many messages.'),
});

const Assessment = z.strictObject({
  item: z.string().min(1).max(300).describe('The id of a message or fact of the sample.'),
  verdict: Verdict,
});

export const PostSuiteAssessments = z
  .strictObject({ by: Assessor, assessments: z.array(Assessment).min(1).max(1_000) })
  .meta({ id: 'PostSuiteAssessments', examples: SUITE_ASSESSMENTS });
export type PostSuiteAssessments = z.infer<typeof PostSuiteAssessments>;

const AssessedShare = z
  .object({ value: z.number(), low: z.number(), high: z.number(), of: z.int() })
  .nullable()
  .describe('With its 99% interval; null: nothing was assessed.');

const Agreement = z
  .object({
    of: z.int().describe('The number of items that both assessed.'),
    same: z.int(),
    kappa: z.number().nullable().describe('Cohen’s kappa; null: it cannot be computed.'),
  })
  .nullable();

export const SuiteAssessments = z
  .object({
    assessors: z.array(
      z.object({
        by: z.string(),
        right: AssessedShare.describe('The share of facts that are right.'),
        complete: AssessedShare.describe('The share of messages with nothing missing.'),
      }),
    ),
    pairs: z.array(
      z.object({ by: z.array(z.string()).describe('Two people.'), facts: Agreement, messages: Agreement }),
    ),
  })
  .meta({ id: 'SuiteAssessments', description: 'People’s verdicts on a run, and how much they agree.' });
export type SuiteAssessments = z.infer<typeof SuiteAssessments>;

export const SuiteSample = z
  .object({
    messages: z.array(
      z.object({
        ...ScopeView.omit({ app_id: true }).shape,
        id: z.string(),
        before: z.string().nullable().describe('The message right before it.'),
        content: z.string(),
        verdict: Verdict.nullable().describe('This person’s earlier verdict.'),
        facts: z.array(
          z.object({
            id: z.string(),
            text: z.string(),
            outcome: z.enum(['ADD', 'UPDATE', 'NONE', 'DROPPED']),
            replaced: z.string().nullable().describe('The memory it replaced or ended.'),
            verdict: Verdict.nullable(),
          }),
        ),
      }),
    ),
    assessed: SuiteAssessments,
  })
  .meta({ id: 'SuiteSample' });
export type SuiteSample = z.infer<typeof SuiteSample>;

export const GetSuiteRunQuery = z.strictObject({
  format: z
    .enum(['json', 'text', 'markdown', 'junit'])
    .default('json')
    .describe('The report as text, as Markdown for a pull request, or as JUnit XML.'),
});
export const SuitePageQuery = z.strictObject(PageQuery);

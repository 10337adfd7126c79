import type { SuiteRunView, SuiteView } from '@slowwave/contracts';
import {
  type Assessment,
  assessmentsOf,
  type Estimate,
  failureView,
  isoOf,
  isoOrNull,
  type Ledger,
  ownerView,
  type Replay,
  type SampledMessage,
  type Suite,
  type SuiteReport,
  saysOf,
  spaceOf,
  usualBudget,
} from '@slowwave/engine';
import { changesView } from './replay-view.ts';

export const suiteSummary = ({ name, origin, masked, margins, createdAt }: Suite) => ({
  ...{ name, origin, masked, margins },
  created_at: isoOf(createdAt),
});

export const estimateView = (estimate: Estimate): SuiteView['estimate'] => ({
  ...estimate,
  budget_tokens: usualBudget(estimate),
});

const reportIn = ({ result }: Replay): SuiteReport | null => result as unknown as SuiteReport | null;

export const runSummary = (suite: Suite, run: Replay) => ({
  id: run.id,
  suite: suite.name,
  state: run.state,
  changes: changesView(run),
  created_at: isoOf(run.createdAt),
  finished_at: isoOrNull(run.finishedAt),
  error: failureView(run.failure),
  passed: reportIn(run)?.passed ?? null,
  embedder: run.filter.embedder ?? null,
  budget_tokens: run.filter.budget ?? 0,
  spent_tokens: run.spent,
});

export async function runView(
  { ledger }: { readonly ledger: Ledger },
  suite: Suite,
  run: Replay,
): Promise<SuiteRunView> {
  const report = reportIn(run);
  const states = report?.batches ?? (await ledger.overview.batches(spaceOf({ tenant: run.tenant, replay: run.id })));
  const { consolidated, empty, parked } = states;
  return {
    ...runSummary(suite, run),
    batches: { total: run.matched, done: consolidated + empty + parked, parked },
    report: report && reportView(report),
  };
}

const reportView = ({ baseline, tokens, figures, lost, differences }: SuiteReport) => ({
  baseline_run: baseline,
  tokens,
  figures: figures.map(({ figure, margin, ...one }) => ({
    ...one,
    figure,
    says: saysOf(figure),
    margin: margin && { ...margin },
  })),
  lost,
  lost_facts: differences.map(({ owner, life }) => ({ ...ownerView(owner), text: life ?? '' })),
});

export function sampleView(
  sample: readonly SampledMessage[],
  { given, by }: { readonly given: readonly Assessment[]; readonly by: string | null },
) {
  const own = new Map(given.filter((one) => one.by === by).map(({ item, verdict }) => [item, verdict]));
  const verdictOf = (id: string) => own.get(id) ?? null;
  const messages = sample.map(({ owner, id, before, text, facts }) => ({
    ...ownerView(owner),
    ...{ id, before, content: text, verdict: verdictOf(id) },
    facts: facts.map((fact) => ({ ...fact, verdict: verdictOf(fact.id) })),
  }));
  return { messages, assessed: assessedView(given) };
}

export function assessedView(given: readonly Assessment[]) {
  const { assessors, pairs } = assessmentsOf(given);
  return { assessors: [...assessors], pairs: pairs.map(({ by, ...agreements }) => ({ by: [...by], ...agreements })) };
}

type Report = NonNullable<SuiteRunView['report']>;
type Figure = Report['figures'][number];

const PERCENT = 100;
const EXAMPLES = 20;

const numberText = (value: number | null): string => {
  if (value === null) return '–';
  return Math.abs(value) >= PERCENT ? value.toFixed(0) : value.toFixed(3);
};

const nameOf = ({ figure, language }: Figure): string => (language === null ? figure : `${figure} (${language})`);

const spanText = (interval: Figure['interval'], value: number | null = interval?.value ?? null): string =>
  interval === null
    ? numberText(value)
    : `${numberText(value)} (${numberText(interval.low)} … ${numberText(interval.high)})`;

const marginText = ({ margin }: Figure): string =>
  margin === null ? '–' : margin.relative ? `${Math.round(margin.by * PERCENT)}%` : numberText(margin.by);

function headOf({ suite, id, passed, state, error }: SuiteRunView): string {
  if (passed === true) return `Suite ${suite}: passed (run ${id})`;
  if (passed === false) return `Suite ${suite}: blocked (run ${id})`;
  return `Suite ${suite}: ${state}${error === null ? '' : `, ${error.message}`} (run ${id})`;
}

/** Worse ones first. */
const ORDER = ['worse', 'unclear', 'fine', 'shown'];
const inOrder = (figures: readonly Figure[]): readonly Figure[] =>
  figures.toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));

const rowsOf = (figures: readonly Figure[]): readonly (readonly string[])[] =>
  inOrder(figures).map((figure) => [
    figure.verdict,
    nameOf(figure),
    numberText(figure.baseline),
    spanText(figure.interval, figure.variant),
    spanText(figure.difference),
    marginText(figure),
    String(figure.n.variant),
  ]);

const COLUMNS = ['verdict', 'figure', 'baseline', 'run (99%)', 'difference (99%)', 'margin', 'n'];

const factsOf = ({ lost_facts: facts }: Report): readonly string[] =>
  facts.slice(0, EXAMPLES).map(({ text }) => text.replaceAll(/\s+/gu, ' '));

const comparedWith = ({ baseline_run: run }: Report): string =>
  run === null ? 'Compared with the stored results.' : `Compared with the run ${run}, which had no changes.`;

/** For a terminal. */
export function textReport(run: SuiteRunView): string {
  const { report } = run;
  if (report === null) return headOf(run);
  const rows = [COLUMNS, ...rowsOf(report.figures)];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  const table = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const lost = factsOf(report);
  return [
    headOf(run),
    `${comparedWith(report)} ${run.spent_tokens} of ${run.budget_tokens} tokens used.`,
    '',
    ...table,
    ...(lost.length === 0
      ? []
      : ['', `Facts that were not found again (${report.lost}):`, ...lost.map((one) => `- ${one}`)]),
  ].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** For a pull request. */
export function markdownReport(run: SuiteRunView): string {
  const { report } = run;
  if (report === null) return `### ${headOf(run)}`;
  const lost = factsOf(report).map((one) => `- ${one.replaceAll(/[<>`*_[\]]/gu, '\\$&')}`);
  return [
    `### ${headOf(run)}`,
    '',
    comparedWith(report),
    '',
    `| ${COLUMNS.join(' | ')} |`,
    `|${COLUMNS.map(() => '---').join('|')}|`,
    ...rowsOf(report.figures).map((row) => `| ${row.map(cell).join(' | ')} |`),
    ...(lost.length === 0
      ? []
      : [
          '',
          '<details>',
          `<summary>${report.lost} facts were not found again</summary>`,
          '',
          ...lost,
          '',
          '</details>',
        ]),
  ].join('\n');
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no way to write them
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu;
const xml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(NOT_IN_XML, '')
    .replaceAll(/[&<>"']/gu, (sign) => XML[sign] ?? '');

/** For CI systems: a test for each figure. */
export function junitReport(run: SuiteRunView): string {
  const figures = run.report?.figures ?? [];
  const count = (verdict: Figure['verdict']): number => figures.filter((one) => one.verdict === verdict).length;
  const skipped = count('unclear') + count('shown');
  const cases = figures.map((figure) => {
    const name = `<testcase classname="${xml(run.suite)}" name="${xml(nameOf(figure))}"`;
    const found = `${figure.says}: ${numberText(figure.baseline)}, now ${spanText(figure.interval, figure.variant)}, difference ${spanText(figure.difference)}, margin ${marginText(figure)}`;
    if (figure.verdict === 'worse') return `    ${name}><failure message="${xml(found)}"/></testcase>`;
    if (figure.verdict === 'fine') return `    ${name}/>`;
    return `    ${name}><skipped message="${xml(found)}"/></testcase>`;
  });
  const error =
    run.passed === null
      ? [`    <testcase classname="${xml(run.suite)}" name="run"><error message="${xml(headOf(run))}"/></testcase>`]
      : [];
  const tests = figures.length + error.length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${tests}" failures="${count('worse')}" errors="${error.length}" skipped="${skipped}">`,
    `  <testsuite name="${xml(run.suite)}" tests="${tests}" failures="${count('worse')}" errors="${error.length}" skipped="${skipped}">`,
    ...cases,
    ...error,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n');
}

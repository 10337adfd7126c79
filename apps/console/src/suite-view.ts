import type { SuiteRunView, SuiteView } from '@slowwave/contracts';
import {
  type Assessment,
  assessmentsOf,
  type Estimate,
  failureView,
  isoOf,
  isoOrNull,
  type Ledger,
  type Replay,
  type SampledMessage,
  type Suite,
  type SuiteReport,
  saysOf,
  spaceOf,
  usualBudget,
} from '@slowwave/engine';
import { changesView, ownerView } from './replay-view.ts';

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

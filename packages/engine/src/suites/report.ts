import type { EngineDeps, NamedEmbedder } from '../deps.ts';
import { EngineError } from '../errors.ts';
import {
  type Comparison,
  compare,
  compareTallies,
  type FigureVerdict,
  type Interval,
  intervalOf,
  type OwnerFigures,
  type Tallies,
  talliesOf,
  verdictOf,
} from '../figures/compare.ts';
import {
  addFigures,
  FIGURES,
  type FigureName,
  type Figures,
  kindOf,
  type Margin,
  type Tally,
} from '../figures/figures.ts';
import { spaceOf } from '../ids.ts';
import { allOf, pages } from '../ports/ledger/ledger.ts';
import type { Replay, Suite, SuiteCase } from '../ports/ledger/replays.ts';
import type { Consolidation } from '../ports/ledger/thoughts.ts';
import type { Cancellation } from '../ports/tools.ts';
import { type MemoryDifference, viewOf } from '../replays/result.ts';
import type { LaneId, Owner, Scope, TenantId } from '../words.ts';
import { type CaseContent, contentOf, figuresAgainst, madeBy, type Outcome } from './cases.ts';
import { answered, type QuestionDeps } from './questions.ts';
import { casesOf } from './run.ts';

/** A figure of a run with what it was held against. */
interface HeldFigure extends Comparison {
  /** Of the facts in one language alone; null: of all. */
  readonly language: string | null;
  /** What the figure of this run may as well be, whatever it is held against; null: too few owners to tell. */
  readonly interval: Interval | null;
  /** null: it is only shown. */
  readonly margin: Margin | null;
  readonly verdict: FigureVerdict | 'shown';
}

/** What came of a run of a suite. */
export interface SuiteReport {
  readonly passed: boolean;
  /** The run without changes that it was held against; null: what was stored. */
  readonly baseline: string | null;
  readonly figures: readonly HeldFigure[];
  /** What it was made with (setupOf). */
  readonly setup: string;
  readonly cases: readonly CaseReport[];
  readonly tokens: number;
  readonly lost: number;
  readonly batches: { readonly consolidated: number; readonly empty: number; readonly parked: number };
  /** Facts that were stored and not found again, the first of them. As what-ifs have them, so that who is erased goes from both. */
  readonly differences: readonly MemoryDifference[];
  readonly relations: null;
}

interface CaseReport {
  readonly place: number;
  readonly figures: Figures;
  readonly keptByLanguage: Readonly<Record<string, Tally>>;
  readonly lost: number;
}

/** A report is read by people; past this they look at the numbers. */
const EXAMPLES = 100;

/** Measures what the space of a run holds, and compares it. */
export async function reportOf(
  deps: QuestionDeps,
  { replay, suite, setup }: { readonly replay: Replay; readonly suite: Suite; readonly setup: string },
  cancel: Cancellation,
): Promise<SuiteReport> {
  const { ledger } = deps;
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  const embedder = await embedderOf(deps, replay);
  const done = Map.groupBy(await overIn(deps, space), ({ lane }) => lane);
  const cases: (CaseReport & { readonly content: CaseContent })[] = [];
  const differences: MemoryDifference[] = [];
  let tokens = 0;
  for await (const one of casesOf(deps, suite.id)) {
    const lane = await ledger.lanes.find(space, one.owner);
    if (lane === null) continue; // its owner was erased
    const made = await madeBy(deps, done.get(lane.id) ?? []);
    tokens += made.tokens;
    const asked = { one, outcome: { ...made.outcome, live: await liveIn(deps, space, one.owner) }, lane: lane.id };
    const judging = { ...asked, figures: made.figures, space, embedder };
    const { report, lost } = await caseReport(deps, judging, cancel);
    cases.push({ ...report, content: contentOf(one) });
    const { owner } = one;
    differences.push(...lost.map((life) => ({ owner, memoryId: null, life, whatIf: null })));
  }
  const baseline = await baselineOf(deps, suite, replay);
  const figures = held(cases, baseline?.report ?? null, suite);
  const { consolidated, empty, parked } = await ledger.overview.batches(space);
  return {
    passed: isPassed(figures),
    baseline: baseline?.id ?? null,
    figures,
    setup,
    cases: cases.map(({ content: _content, ...report }) => report),
    ...{ tokens, lost: differences.length, batches: { consolidated, empty, parked } },
    differences: differences.slice(0, EXAMPLES),
    relations: null,
  };
}

async function embedderOf({ otherEmbedder }: QuestionDeps, { filter }: Replay): Promise<NamedEmbedder | null> {
  if (filter.embedder === undefined) return null;
  const found = (await otherEmbedder?.(filter.embedder)) ?? null;
  if (found !== null) return found;
  const message = `expected an embedding server for the model ${filter.embedder}, got none; set SLOWWAVE_EMBEDDING_BASE_URL`;
  throw new EngineError(message, { code: 'model_misconfigured', retryable: false });
}

/** Nothing is worse, and of something it is sure that it is not. */
const isPassed = (figures: readonly HeldFigure[]): boolean =>
  figures.some(({ verdict }) => verdict === 'fine') && figures.every(({ verdict }) => verdict !== 'worse');

async function overIn({ ledger }: Pick<EngineDeps, 'ledger'>, space: TenantId): Promise<readonly Consolidation[]> {
  const all = await allOf((page) => ledger.thoughts.list(space, {}, page));
  return all.filter(({ state }) => state === 'applied' || state === 'parked');
}

async function liveIn({ ledger }: Pick<EngineDeps, 'ledger'>, space: TenantId, owner: Owner): Promise<string[]> {
  const scope: Scope = { userId: null, agentId: null, runId: null, appId: null, [`${owner.kind}Id`]: owner.id };
  const live: string[] = [];
  for await (const memory of pages((page) => ledger.memories.list(space, scope, 0, page)))
    live.push(...viewOf(memory, null).map(({ text }) => text));
  return live;
}

interface Judging {
  readonly one: SuiteCase;
  readonly outcome: Outcome;
  readonly figures: Figures;
  readonly space: TenantId;
  readonly lane: LaneId;
  /** null: the usual one. */
  readonly embedder: NamedEmbedder | null;
}

async function caseReport(
  deps: QuestionDeps,
  { one, outcome, figures, space, lane, embedder }: Judging,
  cancel: Cancellation,
): Promise<{ readonly report: CaseReport; readonly lost: readonly string[] }> {
  const content = contentOf(one);
  const against = content.stored === null ? null : figuresAgainst(content.stored, outcome);
  const owned = { tenant: space, owner: one.owner, lane };
  const found = await answered(deps, { owned, questions: content.questions, live: outcome.live, embedder }, cancel);
  return {
    report: {
      place: one.place,
      figures: addFigures([figures, against?.figures ?? {}, found]),
      keptByLanguage: against?.keptByLanguage ?? {},
      lost: against?.lost.length ?? 0,
    },
    lost: (against?.lost ?? []).map(({ text }) => text),
  };
}

/** The newest run that changed nothing; null: there is none. */
async function baselineOf(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  suite: Suite,
  replay: Replay,
): Promise<{ readonly id: string; readonly report: SuiteReport } | null> {
  for await (const run of pages((page) => ledger.suites.runs(suite.tenant, suite.id, page))) {
    if (run.id === replay.id || run.result === null || !isUnchanged(run)) continue;
    return { id: run.id, report: run.result as unknown as SuiteReport };
  }
  return null;
}

const isUnchanged = ({ changes, filter }: Replay): boolean =>
  Object.keys(changes).length === 0 && filter.embedder === undefined;

type Cases = readonly (CaseReport & { readonly content: CaseContent })[];

/** Fewer facts of a language say nothing of how it goes with it. */
const FACTS_OF_LANGUAGE = 10;

/** How long something takes follows from what else a machine does: nobody is blocked for it unless the suite says so. */
const ONLY_SHOWN: readonly FigureName[] = ['thinking_ms'];

function held(cases: Cases, baseline: SuiteReport | null, suite: Suite): readonly HeldFigure[] {
  const before = baseline === null ? storedSide(cases) : sideOf(baseline.cases);
  const margins = suite.margins as unknown as Readonly<Partial<Record<FigureName, Margin | null>>>;
  const after = sideOf(cases);
  const holding = ({ comparison, variant }: Compared, language: string | null): HeldFigure => {
    const { figure } = comparison;
    const usual = ONLY_SHOWN.includes(figure) ? null : kindOf(figure).margin;
    const margin = figure in margins ? (margins[figure] ?? null) : usual;
    const verdict = margin === null || comparison.baseline === null ? 'shown' : verdictOf(comparison, margin);
    return { ...comparison, language, interval: intervalOf(figure, variant), margin, verdict };
  };
  const all = compare(before, after).map((comparison) =>
    holding({ comparison, variant: talliesOf(after, comparison.figure) }, null),
  );
  return [...all, ...languagesOf(cases, baseline).map(([language, one]) => holding(one, language))];
}

interface Compared {
  readonly comparison: Comparison;
  readonly variant: Tallies;
}

const sideOf = (cases: readonly Pick<CaseReport, 'place' | 'figures'>[]): readonly OwnerFigures[] =>
  cases.map(({ place, figures }) => ({ owner: String(place), figures }));

/** What was stored keeps all of itself, and went as it was measured. */
const storedSide = (cases: Cases): readonly OwnerFigures[] =>
  cases.map(({ place, content: { stored, measured } }) => ({
    owner: String(place),
    figures: addFigures([stored === null ? {} : figuresAgainst(stored, stored).figures, measured?.figures ?? {}]),
  }));

function languagesOf(cases: Cases, baseline: SuiteReport | null): readonly (readonly [string, Compared])[] {
  const languages = new Set(cases.flatMap(({ keptByLanguage }) => Object.keys(keptByLanguage)));
  if (languages.size < 2) return [];
  const known = new Map((baseline?.cases ?? []).map((one) => [one.place, one.keptByLanguage]));
  return [...languages].flatMap((language) => {
    const [before, after] = [new Map<string, Tally>(), new Map<string, Tally>()];
    for (const { place, keptByLanguage } of cases) {
      const kept = keptByLanguage[language];
      if (kept === undefined) continue;
      after.set(String(place), kept);
      const then = baseline === null ? { part: kept.of, of: kept.of } : known.get(place)?.[language];
      if (then !== undefined) before.set(String(place), then);
    }
    const comparison = compareTallies('facts_kept', { baseline: before, variant: after });
    return comparison.n.variant < FACTS_OF_LANGUAGE ? [] : [[language, { comparison, variant: after }] as const];
  });
}

/** For people: what a figure is. */
export const saysOf = (figure: FigureName): string => FIGURES[figure].says;

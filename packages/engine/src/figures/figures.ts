/**
 * Figures say in numbers how well consolidations go. Each is a part of a whole: of shares both are counted, and of means the part
 * is a sum. So they add up, by owner, by model or by day, and values are worked out last.
 */
export interface Tally {
  readonly part: number;
  readonly of: number;
}

/** Whether a figure is worse when it falls, when it rises, or both ways. */
type Worse = 'lower' | 'higher' | 'either';

interface Kind {
  readonly kind: 'share' | 'mean';
  readonly worse: Worse;
  /** How much worse it may become; `relative` to the baseline's value, else in units of the figure. */
  readonly margin: Margin;
  readonly says: string;
}

export interface Margin {
  readonly by: number;
  readonly relative?: true;
}

const share = (worse: Worse, margin: Margin, says: string): Kind => ({ kind: 'share', worse, margin, says });
const mean = (worse: Worse, margin: Margin, says: string): Kind => ({ kind: 'mean', worse, margin, says });

const points = (by: number): Margin => ({ by: by / 100 });
const percent = (by: number): Margin => ({ by: by / 100, relative: true });

/** All figures, with the margin that a gate and a canary allow unless they say otherwise. */
export const FIGURES = {
  // Against what was stored before: only where that is known.
  facts_kept: share('lower', points(8), 'share of the stored facts that were found again'),
  facts_new: share('higher', points(15), 'share of the facts found that were not stored before'),
  targets_hit: share('lower', points(10), 'share of the stored updates and deletions that changed the same memory'),
  targets_other: share(
    'higher',
    points(10),
    'share of updates and deletions that changed a memory that was not changed before',
  ),
  deletes_kept: share('lower', points(10), 'share of the ended memories that were ended again'),
  stale: share('higher', points(8), 'share of the replaced or ended memories that are still current'),
  recall: share('lower', points(8), 'share of the stored questions with an answer whose answer was found'),
  abstained: share('lower', points(10), 'share of the stored questions without an answer for which nothing was found'),
  context_tokens: mean('higher', percent(30), 'context tokens per stored question'),
  // Of any consolidation.
  facts_per_message: mean('either', percent(25), 'facts per message'),
  heard: share('lower', points(12), 'share of the user messages from which a fact was extracted'),
  heard_foreign: share(
    'lower',
    points(15),
    'share of the user messages not in English from which a fact was extracted',
  ),
  adds: share('either', points(12), 'share of additions among all operations'),
  updates: share('either', points(12), 'share of updates among all operations'),
  deletes: share('either', percent(60), 'share of deletions among all operations'),
  nones: share('either', points(15), 'share of the facts that changed nothing'),
  dropped: share('higher', points(8), 'share of the facts that were dropped after extraction'),
  discarded: share('higher', points(8), 'share of the extracted items that were discarded as unusable'),
  quotes_stand: share('lower', points(5), 'share of the facts whose quote is in their messages'),
  quote_words: mean('lower', percent(25), 'words per quote'),
  language_kept: share('lower', points(5), 'share of the facts in the language of their messages'),
  dates_kept: share('lower', points(15), 'share of the facts said with a date that have one'),
  dates_said: share('lower', points(5), 'share of the facts with a date whose date was said'),
  names_kept: share('lower', points(12), 'share of the names in the source sentences that are in the facts'),
  names_apart: share(
    'lower',
    points(5),
    'share of the facts and updates about people that are about the person spoken of',
  ),
  negations_kept: share('lower', points(15), 'share of the facts said with a negation that have one'),
  targets_nearest: share(
    'lower',
    points(15),
    'share of the updates and deletions that changed the most similar memory',
  ),
  repaired: share('higher', points(8), 'share of the questions that were repeated because of an unusable answer'),
  unusable: share('higher', points(5), 'share of the questions without any usable answer'),
  remarks: mean('higher', points(15), 'corrections by the guard per fact'),
  calls: mean('higher', percent(25), 'model calls per message'),
  prompt_tokens: mean('higher', percent(25), 'prompt tokens per message'),
  completion_tokens: mean('higher', percent(35), 'completion tokens per message'),
  cost: mean('higher', percent(25), 'cost per message, in the currency of the prices'),
  thinking_ms: mean('higher', percent(100), 'milliseconds for extracting and deciding per message'),
} as const satisfies Readonly<Record<string, Kind>>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

/** What is missing was not measured. */
export type Figures = Readonly<Partial<Record<FigureName, Tally>>>;

/** Those of consolidations that one chat model has made. */
export interface FiguresOfModel {
  readonly model: string;
  readonly figures: Figures;
}

export const kindOf = (name: FigureName): Kind => FIGURES[name];

export function addFigures(all: readonly Figures[]): Figures {
  const sum: Partial<Record<FigureName, Tally>> = {};
  for (const figures of all) {
    for (const name of FIGURE_NAMES) {
      const tally = figures[name];
      if (tally !== undefined) sum[name] = addTallies([sum[name] ?? NOTHING, tally]);
    }
  }
  return sum;
}

const NOTHING: Tally = { part: 0, of: 0 };

export const addTallies = (all: readonly Tally[]): Tally => ({
  part: all.reduce((sum, { part }) => sum + part, 0),
  of: all.reduce((sum, { of }) => sum + of, 0),
});

/** null: nothing was measured. */
export const figureValue = (tally: Tally | undefined): number | null =>
  tally === undefined || tally.of === 0 ? null : tally.part / tally.of;

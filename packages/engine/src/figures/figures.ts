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
  facts_kept: share('lower', points(8), 'of the stored facts, found again'),
  facts_new: share('higher', points(15), 'of the facts found, those that were not stored'),
  targets_hit: share('lower', points(10), 'of the stored updates and deletions, those of the same memory'),
  targets_other: share('higher', points(10), 'of all updates and deletions, those of memories that were not changed'),
  deletes_kept: share('lower', points(10), 'of the memories that were ended, those that are ended again'),
  stale: share('higher', points(8), 'of the memories that were replaced or ended, those that still hold'),
  recall: share('lower', points(8), 'of the stored questions with an answer, those that find it'),
  abstained: share('lower', points(10), 'of the stored questions without an answer, those that find nothing'),
  context_tokens: mean('higher', percent(30), 'tokens of context for a stored question'),
  // Of any consolidation.
  facts_per_message: mean('either', percent(25), 'facts of a message'),
  heard: share('lower', points(12), 'of the messages of users, those that a fact comes from'),
  heard_foreign: share('lower', points(15), 'the same of messages in other languages than English'),
  adds: share('either', points(12), 'of all operations, those that add'),
  updates: share('either', points(12), 'of all operations, those that update'),
  deletes: share('either', percent(60), 'of all operations, those that delete'),
  nones: share('either', points(15), 'of all facts, those that change nothing'),
  dropped: share('higher', points(8), 'of all facts, those dropped after they were found'),
  discarded: share('higher', points(8), 'of what answers said, what was put aside as no fact'),
  quotes_stand: share('lower', points(5), 'of all facts, those with a quote that stands in their messages'),
  quote_words: mean('lower', percent(25), 'words of a quote'),
  language_kept: share('lower', points(5), 'of all facts, those in the language of their messages'),
  dates_kept: share('lower', points(15), 'of the facts said with a date, those that have one'),
  dates_said: share('lower', points(5), 'of the facts with a date, those whose date was said'),
  names_kept: share('lower', points(12), 'of the names said in the sentences of facts, those in the facts'),
  names_apart: share(
    'lower',
    points(5),
    'of the facts and updates about people, those about the one who was spoken of',
  ),
  negations_kept: share('lower', points(15), 'of the facts said with a negation, those that have one'),
  targets_nearest: share('lower', points(15), 'of all updates and deletions, those of the most similar memory'),
  repaired: share('higher', points(8), 'of all questions, those asked again for an answer of no use'),
  unusable: share('higher', points(5), 'of all questions, those without any answer of use'),
  remarks: mean('higher', points(15), 'corrections by the guard, for each fact'),
  calls: mean('higher', percent(25), 'calls of models for a message'),
  prompt_tokens: mean('higher', percent(25), 'prompt tokens for a message'),
  completion_tokens: mean('higher', percent(35), 'answer tokens for a message'),
  cost: mean('higher', percent(25), 'price of a message, in the currency of the prices'),
  thinking_ms: mean('higher', percent(100), 'milliseconds of extracting and deciding for a message'),
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

import type { Kind, Question } from './questions.ts';

/** A question, and what a search answered: ids, best first. */
export interface Answered {
  readonly question: Question;
  readonly relevant: ReadonlySet<string>;
  /** The best twenty, without any cut. */
  readonly uncut: readonly string[];
  /** As a search answers that says nothing about how much it wants. */
  readonly shown: readonly string[];
}

export interface Measures {
  readonly questions: number;
  /** Of the relevant memories of a question, the share that is among the best twenty; the mean over questions with an answer. */
  readonly uncutRecall: number;
  /** The same of what is shown. */
  readonly recall: number;
  /** recall ÷ uncutRecall. */
  readonly kept: number;
  /** Relevant ÷ returned, over all questions with an answer. */
  readonly precision: number;
  /** Of the questions without an answer, the share that is answered with nothing. */
  readonly abstained: number;
  /** Memories shown, on average. */
  readonly shown: number;
}

/** NaN stands where no question is of the kind that a figure is about. */
export function measuresOf(answers: readonly Answered[]): Measures {
  const answerable = answers.filter(({ relevant }) => relevant.size > 0);
  const others = answers.filter(({ relevant }) => relevant.size === 0);
  const uncutRecall = mean(answerable.map(({ uncut, relevant }) => among(uncut, relevant) / relevant.size));
  const recall = mean(answerable.map(({ shown, relevant }) => among(shown, relevant) / relevant.size));
  const returned = sum(answerable.map(({ shown }) => shown.length));
  return {
    questions: answers.length,
    uncutRecall,
    recall,
    kept: recall / uncutRecall,
    precision: sum(answerable.map(({ shown, relevant }) => among(shown, relevant))) / returned,
    abstained: mean(others.map(({ shown }) => (shown.length === 0 ? 1 : 0))),
    shown: mean(answers.map(({ shown }) => shown.length)),
  };
}

export const ofKind = (answers: readonly Answered[], kind: Kind): readonly Answered[] =>
  answers.filter(({ question }) => question.kind === kind);

const among = (ids: readonly string[], relevant: ReadonlySet<string>): number =>
  ids.filter((id) => relevant.has(id)).length;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length;

import { setImmediate } from 'node:timers/promises';
import type { IndexQuery } from '@slowwave/engine';

/** Nobody waits in front of a screen for those. */
export const isForDecision = ({ visibility }: IndexQuery): boolean => visibility.kind === 'live_or_said_after';

/** Of so many answers in a row one goes to who can wait, if anybody does. */
const PATIENT_EVERY = 4;

/** A call that is being answered, one question after another. */
interface Waiting<Question, Answer> {
  readonly questions: readonly Question[];
  readonly answers: Answer[];
  resolve(answers: Answer[]): void;
  reject(error: unknown): void;
}

/**
 * Answers calls of many questions, one question at a time: between two the thread takes in new calls, so that none waits
 * for a whole other one. Calls take turns; those that can wait get fewer while others are there.
 */
export function takingTurns<Question, Answer>(
  answer: (question: Question) => Answer,
  canWait: (question: Question) => boolean,
): (questions: readonly Question[]) => Promise<Answer[]> {
  const [urgent, patient]: Waiting<Question, Answer>[][] = [[], []];
  let turn = 0;
  let working = false;

  const next = (): { from: Waiting<Question, Answer>[]; call: Waiting<Question, Answer> } | null => {
    turn += 1;
    const preferred = turn % PATIENT_EVERY === 0 ? [patient, urgent] : [urgent, patient];
    for (const from of preferred) {
      const call = from?.shift();
      if (from !== undefined && call !== undefined) return { from, call };
    }
    return null;
  };
  const work = async (): Promise<void> => {
    working = true;
    for (let taken = next(); taken !== null; taken = next()) {
      if (!step(taken.call, answer)) taken.from.push(taken.call);
      await setImmediate();
    }
    working = false;
  };

  return (questions) =>
    new Promise((resolve, reject) => {
      const queue = questions.every(canWait) ? patient : urgent;
      queue?.push({ questions, answers: [], resolve, reject });
      if (!working) void work();
    });
}

/** Answers the next question of a call; says whether it was the last. */
function step<Question, Answer>(
  { questions, answers, resolve, reject }: Waiting<Question, Answer>,
  answer: (question: Question) => Answer,
): boolean {
  const question = questions[answers.length];
  try {
    if (question !== undefined) answers.push(answer(question));
  } catch (error) {
    reject(error);
    return true;
  }
  const done = answers.length === questions.length;
  if (done) resolve(answers);
  return done;
}

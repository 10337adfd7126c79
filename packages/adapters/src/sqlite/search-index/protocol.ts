import { setImmediate } from 'node:timers/promises';
import type {
  BuildNote,
  Compaction,
  IndexHit,
  IndexLane,
  IndexMarker,
  IndexPoint,
  IndexQuery,
  PointName,
  Shelf,
  TenantId,
  Withdrawal,
} from '@slowwave/engine';
import { TERMS_VERSION } from '@slowwave/engine/storing';
import type { PlaceOfPoint } from '../../index-point.ts';
import type { CacheOptions } from './owners.ts';

/** The vector space an index is opened for. */
export interface IndexSpace {
  readonly dimensions: number;
  /** Names the space: vectors of two fingerprints are never compared. */
  readonly fingerprint: string;
}

/** The space the points were written for, as one text; equal texts are the same space. */
export const spaceText = ({ dimensions, fingerprint }: IndexSpace): string =>
  JSON.stringify({ dimensions, fingerprint, terms: TERMS_VERSION });

export interface IndexThreadInit {
  readonly role: 'writer' | 'reader' | 'builder';
  readonly path: string;
  readonly space: IndexSpace;
  /** How much the reader may keep in memory. */
  readonly cache: Omit<CacheOptions, 'dimensions'>;
}

/**
 * The hits of a question as they cross the thread, in lists of one length: strings and numbers are handed over in half of the time that
 * an object for each hit takes.
 */
export interface FoundPoints {
  /** What each shows, see index-point.ts: a list in JSON. */
  readonly payloads: string;
  readonly memoryIds: readonly string[];
  readonly versions: readonly number[];
  readonly live: readonly boolean[];
  readonly vectorScores: readonly IndexHit['vectorScore'][];
  readonly keywordScores: readonly IndexHit['keywordScore'][];
}

export interface PagedPoint {
  readonly place: PlaceOfPoint;
  readonly payload: string;
}

export interface WriterMethods {
  upsert(points: readonly IndexPoint[]): void;
  withdraw(withdrawals: readonly Withdrawal[]): void;
  stamp(marker: IndexMarker): void;
  forget(of: IndexLane): number;
  compact(): Compaction;
  clear(): void;
}

export interface ReaderMethods {
  marker(): IndexMarker | null;
  count(tenant: TenantId, shelf: Shelf): number;
  vectors(names: readonly PointName[]): readonly (Float32Array | null)[];
  /** Keeps nothing decoded of a lane, on any shelf. */
  drop(of: IndexLane): void;
  page(after: string | null, limit: number): { readonly points: readonly PagedPoint[]; readonly next: string | null };
  search(queries: readonly IndexQuery[]): Promise<readonly FoundPoints[]>;
}

export interface BuildMethods {
  begun(ledgerId: string): BuildNote | null;
  begin(note: BuildNote): void;
  write(points: readonly IndexPoint[]): void;
  forget(of: IndexLane): number;
  withdraw(withdrawals: readonly Withdrawal[]): void;
  note(note: BuildNote): void;
  takeOver(): void;
  finish(marker: IndexMarker): void;
}

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

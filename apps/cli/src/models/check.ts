import { MINUTE_MS, MINUTES_MAX } from './budget.ts';
import { chatCandidate, otherCandidates } from './chat.ts';
import { embeddingCandidate } from './embeddings.ts';
import { type Candidate, type Outcome, outcomeOf, type Trial, type Try, type Trying } from './trial.ts';

/** Which models are tried, and who is told how far that is. */
export interface Wanted {
  readonly chat: boolean;
  readonly embeddings: boolean;
  readonly progress: (done: number, total: number) => void;
}

/**
 * Tries the models for as long as there is time, first what is quick or tells most. What there was no time for is said.
 * Returns the trials model by model.
 */
export async function tryModels(trying: Trying, wanted: Wanted): Promise<readonly Trial[]> {
  const candidates = [
    ...(wanted.chat ? [await chatCandidate(trying), ...(await otherCandidates(trying))] : []),
    ...(wanted.embeddings ? [embeddingCandidate(trying)] : []),
  ];
  try {
    const outcomes = await tryAll(candidates, trying, wanted.progress);
    return candidates.flatMap(({ model, tries }) =>
      tries.flatMap((one) => {
        const outcome = outcomes.get(one);
        return outcome === undefined ? [] : [{ model, tried: one.tried, ...outcome }];
      }),
    );
  } finally {
    for (const { close } of candidates) await close();
  }
}

/** What is tried first. */
const ORDER = [
  ...['answer', 'embeddings', 'json_schema', 'thinking', 'output limit', 'queries', 'similarity'],
  ...['extraction', 'context window', '64 texts', 'a long text', 'requests'],
];

/** What takes no longer goes before what may take all of the time. */
const QUICK_MS = 1_000;

type Outcomes = Map<Try, Outcome>;

async function tryAll(
  candidates: readonly Candidate[],
  { budget, cancel }: Pick<Trying, 'budget' | 'cancel'>,
  progress: Wanted['progress'],
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const spent = new Map<Candidate, number>();
  const late: Try[] = [];
  let pending = candidates
    .flatMap((of) => of.tries.map((one) => ({ of, one })))
    .toSorted((a, b) => ORDER.indexOf(a.one.tried) - ORDER.indexOf(b.one.tried));
  const total = pending.length;
  for (;;) {
    pending = pending.filter(({ of }) => !isPointless(of, outcomes));
    const next = pending.find(({ one }) => one.needs().likely <= QUICK_MS) ?? pending[0];
    if (next === undefined) break;
    progress(total - pending.length, total);
    cancel.throwIfAborted();
    pending = pending.filter((other) => other !== next);
    const { of, one } = next;
    const { least, likely } = one.needs();
    const left = budget.left();
    if (least > left || (left === 0 && likely > 0)) {
      late.push(one);
      continue;
    }
    outcomes.set(one, await outcomeOf(one));
    spent.set(of, (spent.get(of) ?? 0) + left - budget.left());
  }
  const [slowest] = candidates.toSorted((a, b) => (spent.get(b) ?? 0) - (spent.get(a) ?? 0));
  for (const one of late) outcomes.set(one, notTried(slowest?.pace() ?? '', minutesFor(late, budget)));
  return outcomes;
}

/** A model that does not answer is asked nothing else. */
const isPointless = ({ tries: [first] }: Candidate, outcomes: Outcomes): boolean =>
  first !== undefined && outcomes.get(first)?.verdict === 'failed';

const notTried = (pace: string, minutes: number): Outcome => ({
  verdict: 'not tried',
  came: `${pace}; run with --minutes ${minutes}`,
  advice: null,
});

const MINUTES = [2, 3, 5, 10, 15, 30];
/** Estimates are made of few calls. */
const SPARE = 1.25;

/** How many minutes would probably be enough for all. */
function minutesFor(late: readonly Try[], { ms, left }: Trying['budget']): number {
  const wanted = late.reduce((sum, one) => sum + one.needs().likely, ms - left()) * SPARE;
  const least = Math.max(ms + 1, wanted) / MINUTE_MS;
  return MINUTES.find((minutes) => minutes >= least) ?? MINUTES_MAX;
}

import {
  DEFAULT_TENANT,
  dateTextOf,
  type KeptRelation,
  type Millis,
  ownerOf,
  type StudyOutcome,
  studyLane,
} from '@slowwave/engine';
import { scope } from './builders.ts';
import { type BenchOptions, type EngineBench, engineBench, NEVER } from './engine-bench.ts';

/** An engine whose studies are made as soon as their lanes are due. */
export interface StudyBench extends EngineBench {
  /** How every try to study ended. */
  readonly outcomes: readonly StudyOutcome[];
  /** Makes studies until none is due, and lets time pass for those that wait. */
  study(): Promise<void>;
  /** What holds at a time, as texts with their days: "User lives_in Oslo 2024-02-23..". */
  relations(at: Millis | null | 'ever', userId?: string): Promise<readonly string[]>;
}

/** More passes than any scenario needs. */
const PASSES_MAX = 500;
/** Longer than a study waits for its next try. */
const LATER_MS = 61_000;
const TAKE_OVER_MS = 30_000;

/** Tenant-wide, relations are kept. */
export async function studyBench(options: BenchOptions): Promise<StudyBench> {
  const bench = await engineBench(options);
  const { ledger } = bench.deps;
  await ledger.settings.put(DEFAULT_TENANT, { ...(await ledger.settings.get(DEFAULT_TENANT)), graph: true });
  const outcomes: StudyOutcome[] = [];
  const studied = (outcome: StudyOutcome): void => void outcomes.push(outcome);
  return {
    ...bench,
    outcomes,
    study: () => studyAll({ ...bench.deps, studied, takeOverMs: TAKE_OVER_MS }, bench.tools.advance),
    relations: async (at, userId = 'ann') => {
      const owner = ownerOf(scope({ userId }));
      const page = { limit: 10_000, cursor: null };
      const { results } = await ledger.graph.listRelations(DEFAULT_TENANT, owner, { at }, page);
      return results.map(textOf).sort();
    },
  };
}

/** Makes every study there is, as workers and their sweep do. */
async function studyAll(deps: Parameters<typeof studyLane>[0], advance: (by: Millis) => void): Promise<void> {
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const [lane] = await deps.ledger.graph.due(deps.tools.now(), 1);
    if (lane !== undefined) await studyLane(deps)(lane, NEVER);
    else if ((await deps.ledger.graph.counts()).pending === 0) return;
    else advance(LATER_MS);
  }
  throw new Error(`studies did not come to an end within ${PASSES_MAX} passes`);
}

const textOf = ({ sourceName, relationship, destinationName, validFrom, invalidAt }: KeptRelation): string =>
  `${sourceName} ${relationship} ${destinationName} ${dateTextOf(validFrom)}..${invalidAt === null ? '' : dateTextOf(invalidAt)}`;

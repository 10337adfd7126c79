import type { SearchHit, SearchResult } from '@slowwave/contracts';
import {
  type CutMade,
  type FoundRelation,
  foundVersions,
  inApp,
  isoOf,
  isoOrNull,
  type Judgement,
  type Memory,
  nameOfHit,
  reasonsOf,
  relationBoosts,
  type ScoredHit,
} from '@slowwave/engine';
import type { z } from 'zod';
import type { SearchDeps } from './deps.ts';
import { type Found, rankQuestion } from './find-and-rank.ts';
import { type Deadline, LATE, lateNote, type Question } from './question.ts';

type HitExplanation = NonNullable<z.infer<typeof SearchHit>['explanation']>;
type Explanation = NonNullable<z.infer<typeof SearchResult>['explanation']>;

/** An answer, and all that it was chosen from. */
interface Answer {
  readonly question: Question;
  readonly deadline: Deadline;
  readonly found: Found;
  readonly relations: readonly FoundRelation[];
  /** In their order, before anything was left out. */
  readonly all: readonly ScoredHit[];
  readonly judged: Judgement;
  readonly cut: CutMade | null;
  readonly shown: readonly ScoredHit[];
}

/** Why the results are what they are: of each what it got, and where and why they end. */
export async function explained(
  deps: SearchDeps,
  answer: Answer,
): Promise<{ readonly answer: Explanation; readonly hits: readonly HitExplanation[]; readonly missing: string[] }> {
  const { question, deadline, all, judged, cut, shown } = answer;
  const why = reasoning(deps, answer);
  const read = await deadline.within(() => versionsBeside(deps, question, shown));
  const others = read === LATE ? () => [] : read;
  const results = new Set(shown.map(({ hit }) => nameOfHit(hit)));
  const least = cut === null ? null : judged?.least;
  const below = all.find(({ hit }) => !results.has(nameOfHit(hit))) ?? null;
  return {
    missing: read === LATE ? [lateNote('versions passed over')] : [],
    hits: shown.map((ranked) => ({ ...why(ranked), passed_over: others(ranked) })),
    answer: {
      cut: cut?.by ?? 'off',
      answered: judged?.answered ?? null,
      answered_least: least?.answered ?? null,
      chance_least: least?.chance ?? null,
      threshold: question.body.threshold ?? null,
      found: all.length,
      below: below && {
        id: below.hit.point.memoryId,
        version: below.hit.point.version,
        memory: below.hit.point.text,
        score: below.score,
        ...why(below),
      },
    },
  };
}

/** What each hit got. The cut and the reasons are of the order before reranking. */
function reasoning(deps: SearchDeps, { question, found, relations, all, judged }: Answer) {
  const reasons = reasonsOf(rankQuestion(deps, question.body), found.memories);
  const related = relationBoosts(relations);
  const chances = new Map(all.map(({ hit, unrated }) => [nameOfHit(hit), judged?.chances[unrated.place] ?? null]));
  const legs = {
    keyword: ranksIn(all, ({ hit }) => hit.keywordScore),
    vector: ranksIn(all, ({ hit }) => hit.vectorScore),
  };
  return ({ hit }: ScoredHit): Omit<HitExplanation, 'passed_over'> => {
    const name = nameOfHit(hit);
    const { fused = 0, boosts = {} } = reasons.get(name) ?? {};
    const relation = related.get(hit.point.memoryId);
    return {
      keyword: legs.keyword.get(name) ?? null,
      vector: legs.vector.get(name) ?? null,
      fused,
      boosts: { ...boosts, ...(relation !== undefined && { relations: relation }) },
      chance: chances.get(name) ?? null,
    };
  };
}

/** The places that hits have in one search. */
function ranksIn(all: readonly ScoredHit[], scoreOf: (ranked: ScoredHit) => number | null) {
  const scored = all.flatMap((ranked) => {
    const score = scoreOf(ranked);
    return score === null ? [] : [{ name: nameOfHit(ranked.hit), score }];
  });
  const best = scored.sort((a, b) => b.score - a.score);
  return new Map(best.map(({ name, score }, i) => [name, { score, rank: i + 1 }]));
}

/** The versions of each result's memory that are not shown for it. */
async function versionsBeside({ ledger }: SearchDeps, { tenant, app }: Question, shown: readonly ScoredHit[]) {
  const ids = [...new Set(shown.map(({ hit }) => hit.point.memoryId))];
  const memories = ids.length === 0 ? [] : await ledger.memories.many(tenant, ids);
  const known = memories.flatMap((memory): Memory[] => {
    const own = app === null ? memory : inApp(memory, app);
    return own === null ? [] : [own];
  });
  const byId = new Map(
    known.map((memory) => [memory.id, foundVersions(memory).toSorted((a, b) => a.number - b.number)]),
  );
  return ({ hit: { point } }: ScoredHit): HitExplanation['passed_over'] =>
    (byId.get(point.memoryId) ?? [])
      .filter(({ number }) => number !== point.version)
      .map(({ number: version, text: memory, validFrom, invalidAt }) => ({
        version,
        memory,
        valid_from: isoOf(validFrom),
        invalid_at: isoOrNull(invalidAt),
      }));
}

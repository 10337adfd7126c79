import type { IndexHit } from '../../ports/search-index.ts';
import { fuse } from '../../search/fuse.ts';
import { compareSaid } from '../../words.ts';
import type { Wording } from './coverage.ts';
import { type FoundRelation, type SeenRelation, seenIn } from './seen.ts';

/**
 * Shares of a relation's score: of the path that leads to it, of its own text beside the question by both legs of the index,
 * and of the question's words in it. A path knows what the text alone does not: whose employer it is.
 */
const SHARES = { path: 0.7, text: 0.15, words: 0.15 } as const;
/** Where the question names nobody there is no path. */
const WITHOUT_PATH = { path: 0, text: 0.6, words: 0.4 } as const;
/** What scores less says nothing that was asked for. */
const LEAST = 0.05;

export interface Evidence {
  readonly question: readonly string[];
  readonly wording: Wording;
  /** What was read around where the question begins. */
  readonly around: readonly SeenRelation[];
  /** The worth of the best path to each, by id. */
  readonly paths: ReadonlyMap<string, number>;
  /** What the index has found by text. */
  readonly hits: readonly IndexHit[];
}

/** Everything that was found in one order, best first. */
export function fuseRelations(evidence: Evidence, limit: number): readonly FoundRelation[] {
  const { question, wording, around, paths, hits } = evidence;
  const text = new Map(fuse(hits, 'hybrid').map(({ hit, score }) => [hit.point.memoryId, score]));
  // What the ledger says is newer than what the index says.
  const all = new Map([...hits.map(({ point }) => seenIn(point)), ...around].map((one) => [one.id, one]));
  const words = sharesOf(question, wording, [...all.values()]);
  const { path, text: byText, words: byWords } = paths.size === 0 ? WITHOUT_PATH : SHARES;
  return [...all.values()]
    .map((relation) => {
      const { id } = relation;
      const score = path * (paths.get(id) ?? 0) + byText * (text.get(id) ?? 0) + byWords * (words.get(id) ?? 0);
      return { ...relation, score };
    })
    .filter(({ score }) => score >= LEAST)
    .sort(byScore)
    .slice(0, limit);
}

/** Of the question's words that any of the relations has, the part that each has. */
function sharesOf(
  question: readonly string[],
  wording: Wording,
  relations: readonly SeenRelation[],
): ReadonlyMap<string, number> {
  const asked = new Set(question);
  const having = relations.map((relation) => ({
    id: relation.id,
    words: new Set(wording.terms(relation).filter((term) => asked.has(term))),
  }));
  const known = new Set(having.flatMap(({ words }) => [...words]));
  return new Map(having.map(({ id, words }) => [id, known.size === 0 ? 0 : words.size / known.size]));
}

/** Of equal ones what was said most often comes first, then what was said last. */
const byScore = (a: FoundRelation, b: FoundRelation): number =>
  b.score - a.score ||
  b.confirmations - a.confirmations ||
  compareSaid(b.saidAt, a.saidAt) ||
  (a.id < b.id ? -1 : Number(a.id > b.id));

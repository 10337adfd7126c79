import type { Vectors } from '../models/vectors.ts';
import { type IndexHit, type IndexPoint, type IndexQuery, shownPart, type Visibility } from '../ports/search-index.ts';
import { isUnder, type Millis, type SaidAt, saidBefore } from '../words.ts';
import { matches } from './filter/filter.ts';

/** What decides whether a query sees a point. */
export type Sighted = Pick<
  IndexPoint,
  'live' | 'saidAt' | 'validFrom' | 'invalidAt' | 'expiresAt' | 'deletedAt' | 'ids'
> & { readonly shownFrom?: Millis | undefined; readonly toldLast?: IndexPoint['toldLast'] };

/** Whether a query sees a point of its owner: the one definition for all indexes that decide it in code. */
export function visible(point: Sighted, query: Pick<IndexQuery, 'visibility' | 'filter'>): boolean {
  return inSight(point, query.visibility) && isUnder(point.ids, query.filter);
}

/** Whether it is what its memory says at a moment, by all that is known: of one that changes later it is first the one, then the other. */
export const saysAt = (point: Pick<Sighted, 'live' | 'shownFrom' | 'invalidAt'>, at: Millis): boolean =>
  point.live && holds(point, at);

/** Whether it was what its memory said at a moment, by all that is known now. */
export const saidAsOf = (
  point: Pick<Sighted, 'validFrom' | 'shownFrom' | 'invalidAt' | 'expiresAt'>,
  at: Millis,
): boolean => held(point, at) && unexpired(point, at);

function inSight(point: Sighted, visibility: Visibility): boolean {
  switch (visibility.kind) {
    case 'live':
      return saysAt(point, visibility.now) && unexpired(point, visibility.now);
    case 'as_of':
      return saidAsOf(point, visibility.at);
    case 'every':
      return visibility.begunBy === null || point.validFrom <= visibility.begunBy;
    case 'told_last':
      return point.toldLast?.[visibility.among].includes(visibility.appId) === true;
    case 'live_or_said_after':
      return point.live || touchedAfter(point, visibility.after);
  }
}

const unexpired = ({ expiresAt }: Pick<Sighted, 'expiresAt'>, at: number): boolean =>
  expiresAt === null || at < expiresAt;

/** What was said and has no time of its own to begin holds, by whatever clock. */
const holds = ({ shownFrom, invalidAt }: Pick<Sighted, 'shownFrom' | 'invalidAt'>, now: number): boolean =>
  (shownFrom === undefined || shownFrom <= now) && (invalidAt === null || now < invalidAt);

const held = (
  { validFrom, shownFrom = validFrom, invalidAt }: Pick<Sighted, 'validFrom' | 'shownFrom' | 'invalidAt'>,
  at: number,
): boolean => shownFrom <= at && (invalidAt === null || at < invalidAt);

const touchedAfter = ({ saidAt, deletedAt }: Sighted, after: SaidAt): boolean =>
  saidBefore(after, saidAt) || (deletedAt !== null && saidBefore(after, deletedAt));

/** One question answered by looking at every point: the reference for what an index finds. Hits by id and version. */
export const scan = (points: readonly IndexPoint[], query: IndexQuery): IndexHit[] =>
  scanner(points.filter((point) => isInLane(point, query)))(query);

/** The same for many questions about the points of one lane and shelf. */
export function scanner(points: readonly IndexPoint[]): (query: IndexQuery) => IndexHit[] {
  const sorted = points.toSorted(compareIds);
  const tables = new Map<boolean, KeywordTable>();
  const tableOf = (wide: boolean): KeywordTable => {
    const known = tables.get(wide);
    if (known !== undefined) return known;
    const made = keywordTable(sorted.map(({ terms, contextTerms }) => (wide ? [...terms, ...contextTerms] : terms)));
    tables.set(wide, made);
    return made;
  };
  return (query) => {
    const { vector: asked, terms, wide, limit } = query;
    const sees = sorted.map((point) => visible(point, query) && fits(point, query));
    const vector = new Map<number, number>(
      asked === null
        ? []
        : sorted.flatMap((point, i) => (sees[i] === true ? [[i, cosine(point.vector, asked)] as const] : [])),
    );
    const keyword =
      terms === null ? new Map<number, number>() : bm25(tableOf(wide), terms, (document) => sees[document] === true);
    const found = new Set([...best(vector, limit), ...best(keyword, limit)].map(([i]) => i));
    return sorted.flatMap((point, i) => {
      if (!found.has(i)) return [];
      return [{ point: shownPart(point), vectorScore: vector.get(i) ?? null, keywordScore: keyword.get(i) ?? null }];
    });
  };
}

function isInLane(point: IndexPoint, { tenant, owner, lane, shelf }: IndexQuery): boolean {
  const { kind, id } = point.owner;
  return (
    point.tenant === tenant && kind === owner.kind && id === owner.id && point.lane === lane && point.shelf === shelf
  );
}

const fits = (point: IndexPoint, { where }: IndexQuery): boolean => where === null || matches(where, point);

export type SearchMode = 'hybrid' | 'vector' | 'keyword';

/** The vector search has read all that there is to find; a search by words alone leaves out what shares none. */
export const isAllKnown = (hits: readonly IndexHit[]): boolean => hits.every(({ vectorScore }) => vectorScore !== null);

export interface FusedHit {
  readonly hit: IndexHit;
  /** 0…1. Orders the hits of one question; says little about whether any of them answers it: raw scores do. */
  readonly score: number;
}

/** How a question is asked, as far as its legs are weighed by it. */
export interface Legs {
  readonly mode: SearchMode;
  readonly vectors: Vectors;
}

/** What one question found, best first, by its legs alone: decisions recall by this, and searches begin with it. */
export function fuse(hits: readonly IndexHit[], legs: Legs): FusedHit[] {
  const scores = fusion(legs, hits);
  return hits
    .map((hit, i) => ({ hit, score: scores[i] ?? 0 }))
    .filter(({ hit }) => foundBy(legs.mode, hit))
    .sort((a, b) => b.score - a.score || compareIds(a.hit.point, b.hit.point));
}

export function foundBy(mode: SearchMode, hit: IndexHit): boolean {
  const keyword = mode !== 'vector' && hit.keywordScore !== null;
  const vector = mode !== 'keyword' && hit.vectorScore !== null;
  return keyword || vector;
}

/**
 * Both legs in one score, 0…1. Each is taken relative to its best of the question: BM25 has no upper end, and cosines of
 * one model stand closer together than those of another, and begin higher. Where one leg found nothing the other has the whole score. Alone, a
 * vector score is the cosine itself.
 */
export function fusion({ mode, vectors }: Legs, hits: readonly IndexHit[]): readonly number[] {
  if (mode === 'vector') return hits.map(({ vectorScore }) => Math.min(1, Math.max(0, vectorScore ?? 0)));
  const keyword = shares(hits.map((hit) => hit.keywordScore));
  const vector = shares(mode === 'keyword' ? [] : hits.map((hit) => above(vectors, hit)));
  if (vector === null || keyword === null) return keyword ?? vector ?? hits.map(() => 0);
  return keyword.map((score, i) => vectors.words * score + (1 - vectors.words) * (vector[i] ?? 0));
}

/** What is no nearer than what has nothing to do with a question is not near at all. */
const above = ({ questions }: Vectors, { vectorScore }: IndexHit): number | null =>
  vectorScore === null ? null : vectorScore - questions.apart;

/** null where none is above zero. What points away from the question is as far as what was not found. */
function shares(scores: readonly (number | null)[]): readonly number[] | null {
  const top = highest(scores);
  return top === 0 ? null : scores.map((score) => Math.max(0, score ?? 0) / top);
}

/** 0 where none is above it. */
export const highest = (scores: readonly (number | null)[]): number =>
  scores.reduce<number>((top, score) => Math.max(top, score ?? 0), 0);

/** The order of equal scores: by memory id, then version. Not by locale: the same on every machine. */
export function compareIds(a: Pick<IndexPoint, 'memoryId' | 'version'>, b: Pick<IndexPoint, 'memoryId' | 'version'>) {
  if (a.memoryId !== b.memoryId) return a.memoryId < b.memoryId ? -1 : 1;
  return a.version - b.version;
}

/** How fast repeats of a term stop to count, and how much long documents are held back: good for short memories. */
const K1 = 0.9;
const B = 0.4;

/** The documents of one owner, prepared for keyword questions. Documents are known by their position. */
interface KeywordTable {
  readonly postings: ReadonlyMap<string, readonly Posting[]>;
  /** Number of terms of each document. */
  readonly lengths: readonly number[];
}

interface Posting {
  readonly document: number;
  readonly count: number;
}

/** How many documents a question sees, and how many terms they have: the base of its statistics. */
interface Seen {
  readonly documents: number;
  readonly meanLength: number;
}

export function keywordTable(documents: readonly (readonly string[])[]): KeywordTable {
  const postings = new Map<string, Posting[]>();
  for (const [document, terms] of documents.entries()) {
    for (const [term, count] of termCountsOf(terms)) {
      const list = postings.get(term);
      if (list === undefined) postings.set(term, [{ document, count }]);
      else list.push({ document, count });
    }
  }
  return { postings, lengths: documents.map((terms) => terms.length) };
}

/**
 * BM25 of every seen document that has a term of the question. Rarity and mean length are those of the seen documents
 * alone, so that neither other owners nor former versions move a score.
 */
export function bm25(
  table: KeywordTable,
  question: readonly string[],
  sees: (document: number) => boolean,
): Map<number, number> {
  const { weight, frequency } = bm25Weights(seenOf(table, sees));
  const scores = new Map<number, number>();
  for (const [term, asked] of termCountsOf(question)) {
    const postings = (table.postings.get(term) ?? []).filter(({ document }) => sees(document));
    const weighs = weight(asked, postings.length);
    for (const { document, count } of postings) {
      const score = weighs * frequency(count, table.lengths[document] ?? 0);
      scores.set(document, (scores.get(document) ?? 0) + score);
    }
  }
  return scores;
}

/** What BM25 multiplies for a document and a term of it; for who has the documents in another form. */
export const bm25Weights = ({ documents, meanLength }: Seen) => ({
  /** Of a term that is so often in the question, and in so many of the documents. */
  weight: (asked: number, withTerm: number): number => asked * rarity(withTerm, documents),
  /** Of a document of this length that has it so often. */
  frequency: (count: number, length: number): number =>
    (count * (K1 + 1)) / (count + K1 * (1 - B + B * (length / meanLength))),
});

/** Never negative, also for a term that every document has. */
function rarity(withTerm: number, documents: number): number {
  return Math.log(1 + (documents - withTerm + 0.5) / (withTerm + 0.5));
}

function seenOf(table: KeywordTable, sees: (document: number) => boolean): Seen {
  const lengths = table.lengths.filter((_, document) => sees(document));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return { documents: lengths.length, meanLength: total / lengths.length };
}

/** How often each term is there. */
export function termCountsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/** Cosine of two vectors of equal length, −1…1; 0 where one of them is all zeros. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return cosineOf(dot(a, b), lengthOf(a) * lengthOf(b));
}

/** The cosine behind a dot product, given the product of the lengths; rounding never takes it out of −1…1. */
export function cosineOf(product: number, lengths: number): number {
  return lengths === 0 ? 0 : Math.max(-1, Math.min(1, product / lengths));
}

export const lengthOf = (vector: Float32Array): number => Math.sqrt(dot(vector, vector));

/** Sum of the products of `b` with the part of `a` that begins at `offset`. */
export function dot(a: Float32Array, b: Float32Array, offset = 0): number {
  let sum = 0;
  for (let i = 0; i < b.length; i += 1) sum += (a[offset + i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** The position of a document in its owner's list, and its score. */
export type Scored = readonly [document: number, score: number];

/**
 * The `limit` highest scores, best first; of equal ones those of lower position. Keeps only the best while it reads, for
 * most of thousands of scores never make it into the list.
 */
export function best(scores: Iterable<Scored>, limit: number): Scored[] {
  const list: Scored[] = [];
  for (const scored of scores) {
    const last = list.at(-1);
    if (list.length >= limit && (last === undefined || compare(scored, last) > 0)) continue;
    list.splice(placeOf(scored, list), 0, scored);
    if (list.length > limit) list.pop();
  }
  return list;
}

const compare = (a: Scored, b: Scored): number => b[1] - a[1] || a[0] - b[0];

/** By halving. */
function placeOf(scored: Scored, list: readonly Scored[]): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && compare(other, scored) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

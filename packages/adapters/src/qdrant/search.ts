import type { Schemas } from '@qdrant/js-client-rest';
import { compareIds, type IndexHit, type IndexQuery, matches, type PointName, type PointPage } from '@slowwave/engine';
import { type SpaceNames, shardsFor } from './collections.ts';
import { ANY_MEMORY, sightOf, tenantFilter } from './filters.ts';
import { byTenant, pointId, questionWeights, shownOf } from './points.ts';
import type { QdrantServer } from './server.ts';

type Request = Schemas['QueryRequest'];
type Scored = { readonly point: IndexHit['point']; readonly score: number };

/** How questions are put to this server. */
interface Asking {
  readonly names: SpaceNames;
  /** Vectors are kept small, too: more of them are looked at, and ranked again by the whole ones. */
  readonly quantized: boolean;
  /** The rarity of a term is counted over the tenant's points on the shelf, not over everybody's. */
  readonly tenantStatistics: boolean;
}

/** More than the server asks its segments for at once; keeps one request, and its answer, small. */
const REQUESTS_PER_CALL = 64;
/** Asked for beyond the limit: the server cuts among equal scores as it likes, here the lower id has to win. */
const ROOM_FOR_TIES = 4;
/** How much more is asked for where the ties go on, and where that ends: a thousand equal memories say nothing. */
const MORE = 8;
const MOST = 1_000;

/**
 * Candidates kept while a graph is walked; the server's own 100 misses near ones. Only owners with more than 10 MB of
 * vectors (1,700 memories at 1,536 dimensions) have a graph: all others are looked at whole.
 */
const BEAM = 256;

/** One leg of one question. */
interface Leg {
  readonly query: IndexQuery;
  readonly kind: 'vector' | 'keyword';
  readonly request: Request;
}

/** One answer per question, in order: each leg's best, raw scores in both legs, ties by memory id and version. */
export async function search(
  server: QdrantServer,
  asking: Asking,
  queries: readonly IndexQuery[],
): Promise<readonly (readonly IndexHit[])[]> {
  const legs = queries.flatMap((query) => (query.limit < 1 ? [] : legsOf(query, asking)));
  const answers = await answersOf(server, asking.names, legs);
  const found = legs.map((leg, i): Answered => ({ ...leg, best: answers[i] ?? [] }));
  const missing = found.flatMap((leg) => missingOf(leg, found));
  const scored = await ask(server, asking.names, missing);
  const all = [...found, ...missing.map((leg, i): Answered => ({ ...leg, best: scored[i] ?? [] }))];
  return queries.map((query) => merged(all.filter((leg) => leg.query === query)));
}

type Answered = Leg & { readonly best: readonly Scored[] };

/** What a leg has to be asked once more: the scores of what only the other one has among its best. */
function missingOf(leg: Answered, all: readonly Answered[]): Leg[] {
  const own = new Set(leg.best.map(({ point }) => pointId(point)));
  const others = all.filter((other) => other.query === leg.query && other.kind !== leg.kind);
  const ids = others.flatMap(({ best }) => best.map(({ point }) => pointId(point))).filter((id) => !own.has(id));
  if (ids.length === 0) return [];
  const { query, kind, request } = leg;
  return [{ query, kind, request: { ...request, filter: { must: [{ has_id: ids }] }, limit: ids.length } }];
}

function legsOf(query: IndexQuery, asking: Asking): Leg[] {
  const weights = query.terms === null ? null : questionWeights(query.terms);
  const { dense, sparse, wide } = asking.names;
  const shared = {
    ...shardsFor(asking.names, query.tenant),
    ...{ filter: sightOf(query), with_payload: ['point'], limit: query.limit + ROOM_FOR_TIES },
  };
  const legs: Leg[] = [];
  if (query.vector !== null) {
    const request = { ...shared, query: Array.from(query.vector), using: dense, params: vectorParams(asking) };
    legs.push({ query, kind: 'vector', request });
  }
  if (weights !== null) {
    const request = {
      ...shared,
      query: weights,
      using: query.wide ? wide : sparse,
      params: keywordParams(query, asking),
    };
    legs.push({ query, kind: 'keyword', request });
  }
  return legs;
}

const vectorParams = ({ quantized }: Asking): Schemas['SearchParams'] => ({
  hnsw_ef: BEAM,
  ...(quantized ? { quantization: { rescore: true, oversampling: 2 } } : {}),
});

const keywordParams = (query: IndexQuery, { tenantStatistics }: Asking): Schemas['SearchParams'] =>
  tenantStatistics ? { idf: { corpus: tenantFilter(query) } } : {};

/** Each leg's best; asks for more where the last places are shared by more points than were looked at. */
async function answersOf(server: QdrantServer, names: SpaceNames, legs: readonly Leg[]): Promise<Scored[][]> {
  if (legs.length === 0) return [];
  const found = await ask(server, names, legs);
  const answers = legs.map((leg, i) => bestOf(found[i] ?? [], leg.query));
  const cut = legs.flatMap((leg, i) => (isCut(found[i] ?? [], leg) ? [{ leg, i }] : []));
  const more = await answersOf(
    server,
    names,
    cut.map(({ leg }) => wider(leg)),
  );
  for (const [n, { i }] of cut.entries()) answers[i] = more[n] ?? [];
  return answers;
}

async function ask(server: QdrantServer, { alias }: SpaceNames, legs: readonly Leg[]): Promise<Scored[][]> {
  const found: Scored[][] = [];
  for (let i = 0; i < legs.length; i += REQUESTS_PER_CALL) {
    const searches = legs.slice(i, i + REQUESTS_PER_CALL).map(({ request }) => request);
    const answers = await server.call((client) => client.queryBatch(alias, { searches }));
    found.push(...answers.map(({ points }) => points.flatMap(scoredOf)));
  }
  return found;
}

/** The server scores first and reads payloads then: what was withdrawn in between has none any more. */
const scoredOf = ({ payload, score }: Schemas['ScoredPoint']): readonly Scored[] =>
  payload?.point === undefined ? [] : [{ point: shownOf(payload), score }];

function bestOf(found: readonly Scored[], { limit, where }: IndexQuery): Scored[] {
  const fitting = where === null ? [...found] : found.filter(({ point }) => matches(where, point));
  return fitting.sort((a, b) => b.score - a.score || compareIds(a.point, b.point)).slice(0, limit);
}

/** Among what was not looked at may be more that fits, or that is as good as the last that counts. */
function isCut(found: readonly Scored[], { query, request }: Leg): boolean {
  const room = request.limit ?? 0;
  if (found.length < room) return false;
  const best = bestOf(found, query);
  return best.length < query.limit || (room < MOST && found.at(-1)?.score === best.at(-1)?.score);
}

/** What fits a filter may be far down: it is looked for to the end. Ties are not. */
const wider = ({ query, request, ...leg }: Leg): Leg => {
  const limit = (request.limit ?? 0) * MORE;
  return { ...leg, query, request: { ...request, limit: query.where === null ? Math.min(MOST, limit) : limit } };
};

/** What the legs of one question found, each point once, by memory id and version. */
function merged(legs: readonly { readonly kind: Leg['kind']; readonly best: readonly Scored[] }[]): IndexHit[] {
  const hits = new Map<string, IndexHit>();
  for (const { kind, best } of legs) {
    for (const { point, score } of best) {
      const key = JSON.stringify([point.memoryId, point.version]);
      const hit = hits.get(key) ?? { point, vectorScore: null, keywordScore: null };
      hits.set(key, kind === 'vector' ? { ...hit, vectorScore: cosine(score) } : { ...hit, keywordScore: bm25(score) });
    }
  }
  return [...hits.values()].sort((a, b) => compareIds(a.point, b.point));
}

/** Rounding never takes it out of −1…1. */
const cosine = (score: number): number => Math.max(-1, Math.min(1, score));

/** While a segment is being rebuilt a term may be counted in more points than there are, and weigh less than nothing. */
const bm25 = (score: number): number => Math.max(0, score);

/** What is asked for at a time: vectors come back as text. */
const VECTORS_PER_CALL = 64;

/** The vectors that points have, of unit length as the server keeps them. */
export async function vectorsOf(
  server: QdrantServer,
  names: SpaceNames,
  points: readonly PointName[],
): Promise<(Float32Array | null)[]> {
  const { alias, dense } = names;
  const found = new Map<string, Float32Array>();
  for (const [tenant, all] of byTenant(points)) {
    for (let start = 0; start < all.length; start += VECTORS_PER_CALL) {
      const ids = all.slice(start, start + VECTORS_PER_CALL).map(pointId);
      const request = { ...shardsFor(names, tenant), ids, with_payload: false, with_vector: [dense] };
      for (const { id, vector } of await server.call((client) => client.retrieve(alias, request))) {
        const values = (vector as Readonly<Record<string, readonly number[]>> | null | undefined)?.[dense] ?? [];
        if (values.some((value) => value !== 0)) found.set(String(id), Float32Array.from(values));
      }
    }
  }
  return points.map((point) => found.get(pointId(point)) ?? null);
}

/** The points of a collection, or of what is behind an alias, from one id on; by id, which is the server's order. */
export async function pageOf(
  server: QdrantServer,
  collection: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<PointPage> {
  const { points, next_page_offset } = await server.call((client) =>
    client.scroll(collection, {
      filter: ANY_MEMORY,
      with_payload: ['point'],
      limit,
      ...(after === null ? {} : { offset: after }),
    }),
  );
  const next = typeof next_page_offset === 'string' ? next_page_offset : null;
  return { points: points.flatMap(({ payload }) => (payload?.point === undefined ? [] : [shownOf(payload)])), next };
}

import type { Vectors } from '../../models/vectors.ts';
import type { GraphStore } from '../../ports/ledger/graph.ts';
import type { Ledger } from '../../ports/ledger/ledger.ts';
import type { IndexHit, SearchIndex, ShownPoint, Visibility } from '../../ports/search-index.ts';
import { fuse } from '../../search/hits.ts';
import { ordered, type RankedHit } from '../../search/rank.ts';
import { compareSaid, type LaneId, type Millis, type Owner, type TenantId } from '../../words.ts';
import type { RelationDetails } from '../project.ts';
import type { KeptRelation } from '../words.ts';
import {
  isAboutSelf,
  likeSeeds,
  mentionsIn,
  namedSeeds,
  type Seed,
  STEPS_MAX,
  selfSeed,
  type Wording,
  walkPaths,
  wantedOf,
  wordingFor,
} from './question.ts';

interface GraphDeps {
  readonly ledger: Pick<Ledger, 'graph'>;
  readonly index: Pick<SearchIndex, 'search'>;
}

export interface GraphQuestion {
  readonly tenant: TenantId;
  readonly owner: Owner;
  /** The one that the owner lives in. */
  readonly lane: LaneId;
  readonly text: string;
  /** Of the text: what the keyword leg is asked for. */
  readonly terms: readonly string[];
  /** null: there is none, and it is looked for by names and words alone. */
  readonly vector: Promise<Float32Array | null>;
  /** Hashed ones know hardly more than words do: they are compared with names alone, where the question names nobody. */
  readonly vectors: Vectors;
  /** null: what holds now; a time: what held then. */
  readonly at: Millis | null;
  /** Everything that ever counted; of what began by `at`, where that is a time. */
  readonly ever: boolean;
  readonly now: Millis;
  readonly limit: number;
}

/** What the index is asked for of each shelf. */
const HITS = { entities: 10, relations: 15 } as const;
/**
 * Entities that a step looks around, and relations it brings at most: around those that the question names there may be what
 * it asks for among very many, and further on the best paths lead.
 */
const AROUND = { entities: 6, first: 200, further: 40 } as const;

/**
 * Relations that a question is about, without a model: around the entities that it names, up to two entities away, and
 * those whose own text is like it. Names are looked up in the ledger while the index is asked.
 */
export async function readGraph(deps: GraphDeps, question: GraphQuestion): Promise<readonly FoundRelation[]> {
  const asking = relationHits(deps, question);
  asking.catch(() => {}); // it is waited for below, after the names
  const named = await seedsNamed(deps.ledger.graph, question);
  const seeds = named.length > 0 ? named : await seedsBeside(deps, question);
  const wording = wordingFor(wantedOf(question.terms, new Set(seeds.flatMap((seed) => seed.terms))));
  const around = await neighbourhood(deps.ledger.graph, question, { seeds, wording });
  const { scores: paths } = walkPaths(seeds, around, { wording });
  const hits = await asking;
  return fuseRelations(
    { question: question.terms, vectors: question.vectors, wording, around, paths, hits },
    question.limit,
  );
}

async function relationHits({ index }: GraphDeps, question: GraphQuestion): Promise<readonly IndexHit[]> {
  const vector = question.vectors.kind === 'hashed' ? null : await question.vector;
  const [hits = []] = await index.search([
    {
      ...askedOf(question),
      ...{ vector, shelf: 'relations', visibility: visibilityOf(question), wide: true, limit: HITS.relations },
    },
  ]);
  return hits;
}

const askedOf = ({ tenant, owner, lane, terms }: GraphQuestion) => ({
  ...{ tenant, owner, lane, terms },
  ...{ filter: {}, where: null },
});

function visibilityOf({ at, ever, now }: GraphQuestion): Visibility {
  if (ever) return { kind: 'every', begunBy: at };
  return at === null ? { kind: 'live', now } : { kind: 'as_of', at };
}

async function seedsNamed(graph: GraphStore, { text, lane }: GraphQuestion): Promise<readonly Seed[]> {
  const mentions = mentionsIn(text);
  const [entities, self] = await Promise.all([
    mentions.length === 0 ? [] : graph.named(lane, mentions),
    isAboutSelf(text) ? graph.self(lane) : null,
  ]);
  return [...namedSeeds(mentions, entities), ...(self === null ? [] : [selfSeed(self, true)])];
}

/** Where nobody is named: who is called nearly so, and whose graph it is. */
async function seedsBeside(deps: GraphDeps, question: GraphQuestion): Promise<readonly Seed[]> {
  const [hits, self] = await Promise.all([entityHits(deps, question), deps.ledger.graph.self(question.lane)]);
  return [...likeSeeds(hits, question.vectors), ...(self === null ? [] : [selfSeed(self, false)])];
}

/** Those that are called nearly so. */
async function entityHits({ index }: GraphDeps, question: GraphQuestion): Promise<readonly IndexHit[]> {
  const visibility: Visibility = { kind: 'live', now: question.now };
  const vector = await question.vector;
  const [hits = []] = await index.search([
    { ...askedOf(question), ...{ vector, shelf: 'entities', visibility, wide: false, limit: HITS.entities } },
  ]);
  return hits;
}

interface Beginning {
  readonly seeds: readonly Seed[];
  readonly wording: Wording;
}

/** Relations around the seeds, then around those entities that the best paths have come to. */
async function neighbourhood(
  graph: GraphStore,
  question: GraphQuestion,
  { seeds, wording }: Beginning,
): Promise<readonly SeenRelation[]> {
  const known = new Map<string, SeenRelation>();
  const looked = new Set<string>();
  let next: readonly string[] = seeds.map(({ id }) => id);
  for (let step = 1; step <= STEPS_MAX; step += 1) {
    const entities = next.filter((id) => !looked.has(id)).slice(0, AROUND.entities);
    if (entities.length === 0) break;
    for (const id of entities) looked.add(id);
    const limit = step === 1 ? AROUND.first : AROUND.further;
    for (const relation of await around(graph, question, { entities, limit })) known.set(relation.id, relation);
    const { ends, whole } = walkPaths(seeds, [...known.values()], { wording, steps: step });
    if (whole) break;
    next = ends;
  }
  return [...known.values()];
}

async function around(
  graph: GraphStore,
  { lane, at, ever }: GraphQuestion,
  asked: { readonly entities: readonly string[]; readonly limit: number },
): Promise<readonly SeenRelation[]> {
  const found = await graph.around(lane, { ...asked, at: ever ? 'ever' : at });
  return ever && at !== null ? found.filter(({ validFrom }) => validFrom <= at) : found;
}

/**
 * Shares of a relation's score: of the path that leads to it, of its own text beside the question by both legs of the index,
 * and of the question's words in it. A path knows what the text alone does not: whose employer it is.
 */
const SHARES = { path: 0.7, text: 0.15, words: 0.15 } as const;
/** Where the question names nobody there is no path. */
const WITHOUT_PATH = { path: 0, text: 0.6, words: 0.4 } as const;
/** What scores less says nothing that was asked for. */
const LEAST = 0.05;

interface Evidence {
  readonly question: readonly string[];
  readonly vectors: Vectors;
  readonly wording: Wording;
  /** What was read around where the question begins. */
  readonly around: readonly SeenRelation[];
  /** The worth of the best path to each, by id. */
  readonly paths: ReadonlyMap<string, number>;
  /** What the index has found by text. */
  readonly hits: readonly IndexHit[];
}

/** Everything that was found in one order, best first. */
function fuseRelations(evidence: Evidence, limit: number): readonly FoundRelation[] {
  const { question, wording, around, paths, hits } = evidence;
  const text = new Map(
    fuse(hits, { mode: 'hybrid', vectors: evidence.vectors }).map(({ hit, score }) => [hit.point.memoryId, score]),
  );
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

/** A relation as far as it is ranked and shown: the same from the ledger and from the index. */
export type SeenRelation = Pick<
  KeptRelation,
  | 'id'
  | 'source'
  | 'relationship'
  | 'destination'
  | 'sourceName'
  | 'destinationName'
  | 'validFrom'
  | 'invalidAt'
  | 'saidAt'
  | 'confirmations'
  | 'memoryIds'
>;

/** A relation that a question has found. */
export interface FoundRelation extends SeenRelation {
  /** 0…1. Orders; says nothing about whether anything answers. */
  readonly score: number;
}

/** What a point on the shelf of relations says. */
function seenIn(point: ShownPoint): SeenRelation {
  const details = point.metadata as unknown as RelationDetails;
  return {
    id: point.memoryId,
    source: details.source,
    relationship: details.relationship,
    destination: details.destination,
    sourceName: details.source_name,
    destinationName: details.destination_name,
    validFrom: point.validFrom,
    invalidAt: point.invalidAt,
    saidAt: point.saidAt,
    confirmations: point.confirmations,
    memoryIds: details.memory_ids,
  };
}

/** The most that belonging to a relation of the question can add: as much as the words that the best hits share. */
const RELATED = 0.1;

/** Memories from which the found relations came come forward. */
export function boostRelated(hits: readonly RankedHit[], relations: readonly FoundRelation[]): readonly RankedHit[] {
  const boosts = relationBoosts(relations);
  if (!hits.some(({ hit }) => boosts.has(hit.point.memoryId))) return hits;
  return ordered(
    hits.map(({ hit, relative, unrated }) => {
      const boost = boosts.get(hit.point.memoryId) ?? 0;
      return { hit, sum: relative + boost, unrated: unrated.relative + boost, place: unrated.place };
    }),
  );
}

/** What memories get by the best relation that came from each, beside the best of all. */
export function relationBoosts(relations: readonly FoundRelation[]): ReadonlyMap<string, number> {
  const top = Math.max(0, ...relations.map(({ score }) => score));
  const boosts = new Map<string, number>();
  if (top === 0) return boosts;
  for (const { memoryIds, score } of relations)
    for (const id of memoryIds) boosts.set(id, Math.max(boosts.get(id) ?? 0, (RELATED * score) / top));
  return boosts;
}

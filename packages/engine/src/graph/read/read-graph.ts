import type { GraphStore } from '../../ports/ledger/graph.ts';
import type { Ledger } from '../../ports/ledger/ledger.ts';
import type { IndexHit, IndexQuery, SearchIndex, Visibility } from '../../ports/search-index.ts';
import type { LaneId, Millis, Owner, TenantId } from '../../words.ts';
import { type Wording, wantedOf, wordingFor } from './coverage.ts';
import { fuseRelations } from './fuse-relations.ts';
import { isAboutSelf, mentionsIn } from './mentions.ts';
import { STEPS_MAX, walkPaths } from './paths.ts';
import { likeSeeds, namedSeeds, type Seed, selfSeed } from './seeds.ts';
import type { FoundRelation, SeenRelation } from './seen.ts';

export interface GraphDeps {
  readonly ledger: Pick<Ledger, 'lanes' | 'graph'>;
  readonly index: Pick<SearchIndex, 'search'>;
}

export interface GraphQuestion {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly text: string;
  /** Of the text: what the keyword leg is asked for. */
  readonly terms: readonly string[];
  /** null: there is none, and it is looked for by names and words alone. */
  readonly vector: Promise<Float32Array | null>;
  /** null: what holds now; a time: what held then. */
  readonly at: Millis | null;
  /** Everything that ever counted; of what began by `at`, where that is a time. */
  readonly ever: boolean;
  readonly now: Millis;
  readonly limit: number;
}

/** What the index is asked for of each shelf. */
const HITS = { entities: 10, relations: 50 } as const;
/** Entities that one step looks around, and relations it brings at most. */
const AROUND = { entities: 32, relations: 300 } as const;

/**
 * Relations that a question is about, without a model: around the entities that it names, up to two entities away, and
 * those whose own text is like it. Names are looked up in the ledger while the index is asked.
 */
export async function readGraph(deps: GraphDeps, question: GraphQuestion): Promise<readonly FoundRelation[]> {
  const found = hitsOf(deps, question);
  found.catch(() => {}); // it is waited for below, after the names
  const lane = await laneOf(deps, question);
  if (lane === null) return [];
  // An erased lane may have had the same owner.
  const asking = found.then((hits) => ofLane(hits, lane));
  asking.catch(() => {});
  const named = await seedsNamed(deps.ledger.graph, question, lane);
  const seeds = named.length > 0 ? named : await seedsBeside(deps.ledger.graph, lane, await asking);
  const wording = wordingFor(wantedOf(question.terms, new Set(seeds.flatMap((seed) => seed.terms))));
  const around = await neighbourhood(deps.ledger.graph, { ...question, lane }, { seeds, wording });
  const { scores: paths } = walkPaths(seeds, around, { wording });
  const { relations: hits } = await asking;
  return fuseRelations({ question: question.terms, wording, around, paths, hits }, question.limit);
}

const laneOf = async ({ ledger }: GraphDeps, { tenant, owner }: GraphQuestion): Promise<LaneId | null> =>
  (await ledger.lanes.find(tenant, owner))?.id ?? null;

interface Hits {
  readonly entities: readonly IndexHit[];
  readonly relations: readonly IndexHit[];
}

async function hitsOf({ index }: GraphDeps, question: GraphQuestion): Promise<Hits> {
  const { tenant, owner, terms, now } = question;
  const vector = await question.vector;
  const asked = { tenant, owner, filter: {}, where: null, vector, terms } satisfies Partial<IndexQuery>;
  const live: Visibility = { kind: 'live', now };
  const [entities = [], relations = []] = await index.search([
    { ...asked, shelf: 'entities', visibility: live, wide: false, limit: HITS.entities },
    { ...asked, shelf: 'relations', visibility: visibilityOf(question), wide: true, limit: HITS.relations },
  ]);
  return { entities, relations };
}

function ofLane({ entities, relations }: Hits, lane: LaneId): Hits {
  const own = (hits: readonly IndexHit[]) => hits.filter(({ point }) => point.lane === lane);
  return { entities: own(entities), relations: own(relations) };
}

function visibilityOf({ at, ever, now }: GraphQuestion): Visibility {
  if (ever) return { kind: 'every', begunBy: at };
  return at === null ? { kind: 'live', now } : { kind: 'as_of', at };
}

async function seedsNamed(graph: GraphStore, { text }: GraphQuestion, lane: LaneId): Promise<readonly Seed[]> {
  const mentions = mentionsIn(text);
  const [entities, self] = await Promise.all([
    mentions.length === 0 ? [] : graph.named(lane, mentions),
    isAboutSelf(text) ? graph.self(lane) : null,
  ]);
  return [...namedSeeds(mentions, entities), ...(self === null ? [] : [selfSeed(self, true)])];
}

/** Where nobody is named: who is called nearly so, and whose graph it is. */
async function seedsBeside(graph: GraphStore, lane: LaneId, { entities }: Hits): Promise<readonly Seed[]> {
  const self = await graph.self(lane);
  return [...likeSeeds(entities), ...(self === null ? [] : [selfSeed(self, false)])];
}

interface Beginning {
  readonly seeds: readonly Seed[];
  readonly wording: Wording;
}

/** Relations around the seeds, then around those entities that the best paths have come to. */
async function neighbourhood(
  graph: GraphStore,
  question: GraphQuestion & { readonly lane: LaneId },
  { seeds, wording }: Beginning,
): Promise<readonly SeenRelation[]> {
  const known = new Map<string, SeenRelation>();
  const looked = new Set<string>();
  let next: readonly string[] = seeds.map(({ id }) => id);
  for (let step = 1; step <= STEPS_MAX; step += 1) {
    const entities = next.filter((id) => !looked.has(id)).slice(0, AROUND.entities);
    if (entities.length === 0) break;
    for (const id of entities) looked.add(id);
    for (const relation of await around(graph, question, entities)) known.set(relation.id, relation);
    next = walkPaths(seeds, [...known.values()], { wording, steps: step }).ends;
  }
  return [...known.values()];
}

async function around(
  graph: GraphStore,
  { lane, at, ever }: GraphQuestion & { readonly lane: LaneId },
  entities: readonly string[],
): Promise<readonly SeenRelation[]> {
  const found = await graph.around(lane, { entities, at: ever ? 'ever' : at, limit: AROUND.relations });
  return ever && at !== null ? found.filter(({ validFrom }) => validFrom <= at) : found;
}

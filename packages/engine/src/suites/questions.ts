import type { EngineDeps, NamedEmbedder } from '../deps.ts';
import type { Figures } from '../figures/figures.ts';
import { askedBy, embedAll } from '../models/embed.ts';
import type { Vectors } from '../models/vectors.ts';
import type { IndexHit } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { projectRest } from '../projection/project.ts';
import { type RankQuestion, rank } from '../search/rank.ts';
import { cutAt, judge, scored } from '../search/relevance.ts';
import { sameText } from '../text/normalise.ts';
import { overlap, terms } from '../text/terms.ts';
import type { LaneId, Owner, TenantId } from '../words.ts';
import type { CaseQuestion } from './cases.ts';

export type QuestionDeps = Pick<
  EngineDeps,
  'ledger' | 'index' | 'embedder' | 'queries' | 'otherEmbedder' | 'tools' | 'tokenizer' | 'settings' | 'meter' | 'log'
>;

interface Asked {
  readonly owned: { readonly tenant: TenantId; readonly owner: Owner; readonly lane: LaneId };
  readonly questions: readonly CaseQuestion[];
  /** The texts that hold. */
  readonly live: readonly string[];
  /** Asked in place of the usual one; null: that. */
  readonly embedder: NamedEmbedder | null;
}

/** How many results count. */
const TOP = 10;
/** As many as a search for so many looks through. */
const LEG = 80;
/** A memory says what is expected in words of its own. */
const SAYS = 0.6;

/** Searches a space for the stored questions of a case. */
export async function answered(
  deps: QuestionDeps,
  { owned, questions, live, embedder }: Asked,
  cancel: Cancellation,
): Promise<Figures> {
  if (questions.length === 0) return {};
  while (await projectRest(deps, owned.lane, cancel));
  const vectors = await embedAll(
    embedder?.queries ?? deps.queries ?? deps.embedder,
    questions.map(({ query }) => query),
    cancel,
  );
  const beside = embedder === null ? null : await vectorsOf(embedder, [...new Set(live)], cancel);
  const [found, nothing]: [boolean[], boolean[]] = [[], []];
  let tokens = 0;
  for (const [i, { query, expects }] of questions.entries()) {
    const asked = {
      text: query,
      vector: vectors[i] ?? null,
      beside,
      vectors: embedder?.vectors ?? deps.settings.vectors,
    };
    const texts = await search(deps, owned, asked);
    tokens += texts.reduce((sum, text) => sum + deps.tokenizer.count(text), 0);
    if (expects.length === 0) nothing.push(texts.length === 0);
    else found.push(expects.some((text) => texts.some((one) => isSaid(one, text))));
  }
  const share = (all: readonly boolean[]) => ({ part: all.filter(Boolean).length, of: all.length });
  return { recall: share(found), abstained: share(nothing), context_tokens: { part: tokens, of: questions.length } };
}

/** By another embedder: texts are compared one by one, so that no index is made for them. */
async function vectorsOf(
  { documents }: NamedEmbedder,
  texts: readonly string[],
  cancel: Cancellation,
): Promise<ReadonlyMap<string, Float32Array>> {
  const vectors = await embedAll(documents, texts, cancel);
  return new Map(texts.flatMap((text, i) => (vectors[i] == null ? [] : [[text, vectors[i]] as const])));
}

const isSaid = (text: string, expected: string): boolean => sameText(text, expected) || overlap(text, expected) >= SAYS;

interface Searching {
  readonly text: string;
  readonly vector: Float32Array | null;
  readonly vectors: Vectors;
  /** What holds, by its text, as another embedder sees it; null: as the index does. */
  readonly beside: ReadonlyMap<string, Float32Array> | null;
}

/** As POST /v1/search orders and cuts. */
async function search(
  { index, tools, embedder }: QuestionDeps,
  { tenant, owner, lane }: Asked['owned'],
  { text, vector, vectors, beside }: Searching,
): Promise<readonly string[]> {
  const now = tools.now();
  const asked = vector === null ? null : askedBy(vector);
  // Of another embedder's vectors an index knows nothing: all that holds is read, and compared here.
  const [hits = []] = await index.search([
    {
      ...{ tenant, owner, lane, shelf: 'memories', filter: {}, where: null, wide: true },
      ...{ limit: beside === null ? LEG : ALL, visibility: { kind: 'live', now } },
      ...{ vector: beside === null ? asked : anyVector(embedder.dimensions), terms: terms(text) },
    },
  ]);
  const question: RankQuestion = {
    ...{ text, terms: terms(text), at: now, vectors },
    mode: asked === null ? 'keyword' : 'hybrid',
  };
  const found = beside === null || asked === null ? hits : seenBy(beside, asked, hits);
  const ranked = rank(question, found);
  const judged = judge(question, ranked);
  const { kept } = cutAt(question, scored(question, ranked, judged), judged);
  return kept.slice(0, TOP).map(({ hit }) => hit.point.text);
}

/** More than an owner of a case has. */
const ALL = 5_000;

const anyVector = (dimensions: number): Float32Array => new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions));

/** The hits as they would be in an index of the other vectors: the nearest of each leg. */
function seenBy(
  beside: ReadonlyMap<string, Float32Array>,
  asked: Float32Array,
  hits: readonly IndexHit[],
): readonly IndexHit[] {
  const seen = hits.map((hit) => {
    const vector = beside.get(hit.point.text);
    return { ...hit, vectorScore: vector === undefined ? null : cosine(vector, asked) };
  });
  const nearest = seen.toSorted((a, b) => (b.vectorScore ?? -1) - (a.vectorScore ?? -1)).slice(0, LEG);
  const byWords = seen.filter(({ keywordScore }) => keywordScore !== null);
  return [...new Set([...nearest, ...byWords])];
}

/** Vectors of embedders have the length 1. */
const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

import { knownModels, type OpenEmbedder, observe, openEmbedder } from '@slowwave/adapters/assemble';
import { cosine, EngineError, embedAll, estimateTokens, type JsonObject, type ModelStore } from '@slowwave/engine';
import { attempt, limited, ok, SECOND_MS, type Trial, type Trying } from './trial.ts';

export const EMBEDDING_TRIALS = 6;

/** Tries all that the index and searches need of the embedding model. */
export async function tryEmbeddings(trying: Trying): Promise<readonly Trial[]> {
  const { config, log, cancel } = trying;
  const model = config.embeddingModel ?? 'builtin';
  const { meter } = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  const models = unknownModels();
  let embedder: OpenEmbedder | null = null;
  const first = await attempt(trying, { model, tried: 'embeddings' }, async () => {
    embedder = await openEmbedder(config, log, { meter, models });
    await embedder.ready(() => {});
    return ok(`${embedder.documents.dimensions} dimensions`);
  });
  if (embedder === null) return [first];
  const { documents, queries, close }: OpenEmbedder = embedder;
  try {
    if (first.verdict === 'failed') return [first];
    const [text = ''] = ALIKE.flat();
    return [
      first,
      await attempt(trying, { model, tried: `${MANY} texts` }, async () => {
        const texts = Array.from({ length: MANY }, (_, i) => `${text} (${i})`);
        const took = await timed(() => embedAll(documents, texts, cancel));
        return ok(`${Math.round((MANY * SECOND_MS) / took)} texts a second`);
      }),
      await attempt(trying, { model, tried: 'queries' }, async () => {
        const took = await timed(async () => {
          for (let i = 0; i < QUERIES; i += 1) await queries.embed([`${text} ${i}?`], cancel);
        });
        const each = Math.round(took / QUERIES);
        return each <= QUERY_MAX_MS ? ok(`${each} ms each`) : limited(`${each} ms each`, SLOW);
      }),
      await attempt(trying, { model, tried: 'a long text' }, async () => {
        const long = `${text}. `.repeat(Math.ceil(LONG_TOKENS / estimateTokens(`${text}. `)));
        const took = await timed(() => embedAll(documents, [long], cancel));
        return ok(`about ${LONG_TOKENS} tokens in ${(took / SECOND_MS).toFixed(1)} s`);
      }),
      await attempt(trying, { model, tried: 'similarity' }, async () => {
        const vectors = await embedAll(documents, ALIKE.flat(), cancel);
        if (vectors.includes(null)) throw refusedText();
        const near = nearest(vectors as Float32Array[]);
        const came = `${near} of ${ALIKE.length} sentences are nearest to the same in other words`;
        return near >= NEAR_MIN ? ok(came) : limited(came, WEAK);
      }),
      await attempt(trying, { model, tried: 'requests' }, async () => {
        const known = await knownModels(config, { models });
        const refused = known.flatMap(({ use, findings }) => (use === 'embeddings' ? findings : []));
        return ok(refused.length === 0 ? 'nothing refused' : refused.map(({ what }) => what).join('; '));
      }),
    ];
  } finally {
    await close();
  }
}

/** Nothing is known of any model yet, and what is found out is forgotten. */
function unknownModels(): ModelStore {
  const found = new Map<string, JsonObject | null>();
  return { get: async (name) => found.get(name) ?? null, put: async (name, known) => void found.set(name, known) };
}

/** As long as a long message. */
const LONG_TOKENS = 2_000;
const MANY = 64;
const QUERIES = 5;
/** After two seconds a search goes on without a vector. */
const QUERY_MAX_MS = 1_000;
const SLOW = 'searches wait for this, and after 2 s go by words alone, so run the model nearer, or a smaller one';
const WEAK =
  'it hardly knows meanings, so choose another with SLOWWAVE_EMBEDDING_MODEL, for example local, and check the prefixes that it needs';

/** The same in other words. */
const ALIKE = [
  ['The user is allergic to peanuts', 'Nuts make her ill'],
  ['The user lives in Oslo', 'Her home is in the capital of Norway'],
  ['The user has a dog', 'She owns a puppy'],
  ['The user works as a nurse', 'Her job is caring for patients in a hospital'],
] as const;
const NEAR_MIN = 3;

/** How many first sentences are nearer to their own second one than to all others. */
const nearest = (vectors: readonly Float32Array[]): number => {
  const [firsts, seconds] = [0, 1].map((place) => vectors.filter((_, i) => i % 2 === place));
  return (firsts ?? []).filter((one, i) => {
    const near = (seconds ?? []).map((other) => cosine(one, other));
    return near.indexOf(Math.max(...near)) === i;
  }).length;
};

/** How many milliseconds it took, at least one. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Math.max(1, performance.now() - startedAt);
}

const refusedText = (): EngineError =>
  new EngineError('expected a vector for each sentence, got none for one; choose another SLOWWAVE_EMBEDDING_MODEL', {
    code: 'model_rejected',
    retryable: false,
  });

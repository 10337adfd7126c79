import { knownModels, type OpenEmbedder, observe, openEmbedder } from '@slowwave/adapters/assemble';
import { cosine, EngineError, embedAll, estimateTokens, type JsonObject, type ModelStore } from '@slowwave/engine';
import { chatCandidate, otherCandidates } from './chat.ts';
import {
  type Candidate,
  limited,
  MINUTE_MS,
  MINUTES_MAX,
  NO_TIME,
  type Outcome,
  ok,
  outcomeOf,
  SECOND_MS,
  secondsOf,
  type Trial,
  type Try,
  type Trying,
} from './trial.ts';

/** Which models are tried, and who is told how far that is. */
interface Wanted {
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

/** All that the index and searches need of the embedding model. */
function embeddingCandidate(trying: Trying): Candidate {
  const { config } = trying;
  const models = forgotten(trying.known);
  const embedder = timedEmbedder(trying, models);
  const { embed } = embedder;
  const tried = (name: string, texts: readonly string[], work: () => Promise<Outcome | null>): Try => ({
    tried: name,
    needs: () => embedder.needs(texts),
    run: async () => (await work()) ?? limited(embedder.reached(), SLOW),
  });
  const [text = ''] = ALIKE.flat();
  const many = Array.from({ length: MANY }, (_, i) => `${text} (${i})`);
  const questions = Array.from({ length: QUERIES }, (_, i) => `${text} ${i}?`);
  const long = `${text}. `.repeat(Math.ceil(LONG_TOKENS / estimateTokens(`${text}. `)));
  return {
    model: config.embeddingModel ?? 'builtin',
    tries: [
      tried('embeddings', [], async () => {
        const { documents } = await embedder.opened();
        return (await embed([text])) && ok(`${documents.dimensions} dimensions`);
      }),
      tried(`${MANY} texts`, many, async () => {
        const embedded = await embed(many);
        return embedded && ok(`${Math.round((MANY * SECOND_MS) / embedded.ms)} texts per second`);
      }),
      tried('queries', questions, async () => {
        const { queries } = await embedder.opened();
        const took = [];
        for (const question of questions) took.push((await embed([question], queries))?.ms ?? Number.POSITIVE_INFINITY);
        const each = Math.round(took.reduce((sum, ms) => sum + ms, 0) / QUERIES);
        if (!Number.isFinite(each)) return null;
        return each <= QUERY_MAX_MS ? ok(`${each} ms each`) : limited(`${each} ms each`, SLOW);
      }),
      tried('a long text', [long], async () => {
        const embedded = await embed([long]);
        return embedded && ok(`about ${LONG_TOKENS} tokens in ${secondsOf(embedded.ms)}`);
      }),
      tried('similarity', ALIKE.flat(), async () => {
        const embedded = await embed(ALIKE.flat());
        return embedded && similarity(embedded.vectors);
      }),
      {
        tried: 'requests',
        needs: () => NO_TIME,
        run: async () => {
          const known = await knownModels(config, { models });
          const refused = known.flatMap(({ use, findings }) => (use === 'embeddings' ? findings : []));
          return ok(refused.length === 0 ? 'nothing refused' : refused.map(({ what }) => what).join('; '));
        },
      },
    ],
    pace: embedder.pace,
    close: embedder.close,
  };
}

/** What is known of the models, to which is added what is found out now; it is not kept. */
function forgotten({ get }: Pick<ModelStore, 'get'>): ModelStore {
  const found = new Map<string, JsonObject | null>();
  return {
    get: async (name) => found.get(name) ?? (await get(name)),
    put: async (name, known) => void found.set(name, known),
    swap: async (name, _before, known) => {
      found.set(name, known);
      return true;
    },
  };
}

/** An embedder that is tried: its calls are timed, and end with the budget. */
function timedEmbedder({ config, log, budget }: Trying, models: ModelStore) {
  const { meter } = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  const calls: { readonly tokens: number; ms: number; isWhole: boolean }[] = [];
  const open = async (): Promise<OpenEmbedder> => {
    const { embeddingServer } = config;
    // Nothing else ends the question how long its vectors are.
    const timeoutMs = Math.min(embeddingServer.timeoutMs, Math.max(1, Math.ceil(budget.left())));
    const opening = { ...config, embeddingServer: { ...embeddingServer, timeoutMs } };
    const embedder = await openEmbedder(opening, log, { meter, models });
    // What has to be downloaded says nothing of how fast the model is.
    await budget.outside(() => embedder.ready(() => {}));
    return embedder;
  };
  let opening: Promise<OpenEmbedder> | null = null;
  const opened = (): Promise<OpenEmbedder> => {
    opening ??= open();
    return opening;
  };
  /** null: there was not enough time. */
  const embed = async (texts: readonly string[], by?: OpenEmbedder['documents']) => {
    const embedder = by ?? (await opened()).documents;
    const call = { tokens: tokensOf(texts), ms: 0, isWhole: false };
    calls.push(call);
    const startedAt = budget.clock.now();
    const vectors = await budget.within((cancel) => embedAll(embedder, texts, cancel));
    call.ms = Math.max(1, budget.clock.now() - startedAt);
    call.isWhole = vectors !== null;
    return vectors && { vectors, ms: call.ms };
  };
  const perToken = (): number => Math.min(...calls.flatMap(({ isWhole, ms, tokens }) => (isWhole ? ms / tokens : [])));
  return {
    opened,
    embed,
    needs: (texts: readonly string[]) => {
      const ms = calls.some(({ isWhole }) => isWhole) ? perToken() * tokensOf(texts) : 0;
      return { least: ms, likely: ms };
    },
    reached: () =>
      calls
        .slice(-1)
        .map(({ tokens, ms }) => `no answer to about ${tokens} tokens within ${secondsOf(ms)}`)
        .join(),
    pace: () => `the embedding model answers in ${secondsOf(Math.min(...calls.map(({ ms }) => ms)))}`,
    close: async () =>
      void (await opening?.then(
        ({ close }) => close(),
        () => {},
      )),
  };
}

const tokensOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + estimateTokens(text), 0);

function similarity(vectors: readonly (Float32Array | null)[]): Outcome {
  if (vectors.includes(null)) throw refusedText();
  const near = nearest(vectors as Float32Array[]);
  const came = `${near} of ${ALIKE.length} sentences are nearest to the same in other words`;
  return near >= NEAR_MIN ? ok(came) : limited(came, WEAK);
}

/** As long as a long message. */
const LONG_TOKENS = 2_000;
const MANY = 64;
const QUERIES = 3;
/** After two seconds a search goes on without a vector. */
const QUERY_MAX_MS = 1_000;
const SLOW =
  'searches wait for this, and use keywords only after 2 s, so run the model closer, or choose a smaller one';
const WEAK =
  'it hardly distinguishes meanings, so choose another model with SLOWWAVE_EMBEDDING_MODEL, for example local, and check the prefixes it needs';

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

const refusedText = (): EngineError =>
  new EngineError('expected a vector for each sentence, got none for one; choose another SLOWWAVE_EMBEDDING_MODEL', {
    code: 'model_rejected',
    retryable: false,
  });

import {
  type Calibration,
  calibrate,
  type EngineSettings,
  HASHED,
  keepCalibration,
  knownCalibration,
  LEARNT,
  type Ledger,
  type Log,
  type NearThresholds,
  type Side,
  type Vectors,
} from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { placeOf } from '../postgres/index.ts';
import type { OpenEmbedder } from './models.ts';
import type { OpenSpace } from './space.ts';

/** One consolidation reads at most this much at once: what a small model still extracts from with care. */
const WINDOW = { maxTokens: 6_000, maxBatches: 100 };
const RECENT_MESSAGES = 10;
const RETRY_DELAY_MAX_MS = 300_000;
const DELETES_PER_CONSOLIDATION = 10;

/**
 * Hashed vectors know words, not meanings: what shares next to no word may still be about the same thing. Most changes share a word with
 * what they change, or say that something changed, and are decided on for that. Of 176 changes 5 do neither and are below 0.12, and no
 * other is below 0.18. Of pairs of unrelated facts about one person nine in ten are below 0.18, and six in ten below 0.12.
 */
export const NEAR_HASHED: NearThresholds = { vector: 0.12, keyword: 0.2, pair: 0.18, overlap: 0.1 };
/**
 * Below 0.35 are nine in ten pairs of unrelated facts about one person, and 1 of 65 changes. Some one of many memories is always
 * above it: what is asked seldom of a pair is asked of nearly every fact and what is known, so that a lower one costs little there.
 * The model has read what is said in one batch together; a memory it sees only if it is asked.
 */
export const NEAR_LEARNT: NearThresholds = { vector: 0.3, keyword: 0.5, pair: 0.35, overlap: 0.1 };

/** What is known of an embedder may become known while the process runs. */
interface Reading {
  vectors(): Vectors;
  near(): NearThresholds;
}

export const engineSettings = (config: Config, reading: Reading = uncalibrated(config)): EngineSettings => ({
  due: config.due,
  window: WINDOW,
  recallPerFact: config.recallPerFact,
  get vectors() {
    return reading.vectors();
  },
  messagesInIndex: config.messagesInIndex,
  recentMessages: RECENT_MESSAGES,
  partTokens: config.partTokens,
  decideTokens: config.decideTokens,
  maxAttempts: config.maxAttempts,
  waitsForGate: config.waitsForGate,
  retryDelayMs: config.retryDelayMs,
  retryDelayMaxMs: RETRY_DELAY_MAX_MS,
  deletesPerConsolidation: DELETES_PER_CONSOLIDATION,
  get near() {
    return reading.near();
  },
  ceilings: config.ceilings,
});

/** How the vectors of the configured embedder read, as long as nobody has measured it. */
const uncalibrated = ({ embeddingModel }: Config): Reading =>
  embeddingModel === null
    ? { vectors: () => HASHED, near: () => NEAR_HASHED }
    : { vectors: () => LEARNT, near: () => NEAR_LEARNT };

/** What a process runs on, as anybody may know it at /healthz: kinds, and nothing of where they are. */
export const kindsOf = (config: Config): Record<string, string> => ({
  ledger: config.databaseUrl === null ? 'SQLite' : 'PostgreSQL',
  index: indexKind(config),
  queue: queueKind(config),
  chat_model: modelKind(config.chatModel),
  image_model: config.imageModel === null ? 'none' : OPENAI,
  embedding_model: config.localModel === null ? modelKind(config.embeddingModel) : 'local',
  reranker: config.reranker === null ? 'none' : 'a server',
});

const OPENAI = 'OpenAI-compatible';

function indexKind({ qdrant, indexInDatabase }: Config): 'PostgreSQL' | 'Qdrant' | 'SQLite' {
  if (indexInDatabase) return 'PostgreSQL';
  return qdrant === null ? 'SQLite' : 'Qdrant';
}

const modelKind = (model: string | null): string => (model === null ? 'builtin' : OPENAI);

function queueKind({ redisUrl, databaseUrl }: Config): string {
  if (redisUrl !== null) return 'Redis';
  return databaseUrl === null ? 'in process' : 'PostgreSQL';
}

/** The same with places, in words, for the operator: printed and logged at the start. */
export const runsOn = (config: Config): Record<string, string> => ({
  ledger: config.databaseUrl === null ? `sqlite in ${config.dataDir}` : `postgresql at ${placeOf(config.databaseUrl)}`,
  index: indexOf(config),
  queue: queueOf(config),
  chat_model: config.chatModel ?? 'builtin (no model; for evaluation and tests only)',
  image_model: config.imageModel ?? 'none (messages with images are rejected)',
  model_limits: limitsIn(config),
  embedding_model: embedderIn(config),
  reranker:
    config.reranker === null ? 'none' : `${config.reranker.model ?? 'one'} at ${new URL(config.reranker.url).host}`,
});

/** Whoever runs on the builtin one learns here how to get one that knows what words mean. */
function embedderIn({ embeddingModel, localModel }: Config): string {
  if (localModel !== null)
    return `${'name' in localModel ? localModel.name : localModel.folder} (runs in this process)`;
  return (
    embeddingModel ??
    'builtin (hashed words; for evaluation and tests only; --embedding-model local also finds other wordings)'
  );
}

function limitsIn({ limits: { requestsPerMinute, tokensPerMinute } }: Config): string {
  const said = [
    ...(requestsPerMinute === null ? [] : [`${requestsPerMinute} requests`]),
    ...(tokensPerMinute === null ? [] : [`${tokensPerMinute} tokens`]),
  ];
  return said.length === 0 ? 'none' : `${said.join(' and ')} a minute`;
}

function indexOf({ qdrant, indexInDatabase, databaseUrl, dataDir }: Config): string {
  if (indexInDatabase && databaseUrl !== null) return `postgresql at ${placeOf(databaseUrl)}`;
  return qdrant === null ? `sqlite in ${dataDir}` : `qdrant at ${new URL(qdrant.url).host}`;
}

function queueOf({ redisUrl, databaseUrl }: Config): string {
  if (redisUrl !== null) return `bullmq on redis ${new URL(redisUrl).host}`;
  return databaseUrl === null ? 'bullmq in process' : `bullmq on postgresql at ${placeOf(databaseUrl)}`;
}

/** How the vectors of the configured embedder read: as they were measured, and until then as those of a small model. */
export interface OpenCalibration {
  vectors(): Vectors;
  near(): NearThresholds;
  /** Measures the embedder where nobody has, in the background, as soon as it answers. Others only look whether it was done. */
  measure(): void;
  close(): Promise<void>;
}

/** The same of the space that each piece of work uses. */
export interface OpenCalibrations extends OpenCalibration {
  of(side: Side): OpenCalibration;
}

/** So often it is looked whether somebody has measured it, or whether it answers. */
const AGAIN_MS = 30_000;

interface Parts {
  readonly ledger: Pick<Ledger, 'models'>;
  readonly embedder: Pick<OpenEmbedder, 'documents' | 'queries'>;
  readonly log: Log;
}

/** Hashed vectors are the same everywhere, and were measured when the product was made. */
const BUILTIN: OpenCalibration = {
  vectors: () => HASHED,
  near: () => NEAR_HASHED,
  measure: () => {},
  close: async () => {},
};

export function openCalibrations(
  config: Config,
  {
    space: { embedder, sides },
    ...parts
  }: Omit<Parts, 'embedder'> & { readonly space: Pick<OpenSpace, 'embedder' | 'sides'> },
): OpenCalibrations {
  const { nextEmbedding } = config;
  if (sides === null || nextEmbedding === null) {
    const only = openCalibration(config, { ...parts, embedder });
    return { ...only, of: () => only };
  }
  const both: Readonly<Record<Side, OpenCalibration>> = {
    from: openCalibration(config, { ...parts, embedder: sides.from.embedder }),
    to: openCalibration(nextEmbedding, { ...parts, embedder: sides.to.embedder }),
  };
  return {
    vectors: () => both[sides.side()].vectors(),
    near: () => both[sides.side()].near(),
    measure: () => {
      both.from.measure();
      both.to.measure();
    },
    close: async () => {
      await both.from.close();
      await both.to.close();
    },
    of: (side) => both[side],
  };
}

const openCalibration = ({ embeddingModel }: Pick<Config, 'embeddingModel'>, parts: Parts): OpenCalibration =>
  embeddingModel === null ? BUILTIN : calibrationOf(parts);

function calibrationOf({ ledger: { models }, embedder, log }: Parts): OpenCalibration {
  const { documents } = embedder;
  const stopped = new AbortController();
  let known: Found | null = null;
  let mayMeasure = false;
  let running = Promise.resolve();
  const look = async (): Promise<void> => {
    const { fingerprint } = documents;
    if (known?.fingerprint === fingerprint) return;
    let calibration = await knownCalibration(models, fingerprint);
    if (calibration === null && mayMeasure) {
      calibration = await calibrate(embedder, stopped.signal);
      if (documents.fingerprint !== fingerprint) return;
      await keepCalibration(models, fingerprint, calibration);
      log.info(told(fingerprint, calibration), 'the embedding model was calibrated');
    }
    known = calibration && { fingerprint, calibration };
  };
  const lookAgain = (): void => {
    running = running.then(look).catch((error: unknown) => {
      if (!stopped.signal.aborted) log.debug({ error: String(error) }, 'the embedding model is not calibrated yet');
    });
  };
  const again = setInterval(lookAgain, AGAIN_MS).unref();
  lookAgain();
  return {
    vectors: () => known?.calibration.vectors ?? LEARNT,
    near: () => (known === null ? NEAR_LEARNT : nearOf(known.calibration)),
    measure: () => {
      mayMeasure = true;
      lookAgain();
    },
    close: async () => {
      clearInterval(again);
      stopped.abort();
      await running;
    },
  };
}

interface Found {
  readonly fingerprint: string;
  readonly calibration: Calibration;
}

const nearOf = ({ near, pair }: Calibration): NearThresholds => ({ ...NEAR_LEARNT, vector: near, pair });

const told = (space: string, { near, vectors, languages }: Calibration) => ({
  ...{ space, near, words: vectors.words },
  knows: languages.filter(({ isKnown }) => isKnown).map(({ language }) => language),
});

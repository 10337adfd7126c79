import type { Config } from './config.ts';
import { ENVIRONMENT, tooFewConnections } from './environment.ts';

/** Settings by name, before they are checked. */
export type Given = Readonly<Record<string, string | undefined>>;

/** Settings that only make sense with others, which are not set. */
export const contradictions = (given: Given): string[] => [
  ...modelsWithoutServer(given),
  ...qdrantWithoutUrl(given),
  ...rerankerWithoutUrl(given),
  ...tooFewConnections(given),
];

function rerankerWithoutUrl(given: Given): string[] {
  if (given.SLOWWAVE_RERANK_URL !== undefined) return [];
  return ['SLOWWAVE_RERANK_MODEL', 'SLOWWAVE_RERANK_API_KEY']
    .filter((name) => given[name] !== undefined)
    .map((name) => `${name}: only applies with a reranker; set SLOWWAVE_RERANK_URL, or unset this`);
}

function qdrantWithoutUrl(given: Given): string[] {
  if (given.QDRANT_URL !== undefined) return [];
  return Object.keys(given)
    .filter((name) => /^(SLOWWAVE_)?QDRANT_/.test(name) && name in ENVIRONMENT.shape)
    .map((name) => `${name}: only applies with an index on Qdrant; set QDRANT_URL, or unset this`);
}

function modelsWithoutServer(given: Given): string[] {
  if (hasServer(given)) return [];
  return Object.entries(WITHOUT_SERVER).flatMap(([name, instead]) =>
    (given[name] ?? instead) === instead
      ? []
      : [`${name}: a model needs a server; set OPENAI_API_KEY or OPENAI_BASE_URL, or name it ${instead}`],
  );
}

const hasServer = (given: Given): boolean => given.OPENAI_API_KEY !== undefined || given.OPENAI_BASE_URL !== undefined;

/** The models there are, and what each must be where there is no server. */
const WITHOUT_SERVER: Readonly<Record<string, string>> = {
  SLOWWAVE_CHAT_MODEL: 'builtin',
  SLOWWAVE_IMAGE_MODEL: 'none',
  SLOWWAVE_EMBEDDING_MODEL: 'builtin',
};

/** What is missing where several processes share a queue. */
export function withoutQueue({ redisUrl, databaseUrl }: Config): string[] {
  if (redisUrl !== null || databaseUrl !== null) return [];
  return [
    'REDIS_URL: separate processes share a queue; set it, or DATABASE_URL for a queue on PostgreSQL, or run the ' +
      'standalone app instead',
  ];
}

/** What is missing where several processes may run on several hosts. */
export function withoutIndex({ databaseUrl, qdrant }: Config): string[] {
  if (databaseUrl === null || qdrant !== null) return [];
  return [
    'QDRANT_URL: separate processes on PostgreSQL may run on several hosts, each of which would search an index file ' +
      'of its own; set it for an index they share, or unset DATABASE_URL, or run the standalone app instead',
  ];
}

import { createHash } from 'node:crypto';
import type { Embedder } from '@slowwave/engine';

/** How one vector is made of those of a text's tokens: their mean, or the first one. */
export type Pooling = 'mean' | 'cls';

/** How a model was trained to be used. Where it is used otherwise nothing fails: it only finds worse. */
export interface Conventions {
  /** Of a model that runs in the process; servers pool themselves. */
  readonly pooling: Pooling;
  readonly prefixes: Prefixes;
}

const PLAIN: Conventions = { pooling: 'mean', prefixes: { query: '', document: '' } };

const SENTENCE = 'Represent this sentence for searching relevant passages: ';
const INSTRUCTION = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:';

/** Families of models by what their names have in common, as their model cards describe them; the first that fits counts. */
const FAMILIES: readonly (readonly [RegExp, Conventions])[] = [
  [/qwen3-embedding/i, mean(INSTRUCTION)],
  [/gte-qwen2|e5-[\w-]*instruct/i, mean(`${INSTRUCTION} `)],
  [/(^|[^a-z])e5-/i, mean('query: ', 'passage: ')],
  [/nomic-embed-text/i, mean('search_query: ', 'search_document: ')],
  [/embedding-?gemma/i, mean('task: search result | query: ', 'title: none | text: ')],
  [/arctic-embed(2|-[a-z]+-v2)/i, cls('query: ')],
  [/arctic-embed|mxbai-embed/i, cls(SENTENCE)],
  [/bge-\w+-zh/i, cls('为这个句子生成表示以用于检索相关文章：')],
  [/bge-(micro|small|base|large)/i, cls(SENTENCE)],
  [/bge-|gte-(multilingual|modernbert)/i, cls('')],
];

function mean(query: string, document = ''): Conventions {
  return { pooling: 'mean', prefixes: { query, document } };
}

function cls(query: string): Conventions {
  return { pooling: 'cls', prefixes: { query, document: '' } };
}

/** The conventions of a model's family; those of most models, if its name tells nothing. */
export const conventionsOf = (name: string): Conventions =>
  FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? PLAIN;

/** What some models want to read before a text, so that they know whether it asks or tells. */
export interface Prefixes {
  readonly query: string;
  readonly document: string;
}

/** Prefixes that somebody has set; null: the model's own. */
export type GivenPrefixes = { readonly [Use in keyof Prefixes]: string | null };

export const chosenPrefixes = (own: Prefixes, given: GivenPrefixes): Prefixes => ({
  query: given.query ?? own.query,
  document: given.document ?? own.document,
});

/** An embedder that reads this before each text. */
export const prefixed = (embedder: Embedder, prefix: string): Embedder =>
  prefix === ''
    ? embedder
    : {
        ...embedder,
        embed: (texts, cancel) =>
          embedder.embed(
            texts.map((text) => prefix + text),
            cancel,
          ),
      };

/** Short names of what vectors depend on, for a fingerprint. */
export const digestOf = (facts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 12);

/** Nobody's input is at fault, and only a person can mend it: all work waits, and looks again this often. */
export const MISCONFIGURED = {
  code: 'model_misconfigured',
  retryable: true,
  countsAsTry: false,
  retryAfterMs: 30_000,
} as const;

/** What makes room for longer prompts. */
export const ROOM_ADVICE =
  'give it a context window of 16,384 tokens (Ollama: num_ctx; llama.cpp: --ctx-size; vLLM: --max-model-len), or lower SLOWWAVE_PART_TOKENS';

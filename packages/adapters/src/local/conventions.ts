import type { Prefixes } from '../prefixes.ts';
import type { Pooling } from './protocol.ts';

/** How a model was trained to be used. Where it is used otherwise nothing fails: it only finds worse. */
export interface Conventions {
  readonly pooling: Pooling;
  readonly prefixes: Prefixes;
}

const NONE: Prefixes = { query: '', document: '' };
const PLAIN: Conventions = { pooling: 'mean', prefixes: NONE };

/** Families of models by what their names have in common; the first that fits counts. */
const FAMILIES: readonly (readonly [RegExp, Conventions])[] = [
  [/(^|[^a-z])e5-/i, { pooling: 'mean', prefixes: { query: 'query: ', document: 'passage: ' } }],
  [/bge-\w+-en/i, cls('Represent this sentence for searching relevant passages: ')],
  [/bge-\w+-zh/i, cls('为这个句子生成表示以用于检索相关文章：')],
  [/bge-/i, cls('')],
  [/gte-(multilingual|modernbert)/i, cls('')],
  [/gte-|minilm/i, PLAIN],
];

function cls(query: string): Conventions {
  return { pooling: 'cls', prefixes: { query, document: '' } };
}

/** The conventions of a model's family; those of most models, if its name tells nothing. */
export const conventionsOf = (name: string): Conventions =>
  FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? PLAIN;

import { expect, test } from 'vitest';
import { conventionsOf } from './conventions.ts';
import { KNOWN_MODELS } from './local/known.ts';

const SENTENCE = 'Represent this sentence for searching relevant passages: ';
const INSTRUCTION = 'Instruct: Given a web search query, retrieve relevant passages that answer the query';

test.each([
  ['intfloat/multilingual-e5-small', 'mean', 'query: ', 'passage: '],
  ['e5-base-v2', 'mean', 'query: ', 'passage: '],
  ['BAAI/bge-small-en-v1.5', 'cls', 'Represent this sentence for searching relevant passages: ', ''],
  ['bge-large-zh-v1.5', 'cls', '为这个句子生成表示以用于检索相关文章：', ''],
  ['BAAI/bge-m3', 'cls', '', ''],
  ['thenlper/gte-small', 'mean', '', ''],
  ['Alibaba-NLP/gte-multilingual-base', 'cls', '', ''],
  ['paraphrase-multilingual-MiniLM-L12-v2', 'mean', '', ''],
  ['something-else', 'mean', '', ''],
  ['base5-large', 'mean', '', ''],
  ['nomic-embed-text:v1.5', 'mean', 'search_query: ', 'search_document: '],
  ['text-embedding-nomic-embed-text-v2-moe', 'mean', 'search_query: ', 'search_document: '],
  ['Qwen/Qwen3-Embedding-0.6B', 'mean', `${INSTRUCTION}\nQuery:`, ''],
  ['qwen3-embedding:4b', 'mean', `${INSTRUCTION}\nQuery:`, ''],
  ['intfloat/multilingual-e5-large-instruct', 'mean', `${INSTRUCTION}\nQuery: `, ''],
  ['e5-mistral-7b-instruct', 'mean', `${INSTRUCTION}\nQuery: `, ''],
  ['Alibaba-NLP/gte-Qwen2-1.5B-instruct', 'mean', `${INSTRUCTION}\nQuery: `, ''],
  ['mxbai-embed-large', 'cls', SENTENCE, ''],
  ['Snowflake/snowflake-arctic-embed-m-v1.5', 'cls', SENTENCE, ''],
  ['snowflake-arctic-embed:335m', 'cls', SENTENCE, ''],
  ['snowflake-arctic-embed2', 'cls', 'query: ', ''],
  ['Snowflake/snowflake-arctic-embed-l-v2.0', 'cls', 'query: ', ''],
  ['bge-large:335m', 'cls', SENTENCE, ''],
  ['embeddinggemma:300m', 'mean', 'task: search result | query: ', 'title: none | text: '],
  ['text-embedding-3-small', 'mean', '', ''],
])('%s is pooled and prefixed as it was trained', (name, pooling, ...[query, document]) => {
  expect(conventionsOf(name)).toEqual({ pooling, prefixes: { query, document } });
});

test('every model that can be named has whole checksums, a fixed version and its conventions', () => {
  for (const { name, model, tokenizer, pooling, prefixes } of KNOWN_MODELS) {
    expect({ pooling, prefixes }).toEqual(conventionsOf(name));
    for (const { from, sha256, bytes } of [model, tokenizer]) {
      expect(from).toMatch(/\/resolve\/[0-9a-f]{40}\//);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(bytes).toBeGreaterThan(1_000_000);
    }
  }
});

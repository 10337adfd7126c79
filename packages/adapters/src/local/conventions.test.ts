import { expect, test } from 'vitest';
import { conventionsOf } from './conventions.ts';
import { KNOWN_MODELS } from './known.ts';

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

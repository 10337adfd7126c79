import { expect, test } from 'vitest';
import { lengthIn } from './space.ts';

test.each([
  ['emb', 'openai:emb:384, messages hybrid, points 4', 384],
  ['emb', 'openai:emb:384:0123456789ab, messages off, points 4', 384],
  ['emb', '{"dimensions":384,"fingerprint":"openai:emb:384","terms":3}', 384],
  ['nomic-embed-text:v1.5', 'openai:nomic-embed-text:v1.5:768, messages hybrid, points 4', 768],
  ['mxbai', 'openai:mxbai:335m:1024, messages hybrid, points 4', null],
  ['qwen', 'openai:qwen:8:4096, messages hybrid, points 4', null],
  ['emb', 'openai:emb:unknown, messages hybrid, points 4', null],
  ['emb', 'openai:embedder:384, messages hybrid, points 4', null],
  ['emb', 'hashed:1024, messages hybrid, points 4', null],
])('how long the vectors of %s are in an index of %s', (embeddingModel, fingerprint, length) => {
  expect(lengthIn({ fingerprint }, { embeddingModel })).toBe(length);
});

test('an empty index tells nothing', () => {
  expect(lengthIn(null, { embeddingModel: 'emb' })).toBeNull();
});

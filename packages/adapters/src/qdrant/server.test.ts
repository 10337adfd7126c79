import { describe, expect, test } from 'vitest';
import { addressOf } from './server.ts';

describe('the address of a Qdrant server', () => {
  test.each([
    ['http://127.0.0.1:6333', { host: '127.0.0.1', port: 6333, https: false, prefix: '' }],
    ['https://index.example.com', { host: 'index.example.com', port: 443, https: true, prefix: '' }],
    ['https://index.example.com:443/', { port: 443, prefix: '' }],
    ['http://index.example.com/qdrant/', { port: 80, prefix: '/qdrant' }],
    ['https://index.example.com:6334/a/b', { port: 6334, prefix: '/a/b' }],
    ['http://[::1]:6333', { host: '[::1]', port: 6333 }],
  ])('%s is taken as it stands', (url, expected) => {
    expect(addressOf(url)).toMatchObject(expected);
  });

  test.each([
    'localhost:6333',
    'grpc://localhost:6334',
    '',
    'http://user:secret@localhost',
    'http://localhost?key=secret',
  ])('%s is refused without repeating it', (url) => {
    expect(() => addressOf(url)).toThrow(/^expected .* as QDRANT_URL, e\.g\. .*; correct it$/);
    expect(() => addressOf(url)).not.toThrow('secret');
  });
});

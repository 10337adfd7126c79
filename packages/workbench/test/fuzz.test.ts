import { startOwnServer } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { fuzz } from '../src/fuzz/fuzz.ts';

const KEY = 'fuzz-with-this-key-0123456789';
const REQUESTS = 1_000; // a dozen of each operation; ./scripts/fuzz sends more

test('whatever is sent, the server answers, does not fail, and says what its description promises', async () => {
  const server = await startOwnServer({
    SLOWWAVE_API_KEY: KEY,
    SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1',
    // Whoever has neither is told so by some of the operations.
    SLOWWAVE_CELL: 'fuzzed',
    SLOWWAVE_COLD_DAYS: '0',
  });
  try {
    const report = await fuzz({ url: server.url, apiKey: KEY, requests: REQUESTS, seed: 7 });
    expect(report.findings).toEqual([]);
    expect(report.requests).toBe(REQUESTS);
    expect(report.succeeded).toBeGreaterThan(report.operations / 2);
  } finally {
    await server.close();
  }
});

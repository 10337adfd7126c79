import { expect, test } from 'vitest';

/** The server that ./scripts/conformance was given; null, and said aloud as a test of its own, where it was given none. */
export function givenServer(setting: 'LEDGER_URL' | 'INDEX_URL' | 'QUEUE_URL'): string | null {
  // biome-ignore lint/style/noProcessEnv: only whoever starts these tests knows of a server that they may use.
  const url = process.env[`CONFORMANCE_${setting}`];
  if (url !== undefined) return url;
  test(`did NOT run: CONFORMANCE_${setting} is not set; run ./scripts/conformance`, () => expect(url).toBeUndefined());
  return null;
}

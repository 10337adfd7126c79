import { expect, test } from 'vitest';
import type { Call } from '../command.ts';
import { tailCommand } from './batches.ts';

/** A server that answers so often, and is then silent until Ctrl-C. */
function silentAfter(answers: number): Call {
  const stop = new AbortController();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (asked <= answers) return { results: [] };
    stop.abort();
    throw stop.signal.reason;
  };
  return { ask, cancel: stop.signal, given: { text: () => null } } as unknown as Call;
}

test.each([0, 1, 2])('Ctrl-C ends tail with success, also in the middle of request %i', async (answers) => {
  expect(await tailCommand.run(silentAfter(answers))).toBeNull();
});

test('tail fails if the server does', async () => {
  const failing = { ...silentAfter(0), ask: () => Promise.reject(new Error('unavailable')) };
  await expect(tailCommand.run(failing)).rejects.toThrow('unavailable');
});

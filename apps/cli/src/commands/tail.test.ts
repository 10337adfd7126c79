import { expect, test } from 'vitest';
import type { Call } from '../command.ts';
import { batchCommands } from './batches.ts';

const tail = async (call: Call) => batchCommands.find(({ name }) => name === 'tail')?.run(call);

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
  expect(await tail(silentAfter(answers))).toBeNull();
});

test('tail fails if the server does', async () => {
  const failing = { ...silentAfter(0), ask: () => Promise.reject(new Error('unavailable')) };
  await expect(tail(failing)).rejects.toThrow('unavailable');
});

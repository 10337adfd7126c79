import { once } from 'node:events';
import { constants } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const { PRIORITY_BELOW_NORMAL } = constants.priority;
const MODULE = new URL('./system.ts', import.meta.url).href;

/** In a thread of its own: what has given way cannot come back. */
const IN_THREAD = `
import { getPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { giveWay } from ${JSON.stringify(MODULE)};
giveWay();
parentPort.postMessage(getPriority());
`;

test('who gives way runs after the others', async () => {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(IN_THREAD)}`));
  const [priority] = await once(thread, 'message');
  await thread.terminate();
  expect(priority).toBe(PRIORITY_BELOW_NORMAL);
});

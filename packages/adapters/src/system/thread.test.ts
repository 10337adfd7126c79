import { expect, test } from 'vitest';
import { startThread } from './thread.ts';

/** Answers each call with its name. */
const ECHO = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', (calls) => {
  parentPort.postMessage(calls.map(({ id, method }) => ({ kind: 'answer', id, value: method })));
  if (calls.some(({ method }) => method === 'close')) parentPort.close();
});`;

test.each(['watch:import', 'watch:require'])(
  'a thread answers when node --watch reports %s through it',
  async (report) => {
    const reporting = `${ECHO}\nparentPort.postMessage({ '${report}': ['file:///somewhere.ts'] });`;
    const thread = await startThread(new URL(`data:text/javascript,${encodeURIComponent(reporting)}`), null);
    expect(await thread.call('hello')).toBe('hello');
    await thread.close();
  },
);

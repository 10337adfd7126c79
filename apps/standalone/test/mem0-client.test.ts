import { expect, test } from 'vitest';
import { everythingAClientDoes } from './mem0-script.ts';
import { fourProcesses, standalone } from './setups.ts';

const WITHIN_MS = 120_000;

test.each([
  ['in one process', standalone],
  ['in four processes', fourProcesses],
])(
  "mem0's own client works with nothing but another host, %s",
  async (_, open) => {
    const setup = await open();
    try {
      await everythingAClientDoes(`${setup.console}/mem0`);
      await everythingSelfHosted(`${setup.console}/mem0/`);
    } finally {
      await setup.close();
    }
  },
  WITHIN_MS,
);

/** The paths of mem0's open-source server, slashes as they come. */
async function everythingSelfHosted(base: string): Promise<void> {
  const dee = { user_id: 'dee' };
  const added = await send('POST', `${base}/memories`, {
    messages: [{ role: 'user', content: 'I live in Rome' }],
    ...dee,
  });
  expect(added).toMatchObject({ status: 200, body: { results: [{ event: 'ADD', memory: 'User lives in Rome' }] } });
  const [{ id }] = added.body.results;
  const found = await send('POST', `${base}/search`, { query: 'where does she live', ...dee });
  expect(found.body.results[0]).toMatchObject({ id, memory: 'User lives in Rome' });
  expect((await send('GET', `${base}/memories?user_id=dee`)).body.results).toHaveLength(1);
  await send('PUT', `${base}/memories/${id}`, { text: 'Dee lives in Pisa' });
  expect((await send('GET', `${base}/memories/${id}/`)).body.memory).toBe('Dee lives in Pisa');
  expect((await send('GET', `${base}/memories/${id}/history`)).body).toHaveLength(2);
  await send('DELETE', `${base}/memories?user_id=dee`);
  expect((await send('GET', `${base}/memories?user_id=dee`)).body.results).toEqual([]);
  expect(await send('POST', `${base}/memories`, { messages: [], ...dee })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('messages'), detail: expect.any(String) },
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the test reads fields of many shapes and asserts what it finds
async function send(method: string, url: string, body?: object): Promise<{ status: number; body: any }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: await answer.json() };
}

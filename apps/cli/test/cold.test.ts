import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { slowwave } from './slowwave.ts';

const LIMIT_MS = 180_000;
const COLD = { SLOWWAVE_COLD_DAYS: '0' };
const USERS = ['ann', 'bob', 'cyd'];

let folder: TempDir;
beforeAll(async () => {
  folder = await tempDir();
});
afterAll(() => folder.remove());

const at = (name: string): string => join(folder.path, name);
const on = (name: string, ...args: string[]) => slowwave([...args, '--data-dir', at(name), '--json'], COLD);

async function found(server: TestServer, user_id: string): Promise<string> {
  const answer = await fetch(`${server.url}/v1/search`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ user_id, query: 'where does the user live?' }),
  });
  const { results } = (await answer.json()) as { results: readonly { memory: string }[] };
  return results.map(({ memory }) => memory).join();
}

it(
  'owners that sleep are in a backup with their segments, are missed where one is missing, and all wake',
  async () => {
    let server = await startServer(at('first'), COLD);
    const ask = (...args: string[]) => slowwave([...args, '--server', server.url, '--json']);
    for (const user of USERS) await server.say(user, `I am ${user} and I live in Oslo.`);
    for (const user of USERS) {
      let state = 'kept';
      for (const deadline = Date.now() + LIMIT_MS / 4; state === 'kept' && Date.now() < deadline; )
        state = (await ask('cold', 'cool', '--user', user)).json().state;
      expect(state).toBe('asleep');
    }
    const taken = await on('first', 'backup', at('copy'));
    expect(taken.json().manifest.segments).toMatchObject({ sleeping: 3, copied: 3, store: 'folder' });
    expect((await ask('cold', 'wake', '--all')).json()).toEqual({ woken: 3 });
    expect((await ask('cold', 'list')).json().owners).toEqual([]);
    expect(await found(server, 'bob')).toContain('Oslo');
    await server.stop();

    const back = await on('second', 'restore', at('copy'));
    expect([back.code, back.json().missing_segments]).toEqual([0, []]);
    server = await startServer(at('second'), COLD);
    expect((await ask('cold', 'list')).json().owners).toHaveLength(3);
    expect(await found(server, 'bob')).toContain('Oslo');
    expect((await ask('cold', 'wake', '--all')).json()).toEqual({ woken: 3 });
    expect(await found(server, 'bob')).toContain('Oslo');
    await server.stop();

    const [first = ''] = await readdir(at('copy/segments'));
    await rm(at(join('copy/segments', first)));
    const lacking = await on('third', 'restore', at('copy'));
    expect([lacking.code, lacking.json().missing_segments]).toEqual([3, [first.replace('.segment', '')]]);
    const refused = await slowwave(['restore', at('copy'), '--data-dir', at('fourth'), '--json']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('SLOWWAVE_COLD_DAYS') });
  },
  LIMIT_MS,
);

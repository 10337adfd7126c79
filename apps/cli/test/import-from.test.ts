import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { slowwave } from './slowwave.ts';

let folder: TempDir;
let server: TestServer;
beforeAll(async () => {
  folder = await tempDir();
  server = await startServer(join(folder.path, 'data'));
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

const run = (...args: string[]) => slowwave(['import', ...args, '--server', server.url]);

async function written(name: string, value: unknown): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, JSON.stringify(value));
  return path;
}

const WITHIN = { timeout: 60_000 };

test('facts come over with their times and where they are from, relations with their end, and both once', async () => {
  const node = (uuid: string, name: string) => ({ uuid, name, group_id: 'zoe', labels: ['Entity'], summary: '' });
  const edge = { name: 'LIVES_IN', group_id: 'zoe', source_node_uuid: 'n1', created_at: '2025-03-02T00:00:00Z' };
  const file = await written('graph.json', {
    nodes: [node('n1', 'Zoe'), node('n2', 'Oslo'), node('n3', 'Lisbon')],
    edges: [
      { ...edge, uuid: 'e1', target_node_uuid: 'n2', fact: 'Zoe lives in Oslo', valid_at: '2025-03-01T00:00:00Z' },
      {
        ...edge,
        uuid: 'e2',
        target_node_uuid: 'n3',
        fact: 'Zoe lives in Lisbon',
        valid_at: '2024-01-01T00:00:00Z',
        invalid_at: '2025-03-01T00:00:00Z',
      },
    ],
    episodes: [
      { uuid: 'p1', group_id: 'zoe', source: 'message', content: 'Zoe: I moved', valid_at: '2025-03-01T00:00:00Z' },
    ],
  });
  const looked = await run('--from', 'graphiti', file, '--dry-run');
  expect(looked).toMatchObject({
    code: 0,
    out: expect.stringMatching(/memories +1 +1 with their time[\s\S]*relations +2 +1 ended/),
  });
  expect(looked.out).toContain('1 messages: the facts were extracted from them; --conversations reads them again');
  const first = (await run('--from', 'graphiti', file, '--json')).json();
  expect(first).toMatchObject({ memories: 1, relations: 2, sent: { memories: 1, relations: 2, known: 0 } });
  await slowwave(['flush', '--user', 'zoe', '--server', server.url]);
  await expect
    .poll(() => server.memories('zoe'), WITHIN)
    .toMatchObject([
      {
        ...{ memory: 'Zoe lives in Oslo', valid_from: '2025-03-01T00:00:00.000Z' },
        metadata: { origin: 'graphiti', origin_id: 'e1', relation: 'LIVES_IN' },
      },
    ]);
  expect((await run('--from', 'graphiti', file, '--json')).json()).toMatchObject({
    sent: { memories: 0, relations: 0, known: 3 },
  });
  const graph = await slowwave(['graph', '--user', 'zoe', '--ended', '--server', server.url]);
  expect(graph.out).toMatch(/Zoe +lives_in +Lisbon/);
});

test('conversations are read by the model once their cost is agreed to', async () => {
  const said = (uuid: string, sender: string, text: string) => ({
    uuid,
    sender,
    text,
    created_at: '2025-06-01T10:00:00Z',
  });
  const chat_messages = [said('m1', 'human', 'I live in Rome.'), said('m2', 'assistant', 'Nice!')];
  await mkdir(join(folder.path, 'claude'));
  await written('claude/conversations.json', [{ uuid: 'k1', name: 'Trip', chat_messages }]);
  await written('claude/memories.json', [{ conversations_memory: 'Kim is a nurse.', project_memories: {} }]);
  const at = join(folder.path, 'claude');
  expect(await run('--from', 'claude', at)).toMatchObject({ code: 1, err: expect.stringContaining('--user') });
  const refused = await run('--from', 'claude', at, '--user', 'kim');
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /--yes: the model reads 1 conversations with 2 messages\. This takes about [\d,]+ ± [\d,]+ tokens/,
    ),
  });
  expect((await run('--from', 'claude', at, '--user', 'kim', '--yes')).out).toContain(
    'Sent 1 memories, 1 batches of conversations',
  );
  await slowwave(['flush', '--user', 'kim', '--server', server.url]);
  const texts = async () => (await server.memories('kim')).map((one) => (one as { memory: string }).memory).sort();
  await expect.poll(texts, WITHIN).toEqual(['Kim is a nurse.', 'User lives in Rome']);
  expect((await run('--from', 'claude', at, '--user', 'kim', '--yes', '--json')).json()).toMatchObject({
    sent: { known: 2 },
  });
});

test('a file of another kind is refused with what is expected', async () => {
  const file = await written('other.json', { nothing: true });
  expect(await run('--from', 'letta', file)).toMatchObject({
    code: 1,
    err: expect.stringContaining('expected an agent file'),
  });
  expect(await run('--from', 'letta', join(folder.path, 'nowhere.af'))).toMatchObject({ code: 4 });
  expect(await run('--from', 'nobody', file)).toMatchObject({
    code: 2,
    err: expect.stringContaining('one of mem0, zep'),
  });
  await writeFile(file, 'PK\u0003\u0004…');
  expect(await run('--from', 'claude', file, '--user', 'kim')).toMatchObject({
    code: 1,
    err: expect.stringContaining('unpack it'),
  });
});

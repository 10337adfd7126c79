import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { world } from '@slowwave/engine-testing';
import { freePort, type OwnServer, startModelServer, startOwnServer, type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { evaluate } from '../src/evaluate/evaluate.ts';
import { retrieval } from '../src/evaluate/retrieval/retrieval.ts';

const BATCH = 20;
const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 1);

let folder: TempDir;
let said: string;
let results: string;
beforeEach(async () => {
  folder = await tempDir();
  said = '';
  results = '';
});
afterEach(() => folder.remove());

const outputs = {
  result: (text: string) => {
    results += text;
  },
  note: (text: string) => {
    said += text;
  },
  progress: () => {},
};
const run = (...args: string[]): Promise<number> => evaluate(args, outputs);

async function written(goldOf: (gold: readonly string[]) => readonly string[] = (gold) => gold): Promise<string> {
  const { texts, gold, questions } = world({ seed: 7, facts: 120, updates: 40 });
  const batches = Array.from({ length: texts.length / BATCH }, (_, i) => ({
    batchId: `b${i}`,
    at: new Date(START + i * MINUTE_MS).toISOString(),
    messages: texts.slice(i * BATCH, (i + 1) * BATCH).map((content) => ({ role: 'user', content })),
  }));
  const file = join(folder.path, 'world.json');
  const asked = questions.slice(0, 20).map(({ text, gold: answer }) => ({ q: text, goldTexts: [answer] }));
  await writeFile(file, JSON.stringify({ name: 'small', batches, goldFinal: goldOf(gold), questions: asked }));
  return file;
}

describe('a running server with the scripted model', () => {
  let port: string;
  let server: OwnServer;
  beforeAll(async () => {
    port = String(await freePort());
    const model = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, SLOWWAVE_EMBEDDING_MODEL: 'builtin' };
    server = await startOwnServer(model);
  });
  afterAll(() => server.close());

  test('reaches every target', async () => {
    expect(await run(await written(), '--url', server.url, '--model-port', port, '--json')).toBe(0);
    expect(said).toContain(`OPENAI_BASE_URL=http://127.0.0.1:${port}/v1`);
    const { gates } = JSON.parse(results);
    expect(gates.map((gate: { gate: string }) => gate.gate)).toEqual(['G1', 'G4', 'G8', 'G9', 'G14', 'G17', 'G18']);
  });

  test('shows what is below target in the table and in the exit code', async () => {
    const file = await written((gold) => [...gold, 'Nobody ever said this']);
    expect(await run(file, '--url', server.url, '--model-port', port, '--one-by-one')).toBe(1);
    expect(results).toMatch(/FAIL {2}G1 .*lost 1/);
    expect(results).toContain('lost: Nobody ever said this');
  });

  test('is asked what is said in a conversation, and how much of it was found is counted', async () => {
    const file = join(folder.path, 'talk.json');
    const said = ['I bought a kite in Bergen.', 'My sister plays the cello.', '我住在上海，养了两只猫。'];
    const sessions = [{ at: '2026-01-01T10:00:00Z', messages: said.map((content) => ({ name: 'Ann', content })) }];
    const questions = [
      { question: 'Where did Ann buy a kite?', gold: [said[0]], category: 'place' },
      { question: '养了几只猫？', gold: [said[2]], category: 'count' },
      { question: 'Which car does Tom drive?', answerable: false },
    ];
    await writeFile(file, JSON.stringify({ conversations: [{ user: 'u', sessions }], questions }));
    expect(await retrieval([file, '--url', server.url, '--json', '--at-least', 'mrr=1,r@1=100,auroc=1'], outputs)).toBe(
      0,
    );
    expect(JSON.parse(results)).toMatchObject({ messages: 3, all: { questions: 2 }, unanswerable: 1, degraded: [] });
    results = '';
    expect(await retrieval([file, '--url', server.url, '--search', 'vector'], outputs)).toBe(0);
    expect(results).toMatch(/^all +2 +100\.0/m);
  });
});

test('a taken port, an unreadable file and a wrong option are wrong use', async () => {
  const other = await startModelServer();
  expect(await run(await written(), '--model-port', new URL(other.url).port)).toBe(2);
  expect(said).toContain('choose another with --model-port');
  await other.close();
  expect(await run(join(folder.path, 'missing.json'))).toBe(2);
  expect(await run('--no-such-option')).toBe(2);
  expect(await run('--help')).toBe(0);
  expect(results).toContain('Usage: ./scripts/evaluate FILE');
  expect(await retrieval([], outputs)).toBe(2);
  expect(await retrieval(['file.json', '--at-least', 'r@7=1'], outputs)).toBe(2);
  expect(said).toContain('expected --at-least to be like');
  expect(await retrieval(['--help'], outputs)).toBe(0);
  expect(results).toContain('Usage: ./scripts/evaluate retrieval FILE');
});

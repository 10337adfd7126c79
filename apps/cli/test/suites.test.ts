import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, echoExtractor, type ModelServer, startModelServer, type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { program, slowwave } from './slowwave.ts';

const CITIES = ['Oslo', 'Lisbon', 'Turin', 'Graz', 'Lyon', 'Porto', 'Utrecht', 'Bergen'];

let folder: TempDir;
let server: TestServer;
let model: ModelServer;

beforeAll(async () => {
  folder = await tempDir();
  const echo = echoExtractor();
  const forgetful = answers({ extract_facts: () => ({ facts: [] }) });
  const works = answers({ extract_facts: echo });
  model = await startModelServer({
    script: (call) => (call.request.model === 'forgetful' ? forgetful(call) : works(call)),
  });
  server = await startServer(folder.path, {
    OPENAI_BASE_URL: model.baseUrl,
    SLOWWAVE_CHAT_MODEL: 'scripted',
    SLOWWAVE_EMBEDDING_MODEL: 'builtin',
  });
  for (const city of CITIES) await server.say(`from ${city}`, `I live in ${city} and I like the harbour there.`);
});
afterAll(async () => {
  await server.stop();
  await model.close();
  await folder.remove();
});

const run = (...args: string[]) => slowwave([...args, '--server', server.url]);

it('a suite is recorded, says what a run takes, and passes as long as nothing is changed', async () => {
  const made = await run('suite', 'record', 'daily', '--from', 'production', '--owners', '8', '--json');
  expect(made.json()).toMatchObject({ name: 'daily', origin: 'production', estimate: { cases: 8, batches: 8 } });
  const asked = await run('suite', 'run', 'daily');
  expect(asked).toMatchObject({ code: 0 });
  expect(asked.out).toMatch(
    /^A run of 8 cases takes about \d+ calls and \d+ ± \d+ tokens\. .*\nStart it with --yes\.\n$/u,
  );
  const done = await run('suite', 'run', 'daily', '--yes');
  expect(done, done.err).toMatchObject({ code: 0 });
  expect(done.out).toMatch(/^Suite daily: passed/u);
  expect((await run('suite', 'show', 'daily')).out).toMatch(/ yes /u);
});

it('people assess a sample of a run in a file, and are shown how far they agree', async () => {
  const [{ id }] = (await run('suite', 'show', 'daily', '--json')).json().runs;
  const file = join(folder.path, 'sample.jsonl');
  const wrote = await run('suite', 'sample', 'daily', id, '--messages', '3', '--file', file);
  expect(wrote, wrote.err).toMatchObject({ code: 0, out: expect.stringMatching(/^Wrote \d+ items to /u) });
  const items = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(items.filter(({ message }) => message !== undefined)).toHaveLength(3);
  expect(items.filter(({ fact }) => fact !== undefined).length).toBeGreaterThan(0);
  const fill = (verdictOf: (item: { fact?: string }) => string | null) =>
    writeFile(file, items.map((item) => JSON.stringify({ ...item, verdict: verdictOf(item) })).join('\n'));
  await fill(() => null);
  const nobody = await run('suite', 'assess', 'daily', id, file, '--by', 'ana');
  expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('at least one line') });
  await fill(({ fact }) => (fact === undefined ? null : 'agree'));
  expect((await run('suite', 'assess', 'daily', id, file, '--by', 'ana')).out).toMatch(/^ana +1\.000 \(/mu);
  await fill(({ fact }) => (fact === undefined ? 'complete' : 'wrong'));
  const both = await run('suite', 'assess', 'daily', id, file, '--by', 'eva');
  expect(both.out).toMatch(/^ana, eva +0 of \d+/mu);
  const kept = await run('suite', 'sample', 'daily', id, '--by', 'eva', '--messages', '3', '--json');
  expect(kept.json().items.map(({ verdict }: { verdict: string }) => verdict)).not.toContain(null);
  expect((await run('suite', 'assess', 'daily', id, file)).code, 'nobody says who').toBe(2);
});

it('its questions are asked with another embedding model, of which no index is made', async () => {
  expect(model.embeddingCalls, 'the index has the builtin vectors').toEqual([]);
  const done = await run('suite', 'run', 'daily', '--yes', '--embedder', 'another-embedder');
  expect(done.out, done.err).toMatch(/ recall /u);
  const texts = model.embeddingCalls.flatMap((call) => call.texts);
  expect(texts, 'what holds').toEqual(expect.arrayContaining([expect.stringContaining('Lisbon')]));
  expect(texts, 'what is asked').toContain('Which blood group was found at the hospital?');
});

it('a worse model is blocked in CI, with reports and exit code 1', async () => {
  const [file, junit, markdown] = ['daily.jsonl', 'junit.xml', 'report.md'].map((name) => join(folder.path, name));
  expect(await run('suite', 'export', 'daily', '--file', file ?? '')).toMatchObject({ code: 0 });
  const lines = (await readFile(file ?? '', 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(1 + CITIES.length);
  expect(lines.join('\n'), 'nobody is named').not.toContain('from Oslo');
  const report = `junit=${junit},markdown=${markdown}`;
  const options = ['--name', 'ci', '--server', server.url, '--report', report];
  const blocked = await program(['suite', 'ci', file ?? '', '--model', 'forgetful', ...options]);
  expect(blocked.code, blocked.err).toBe(1);
  expect(blocked.out).toMatch(/^Suite ci: blocked[\s\S]*worse +facts_kept +1\.000 +0\.000/u);
  expect(await readFile(junit ?? '', 'utf8')).toMatch(/name="facts_kept"><failure/u);
  expect(await readFile(markdown ?? '', 'utf8')).toMatch(/^### Suite ci: blocked/u);
  const passed = await program(['suite', 'ci', file ?? '', '--baseline', ...options]);
  expect(passed.code, passed.err).toBe(0);
  const misused = await program(['suite', 'run', 'ci', '--yes', '--report', 'pdf=x', '--server', server.url]);
  expect(misused.code).toBe(2);
});

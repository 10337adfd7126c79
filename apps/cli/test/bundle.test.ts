import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { COMPILE_CACHE, type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { MAIN, openLedgerIn, slowwave, writeMemories } from './slowwave.ts';

/** `./scripts/prove bundle` takes more of both. */
// biome-ignore lint/style/noProcessEnv: how many is said on the command line of a proof
const { BUNDLE_MEMORIES = '4000', BUNDLE_QUESTIONS = '40' } = process.env;
const MANY = Number(BUNDLE_MEMORIES);
/** Written at a time. */
const SOME = 2_000;
/** What the proof with a hundred thousand memories may take. */
const LONG = 1_200_000;
const FIRST = 'owners/000/000000.jsonl.gz';

let folder: TempDir;
let from: TestServer;
let to: TestServer;
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  folder = await tempDir();
  for (const name of ['from', 'to']) {
    const ledger = await openLedgerIn(at(name));
    if (name === 'from') for (let i = 0; i < MANY; i += SOME) await writeMemories(ledger, SOME, 'many');
    await ledger.close();
  }
  [from, to] = await Promise.all([startServer(at('from')), startServer(at('to'))]);
  for (const said of ['I live in Oslo.', 'I am allergic to peanuts.', 'Actually I live in Bergen now.'])
    await from.say('ana', said);
  await from.say('bob', 'I work as a nurse.');
  for (const one of LIVES) await live(one);
}, LONG);
afterAll(async () => {
  await from.stop();
  await to.stop();
  await folder.remove();
});

const run = (server: TestServer, ...args: string[]) => slowwave([...args, '--server', server.url]);

/** Passes everything on to a server but lines after the first ones: an import that is killed then is under way for sure. */
async function deafAfterLines({ url }: TestServer) {
  const deaf = Promise.withResolvers<void>();
  let lines = 0;
  const front = createServer((asking, answer) => {
    if (asking.url?.endsWith('/lines')) lines += 1;
    if (lines > 1) return deaf.resolve();
    const { method = 'GET', headers } = asking;
    const passed = request(new URL(asking.url ?? '/', url), { method, headers }, (told) => {
      answer.writeHead(told.statusCode ?? 500, told.headers);
      told.pipe(answer);
    });
    asking.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, hearsNoMore: deaf.promise, close: () => void front.close() };
}

async function asked(server: TestServer, path: string, body?: object): Promise<unknown> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await fetch(`${server.url}${path}`, body === undefined ? {} : sent)).json();
}

/** Whoever moves and changes work is asked about now and then. */
const QUESTIONS = [
  'where does she live?',
  'what is her job?',
  'what can she not eat?',
  'what does she play?',
  'tell me about Oslo',
];
const MOMENTS = [null, '2026-01-15T00:00:00Z', '2026-02-15T00:00:00Z', '2026-03-15T00:00:00Z'];
const LIVES = Array.from(
  { length: Math.ceil(Number(BUNDLE_QUESTIONS) / (QUESTIONS.length * MOMENTS.length)) },
  (_, i) => `life-${i}`,
);
const TOWNS = ['Oslo', 'Bergen', 'Lisbon', 'Porto', 'Turin', 'Leeds', 'Graz'];
const WORK = ['a nurse', 'a pilot', 'a baker', 'a judge', 'an actor'];

async function live(user: string): Promise<void> {
  const nth = Number(user.slice('life-'.length));
  const said = [
    ['2026-01-01T10:00:00Z', `I live in ${TOWNS[nth % TOWNS.length]}. I work as ${WORK[nth % WORK.length]}.`],
    ['2026-02-01T10:00:00Z', `I moved to ${TOWNS[(nth + 1) % TOWNS.length]}. I am allergic to peanuts.`],
    ['2026-03-01T10:00:00Z', `I live in ${TOWNS[(nth + 3) % TOWNS.length]} now. I play the cello.`],
  ];
  for (const [timestamp, content] of said) {
    const body = { user_id: user, flush: true, messages: [{ role: 'user', content, timestamp }] };
    await asked(from, '/v1/batches?wait=60000', body);
  }
}

/** What every question is answered with, in the order of questions. */
async function answersTo(server: TestServer): Promise<string[]> {
  const answers: string[] = [];
  for (const user_id of LIVES)
    for (const query of QUESTIONS)
      for (const as_of of MOMENTS) {
        const { results } = (await asked(server, '/v1/search', {
          user_id,
          query,
          ...(as_of !== null && { as_of }),
        })) as {
          results: object[];
        };
        answers.push(JSON.stringify(results));
      }
  return answers;
}

const statesIn = async (bundle: string): Promise<ReadonlyMap<string, string>> => {
  const lines = (await readFile(join(bundle, 'owners.jsonl'), 'utf8')).trimEnd().split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map(({ id, state }) => [id, state]));
};

/** What is told of a memory, without what no other server can say. */
const answersOf = async (server: TestServer, asOf?: string): Promise<unknown> => {
  const body = { user_id: 'ana', query: 'where does she live?', ...(asOf !== undefined && { as_of: asOf }) };
  const { results } = (await asked(server, '/v1/search', body)) as { results: object[] };
  return results;
};

test('all owners are in the same state there, and every question is answered the same, also as of earlier', {
  timeout: LONG,
}, async () => {
  const [bundle, back] = [at('lives'), at('lives-back')];
  expect((await run(from, 'export', bundle)).code).toBe(0);
  const third = await startServer(at('third'));
  try {
    const imported = await run(third, 'import', bundle, '--json');
    expect(imported.json()).toMatchObject({ imported: LIVES.length + 3, known: 0, left: [] });
    await expect.poll(() => asked(third, '/v1/stats'), { timeout: LONG, interval: 500 }).toMatchObject({ outbox: 0 });
    const expected = await answersTo(from);
    expect(new Set(expected).size).toBeGreaterThan(LIVES.length);
    expect(await answersTo(third)).toEqual(expected);
    expect((await run(third, 'export', back)).code).toBe(0);
    expect(await statesIn(back)).toEqual(await statesIn(bundle));
    expect((await run(third, 'doctor')).code).toBe(0);
  } finally {
    await third.stop();
  }
});

test('what is exported and imported is the same there, can be undone, and is imported once', {
  timeout: LONG,
}, async () => {
  const middle = new Date().toISOString();
  const bundle = at('one');
  const written = await run(from, 'export', bundle, '--user', 'ana');
  expect([written.code, written.out]).toEqual([0, expect.stringMatching(/^Wrote 1 owners in \d+ lines/)]);
  expect(await run(to, 'import', bundle)).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 owners were imported'),
  });
  await expect.poll(() => answersOf(to)).toEqual(await answersOf(from));
  expect(await answersOf(to, middle)).toEqual(await answersOf(from, middle));
  expect((await run(to, 'import', bundle, '--json')).json()).toMatchObject({ imported: 0, known: 1, left: [] });
  expect((await run(to, 'doctor')).code).toBe(0);

  const [latest] = ((await asked(to, '/v1/consolidations?user_id=ana')) as { results: { id: string }[] }).results;
  const undone = await run(to, 'undo', latest?.id ?? '');
  expect([undone.code, undone.out]).toEqual([0, expect.stringContaining('User lives in Oslo')]);
  // It is another owner now than that of the bundle made next.
  await from.say('ana', 'I play the cello.');
  await run(from, 'export', at('later'), '--user', 'ana');
  const refused = await run(to, 'import', at('later'), '--json');
  expect(refused.code).toBe(3);
  expect(refused.json()).toMatchObject({ imported: 0, left: [{ kind: 'user', id: 'ana', code: 'owner_exists' }] });
});

test('an import that is killed goes on where it was: nothing is there twice, and nothing is missing', {
  timeout: LONG,
}, async () => {
  const bundle = at('many');
  await run(from, 'export', bundle, '--user', 'many');
  const [entry = '{}'] = (await readFile(join(bundle, 'owners.jsonl'), 'utf8')).split('\n');
  const { kind, id, lines, last_sum: sum, read_at } = JSON.parse(entry);
  const { ledger_id } = JSON.parse(await readFile(join(bundle, 'manifest.json'), 'utf8'));
  const taken = async () => {
    const body = { format: 1, ledger_id, kind, id, read_at, lines, sum };
    return ((await asked(to, '/v1/bundle/imports', body)) as { taken: number }).taken;
  };
  expect(await taken()).toBe(0);
  const front = await deafAfterLines(to);
  const killed = spawn(process.execPath, [MAIN, 'import', bundle, '--server', front.url], {
    env: { ...COMPILE_CACHE },
    stdio: 'ignore',
  });
  await front.hearsNoMore;
  killed.kill('SIGKILL');
  await once(killed, 'close');
  front.close();
  expect(await taken()).toBeGreaterThan(0);
  expect(await taken()).toBeLessThan(lines);
  expect(await to.memories('many')).toEqual([]);
  expect(await run(to, 'import', bundle)).toMatchObject({ code: 0 });
  const again = at('many-again');
  expect((await run(to, 'export', again, '--user', 'many')).code).toBe(0);
  expect(await statesIn(again)).toEqual(await statesIn(bundle));
});

test('an export that was stopped goes on, and one that is complete is not written over', {
  timeout: LONG,
}, async () => {
  const bundle = at('all');
  expect((await run(from, 'export', bundle, '--json')).json()).toMatchObject({ owners: LIVES.length + 3 });
  const { made_at: _, ...whole } = JSON.parse(await readFile(join(bundle, 'manifest.json'), 'utf8'));
  expect(await run(from, 'export', bundle)).toMatchObject({
    code: 1,
    err: expect.stringContaining('already contains a complete bundle'),
  });
  // As a kill leaves it: no manifest, and the last line half written.
  const stopped = at('stopped');
  const owners = (await readFile(join(bundle, 'owners.jsonl'), 'utf8')).split('\n');
  await run(from, 'export', stopped, '--user', 'many');
  await rm(join(stopped, 'manifest.json'));
  await writeFile(
    join(stopped, 'owners.jsonl'),
    `${await readFile(join(stopped, 'owners.jsonl'), 'utf8')}${owners[1]?.slice(0, 40)}`,
  );
  expect((await run(from, 'export', stopped, '--json')).json()).toMatchObject({
    owners: LIVES.length + 3,
    lines: whole.lines,
  });
  expect((await slowwave(['import', stopped, '--check'])).out).toMatch(/^The bundle is complete/);
});

test('a damaged bundle is named by file and line with both checksums, and nothing of its owner is seen', async () => {
  const bundle = at('damaged');
  await run(from, 'export', bundle, '--user', 'bob');
  const file = join(bundle, FIRST);
  const text = gunzipSync(await readFile(file)).toString();
  await writeFile(file, gzipSync(text.replace('User works as a nurse', 'User works as a judge')));
  const expected = /owners\/000\/000000\.jsonl\.gz, line \d+: expected checksum [0-9a-f]{32}, got [0-9a-f]{32}/;
  expect(await slowwave(['import', bundle, '--check'])).toMatchObject({
    code: 1,
    err: expect.stringMatching(expected),
  });
  expect(await run(to, 'import', bundle)).toMatchObject({ code: 1, err: expect.stringMatching(expected) });
  expect(await to.memories('bob')).toEqual([]);
  await writeFile(file, gzipSync(text).subarray(0, 200));
  expect(await slowwave(['import', bundle, '--check'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('after line'),
  });
  const manifest = join(bundle, 'manifest.json');
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('"format": 1', '"format": 2'));
  expect(await run(to, 'import', bundle)).toMatchObject({ code: 1, err: expect.stringContaining('got format 2') });
  expect(await run(to, 'export', at('nobody'), '--user', 'nobody')).toMatchObject({ code: 4 });
  expect(await run(to, 'import', at('one'), '--user', 'nobody')).toMatchObject({ code: 4 });
  expect(await run(to, 'import', at('nothing'))).toMatchObject({
    code: 4,
    err: expect.stringContaining('manifest.json'),
  });
});

test('who is erased after a bundle was made does not come back by it', { timeout: LONG }, async () => {
  const bundle = at('erased');
  await run(from, 'export', bundle, '--user', 'bob');
  expect((await run(to, 'import', bundle)).code).toBe(0);
  expect((await run(to, 'erase', 'bob', '--yes')).code).toBe(0);
  const refused = await run(to, 'import', bundle);
  expect(refused).toMatchObject({ code: 3, out: expect.stringContaining('so it is not imported') });
  // The erasure travels: neither does the older bundle bring the user to a third place.
  const newer = at('newer');
  await run(to, 'export', newer, '--user', 'ana');
  expect(JSON.parse(await readFile(join(newer, 'manifest.json'), 'utf8')).erasures.lines).toBeGreaterThan(0);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answers,
  echoExtractor,
  type ModelServer,
  spawnService,
  startModelServer,
  type TempDir,
  tempDir,
} from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { MAIN, program, slowwave } from './slowwave.ts';

const works = answers({ extract_facts: echoExtractor() });

describe('slowwave beside a server', () => {
  let folder: TempDir;
  let server: TestServer;
  let model: ModelServer;
  let batch: string;

  beforeAll(async () => {
    folder = await tempDir();
    model = await startModelServer({ script: works });
    const settings = { OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin', SLOWWAVE_API_KEY: KEY };
    server = await startServer(folder.path, settings);
    batch = await server.say('ann', 'I live in Oslo.');
  });
  afterAll(async () => {
    await server.stop();
    await model.close();
    await folder.remove();
  });

  const KEY = 'a-key-of-enough-letters';
  const run = (...args: string[]) => slowwave([...args, '--server', server.url], { SLOWWAVE_API_KEY: KEY });

  it('status tells what runs on what, and the counts', async () => {
    const { code, out } = await program(['status', '--server', server.url], { SLOWWAVE_API_KEY: KEY });
    expect(code).toBe(0);
    expect(out).toMatch(/^ledger +answers$/m);
    expect(out).toMatch(/^batches consolidated +\d+$/m);
    expect((await run('status', '--json')).json()).toMatchObject({ ready: { status: 'ok' }, stats: { owners: 1 } });
  });

  it('import mem0 takes memories over once, and nothing when one of them cannot be used', async () => {
    const file = join(folder.path, 'mem0.json');
    const kept = [
      {
        id: 'a',
        memory: 'Zoe plays the cello',
        user_id: 'zoe',
        updated_at: '2025-03-01T00:00:00Z',
        metadata: { from: 'mem0' },
      },
      { id: 'b', memory: 'Zoe lives in Lima', user_id: 'zoe', updated_at: '2025-04-01T00:00:00Z' },
    ];
    await writeFile(file, JSON.stringify({ results: [...kept, { id: 'c', memory: 'whose?' }] }));
    expect(await run('import', 'mem0', file)).toMatchObject({ code: 1, err: expect.stringContaining('number 3') });
    await writeFile(file, JSON.stringify({ results: kept }));
    expect((await run('import', 'mem0', file, '--json')).json()).toMatchObject({ found: 2, imported: 2 });
    await run('import', 'mem0', file);
    await run('flush', '--user', 'zoe');
    const memories = () => server.memories('zoe');
    await expect.poll(memories).toHaveLength(2);
    expect(await memories()).toContainEqual(
      expect.objectContaining({
        memory: 'Zoe plays the cello',
        said_at: '2025-03-01T00:00:00.000Z',
        metadata: { from: 'mem0' },
      }),
    );
    expect(await run('import', 'mem0')).toMatchObject({ code: 2 });
  });

  it('graph shows who is related to whom, draws it, and show tells one relation', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
    const relation = {
      user_id: 'gus',
      source: { name: 'Bea' },
      relationship: 'works_at',
      destination: { name: 'Bolt' },
    };
    const body = JSON.stringify(relation);
    const { id } = (await (await fetch(`${server.url}/v1/relations`, { method: 'POST', headers, body })).json()) as {
      id: string;
    };
    expect((await run('graph', '--user', 'gus')).out).toMatch(/^Bea +works_at +Bolt /m);
    expect((await run('graph', '--user', 'gus', '--format', 'svg')).out).toMatch(/^<svg .*<\/svg>\s*$/s);
    expect((await run('graph', '--user', 'gus', '--format', 'dot')).out).toContain('label="works at"');
    expect((await run('graph', '--user', 'gus', '--as-of', '2001-01-01T00:00:00Z')).out).toContain('No relations');
    expect((await run('graph', '--user', 'gus', '--format', 'png')).code).toBe(2);
    expect((await run('show', id)).out).toContain('Bea works at Bolt');
  });

  it('batches lists and filters; show tells all of one, of its consolidation, and of a memory', async () => {
    const { batches } = (await run('batches', '--user', 'ann', '--json')).json();
    expect(batches).toMatchObject([{ id: batch, state: 'consolidated' }]);
    expect((await run('batches', '--state', 'parked', '--since', '1h', '--json')).json()).toEqual({
      batches: [],
      more: false,
    });
    const shown = (await run('show', batch, '--json')).json();
    expect(shown.batch.events).toMatchObject([{ event: 'ADD' }]);
    expect((await run('show', shown.batch.consolidation_id)).out).toContain('plan:');
    const memory = await run('show', shown.batch.events[0].memory_id);
    expect(memory.out).toContain('I live in Oslo.');
    expect(memory.out).toContain('ADD');
  });

  it('what is not there ends with 4, what is not understood with 2, a wrong key with 1', async () => {
    expect(await run('show', 'bat_none')).toMatchObject({ code: 4, err: expect.stringContaining('bat_none') });
    expect(await run('show', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('got "x"') });
    expect(await run('batches', '--state', 'gone')).toMatchObject({
      code: 2,
      err: expect.stringContaining('one of pending'),
    });
    const keyless = await program(['batches', '--server', server.url, '--json']);
    expect(keyless).toMatchObject({ code: 1, out: '', err: expect.stringContaining('SLOWWAVE_API_KEY') });
    expect(JSON.parse(keyless.err)).toHaveProperty('error.message');
  });

  it('nobody there, and one process of several, are told apart from what is not there', async () => {
    const away = await slowwave(['status', '--json', '--server', 'http://127.0.0.1:1']);
    expect(away.code).toBe(5);
    expect(JSON.parse(away.err)).toHaveProperty('error.code', 'unavailable');
    const none = await run('show', 'bat_none', '--json');
    expect(JSON.parse(none.err)).toHaveProperty('error.code', 'not_found');
    const part = await slowwave(['batches', '--server', `${server.url}/no-such-part`], { SLOWWAVE_API_KEY: KEY });
    expect(part.err).toContain('use the address of the proxy');
  });

  it('flush makes an owner due, and tail tells what happens, until Ctrl-C', async () => {
    const tail = await spawnService({
      main: MAIN,
      args: ['tail', '--user', 'bob', '--server', server.url],
      env: { SLOWWAVE_API_KEY: KEY },
    });
    const body = JSON.stringify({ user_id: 'bob', messages: [{ role: 'user', content: 'I like tea.' }] });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
    // What was there when it began is not told: something has to happen afterwards.
    for (let told = false; !told; ) {
      await fetch(`${server.url}/v1/batches`, { method: 'POST', headers, body });
      expect((await run('flush', '--user', 'bob')).out).toMatch(/^\d+ waiting batches are due now\.$/m);
      told = await tail.waitForLine(/consolidation con_\w+ {2}user bob {2}applied/, 5_000).then(
        () => true,
        () => false,
      );
    }
    process.kill(tail.pid, 'SIGINT');
    expect(await tail.waitForExit()).toEqual({ code: 0, signal: null });
  });

  it('replay lets what was parked wait again and follows it', async () => {
    model.setScript(() => ({ status: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } }));
    await expect(server.say('cid', 'I play chess.')).rejects.toThrow('is parked');
    const asked = { headers: { authorization: `Bearer ${KEY}` } };
    const insides = [new URL(model.baseUrl).host, folder.path];
    for (const path of ['/v1/batches?state=parked', '/v1/consolidations?state=parked', '/healthz', '/readyz']) {
      const told = await (await fetch(`${server.url}${path}`, asked)).text();
      expect([path, insides.filter((inside) => told.includes(inside))]).toEqual([path, []]);
    }
    expect(server.output(), 'the log names the place').toContain(model.baseUrl);
    expect((await run('replay', '--dry-run')).out).toMatch(/^1 parked batches match\. This takes about .* tokens/u);
    expect((await run('replay', '--user', 'nobody')).code).toBe(0);
    const again = await run('replay', '--json');
    expect(again.code).toBe(3);
    expect(again.json()).toMatchObject({ state: 'done', matched: 1, parked: 1 });
    model.setScript(works);
    const { code, out, err } = await run('replay', '--user', 'cid');
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('of 1 batches 1 are consolidated, 0 are parked'),
    });
    expect(err).toContain('1 of 1 batches');
  });

  it('undo lists what depends on it first; what it takes back, redo brings again, and rollback goes by time', async () => {
    const consolidation = async (id: string): Promise<string> =>
      (await run('show', id, '--json')).json().batch.consolidation_id;
    const memories = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${KEY}` };
      const answer = await fetch(`${server.url}/v1/memories?user_id=fay`, { headers });
      return ((await answer.json()) as { results: unknown[] }).results.length;
    };
    const first = await consolidation(await server.say('fay', 'I like tea.'));
    const between = new Date().toISOString();
    await server.say('fay', 'I like tea.');
    const refused = await run('undo', first);
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/depend on it.*\n {2}consolidation con_/) });
    expect((await run('undo', first, '--dry-run')).out).toContain('Nothing was changed.');
    expect(await memories()).toBe(1);
    const undone = await run('undo', first, '--cascade', '--json');
    expect(undone.code).toBe(0);
    expect(await memories()).toBe(0);
    const redone = await run('redo', undone.json().undo.id);
    expect(redone).toMatchObject({ code: 0, out: expect.stringContaining('To revert it: slowwave redo') });
    expect(await memories()).toBe(1);
    expect((await run('rollback', 'fay', '--to', between)).code).toBe(0);
    expect((await run('rollback', 'fay')).code).toBe(2);
    const slept = await run('nights', 'without', 'fay');
    expect(slept).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was changed.') });
    expect((await run('doctor')).code).toBe(0);
  });

  it('replay --undone consolidates again what was undone, and redo then says why it does not bring it back', async () => {
    const batch = await server.say('ida', 'I like tea.');
    const { consolidation_id: id } = (await run('show', batch, '--json')).json().batch;
    const undone = await run('undo', id, '--json');
    expect((await run('replay', '--user', 'ida', '--dry-run')).out).toBe('0 parked batches match.\n');
    expect((await run('replay', '--undone', '--dry-run', '--user', 'ida')).out).toMatch(/^1 undone batches match\. /u);
    const again = await run('replay', '--undone', batch, '--json');
    expect(again.code).toBe(0);
    expect(again.json()).toMatchObject({ state: 'done', matched: 1, consolidated: 1 });
    for (const other of [batch, 'bat_unknown'])
      expect(await run('replay', '--undone', other)).toMatchObject({ code: 4, out: expect.stringContaining('0 of 1') });
    expect(await run('replay', batch, '--dry-run')).toMatchObject({ code: 4, out: expect.stringContaining('parked') });
    const redo = await run('redo', undone.json().undo.id);
    expect(redo).toMatchObject({ code: 1, err: expect.stringContaining(`batches of it were replayed: ${batch}`) });
    expect((await run('doctor')).code).toBe(0);
  });

  it('what-if shows the difference and lets nothing of it stay; erase lets nothing of a user stay', async () => {
    await server.say('eve', 'I like tea.');
    const shown = await run('what-if', '--user', 'eve', '--mode', 'add_only');
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('Memories: 0 added, 0 changed') });
    expect(await run('erase', 'eve')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    const body = JSON.stringify({ agent_id: 'bot', memory: 'Books flights' });
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    expect((await fetch(`${server.url}/v1/memories`, { method: 'POST', headers, body })).status).toBe(201);
    const erased = await run('erase', 'eve', '--yes', '--json');
    expect(erased.code).toBe(0);
    expect(erased.json()).toMatchObject({ state: 'erased', counts: { batches: 1 } });
    expect((await run('batches', '--user', 'eve', '--json')).json().batches).toEqual([]);
    expect(await run('erase', 'eve', '--agent', 'bot', '--yes')).toMatchObject({ code: 2 });
    expect(await run('erase', '--yes')).toMatchObject({ code: 2, err: expect.stringContaining('--agent') });
    const bot = await run('erase', '--agent', 'bot', '--yes', '--json');
    expect(bot).toMatchObject({ code: 0 });
    expect(bot.json()).toMatchObject({ state: 'erased', counts: { memories: 1 } });
    expect((await run('doctor')).code).toBe(0);
  });

  it('beside a standalone server the ledger is read, but not changed', async () => {
    const offline = ['--offline', '--data-dir', folder.path];
    const { batches } = (await program(['batches', '--user', 'ann', '--json', ...offline])).json();
    expect(batches).toMatchObject([{ id: batch }]);
    const { code, err } = await program(['flush', '--user', 'ann', ...offline]);
    expect(code).toBe(5);
    expect(err).toContain(`the data folder ${folder.path} is in use by process ${server.pid}`);
    expect(err).toContain('remove --offline');
    const whatIf = await slowwave(['what-if', '--user', 'ann', '--json', ...offline]);
    expect(whatIf).toMatchObject({ code: 2, err: expect.stringContaining('needs a worker') });
  });
});

describe('slowwave plan', () => {
  const plan = (...args: string[]) => slowwave(['plan', '--messages-per-day', '20', ...args]);

  it('asks no server, and says what is needed and what the model costs', async () => {
    const small = await plan('--users', '50', '--model', 'gpt-4.1-mini');
    expect(small).toMatchObject({ code: 0, out: expect.stringMatching(/^one process: /) });
    expect(small.out).toMatch(/^standalone +1 /m);
    const large = await plan('--users', '40000', '--model', 'gpt-4.1-mini', '--json');
    const { setup, processes, per_month: month } = large.json();
    expect(setup).toBe('several hosts');
    expect(processes).toContainEqual(expect.objectContaining({ name: 'ingest', count: 2 }));
    const dollars = (month.prompt_tokens * 0.4 + month.completion_tokens * 1.6) / 1e6;
    expect(month.cost).toBeCloseTo(dollars, 0);
  });

  it('needs prices of a model that has none, and says what is missing', async () => {
    expect((await plan('--users', '50', '--model', 'mine')).out).toContain('no list price; give --prompt-price');
    const prices = ['--prompt-price', '1', '--completion-price', '0', '--embedding-price', '0', '--json'];
    const { per_month: month } = (await plan('--users', '50', '--model', 'mine', ...prices)).json();
    expect(month.cost).toBeCloseTo(month.prompt_tokens / 1e6, 1);
    expect(await plan('--users', '50')).toMatchObject({
      code: 2,
      err: expect.stringContaining('expected --model NAME'),
    });
    expect(await plan('--users', 'x', '--model', 'm')).toMatchObject({
      code: 2,
      err: expect.stringContaining('got "x"'),
    });
    const half = await plan('--users', '50', '--model', 'mine', '--prompt-price', '1');
    expect(half).toMatchObject({ code: 2, err: expect.stringContaining('--completion-price') });
  });
});

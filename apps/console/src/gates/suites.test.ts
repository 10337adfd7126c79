import { sweepReplays } from '@slowwave/engine';
import { echoExtract, fakeChat, keyedDecide, NEVER, suiteTalk, talkModel } from '@slowwave/engine-testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleBench } from '../testing/bench.ts';

const TALK = suiteTalk(5);
const DAY = 24 * 60 * 60_000;

describe('suites', () => {
  let bench: Awaited<ReturnType<typeof opened>>;
  async function opened() {
    const others = { spoiled: talkModel('halves recall', { name: 'spoiled' }) };
    const bench = await consoleBench({ chat: talkModel(), others });
    for (const { userId, at, messages } of TALK) {
      bench.engine.tools.advance(1_000);
      await bench.engine.post(messages, { userId, at });
      await bench.engine.run();
    }
    const replays = { ...bench.engine.deps, nudge: async () => {}, forgetFailed: async () => {} };
    const sweep = async () => {
      bench.engine.tools.advance(60_000);
      await sweepReplays(replays, NEVER);
    };
    const get = async (url: string) => (await bench.app.inject({ method: 'GET', url })).json();
    const perform = async (name: string, body: object) => {
      const { id } = (await bench.send('POST', `/v1/suites/${name}/runs`, body)).json();
      await sweep();
      await bench.engine.run();
      await sweep();
      return get(`/v1/suites/${name}/runs/${id}`);
    };
    return { ...bench, get, perform };
  }
  beforeAll(async () => {
    bench = await opened();
  });
  afterAll(() => bench.app.close());

  test('are recorded, listed with what a run takes, exported, and taken from a file again', async () => {
    const { send, get, perform } = bench;
    const made = await send('POST', '/v1/suites', { name: 'daily', record: { owners: 5, batches_per_owner: 10 } });
    expect(made.statusCode, made.body).toBe(201);
    const { estimate } = made.json();
    expect(estimate).toMatchObject({ cases: 5, batches: TALK.length });
    expect(estimate.budget_tokens).toBeGreaterThan(estimate.tokens);
    const again = await send('POST', '/v1/suites', { name: 'daily', record: {} });
    expect(again.json()).toMatchObject({ status: 409, code: 'conflict' });
    const file = await get('/v1/suites/daily/export');
    expect(JSON.stringify(file), 'nobody is named').not.toContain('user-1');
    const copy = await send('POST', '/v1/suites', { name: 'copy', file });
    expect(copy.json()).toMatchObject({ origin: 'file', estimate });
    expect(await get('/v1/suites/copy/export')).toEqual(file);
    expect(await get('/v1/suites')).toMatchObject({ results: [{ name: 'copy' }, { name: 'daily' }] });
    const run = await perform('copy', {});
    expect(run).toMatchObject({
      passed: true,
      report: { lost: 0 },
      batches: { total: TALK.length, done: TALK.length, parked: 0 },
    });
  });

  test('are estimated before they are run, and report in four forms', async () => {
    const { send, get, perform, app } = bench;
    const dry = (await send('POST', '/v1/suites/daily/runs', { dry_run: true })).json();
    expect(dry).toMatchObject({ dry_run: true, cases: 5 });
    expect((await get('/v1/suites/daily/runs')).results).toEqual([]);
    const run = await perform('daily', { model: 'spoiled' });
    expect(run).toMatchObject({ state: 'done', passed: false, changes: { model: 'spoiled' } });
    expect(run.spent_tokens).toBeLessThanOrEqual(run.budget_tokens);
    expect(run.report.lost_facts[0].text).toMatch(/^User|^Nutzer|^Die|^用户/u);
    const shown = async (format: string) => (await app.inject(`/v1/suites/daily/runs/${run.id}?format=${format}`)).body;
    expect(await shown('text')).toMatch(/^Suite daily: blocked[\s\S]*\nworse +facts_kept /u);
    expect(await shown('markdown')).toMatch(/^### Suite daily: blocked[\s\S]*\n\| worse \| facts_kept \|/u);
    const junit = await shown('junit');
    expect(junit).toMatch(/<testcase classname="daily" name="facts_kept"><failure message="/u);
    expect(junit.match(/<failure/gu)?.length).toBe(Number(/failures="(\d+)"/u.exec(junit)?.[1]));
  });

  test('are assessed by people, with how far they agree', async () => {
    const { send, get, perform } = bench;
    const { id } = await perform('daily', {});
    const at = `/v1/suites/daily/runs/${id}`;
    const { messages } = await get(`${at}/sample?messages=5`);
    expect(messages).toHaveLength(5);
    expect((await get(`${at}/sample?messages=5`)).messages, 'everybody has the same').toEqual(messages);
    const facts = messages.flatMap((message: { facts: readonly object[] }) => message.facts);
    expect(facts[0]).toMatchObject({ text: expect.any(String), outcome: expect.any(String), verdict: null });
    const say = async (by: string, verdict: string) =>
      (
        await send('POST', `${at}/assessments`, {
          by,
          assessments: [
            ...facts.map((fact: { id: string }, i: number) => ({
              item: fact.id,
              verdict: i === 0 ? verdict : 'agree',
            })),
            { item: messages[0].id, verdict: 'missing' },
          ],
        })
      ).json();
    await say('ana', 'wrong');
    const both = await say('bo', 'agree');
    expect(both.assessors).toMatchObject([
      { by: 'ana', right: { of: facts.length }, complete: { value: 0, of: 1 } },
      { by: 'bo', right: { value: 1 } },
    ]);
    expect(both.pairs).toMatchObject([{ by: ['ana', 'bo'], facts: { of: facts.length, same: facts.length - 1 } }]);
    const again = await get(`${at}/sample?messages=5&by=ana`);
    expect(again).toMatchObject({ messages: [{ verdict: 'missing' }, {}, {}, {}, {}], assessed: both });
    const wrong = { by: 'ana', assessments: [{ item: messages[0].id, verdict: 'agree' }] };
    expect((await send('POST', `${at}/assessments`, wrong)).json()).toMatchObject({
      status: 400,
      errors: [{ path: 'assessments[0].item' }],
    });
  });

  test('with margins of their own block by these', async () => {
    const { send, perform } = bench;
    const unknown = await send('PUT', '/v1/suites/copy/margins', { margins: { beauty: null } });
    expect(unknown.json()).toMatchObject({ status: 400, errors: [{ path: 'margins.beauty' }] });
    const run = await perform('copy', { model: 'spoiled' });
    expect(run.passed).toBe(false);
    const margins = Object.fromEntries(
      run.report.figures.map(({ figure }: { figure: string }) => [figure, { by: 1_000 }]),
    );
    await send('PUT', '/v1/suites/copy/margins', { margins });
    expect(await perform('copy', { model: 'spoiled' })).toMatchObject({ passed: true });
  });

  test('gate settings: what decides what is remembered needs a passed run of just that', async () => {
    const { send, get, perform, app } = bench;
    const gate = { suite: 'daily', days: 14 };
    const put = async (settings: object, query = '') => (await send('PUT', `/v1/settings${query}`, settings)).json();
    expect(await put({ gate })).toMatchObject({ gate });
    const wanted = { gate, instructions: 'Remember everything about pets.' };
    expect(await put({ gate, timezone: 'Europe/Oslo' })).toMatchObject({ timezone: 'Europe/Oslo' });
    expect(await put(wanted)).toMatchObject({ status: 409, code: 'gate_not_passed' });
    const other = await perform('daily', { settings: { instructions: 'Remember everything about cars.' } });
    expect(other.passed).toBe(true);
    expect(await put(wanted, `?gate_run=${other.id}`)).toMatchObject({ code: 'gate_not_passed' });
    const blocked = await perform('daily', { settings: wanted, model: 'spoiled' });
    expect(await put(wanted, `?gate_run=${blocked.id}`)).toMatchObject({ code: 'gate_not_passed' });
    const passed = await perform('daily', { settings: wanted });
    expect(await put(wanted, `?gate_run=${passed.id}`)).toMatchObject({ instructions: wanted.instructions });
    expect(await put({ ...wanted, gate: null })).toMatchObject({ code: 'gate_not_passed' });
    bench.engine.tools.advance(15 * DAY);
    expect(await put({ gate }, `?gate_run=${passed.id}`)).toMatchObject({ code: 'gate_not_passed' });
    expect(await put({}, '?override=true')).toMatchObject({ gate: null, instructions: null });
    expect((await get('/v1/settings')).gate).toBeNull();
    expect((await app.inject('/v1/suites/daily/runs/rpl_unknown')).statusCode).toBe(404);
  });
});

test('whatever was said is exported, and taken from a file again', async () => {
  const bench = await consoleBench({
    chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide((text) => text) }),
  });
  const long = `home: ${'Oslo '.repeat(20_000)}`;
  const named = { id: 'i'.repeat(256), name: 'n'.repeat(256) };
  await bench.engine.post(
    [
      { role: 'user', content: long, ...named },
      { role: 'user', content: 'pet: cat' },
    ],
    { userId: 'ann' },
  );
  await bench.engine.run();
  const made = await bench.send('POST', '/v1/suites', { name: 'long', record: {} });
  expect(made.statusCode, made.body).toBe(201);
  const file = (await bench.app.inject('/v1/suites/long/export')).json();
  expect(file.cases[0].batches[0].messages[0]).toMatchObject({ content: long, name: named.name });
  expect((await bench.send('POST', '/v1/suites', { name: 'copy', file })).statusCode).toBe(201);
  await bench.app.close();
});

import {
  answers,
  type ModelServer,
  programFile,
  spawnService,
  startModelServer,
  type TempDir,
  tempDir,
} from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get } from './client.ts';

const MAIN = programFile('standalone');
const KEY = 'the-key-of-the-model-server';
/** Two starts, on a machine that is busy. */
const TIMEOUT_MS = 180_000;
const WITHIN = { timeout: 60_000 };

let folder: TempDir;
let model: ModelServer;
beforeAll(async () => {
  folder = await tempDir();
  model = await startModelServer({ script: answers({}), apiKey: KEY });
});
afterAll(async () => {
  await model.close();
  await folder.remove();
});

const start = (more: Readonly<Record<string, string>>) =>
  spawnService({
    main: MAIN,
    env: {
      SLOWWAVE_DATA_DIR: folder.path,
      SLOWWAVE_PORT: '0',
      SLOWWAVE_EMBEDDING_MODEL: 'builtin',
      ...more,
    },
    ready: { line: /Ctrl-C stops it/ },
  });

const urlOf = async (service: Awaited<ReturnType<typeof start>>): Promise<string> =>
  (await service.waitForLine(/listening on/)).replace(/^.*listening on /, '');

describe('a start with a wrong key of the model', () => {
  it('goes on, and says it everywhere before anything waits for the model', { timeout: TIMEOUT_MS }, async () => {
    const service = await start({ OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'wrong', SLOWWAVE_CHAT_TRY: 'on' });
    await service.waitForLine(/a model is misconfigured/);
    const url = await urlOf(service);
    await expect
      .poll(async () => (await get(`${url}/v1/models`)).body.results[0].last_call)
      .toMatchObject({
        problem: { code: 'model_misconfigured', message: expect.stringContaining('correct OPENAI_API_KEY') },
      });
    expect((await get(`${url}/readyz`)).body).toEqual({
      status: 'ok',
      checks: { ledger: { ok: true }, queue: { ok: true }, index: { ok: true } },
      warnings: [expect.stringContaining('the last call of the chat model failed (model_misconfigured)')],
    });
    const { checks, findings, healthy } = (await get(`${url}/v1/doctor?depth=quick`)).body;
    expect(healthy).toBe(true);
    expect(checks).toContainEqual({ check: 'models', looked: 1, findings: 1 });
    expect(findings).toEqual([
      expect.objectContaining({ severity: 'warning', remedy: expect.stringContaining('correct OPENAI_API_KEY') }),
    ]);
    await service.stop();
  });

  it('asks one small question', { timeout: TIMEOUT_MS }, async () => {
    const before = model.calls.length;
    const service = await start({ OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: KEY, SLOWWAVE_CHAT_TRY: 'on' });
    const url = await urlOf(service);
    await expect
      .poll(async () => (await get(`${url}/v1/models`)).body.results[0].last_call, WITHIN)
      .toMatchObject({ problem: null });
    expect((await get(`${url}/readyz`)).body).not.toHaveProperty('warnings');
    await service.stop();
    expect(model.calls.length).toBe(before + 1);
  });
});

describe('a ledger whose memories a model made', () => {
  it('is opened without a model only if the stand-in is named', { timeout: TIMEOUT_MS }, async () => {
    await expect(start({})).rejects.toThrow(
      /invalid settings:\s+- SLOWWAVE_CHAT_MODEL: expected a model server, because gpt-4\.1-mini made the memories/,
    );
    const named = await start({ SLOWWAVE_CHAT_MODEL: 'builtin' });
    expect((await get(`${await urlOf(named)}/readyz`)).status).toBe(200);
    await named.stop();
  });

  it('takes a model again after that, which is asked nothing if it may not be', { timeout: TIMEOUT_MS }, async () => {
    const before = model.calls.length;
    const again = await start({
      ...{ OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: KEY },
      ...{ SLOWWAVE_CHAT_MODEL: 'other', SLOWWAVE_CHAT_TRY: 'off' },
    });
    await urlOf(again);
    await again.stop();
    expect(model.calls.length).toBe(before);
    await expect(start({})).rejects.toThrow(/because other made the memories/);
  });
});

import { freePort, programFile, refusal, spawnService, startModelServer, tempDir } from '@slowwave/testkit';
import { expect, it } from 'vitest';
import { call, post } from './client.ts';

const WITHIN_MS = 120_000;
/** No word of any language, and in no program. */
const MARK = 'Qxzvorbal';

it(
  'of what is said, asked and written no word reaches a log, however fine it is',
  async () => {
    const folder = await tempDir();
    const port = await freePort();
    const at = `http://127.0.0.1:${port}`;
    // A server that complains quotes what it was sent.
    const model = await startModelServer({
      script: ({ count }) =>
        count === 1 ? { text: `no JSON of ${MARK}` } : refusal(400, { message: `cannot read "I met ${MARK} at noon"` }),
    });
    const service = await spawnService({
      main: programFile('standalone'),
      ready: { url: `${at}/readyz` },
      readyWithinMs: WITHIN_MS,
      env: {
        ...{
          SLOWWAVE_PORT: String(port),
          SLOWWAVE_DATA_DIR: folder.path,
          SLOWWAVE_LOG_LEVEL: 'debug',
        },
        ...{ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin', SLOWWAVE_BATCH_IDLE_MS: '200' },
        ...{ SLOWWAVE_RETRY_DELAY_MS: '20', SLOWWAVE_MAX_ATTEMPTS: '2' },
      },
    });
    try {
      const user = { user_id: 'ann' };
      const said = { role: 'user', content: `I met ${MARK} at noon`, name: MARK };
      const messages = [{ ...said, id: MARK }];
      const batch = { ...user, messages, metadata: { [MARK]: MARK }, instructions: MARK, flush: true };
      const ended = await post(`${at}/v1/batches?wait=60000`, batch, { 'idempotency-key': MARK });
      expect(ended.body.state).toBe('parked');
      const stored = await post(`${at}/v1/batches?wait=60000`, {
        ...batch,
        mode: 'verbatim',
        messages: [{ ...said, id: 'other' }],
      });
      expect(stored.body.state).toBe('consolidated');
      const memory = { ...user, memory: `Knows ${MARK}`, metadata: { [MARK]: MARK }, categories: [MARK] };
      const { body } = await post(`${at}/v1/memories`, memory);
      const answers = [
        await call('PATCH', `${at}/v1/memories/${body.id}`, { body: { memory: `Met ${MARK}` } }),
        await post(`${at}/v1/search`, { ...user, query: MARK, filters: { [MARK]: MARK } }),
        await post(`${at}/v1/search`, { ...user, query: MARK, filters: { AND: [{ [MARK]: { odd: MARK } }] } }),
        await post(`${at}/v1/context`, { ...user, query: MARK, max_tokens: 500 }),
        await post(`${at}/v1/recall`, { ...user, query: MARK }),
        await post(`${at}/v1/consolidations/preview`, { ...user, messages }),
        await post(`${at}/v1/batches`, { ...batch, [MARK]: MARK }),
        await post(`${at}/mem0/v3/memories/search/`, { query: MARK, filters: user }),
        await post(`${at}/mem0/v3/memories/add/`, { ...user, messages, metadata: { [MARK]: MARK } }),
        await call('PUT', `${at}/v1/settings`, { body: { instructions: MARK, personal_data: MARK } }),
      ];
      expect(answers.map(({ status }) => status)).not.toContain(500);
      const headers = { 'content-type': 'application/json' };
      const broken = await fetch(`${at}/v1/batches`, { method: 'POST', headers, body: `{"messages":"${MARK}` });
      expect(broken.status).toBe(400);
    } finally {
      await service.stop();
      await model.close();
      await folder.remove();
    }
    const lines = service.output().split('\n');
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.includes(MARK))).toEqual([]);
  },
  WITHIN_MS * 2,
);

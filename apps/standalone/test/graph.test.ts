import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { get, post } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
let setup: Setup;

beforeAll(async () => {
  setup = await standalone();
});
afterAll(() => setup.close());

interface Relation {
  readonly text: string;
  readonly invalid_at: string | null;
}

async function relations(query: string): Promise<readonly string[]> {
  const { body } = await get(`${setup.search}/v1/relations?user_id=ana&${query}`);
  return (body.results as Relation[])
    .map(({ text, invalid_at }) => (invalid_at === null ? text : `${text} (over)`))
    .sort();
}

async function say(content: string, timestamp: string): Promise<string> {
  const body = { user_id: 'ana', graph: true, flush: true, timestamp, messages: [{ role: 'user', content }] };
  const answer = await post(`${setup.ingest}/v1/batches?wait=60000`, body);
  expect(answer.body).toMatchObject({ state: 'consolidated', error: null });
  const { consolidation_id: id } = answer.body;
  await vi.waitFor(async () => {
    const study = await get(`${setup.console}/v1/consolidations/${id}/graph`);
    expect(study.body).toMatchObject({ state: 'applied', error: null });
  }, PATIENCE);
  return id;
}

test('batches with graph: true leave relations, without any key: in English, in Chinese, after a restart and an undo', async () => {
  await say("I'm Ana and I live in Lisbon. I work at Acme. My sister Eva lives in Porto.", '2025-01-10T10:00:00Z');
  await say('我养了一只猫，叫咪咪', '2025-01-11T10:00:00Z');
  const moved = await say('I moved from Lisbon to Oslo. I work at Globex now.', '2025-03-01T10:00:00Z');
  const held = ['Eva lives in Porto', 'User has pet 咪咪', 'User has sister Eva'];
  const now = [...held, 'User lives in Oslo', 'User works at Globex'];
  expect(await relations('limit=50')).toEqual(now.sort());
  const before = [...held, 'User lives in Lisbon', 'User works at Acme'].map((text) =>
    /Lisbon|Acme/u.test(text) ? `${text} (over)` : text,
  );
  expect(await relations('limit=50&as_of=2025-02-01T00:00:00Z')).toEqual(before.sort());
  await setup.crash();
  await setup.start();
  expect(await relations('limit=50')).toEqual(now);
  const undone = await post(`${setup.console}/v1/consolidations/${moved}/undo`, {});
  expect(undone.status).toBe(200);
  expect(await relations('limit=50')).toEqual([...held, 'User lives in Lisbon', 'User works at Acme'].sort());
});

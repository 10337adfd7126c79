import { answers, echoExtractor, startModelServer } from '@slowwave/testkit';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { call, get, post, quiet, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
const DELAY_MS = 4_000;
let setup: Setup | null = null;
afterEach(async () => {
  await setup?.close();
  setup = null;
});

/** Answers by name only once it may; until then whoever asks waits. */
async function heldModel() {
  const gate = Promise.withResolvers<void>();
  const held = new Set<string>();
  const echo = echoExtractor();
  const script = answers({
    extract_facts: (input) => (JSON.stringify(input).includes('train') ? { facts: [] } : echo(input)),
    extract_graph: () => ({ entities: [], relations: [] }),
    refresh_summary: () => ({ summary: 'They talk about trains' }),
  });
  const model = await startModelServer({
    script: async (asked) => {
      const holds = /^slow|graph|summary/u.exec(JSON.stringify(asked.input).includes('slow') ? 'slow' : asked.name);
      if (holds !== null) {
        held.add(holds[0]);
        await gate.promise;
      }
      return script(asked);
    },
  });
  return { model, held, go: gate.resolve };
}

describe('a process with its own queue that is killed', () => {
  it('goes on with all that it had under way, and with what was to come later', { timeout: 180_000 }, async () => {
    const { model, held, go } = await heldModel();
    setup = await standalone({
      OPENAI_BASE_URL: model.baseUrl,
      SLOWWAVE_EMBEDDING_MODEL: 'builtin',
      SLOWWAVE_BATCH_IDLE_MS: String(DELAY_MS),
    });
    const { ingest, search, console } = setup;
    const say = (user: string, contents: readonly string[], more: object = {}) =>
      post(`${ingest}/v1/batches`, { ...said(user, ...contents), ...more });
    // Under way: a study of a graph, a refresh of a summary, and turns that wait for the model.
    const graph = await say('ana', ['I live in Oslo'], { flush: true, graph: true });
    const trains = Array.from({ length: 25 }, (_, i) => `train ${i}`);
    await say('bob', trains, { flush: true });
    for (const user of ['slow-1', 'slow-2', 'slow-3']) await say(user, [`${user} likes tea`], { flush: true });
    await vi.waitFor(() => expect([...held].sort()).toEqual(['graph', 'slow', 'summary']), PATIENCE);
    // Due later, and accepted a moment before the end.
    await say('later', ['later likes coffee']);
    await say('gone', ['gone likes milk']);
    const erasing = await call('DELETE', `${console}/v1/users/gone`);
    expect(erasing.status).toBe(202);
    await setup.crash();
    go();
    await setup.start();
    const counts = await quiet(search, PATIENCE.timeout);
    expect(counts).toMatchObject({ accepted: 7, consolidated: 5, empty: 1, erased: 1, parked: 0, gap: 0 });
    for (const user of ['slow-1', 'slow-2', 'slow-3', 'later']) {
      const { body } = await get(`${search}/v1/memories?user_id=${user}`);
      expect(body.results).toHaveLength(1);
    }
    await vi.waitFor(async () => {
      const { body } = await get(`${search}/v1/batches/${graph.body.batch_id}`);
      const study = await get(`${console}/v1/consolidations/${body.consolidation_id}/graph`);
      expect(study.body).toMatchObject({ state: 'applied' });
      expect((await get(`${console}${erasing.body.status_url}`)).body).toMatchObject({ state: 'erased' });
    }, PATIENCE);
    // A summary is asked for again by the next consolidation of its conversation.
    await say('bob', ['and one more train'], { flush: true });
    await vi.waitFor(() => expect(lastSummary(model.calls)).toContain('and one more train'), PATIENCE);
    await model.close();
  });
});

const lastSummary = (calls: readonly { name: string; input: unknown }[]): string =>
  JSON.stringify(calls.findLast(({ name }) => name === 'refresh_summary')?.input ?? null);

import { answers, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { get, post, said } from './client.ts';
import { fourProcesses, type OpenSetup, type Setup, standalone } from './setups.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const SETUPS: readonly [string, OpenSetup][] = [
  ['in one process with its own queue', standalone],
  ['in four processes on Redis', fourProcesses],
];

describe.each(SETUPS)('the summary of a conversation, %s', (_name, open) => {
  let setup: Setup;
  let model: Awaited<ReturnType<typeof startModelServer>>;
  beforeEach(async () => {
    const script = answers({
      extract_facts: () => ({ facts: [] }),
      refresh_summary: () => ({ summary: 'Ana plans a trip to Oslo' }),
    });
    model = await startModelServer({ script });
    setup = await open({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin' });
  });
  afterEach(async () => {
    await setup.close();
    await model.close();
  });

  it('is made after twenty messages by a job of its own, and read by the next consolidation', async () => {
    const say = async (...contents: string[]): Promise<void> => {
      const answer = await post(`${setup.ingest}/v1/batches?wait=60000`, { ...said('ana', ...contents), flush: true });
      expect(answer.body).toMatchObject({ state: 'empty', error: null });
    };
    await say(...Array.from({ length: 25 }, (_, i) => `we could go by train number ${i}`));
    const refreshed = async () => {
      const { body } = await get(`${setup.console}/queues/api/queues?activeQueue=summarize&status=completed&page=1`);
      return JSON.stringify(body.queues.find((queue: { name: string }) => queue.name === 'summarize')?.jobs ?? []);
    };
    await vi.waitFor(async () => expect(await refreshed()).toContain('"upTo":25'), PATIENCE);
    await say('and there we stay a week');
    expect(model.calls.map(({ name }) => name)).toEqual(['extract_facts', 'refresh_summary', 'extract_facts']);
    expect(model.calls.at(-1)?.input).toMatchObject({ context: { summary: 'Ana plans a trip to Oslo' } });
  });
});

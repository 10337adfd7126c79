import { answers, echoExtractor, keyedDecider, refusal, type Script, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call, found, get, post, said } from './client.ts';
import { type OpenSetup, type Setup, standalone, standaloneOnPostgres } from './setups.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
const OTHER = 'another-model';
/** Turns that ran on PostgreSQL when it crashed are due again only a minute later: too long for a test. */
const SETUPS: readonly [string, { open: OpenSetup; crashes: boolean }][] = [
  ['in one process with its own queue and a file', { open: standalone, crashes: true }],
  ['on PostgreSQL', { open: standaloneOnPostgres, crashes: false }],
];

const honest = answers({
  extract_facts: echoExtractor(),
  decide_operations: keyedDecider((text) => text.split(' is ')[0] ?? text),
});
/** Refuses to read of Oslo. */
const picky: Script = (asked) =>
  JSON.stringify(asked.input).includes('Oslo') ? refusal(400, { message: 'not of Oslo' }) : honest(asked);
/** The other model adds that it heard so. */
const gossip: Script = async (asked) => {
  const reply = await honest(asked);
  if (asked.request.model !== OTHER || !('json' in reply) || asked.name !== 'extract_facts') return reply;
  const { facts } = reply.json as { facts: { text: string }[] };
  return { json: { facts: facts.map((fact) => ({ ...fact, text: `${fact.text}, they say` })) } };
};

describe.each(SETUPS)('replays, %s', (_name, { open, crashes }) => {
  let setup: Setup;
  let model: Awaited<ReturnType<typeof startModelServer>>;
  beforeAll(async () => {
    model = await startModelServer({ script: honest });
    setup = await open({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin' });
  });
  afterAll(async () => {
    await setup.close();
    await model.close();
  });
  const say = async (user: string, text: string, timestamp: string): Promise<string> => {
    const body = { ...said(user, text), timestamp, flush: true };
    const { body: batch } = await post(`${setup.ingest}/v1/batches?wait=60000`, body);
    return batch.state;
  };
  const until = async (id: string, state: string) => {
    const replay = async () => (await get(`${setup.console}/v1/replays/${id}`)).body;
    await vi.waitFor(async () => expect((await replay()).state).toBe(state), PATIENCE);
    return replay();
  };

  // Of all users: it comes before there are others.
  it('a what-if, through a crash if there is one, tells what another model would have remembered, and is discarded', async () => {
    const users = ['ana', 'bob', 'cyd'];
    for (const user of users) {
      expect(await say(user, 'home is Oslo', '2026-01-01T09:00:00Z')).toBe('consolidated');
      expect(await say(user, 'home is Rome', '2026-03-01T09:00:00Z')).toBe('consolidated');
    }
    const stats = (await get(`${setup.search}/v1/stats`)).body;
    model.setScript(gossip);
    model.setLatency(300);
    const { body } = await post(`${setup.console}/v1/replays`, { filter: {}, model: OTHER });
    await vi.waitFor(() => expect(model.calls.some(({ request }) => request.model === OTHER)).toBe(true), PATIENCE);
    if (crashes) await setup.crash();
    model.setLatency(0);
    if (crashes) await setup.start();
    const done = await until(body.id, 'done');
    expect(done.result.memories).toEqual({ same: 0, added: 0, changed: 3, gone: 0 });
    expect(done.result.batches).toEqual({ consolidated: 6, empty: 0, parked: 0 });
    const text = (await get(`${setup.console}/v1/replays/${body.id}?format=text`)).body;
    expect(text).toContain('user bob\n  ~ home is Rome\n    → home is Rome, they say');

    for (const user of users) expect(await found(setup.search, user, 'home')).toEqual(['home is Rome']);
    const { batches, memories, owners } = (await get(`${setup.search}/v1/stats`)).body;
    expect({ batches, memories, owners }).toEqual({
      batches: stats.batches,
      memories: stats.memories,
      owners: stats.owners,
    });
    expect((await call('DELETE', `${setup.console}/v1/replays/${body.id}`)).status).toBe(202);
    expect(await until(body.id, 'discarded')).toMatchObject({ expires_at: null });
    expect(await found(setup.search, 'ana', 'home')).toEqual(['home is Rome']);
  });

  it('what is replayed late does not overwrite what was said since', async () => {
    model.setScript(picky);
    expect(await say('dan', 'home is Oslo', '2026-01-01T09:00:00Z')).toBe('parked');
    expect(await say('dan', 'home is Rome', '2026-03-01T09:00:00Z')).toBe('consolidated');
    model.setScript(honest);
    const { status, body } = await post(`${setup.console}/v1/replays`, { filter: { error_code: 'model_rejected' } });
    expect({ status, matched: body.matched }).toEqual({ status: 202, matched: 1 });
    expect(await until(body.id, 'done')).toMatchObject({ replayed: 1, consolidated: 1, parked: 0 });
    expect(await found(setup.search, 'dan', 'home')).toEqual(['home is Rome']);
    const then = { user_id: 'dan', query: 'home', as_of: '2026-02-01T00:00:00Z' };
    const { body: past } = await post(`${setup.search}/v1/search`, then);
    expect(past.results.map(({ memory }: { memory: string }) => memory)).toEqual(['home is Oslo']);
  });
});

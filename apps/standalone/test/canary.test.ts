import { isInShare } from '@slowwave/engine/storing';
import { answers, echoExtractor, keyedDecider, type Script, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { get, post, quiet, said } from './client.ts';
import { type OpenSetup, type Setup, standalone, standaloneOnPostgres } from './setups.ts';

const WITHIN_MS = 240_000;
const PATIENCE = { timeout: 120_000, interval: 200 };
const WORSE = 'worse-model';
const SAID = ['food is not fish', 'home is not Oslo', 'food is not pork'];
const HELD = ['food is not pork', 'home is not Oslo'];
/** Owners on each side. */
const SIDE = 10;

// biome-ignore lint/style/noProcessEnv: ./scripts/prove canary kills the process, and runs on PostgreSQL as well
const CRASHES = process.env.CANARY_CRASHES === '1';
const SETUPS: readonly [string, OpenSetup][] = [
  ['in one process with its own queue and a file', standalone],
  ...(CRASHES ? [['on PostgreSQL', standaloneOnPostgres] satisfies [string, OpenSetup]] : []),
];

const honest = answers({
  extract_facts: echoExtractor(),
  decide_operations: keyedDecider((text) => text.split(' is ')[0] ?? text),
});
/** The other model leaves out what is denied. */
const careless: Script = async (asked) => {
  const reply = await honest(asked);
  if (asked.request.model !== WORSE || !('json' in reply) || asked.name !== 'extract_facts') return reply;
  const { facts } = reply.json as { facts: { text: string }[] };
  return { json: { facts: facts.map((fact) => ({ ...fact, text: fact.text.replace(' not ', ' ') })) } };
};

describe.each(SETUPS)('a canary, %s', (_name, open) => {
  let setup: Setup;
  let model: Awaited<ReturnType<typeof startModelServer>>;
  beforeEach(async () => {
    model = await startModelServer({ script: careless });
    setup = await open({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin' });
  }, WITHIN_MS);
  afterEach(async () => {
    await setup.close();
    await model.close();
  });
  const say = async (users: readonly string[], content: string) =>
    Promise.all(
      users.map(async (user) => {
        const { status } = await post(`${setup.ingest}/v1/batches?wait=60000`, { ...said(user, content), flush: true });
        expect(status).toBeLessThan(300);
      }),
    );
  const memoriesOf = async (user: string): Promise<string[]> => {
    const { body } = await get(`${setup.search}/v1/memories?user_id=${user}`);
    return body.results.map(({ memory }: { memory: string }) => memory).sort();
  };

  it(
    `of a model that makes memory worse halts, and leaves nothing behind${CRASHES ? ', through a crash' : ''}`,
    async () => {
      const steps = [
        { share: 50, min_seconds: 3_600, min_consolidations: 1_000 },
        { share: 100, min_seconds: 0, min_consolidations: 0 },
      ];
      const started = await post(`${setup.console}/v1/canaries`, { changes: { model: WORSE }, steps });
      expect(started.body).toMatchObject({ state: 'running', share: 50, watched: null, undoing: null });
      const at = `${setup.console}/v1/canaries/${started.body.id}`;
      const canary = async () => (await get(at)).body;
      expect((await post(`${setup.console}/v1/canaries`, { changes: { model: WORSE } })).status).toBe(409);
      const users = bothSidesOf(started.body.id);
      for (const content of SAID) await say(users, content);
      await vi.waitFor(async () => expect((await canary()).halt).not.toBeNull(), PATIENCE);
      if (CRASHES) {
        await setup.crash();
        await setup.start();
      }
      await vi.waitFor(async () => expect((await canary()).state).toBe('undone'), PATIENCE);
      const { halt, watched, undoing, owners } = await canary();
      expect(halt.message).toContain('negations_kept');
      expect(watched.figures.find(({ figure }: { figure: string }) => figure === 'negations_kept')).toMatchObject({
        ...{ canary: 0, rest: 1, verdict: 'worse' },
      });
      expect(owners).toBe(users.length);
      expect(undoing).toMatchObject({ owners: { held: 0, replayed: 0, left: 0 }, waiting: null });
      await quiet(setup.search);
      for (const user of users) expect([user, await memoriesOf(user)]).toEqual([user, HELD]);
      const { body } = await get(`${setup.console}/v1/consolidations?user_id=${users[0]}`);
      const plans = await Promise.all(
        body.results.map(
          async ({ id }: { id: string }) => (await get(`${setup.console}/v1/consolidations/${id}`)).body.plan,
        ),
      );
      // What was taken back before it was planned has none.
      for (const { variant, models } of plans.filter((plan) => plan !== null))
        expect([null, started.body.id]).toContain(variant === null ? null : models.chat === WORSE && variant);
    },
    WITHIN_MS,
  );
});

/** Users of whom half have the changes. */
function bothSidesOf(canary: string): readonly string[] {
  const users = Array.from({ length: 20 * SIDE }, (_, i) => `user-${i}`);
  const inShare = (id: string): boolean => isInShare({ id: canary, share: 50 }, { kind: 'user', id });
  const [some, others] = [users.filter(inShare), users.filter((user) => !inShare(user))];
  return [...some.slice(0, SIDE), ...others.slice(0, SIDE)];
}

import { DEFAULT_TENANT, studyLane, sweepReplays } from '@slowwave/engine';
import { NEVER, type Script } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench, OTHER_MODEL } from './testing/bench.ts';

const MINUTE = 60_000;

/** Finds that the user lives where a message says, in the words of a model. */
const livingIn =
  (called: (place: string) => string): Script =>
  ({ messages }) => {
    const [{ id, content } = { id: '', content: '' }] = messages as unknown as { id: string; content: string }[];
    const destination = called(content.split(': ')[1] ?? '');
    const relation = { source: 'user', relationship: 'lives_in', destination, said: 'holds', from: null, until: null };
    return {
      entities: [{ name: destination, kind: 'place', known: null, aliases: [] }],
      relations: [{ ...relation, single: true, source_ids: [id], quote: content }],
    };
  };

/** A user who told where they live, with a graph, and the way a what-if goes. */
async function lived() {
  const bench = await consoleBench({
    scripts: { extract_graph: livingIn((place) => place) },
    otherScripts: { extract_graph: livingIn((place) => place.replace(' Aker', '')) },
  });
  const { app, engine, deps, send } = bench;
  const study = async () => {
    for (const lane of await engine.deps.ledger.graph.due(engine.tools.now(), 10)) {
      await studyLane({ ...engine.deps, studied: () => {}, takeOverMs: MINUTE })(lane, NEVER);
    }
  };
  const post = async (text: string, graph: boolean) => {
    engine.tools.advance(MINUTE);
    await engine.post([text], { settings: { graph } });
    await engine.run();
    await study();
  };
  const sweep = async () => {
    engine.tools.advance(5 * MINUTE);
    await sweepReplays({ ...engine.deps, nudge: deps.nudge, forgetFailed: deps.forgetFailed }, NEVER);
  };
  const finish = async (body: object) => {
    const { id } = (await send('POST', '/v1/replays', { filter: { user_id: 'ann' }, ...body })).json();
    await sweep();
    await engine.run();
    await study();
    await sweep();
    return (await app.inject(`/v1/replays/${id}`)).json();
  };
  return { ...bench, post, finish };
}

test('a what-if tells how the graph would be, for programs and for people', async () => {
  const { app, engine, post, finish } = await lived();
  await post('home: Oslo Aker', true);
  const { id, state, result } = await finish({ model: OTHER_MODEL });
  expect(state).toBe('done');
  const [from, owner] = ['2026-03-01T09:01:00.000Z', { user_id: 'ann', agent_id: null, run_id: null }];
  expect(result.relations).toEqual({
    ...{ same: 0, added: 1, changed: 0, gone: 1 },
    differences: [
      {
        ...{ ...owner, source: 'User', relationship: 'lives_in', destination: 'Oslo Aker' },
        ...{ life: { valid_from: from, invalid_at: null }, what_if: null },
      },
      {
        ...{ ...owner, source: 'User', relationship: 'lives_in', destination: 'Oslo' },
        ...{ life: null, what_if: { valid_from: from, invalid_at: null } },
      },
    ],
  });
  expect(result.what_if.studies).toEqual({ applied: 1, parked: 0, waiting: 0, cost: null });
  const { body } = await app.inject(`/v1/replays/${id}?format=text`);
  expect(body).toContain('Relations: 1 added, 0 changed, 1 gone, 0 the same');
  expect(body).toContain('  - User lives_in Oslo Aker, 2026-03-01..\n  + User lives_in Oslo, 2026-03-01..\n');
  expect(body).toMatch(/studies\s+1\s+1\n/);
  const page = { limit: 10, cursor: null };
  const ann = { kind: 'user', id: 'ann' } as const;
  const { results } = await engine.deps.ledger.graph.listRelations(DEFAULT_TENANT, ann, { at: null }, page);
  expect(
    results.map(({ destinationName }) => destinationName),
    'life does not notice',
  ).toEqual(['Oslo Aker']);
});

test('a what-if may ask for a graph where none was, and for none', async () => {
  const { post, finish } = await lived();
  await post('home: Oslo', false);
  expect((await finish({ shadow: true })).result.relations).toBeNull();
  const { changes, result } = await finish({ graph: true });
  expect(changes).toEqual({ graph: true });
  expect(result.relations).toMatchObject({ same: 0, added: 1, changed: 0, gone: 0 });
  expect([result.life.studies.applied, result.what_if.studies.applied]).toEqual([0, 1]);
  await post('home: Rome', true);
  expect((await finish({ graph: false })).result.relations).toBeNull();
});

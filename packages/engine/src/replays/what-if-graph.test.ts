import { fakeChat, graphDecisions, graphScript, NEVER, sayGraph, studyBench } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { EngineError } from '../errors.ts';
import { spaceOf } from '../ids.ts';
import { DEFAULT_TENANT } from '../words.ts';
import type { WhatIfChanges } from './in-space.ts';
import type { RelationDifference, WhatIfResult } from './result.ts';
import { startReplay } from './start.ts';
import { discardSpace, sweepReplays } from './what-if.ts';

const [DAY, ALL] = [24 * 60 * 60_000, { limit: 100, cursor: null }];
const OTHER = 'other';
const ANN = { kind: 'user', id: 'ann' } as const;

const LIFE = [
  { day: '', says: 'I live in Oslo.', statements: ['user | lives_in | Oslo'] },
  { day: '', says: 'I moved to Rome.', statements: ['user | lives_in | Rome'] },
  { day: '', says: 'I like green tea.', statements: ['user | likes | green tea'] },
  { day: '', says: 'I like Bea.', statements: ['user | likes | Bea'] },
];
/** Knows better since when, and drinks any tea. */
const OTHERWISE = [
  { day: '', says: 'I moved to Rome.', statements: ['user | lives_in | Rome @2026-03-04'] },
  { day: '', says: 'I like green tea.', statements: ['user | likes | tea'] },
];

const modelOf = (talk: Parameters<typeof graphScript>[0]) =>
  fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: graphScript(talk),
    decide_graph: graphDecisions({ one: ['lives_in'], same: [] }),
    repair_output: () => 'no JSON',
  });

/** A user who moved, with a dog that somebody wrote down; what was said last is in no what-if. */
async function lived(other = modelOf(OTHERWISE)) {
  const otherChat = (name: string) => (name === OTHER ? { ...other, name } : null);
  const bench = await studyBench({ chat: modelOf(LIFE), otherChat });
  const { deps, tools } = bench;
  const rules = await deps.ledger.settings.get(DEFAULT_TENANT);
  const price = { prompt: 1, completion: 1 };
  await deps.ledger.settings.put(DEFAULT_TENANT, { ...rules, prices: { scripted: price, [OTHER]: price } });
  const ids: string[] = [];
  for (const [i, { says }] of LIFE.entries()) {
    if (i === 1) await sayGraph(deps, ['me > has_pet > Pixel']);
    tools.advance(2 * DAY);
    ids.push(await bench.post([says]));
    await bench.run();
    await bench.study();
  }
  const replays = { ...deps, nudge: async () => {}, forgetFailed: async () => {} };
  const sweep = async (): Promise<void> => {
    tools.advance(5 * 60_000);
    await sweepReplays(replays, NEVER);
  };
  const start = async (changes: WhatIfChanges) => {
    const filter = { states: ['consolidated', 'empty'], ids: ids.slice(1, 3) } as const;
    const started = await startReplay(replays, { tenant: DEFAULT_TENANT, filter, changes, key: null });
    if (started.kind !== 'started') throw new Error(`expected a what-if to be started, got ${started.kind}`);
    await sweep();
    await bench.run();
    return started.replay.id;
  };
  const stored = async (id: string) => {
    const replay = await deps.ledger.replays.get(DEFAULT_TENANT, id);
    if (replay === null) throw new Error(`expected the replay ${id}, got none`);
    return replay;
  };
  const finish = async (changes: WhatIfChanges): Promise<WhatIfResult> => {
    const id = await start(changes);
    await bench.study();
    await sweep();
    return (await stored(id)).result as unknown as WhatIfResult;
  };
  return { ...bench, sweep, start, stored, finish };
}

const dayOf = (at: number | undefined | null) => (at ? new Date(at).toISOString().slice(0, 10) : '');
const said = ({ source, relationship, destination, life, whatIf }: RelationDifference): string =>
  `${source} ${relationship} ${destination}: ` +
  [life, whatIf]
    .map((time) => (time === null ? 'not' : `${dayOf(time.validFrom)}..${dayOf(time.invalidAt)}`))
    .join(' / ');

test('a what-if is done when its studies are, and tells how the graph would be', async () => {
  const { deps, relations, start, stored, study, sweep } = await lived();
  const before = await relations('ever');
  const id = await start({ model: OTHER });
  await sweep();
  expect(await stored(id), 'its batches are through, its studies are not').toMatchObject({ state: 'running' });
  expect(await deps.ledger.graph.counts(), 'nobody is told that it waits').toEqual({ pending: 0, parked: 0 });
  await study();
  await sweep();
  const { state, result } = await stored(id);
  expect(state).toBe('done');
  const told = result as unknown as WhatIfResult;
  expect(told.relations?.differences.map(said)).toEqual([
    'User lives_in Oslo: 2026-03-03..2026-03-05 / 2026-03-03..2026-03-04',
    'User lives_in Rome: 2026-03-05.. / 2026-03-04..',
    'User likes green tea: 2026-03-07.. / not',
    'User likes tea: not / 2026-03-07..',
  ]);
  expect(told.relations).toMatchObject({ same: 1, added: 1, changed: 2, gone: 1 });
  expect(await relations('ever'), 'life does not notice').toEqual(before);
});

test('without a change the graph is the same, with what was there before its batches', async () => {
  const { finish } = await lived();
  const { relations, whatIf, life } = await finish({});
  expect(relations).toMatchObject({ same: 4, added: 0, changed: 0, gone: 0, differences: [] });
  expect(whatIf.studies, 'both batches are consolidated at once').toMatchObject({ applied: 1, parked: 0 });
  expect(life.studies).toMatchObject({ applied: 2, parked: 0, waiting: 0 });
  for (const { studies, cost } of [life, whatIf]) {
    expect(studies.cost).toBeGreaterThan(0);
    expect(cost, 'that of the studies is a part of it').toBeGreaterThan(studies.cost ?? 0);
  }
});

test('no graph is compared where none is asked for', async () => {
  const { finish } = await lived();
  const { relations, whatIf, life } = await finish({ graph: false });
  expect(relations).toBeNull();
  expect([life.studies.applied, whatIf.studies.applied]).toEqual([2, 0]);
});

test('studies that are parked end it as well, and are counted', async () => {
  const refused = new EngineError('it is refused', { code: 'model_rejected', retryable: false });
  const refusing = fakeChat({ extract_facts: () => ({ facts: [] }), extract_graph: () => refused });
  const { finish } = await lived(refusing);
  const { relations, whatIf } = await finish({ model: OTHER });
  expect(whatIf.studies).toMatchObject({ applied: 0, parked: 1 });
  expect(relations).toMatchObject({ same: 1, added: 0, changed: 1, gone: 2 });
});

test('to discard it removes its graph', async () => {
  const { deps, start, stored, study, sweep, relations } = await lived();
  const before = await relations('ever');
  const id = await start({ model: OTHER });
  await study();
  await sweep();
  const space = spaceOf({ tenant: DEFAULT_TENANT, replay: id });
  const { graph, lanes } = deps.ledger;
  const lane = await lanes.find(space, ANN);
  if (lane === null) throw new Error('expected the lane of the space, got none');
  const left = async () => ({
    relations: (await graph.listRelations(space, ANN, { at: 'ever' }, ALL)).results.length,
    entities: (await graph.listEntities(space, ANN, {}, ALL)).results.length,
    self: (await graph.self(lane.id))?.name ?? null,
    points: await deps.index.count(space),
  });
  expect(await left()).toMatchObject({ relations: 4, entities: 5, self: 'User' });
  await discardSpace(deps, await stored(id));
  await sweep();
  expect(await stored(id)).toMatchObject({ state: 'discarded' });
  expect(await left()).toEqual({ relations: 0, entities: 0, self: null, points: 0 });
  expect(await relations('ever')).toEqual(before);
});

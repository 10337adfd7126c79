import { engineBench, NEVER, suiteBench, suiteTalk, talkModel } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { examine } from '../../doctor/examine.ts';
import type { ChatCall } from '../../ports/models.ts';
import { DEFAULT_SETTINGS } from '../../settings.ts';
import { takeTurn } from '../../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../../words.ts';
import { hasPassed } from '../gate.ts';

const DAY = 24 * 60 * 60_000;

test('a model has passed that a run of the gate’s suite let pass, until that is too old', async () => {
  const { bench, perform } = await suiteBench(8, { good: {}, bad: { regression: 'halves recall' } });
  const { ledger } = bench.deps;
  const passed = (model: string) => hasPassed(bench.deps, DEFAULT_TENANT, model);
  expect(await passed('bad'), 'there is no gate').toBe(true);
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, gate: { suite: 'daily', days: 14 } });
  expect(await passed('good'), 'it was not tried').toBe(false);
  await perform({ model: 'good' });
  await perform({ models: { decide: 'bad', extract: 'bad' } });
  await perform({ model: 'bad' });
  expect([await passed('good'), await passed('bad'), await passed('unknown')]).toEqual([true, false, false]);
  bench.tools.advance(15 * DAY);
  expect(await passed('good')).toBe(false);
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, gate: { suite: 'another', days: 14 } });
  expect(await passed('good')).toBe(false);
});

test('questions say which models may stand in for the one that is asked', async () => {
  const model = talkModel();
  const calls: ChatCall[] = [];
  const chat = {
    ...model,
    ask: (...[call, cancel]: Parameters<typeof model.ask>) => {
      calls.push(call);
      return model.ask(call, cancel);
    },
  };
  const bench = await engineBench({ chat });
  const says = suiteTalk(1)[0]?.messages ?? [];
  await bench.post(says);
  await bench.run();
  expect(await calls[0]?.mayStandIn?.('any')).toBe(true);
  const gate = { suite: 'daily', days: 14 };
  await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, gate });
  await bench.post(says, { userId: 'bob' });
  await bench.run();
  expect(await calls.at(-1)?.mayStandIn?.('any')).toBe(false);
});

test('a process that was started anew with another model has to pass the gate as well, which the doctor says', async () => {
  const { bench, perform } = await suiteBench(8, { other: {}, bad: { regression: 'halves recall' } });
  const { deps } = bench;
  const look = async (model: string) => {
    const chat = { name: model, ask: () => Promise.reject(new Error('nobody is asked')) };
    const thinker = { chat, chats: {}, otherChat: () => null };
    const { findings } = await examine({ ...deps, thinker }, { depth: 'quick', only: ['gate'], cancel: NEVER });
    return findings.map(({ what }) => what);
  };
  expect(await look('other'), 'there is no gate').toEqual([]);
  const gate = { suite: 'daily', days: 14 };
  await deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, gate });
  expect(await look(deps.chat.name)).toEqual([expect.stringContaining(`(${deps.chat.name}) have not passed a run`)]);
  await perform();
  await perform({ model: 'other' });
  await perform({ model: 'bad' });
  expect(await look(deps.chat.name)).toEqual([]);
  expect(await look('other'), 'it was run before it was configured').toEqual([]);
  expect(await look('bad')).toEqual([expect.stringContaining('(bad)')]);
  await deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, gate, instructions: 'Remember cars.' });
  expect(await look('other'), 'not with these instructions').toHaveLength(1);
});

test('consolidations wait for the gate where the operator says so, and go on once it is passed', async () => {
  const { bench, start, stored, sweep } = await suiteBench(8);
  const { deps, tools } = bench;
  await deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, gate: { suite: 'daily', days: 14 } });
  const handle = takeTurn({ ...deps, settings: { ...deps.settings, waitsForGate: true } });
  const turns = async () => {
    tools.advance(61_000);
    for (const { lane, generation } of await deps.ledger.lanes.withWork(null, 100))
      await handle({ lane, generation }, NEVER);
  };
  const batch = await bench.post(['I live in Ghent now.'], { userId: 'user-0' });
  const known = () => deps.ledger.batches.get(DEFAULT_TENANT, batch);
  await turns();
  expect(await known()).toMatchObject({
    ...{ state: 'consolidating', attempts: 0 },
    failure: { code: 'gate_not_passed', message: expect.stringContaining('slowwave suite run daily --yes') },
  });
  const id = await start({});
  for (let i = 0; i < 20 && (await stored(id)).state !== 'done'; i += 1) {
    await sweep();
    expect((await known())?.state, 'runs of suites do not wait, and it does').toBe('consolidating');
    await turns();
  }
  await turns();
  expect((await known())?.state).toBe('consolidated');
});

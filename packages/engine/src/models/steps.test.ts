import { echoExtract, engineBench, fakeChat, NEVER, type Script } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';
import type { StepModels } from './steps.ts';

const keep: Script = ({ facts }) => ({
  operations: (facts as unknown as { id: string }[]).map(({ id }) => ({ fact: id, event: 'NONE', id: '0' })),
});
const SCRIPTS = { extract_facts: echoExtract, decide_operations: keep };
const model = (name: string) => ({ ...fakeChat(SCRIPTS), name });

/** Two batches of one user about the same thing, so that the second is decided on. */
async function bench(chosen: StepModels = {}) {
  const [usual, careful, other] = [model('usual'), model('careful'), model('other')];
  const engine = await engineBench({
    chat: usual,
    chats: { decide: careful },
    otherChat: (name) => (name === 'other' ? other : null),
  });
  const { settings } = engine.deps.ledger;
  await settings.put(DEFAULT_TENANT, { ...(await settings.get(DEFAULT_TENANT)), models: chosen });
  await engine.post(['lives: in Oslo']);
  await engine.run();
  const id = await engine.post(['lives: in Oslo since May']);
  await engine.run();
  const names = (chat: ReturnType<typeof model>) => chat.calls.map(({ name }) => name);
  return { engine, id, asked: { usual: names(usual), careful: names(careful), other: names(other) } };
}

test('each step asks the model that is configured for it, and the others the chat model', async () => {
  const { engine, id, asked } = await bench();
  expect(asked).toEqual({
    usual: ['extract_facts', 'extract_facts'],
    careful: ['decide_operations'],
    other: [],
  });
  expect((await engine.plan(id)).models).toMatchObject({ chat: 'usual', decide: 'careful' });
});

test('a tenant chooses other models by step', async () => {
  const { engine, id, asked } = await bench({ decide: 'other' });
  expect(asked).toEqual({
    usual: ['extract_facts', 'extract_facts'],
    careful: [],
    other: ['decide_operations'],
  });
  expect((await engine.plan(id)).models).toMatchObject({ chat: 'usual', decide: 'other' });
});

test('batches wait where the chosen model cannot be asked by name, and lose no try', async () => {
  const engine = await engineBench({ chat: model('usual') });
  const { settings, lanes, batches } = engine.deps.ledger;
  await settings.put(DEFAULT_TENANT, { ...(await settings.get(DEFAULT_TENANT)), models: { extract: 'gone' } });
  const id = await engine.post(['lives: in Oslo']);
  const [turn] = await lanes.withWork(null, 1);
  if (turn === undefined) throw new Error('expected one lane with work, got none');
  engine.tools.advance(Math.max(0, turn.dueAt - engine.tools.now()));
  await takeTurn(engine.deps)(turn, NEVER);
  expect(await batches.get(DEFAULT_TENANT, id)).toMatchObject({ state: 'consolidating', attempts: 0 });
});

test('an answer of a fallback is kept under the question: the first is not asked it again when it is back', async () => {
  const first = model('usual');
  const spare = model('spare');
  let isAway = true;
  const engine = await engineBench({
    chat: {
      name: first.name,
      ask: async (...call) =>
        isAway ? { ...(await spare.ask(...call)), asked: spare.name, model: spare.name } : first.ask(...call),
    },
  });
  const { memories } = engine.deps.ledger;
  const { apply } = memories;
  memories.apply = async (turn) => {
    memories.apply = apply;
    isAway = false;
    throw new Error(`the worker of ${turn.lane} dies before its plan is stored`);
  };
  const id = await engine.post(['lives: in Oslo']);
  await engine.run();
  expect((await engine.plan(id)).usage.models).toMatchObject([{ model: 'spare', calls: 1 }]);
  expect([spare.calls.length, first.calls.length]).toEqual([1, 0]);
});

import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const DAY_MS = 86_400_000;

test('what was consolidated lately stands beside what was before, figure by figure and by model', async () => {
  const { app, engine } = await consoleBench();
  const drift = async (query = '') => (await app.inject(`/v1/drift${query}`)).json();
  expect(await drift()).toMatchObject({ models: [], figures: [] });
  for (const userId of ['ann', 'bob', 'cid', 'dan', 'eve', 'fay']) await engine.post(['home: Berlin'], { userId });
  await engine.run();
  engine.tools.advance(8 * DAY_MS);
  await engine.post(['home: Rome', 'tea: green']);
  await engine.run();
  const seen = await drift();
  expect(seen.models).toEqual([{ model: 'scripted', before: 6, recent: 1 }]);
  const figure = (name: string) => seen.figures.find((one: { figure: string }) => one.figure === name);
  expect(figure('adds')).toMatchObject({
    ...{ kind: 'share', worse: 'either', before: 1, n: { before: 6, recent: 2 } },
    ...{ difference: null, verdict: 'unclear' },
  });
  expect(seen.opinions[0]).toEqual({
    of: 'consolidations',
    before: { against: 0, of: 6 },
    recent: { against: 0, of: 1 },
  });
  expect(Date.parse(seen.recent.from) - Date.parse(seen.before.from)).toBe(28 * DAY_MS);
  expect((await drift('?model=another')).figures).toEqual([]);
  expect((await app.inject('/v1/drift?days=3')).statusCode).toBe(400);
});

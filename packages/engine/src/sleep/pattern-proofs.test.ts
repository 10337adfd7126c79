import { interestsIn, liesAbout, patternBench } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import { DEFAULT_TENANT } from '../words.ts';

const TENANT = DEFAULT_TENANT;
const ALL = { limit: 100, cursor: null };

it('a model that lies in a fifth of its answers makes no conclusion by its lies, and each is refused with a reason', async () => {
  let [nth, lied] = [0, 0];
  const night = await patternBench((memories) => {
    nth += 1;
    if (nth % 5 !== 0) return interestsIn(memories);
    lied += 1;
    return liesAbout(memories, lied - 1);
  });
  for (let round = 0; round < 6; round += 1) {
    await night.say({ things: 5, sayings: 5 });
    await night.night();
  }
  expect(lied).toBeGreaterThanOrEqual(2);
  expect(await night.hollow()).toEqual([]);
  expect((await night.concluded()).length).toBeGreaterThan(0);
  const { results } = await night.deps.ledger.nights.list(TENANT, {}, ALL);
  const plans = await Promise.all(results.map(({ id }) => night.deps.ledger.thoughts.plan(id)));
  const remarks = plans.flatMap((plan) => plan?.remarks ?? []);
  expect(remarks.filter(({ asked }) => asked.endsWith('trust me')).length).toBeGreaterThanOrEqual(lied);
  for (const { did } of remarks) expect(did).toMatch(/^refused: \S/);
  const texts = (await night.live()).filter((text) => text.includes('opera') || text.includes('not interested'));
  expect(texts).toEqual([]);
});

it('whatever evidence goes, no conclusion is left that leaned on it', async () => {
  const night = await patternBench(interestsIn);
  await night.say({ things: 4, sayings: 3 });
  await night.night();
  expect((await night.concluded()).length).toBeGreaterThan(1);
  const asked = night.asked();
  for (const { id, timeline } of await night.memories()) {
    if (timeline.some((mark) => mark.kind === 'said' && mark.details.concluded !== undefined)) continue;
    await memoryWriter(night.deps).remove(TENANT, id);
    expect(await night.hollow()).toEqual([]);
  }
  expect([await night.live(), night.asked()]).toEqual([[], asked]);
});

import {
  fakeChat,
  GOLD_AS_OF,
  GOLD_ENDED,
  GOLD_LIVE,
  GRAPH_TALK,
  graphDecisions,
  graphScript,
  KINDS_OF_TALK,
  studyBench,
} from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { millisOf } from '../../text/dates.ts';

const NOON_MS = 12 * 3_600_000;
const at = (day: string): number => (millisOf(day) ?? 0) + NOON_MS;

test('forty turns of a year leave the graph that they tell of, at any time', async ({ annotate }) => {
  const chat = fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: graphScript(GRAPH_TALK, KINDS_OF_TALK),
    decide_graph: graphDecisions({
      one: ['works_at', 'works_as', 'dating', 'studies_at'],
      same: [['Tom', 'Tom Berg']],
    }),
  });
  const bench = await studyBench({ chat });
  for (const { day, says } of GRAPH_TALK) {
    await bench.post([says], { at: at(day) });
    await bench.run();
    await bench.study();
  }
  expect(GRAPH_TALK).toHaveLength(40);
  expect(await bench.relations(null)).toEqual([...GOLD_LIVE].sort());
  const ended = (await bench.relations('ever')).filter((text) => !text.endsWith('..'));
  expect(ended).toEqual([...GOLD_ENDED].sort());
  for (const [day, gold] of Object.entries(GOLD_AS_OF)) {
    const held = (await bench.relations(at(day))).map((text) => text.slice(0, text.lastIndexOf(' ')));
    expect(held, day).toEqual([...gold].sort());
  }
  const calls = chat.calls.filter(({ name }) => name.endsWith('_graph'));
  const decisions = calls.filter(({ name }) => name === 'decide_graph').length;
  const figures = `${GOLD_LIVE.length} hold, ${GOLD_ENDED.length} ended; ${calls.length} calls, ${decisions} of them decisions`;
  await annotate(figures);
  expect(calls.length / GRAPH_TALK.length, 'calls for one consolidation').toBeLessThan(2);
});

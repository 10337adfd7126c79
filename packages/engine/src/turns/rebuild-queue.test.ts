import { echoExtract, engineBench, fakeChat } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import type { Nudge, Schedule, TurnName, TurnState } from '../ports/schedule.ts';
import { rebuildQueue } from './sweep.ts';

/** A queue that knows what it was told, and may be told to forget it, or that a turn is over. */
function listSchedule(): Schedule & { readonly jobs: Map<string, { nudge: Nudge; state: TurnState }> } {
  const jobs = new Map<string, { nudge: Nudge; state: TurnState }>();
  const name = ({ lane, generation }: TurnName): string => `${lane}~${generation}`;
  return {
    jobs,
    nudge: async (nudges) => {
      for (const nudge of nudges) if (!jobs.has(name(nudge))) jobs.set(name(nudge), { nudge, state: 'scheduled' });
    },
    statesOf: async (turns) => turns.map((turn) => jobs.get(name(turn))?.state ?? 'absent'),
    hurry: async () => false,
    check: async () => {},
    close: async () => {},
  };
}

it('a queue that lost everything has every lane with work again, due or not; the second time changes nothing', async () => {
  const { deps, post, run } = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  await post(['a: 1'], { userId: 'done' });
  await run();
  for (let i = 0; i < 600; i += 1) await post([`b: ${i}`], { userId: `user ${i}`, flush: i % 2 === 0 });
  const schedule = listSchedule();
  const seen: number[] = [];
  expect(await rebuildQueue(deps, schedule, ({ lanes }) => seen.push(lanes))).toEqual({ lanes: 600, scheduled: 600 });
  expect(seen).toEqual([500, 600]);
  expect(schedule.jobs.size).toBe(600);
  expect(await rebuildQueue(deps, schedule)).toEqual({ lanes: 600, scheduled: 0 });
});

it('a turn whose job ended without its lane moving on is told anew, under a name that is heard', async () => {
  const { deps, post } = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  await post(['a: 1']);
  const schedule = listSchedule();
  await rebuildQueue(deps, schedule);
  for (const job of schedule.jobs.values()) job.state = 'finished';
  expect(await rebuildQueue(deps, schedule)).toEqual({ lanes: 1, scheduled: 1 });
  expect([...schedule.jobs.values()].map(({ nudge, state }) => [nudge.generation, state])).toEqual([
    [1, 'finished'],
    [2, 'scheduled'],
  ]);
});

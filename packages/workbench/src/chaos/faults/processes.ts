import { setTimeout as sleep } from 'node:timers/promises';
import { factOf, next, say, textOf } from '../load.ts';
import type { Member } from '../member.ts';
import type { Random } from '../random.ts';
import type { Stage } from '../stage.ts';
import { newStory } from '../story.ts';
import { EVERYWHERE, type Fault, ON_REDIS } from './fault.ts';

const DOWN_MS = { from: 0, to: 1_000 };
/** After this a border that no call reached is given up: the process is killed where it is. */
const BORDER_WITHIN_MS = 3_000;
/** From "just after the answer" to "when it was applied and projected". */
const AFTER_ANSWER_MS = { from: 0, to: 80 };

const downMs = (random: Random): number => random.between(DOWN_MS.from, DOWN_MS.to);

const killed: Fault = {
  kind: 'process killed',
  modes: EVERYWHERE,
  interrupts: true,
  run: ({ members }, random) => random.pick(members).crash(downMs(random)),
};

const stopped: Fault = {
  kind: 'process stopped (SIGTERM)',
  modes: EVERYWHERE,
  interrupts: true,
  run: ({ members }, random) => random.pick(members).restart(downMs(random)),
};

const allKilled: Fault = {
  kind: 'all processes killed',
  modes: ON_REDIS,
  interrupts: true,
  run: async ({ members }, random) => {
    const down = downMs(random);
    await Promise.all(members.map((member) => member.crash(down)));
  },
};

/** Killed at a border between two steps, as seen from the model: before a call's answer, or a little after it. */
const atBorder = (kind: string, call: string, when: 'before' | 'after'): Fault => ({
  kind,
  modes: EVERYWHERE,
  interrupts: true,
  run: async ({ provider, workers }, random, { begins, instead }) => {
    const reached = await provider.atCall({
      members: workers.map(({ name }) => name),
      call,
      when: when === 'before' ? 'before' : { afterMs: random.between(AFTER_ANSWER_MS.from, AFTER_ANSWER_MS.to) },
      withinMs: BORDER_WITHIN_MS,
      reach: (name) => {
        begins();
        named(workers, name).strike();
      },
    });
    if (!reached) {
      begins();
      random.pick(workers).strike();
      instead(killed.kind);
    }
    // Whoever was struck is down now; the others are left alone by a start.
    await sleep(downMs(random));
    await Promise.all(workers.map((worker) => worker.start()));
  },
});

const named = (workers: readonly Member[], name: string): Member => {
  const found = workers.find((worker) => worker.name === name);
  if (found === undefined) throw new Error(`no worker is ${name}`);
  return found;
};

/** Stands still for longer than its lock holds, in the middle of something, and then goes on as if nothing had been. */
const paused: Fault = {
  kind: 'worker paused past its lock',
  modes: EVERYWHERE,
  interrupts: true,
  run: async ({ provider, workers, takeOverMs }, random, { begins }) => {
    let pausing: Promise<void> | null = null;
    const pauseMs = takeOverMs * 2 + random.between(0, takeOverMs);
    await provider.atCall({
      members: workers.map(({ name }) => name),
      call: random.pick(['extract_facts', 'decide_operations', 'embed', 'extract_graph']),
      when: { afterMs: random.between(AFTER_ANSWER_MS.from, AFTER_ANSWER_MS.to) },
      withinMs: BORDER_WITHIN_MS,
      reach: (name) => {
        begins();
        pausing = named(workers, name).pause(pauseMs);
      },
    });
    if (pausing === null) begins();
    await (pausing ?? random.pick(workers).pause(pauseMs));
  },
};

const CLOCK_JUMP_MS = 15_000;

/** Forwards or backwards; it stays wrong until it jumps again. */
const clockJump: Fault = {
  kind: 'clock jump',
  modes: EVERYWHERE,
  interrupts: false,
  run: async ({ members }: Stage, random) => {
    await random.pick(members).setClock(random.between(-CLOCK_JUMP_MS, CLOCK_JUMP_MS));
    await sleep(SEEN_AFTER_MS);
  },
};
/** By then the process has read its new clock. */
const SEEN_AFTER_MS = 200;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WRONG_MS = { from: 500, to: 2_000 };

/**
 * Far forwards or backwards, and right again after a moment. One user talks before, meanwhile and afterwards, another only
 * meanwhile, and nobody hurries them.
 */
const clockFar: Fault = {
  kind: 'clock wrong by an hour or a day',
  modes: EVERYWHERE,
  interrupts: false,
  run: async (stage, random, { invites, tongue }) => {
    const guest = () => {
      const story = newStory(`c${next({ tongue })}`, { graph: false });
      invites({ story, accepted: 0, mayPark: 0, check: async () => [] });
      const talk = { stage, tongue, random, story };
      return async (): Promise<void> => {
        const number = next(talk);
        await say(talk, [factOf(talk, textOf(0, story.user, `v${number}`), number)], { timed: false, flush: false });
      };
    };
    const [says, saysMeanwhile] = [guest(), guest()];
    await says();
    const member = random.pick(stage.members);
    await member.setClock(random.pick([-DAY_MS, -HOUR_MS, HOUR_MS, DAY_MS]));
    await sleep(SEEN_AFTER_MS);
    await saysMeanwhile();
    await says();
    await says();
    await sleep(random.between(WRONG_MS.from, WRONG_MS.to));
    await saysMeanwhile();
    await member.setClock(0);
    await sleep(SEEN_AFTER_MS);
    await says();
  },
};

export const PROCESS_FAULTS: readonly Fault[] = [
  killed,
  stopped,
  allKilled,
  atBorder('killed before extract answered', 'extract_facts', 'before'),
  atBorder('killed after extract answered', 'extract_facts', 'after'),
  atBorder('killed before embed answered', 'embed', 'before'),
  atBorder('killed after embed answered', 'embed', 'after'),
  atBorder('killed before decide answered', 'decide_operations', 'before'),
  atBorder('killed after decide answered', 'decide_operations', 'after'),
  atBorder('killed before study answered', 'extract_graph', 'before'),
  atBorder('killed after study answered', 'extract_graph', 'after'),
  paused,
  clockJump,
  clockFar,
];

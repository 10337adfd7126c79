import { isDeepStrictEqual } from 'node:util';
import { tempDir } from '@slowwave/testkit';
import { seededRandom } from '../../chaos/random.ts';
import type { Bench, Given, Progress } from '../bench.ts';
import { cpuTimes, cpuUse } from '../host.ts';
import { type Found, median, quantile } from '../report.ts';
import { exchange, nameOf } from './exchanges.ts';
import { type Sayings, sayings } from './sayings.ts';
import { type Serving, withServerOn } from './server.ts';

const TARGET_MS = 50;
const DIMENSIONS = 384;

/** What it takes to lay owners to sleep, to search where they do, and to wake them. */
export const cold: Bench = {
  name: 'cold',
  what: 'Sleeping owners: size of a segment, time of a search in it, and time to wake (wall clock and processor).',
  draws: false,
  flags: {
    users: { usual: '40', help: 'Users that are put to sleep and woken.' },
    exchanges: { usual: '50', help: 'What each of them has said: a message, and its answer; a memory each.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const [folder, words] = [await tempDir(), sayings(DIMENSIONS)];
    const settings = {
      ...{ SLOWWAVE_EMBEDDING_MODEL: 'scripted', SLOWWAVE_EMBEDDING_DIMENSIONS: String(DIMENSIONS) },
      ...{ SLOWWAVE_COLD_DAYS: '0', SLOWWAVE_COLD_KEEP_HOURS: '0', SLOWWAVE_RECEIPT_DAYS: '0' },
    };
    try {
      return await withServerOn(folder.path, { words, settings }, async (serving) => {
        await exchange(serving.api, { ...options, words, isEachAlone: false }, progress);
        return measure({ ...serving, words }, options, progress);
      });
    } finally {
      await folder.remove();
    }
  },
};

const optionsOf = (given: Given) => ({
  users: given.number('users', { max: 10_000 }),
  exchanges: given.number('exchanges', { max: 10_000 }),
});

type Options = ReturnType<typeof optionsOf>;

type Stage = Serving & { readonly words: Sayings };

interface Timed {
  readonly times: readonly number[];
  /** Of the server, for each. */
  readonly cpuMs: number;
  readonly answers: readonly unknown[];
}

async function measure(stage: Stage, options: Options, progress: Progress): Promise<Found> {
  const { api, words } = stage;
  const random = seededRandom('questions');
  const questions = Array.from({ length: options.users }, (_, user) => words.line(random, user));
  const each = async (what: string, work: (user: number) => Promise<unknown>): Promise<Timed> => {
    progress(what);
    const before = await cpuTimes([stage.pid]);
    const times: number[] = [];
    const answers: unknown[] = [];
    for (let user = 0; user < options.users; user += 1) {
      const began = performance.now();
      answers.push(await work(user));
      times.push(performance.now() - began);
    }
    return { times, answers, cpuMs: cpuUse(before, await cpuTimes([stage.pid])).ms / options.users };
  };
  const search = async (user: number): Promise<unknown> => {
    const asked = { user_id: nameOf(user), query: questions[user], include: ['messages'], top_k: 10 };
    const { results, messages } = await api.post<Answer>('/v1/search', asked);
    return withoutTime({ results, messages });
  };
  const owner = (user: number) => ({ kind: 'user', id: nameOf(user) });
  await each('searching once, so that all is at hand', search);
  const warm = await each('searching while they are awake', search);
  const cooling = await each('laying them to sleep', (user) => api.post('/v1/cold/cool', owner(user)));
  const first = await each('searching where they sleep', search);
  const second = await each('searching there again', search);
  const { results: asleep } = await api.get<{ results: { bytes: number }[] }>('/v1/cold?limit=200');
  const waking = await each('waking them', (user) => api.post('/v1/cold/wake', owner(user)));
  const woken = await each('searching when they woke', search);
  const same = [first, second, woken].every(({ answers }) => isDeepStrictEqual(answers, warm.answers));
  const took = median(waking.times);
  const memory = median(asleep.map(({ bytes }) => bytes)) / options.exchanges;
  return {
    title: `cold: ${options.users} users with ${options.exchanges} memories and ${2 * options.exchanges} messages each, vectors of ${DIMENSIONS} dimensions, segments in a folder`,
    figures: [
      ...figuresOf('wake', waking),
      ...figuresOf('lay to sleep', cooling),
      ...figuresOf('search while awake', warm),
      ...figuresOf('first search where it sleeps', first),
      ...figuresOf('further search there', second),
      { what: 'bytes of a segment, median', value: median(asleep.map(({ bytes }) => bytes)), unit: 'bytes' },
      { what: '  for each memory with its exchange', value: memory, unit: 'bytes' },
    ],
    verdicts: [
      {
        what: 'an owner wakes',
        reached: `${took.toFixed(1)} ms`,
        target: `at most ${TARGET_MS} ms`,
        passed: took <= TARGET_MS,
        misses: [],
      },
      {
        what: 'answers are the same awake, asleep and woken',
        reached: same ? 'the same' : 'others',
        target: 'the same',
        passed: same && asleep.length === Math.min(options.users, 200),
        misses: [],
      },
    ],
    remarks: ['Requests come one after the other. The processor time is that of the whole server.'],
  };
}

/** Scores fade as time goes by, by a hundred-millionth or so in the time of this. */
const withoutTime = (answer: Answer): unknown =>
  JSON.parse(JSON.stringify(answer), (_, value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value));

interface Answer {
  readonly results: unknown;
  readonly messages: unknown;
}

const figuresOf = (what: string, { times, cpuMs }: Timed) => [
  { what: `${what}, median`, value: median(times), unit: 'ms' },
  { what: '  95 of 100', value: quantile(times, 0.95), unit: 'ms' },
  { what: '  processor time, mean', value: cpuMs, unit: 'ms' },
];

import { seededRandom } from '../chaos/random.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { type Filled, withFilled } from './filled/folder.ts';
import { memoriesIn, type Size, userAt } from './filled/points.ts';
import { drawn, indexQueryOf, makeQuestions, type Question } from './filled/questions.ts';
import { vocabulary } from './filled/words.ts';
import { residentBytes } from './host.ts';
import { askerAt } from './load/drive.ts';
import { atMost, median, quantile } from './report.ts';

const TARGET = 1.5;
const P95 = 0.95;
const DIMENSIONS = 1_024; // of the builtin embedder
const MIB = 2 ** 20;

/** Whether a search stays as fast with very many users. */
export const growth: Bench = {
  name: 'growth',
  what: 'Search times with few users and with very many users of the same size, queried at random; RAM and disk.',
  flags: {
    memories: { usual: '1000000', help: 'Memories of all users together, in the large index.' },
    users: { usual: '2000', help: 'Users in the large index.' },
    small: { usual: '20', help: 'Users in the small index, with as many memories each.' },
    questions: { usual: '2000', help: 'Questions to each, over HTTP and again to the index itself.' },
    qdrant: { usual: '', help: 'URL of a Qdrant for the index; without it, it is in a file.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { users, small, perUser, qdrantUrl } = options;
    const words = vocabulary(DIMENSIONS);
    const filling = (count: number) => ({ size: { users: count, perUser }, words, qdrantUrl });
    const questions = await makeQuestions(words);
    return withFilled(filling(small), progress, (few) =>
      withFilled(filling(users), progress, (many) => measure({ options, few, many, questions }, progress)),
    );
  },
};

function optionsOf(given: Given) {
  const users = given.number('users', { max: 100_000 });
  return {
    users,
    perUser: Math.max(1, Math.round(given.number('memories', { max: 100_000_000 }) / users)),
    small: given.number('small', { max: users }),
    questions: given.number('questions'),
    qdrantUrl: given.url('qdrant'),
  };
}

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly few: Filled;
  readonly many: Filled;
  readonly questions: readonly Question[];
}

/** Times of answers in ms. */
interface Times {
  readonly http: number[];
  readonly index: number[];
}

async function measure({ options, few, many, questions }: Stage, progress: Progress) {
  const { users, small, perUser, qdrantUrl } = options;
  const both = [asking(few, { questions, users: small }), asking(many, { questions, users })] as const;
  for (const one of both) await one.warm();
  const total = options.questions;
  for (let asked = 0; asked < total; asked += 1) {
    // One after the other: a machine that slows down slows both down.
    for (const one of both) await one.next();
    if (asked % 50 === 0) progress(`asked ${asked} of ${total} questions`);
  }
  for (const one of both) one.close();
  const [fewTimes, manyTimes] = [both[0].times, both[1].times];
  const sizeOf = (count: number): Size => ({ users: count, perUser });
  const name = (count: number): string =>
    `${memoriesIn(sizeOf(count)).toLocaleString('en')} memories of ${count} users`;
  return {
    title: `growth: ${name(small)}, then ${name(users)}, index ${qdrantUrl === null ? 'in SQLite' : 'on Qdrant'}`,
    figures: [
      ...(await figuresOf(name(small), few, { times: fewTimes, memories: memoriesIn(sizeOf(small)) })),
      ...(await figuresOf(name(users), many, { times: manyTimes, memories: memoriesIn(sizeOf(users)) })),
    ],
    verdicts: [],
    comparisons: (['http', 'index'] as const).map((way) =>
      atMost(TARGET, {
        what: way === 'http' ? 'POST /v1/search, 95 of 100' : 'the index itself, 95 of 100',
        unit: 'ms',
        ours: { name: name(users), value: quantile(manyTimes[way], P95) },
        yardstick: { name: name(small), value: quantile(fewTimes[way], P95) },
      }),
    ),
    remarks: [
      'Each question is about a user drawn at random: of many users, most were not asked about before.',
      'Questions are embedded before it is measured. The files are in the memory of the system as far as it has room.',
      'Vectors are sums of word vectors, texts are of a made-up language: a scan takes as long as with real ones.',
    ],
  };
}

/** Asks one of the two, always about anybody. */
function asking(filled: Filled, { questions, users }: { questions: readonly Question[]; users: number }) {
  const random = seededRandom(`who is asked about, of ${users}`);
  const { ask, close } = askerAt(filled.searchUrl);
  const times: Times = { http: [], index: [] };
  return {
    times,
    close,
    /** Every question is embedded once, and both have found out how they run fast. */
    warm: async () => {
      for (const { text } of questions) await ask({ user_id: userAt(0), query: text });
      await filled.index.search([indexQueryOf(questions[0] as Question, filled.laneAt(0))]);
    },
    next: async () => {
      const overHttp = drawn(random, questions, users);
      times.http.push(await ask({ user_id: userAt(overHttp.user), query: overHttp.question.text }));
      const { question, user } = drawn(random, questions, users);
      const began = performance.now();
      await filled.index.search([indexQueryOf(question, filled.laneAt(user))]);
      times.index.push(performance.now() - began);
    },
  };
}

async function figuresOf(name: string, filled: Filled, { times, memories }: { times: Times; memories: number }) {
  const bytes = await filled.indexBytes();
  return [
    { what: `${name}: POST /v1/search, median`, value: median(times.http), unit: 'ms' },
    { what: '  95 of 100', value: quantile(times.http, P95), unit: 'ms' },
    { what: '  the index itself, median', value: median(times.index), unit: 'ms' },
    { what: '  the index itself, 95 of 100', value: quantile(times.index, P95), unit: 'ms' },
    { what: '  memory of the search process', value: (await residentBytes(filled.searchPid)) / MIB, unit: 'MiB' },
    ...(bytes === 0 ? [] : [{ what: '  the index on the disk', value: bytes / MIB, unit: 'MiB' }]),
    ...(bytes === 0 ? [] : [{ what: '  of it for each memory', value: bytes / memories, unit: 'bytes' }]),
  ];
}

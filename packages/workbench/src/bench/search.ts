import { freePort, spawnService } from '@slowwave/testkit';
import { seededRandom } from '../chaos/random.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { type Filled, withFilled } from './filled/folder.ts';
import { memoriesIn, type Size, userAt } from './filled/points.ts';
import { drawn, indexQueryOf, makeQuestions, type Question } from './filled/questions.ts';
import { type Vocabulary, vocabulary } from './filled/words.ts';
import { scrape, total } from './host.ts';
import { type Asker, askerAt } from './load/drive.ts';
import { withFilledMem0 } from './mem0/filled.ts';
import type { Mem0 } from './mem0/mem0.ts';
import { atMost, type Comparison, median, quantile } from './report.ts';

const STORE_TARGET = 1.3;
const MEM0_TARGET = 1;
const P95 = 0.95;
const DIMENSIONS = 1_024; // of the builtin embedder, and of mem0's here
const TOP_K = 10;
const MEM0_WARM = 3;
const MEM0_QUESTIONS = 100; // it takes about a second for each where ten thousand memories are in its file

/** What a search costs. */
export const search: Bench = {
  name: 'search',
  what: "How long POST /v1/search takes without embedding, compared with a bare index query and with mem0's search().",
  flags: {
    memories: { usual: '10000', help: 'Memories of all users together.' },
    users: { usual: '20', help: 'Users, with an equal share each.' },
    questions: { usual: '1000', help: 'Questions for each candidate; mem0 gets the first 100.' },
    mem0: { usual: 'yes', help: 'Whether mem0 is measured too, with the same memories: yes or no.' },
    qdrant: { usual: '', help: 'URL of a Qdrant for the index, and for mem0; without it, both use files.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { size, qdrantUrl } = options;
    const words = vocabulary(DIMENSIONS);
    const questions = await makeQuestions(words);
    return withFilled({ size, words, qdrantUrl }, progress, (filled) =>
      withBare(filled, (bareUrl) =>
        maybeMem0({ options, words, progress }, (mem0) =>
          measure({ options, filled, bareUrl, mem0, questions }, progress),
        ),
      ),
    );
  },
};

function optionsOf(given: Given) {
  const users = given.number('users', { max: 100_000 });
  return {
    size: { users, perUser: Math.max(1, Math.round(given.number('memories') / users)) } satisfies Size,
    questions: given.number('questions'),
    mem0: given.choice('mem0', ['yes', 'no']) === 'yes',
    qdrantUrl: given.url('qdrant'),
  };
}

type Options = ReturnType<typeof optionsOf>;

async function withBare<T>({ place }: Filled, work: (url: string) => Promise<T>): Promise<T> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await spawnService({
    main: new URL('bare-search/main.ts', import.meta.url),
    args: [String(port), ...place],
    ready: { url: `${url}/readyz` },
  });
  try {
    return await work(url);
  } finally {
    await service.kill();
  }
}

interface Mem0Wish {
  readonly options: Options;
  readonly words: Vocabulary;
  readonly progress: Progress;
}

/** null when it is not wanted. */
function maybeMem0<T>({ options, words, progress }: Mem0Wish, work: (mem0: Mem0 | null) => Promise<T>): Promise<T> {
  const { size, qdrantUrl } = options;
  return options.mem0 ? withFilledMem0({ size, words, qdrantUrl, dimensions: DIMENSIONS }, progress, work) : work(null);
}

interface Stage {
  readonly options: Options;
  readonly filled: Filled;
  readonly bareUrl: string;
  readonly mem0: Mem0 | null;
  readonly questions: readonly Question[];
}

/** Times of answers in ms. */
interface Times {
  readonly first: number[];
  readonly ours: number[];
  readonly bare: number[];
  readonly index: number[];
  readonly mem0: number[];
  readonly mem0Whole: number[];
}

async function measure(stage: Stage, progress: Progress) {
  const { options, filled, mem0 } = stage;
  const times: Times = { first: [], ours: [], bare: [], index: [], mem0: [], mem0Whole: [] };
  const askers = { ours: askerAt(filled.searchUrl), bare: askerAt(stage.bareUrl) };
  progress('warming up');
  await warm(stage, askers, times);
  const before = await embedded(filled);
  await askAll(stage, askers, { times, progress });
  const embeddings = (await embedded(filled)) - before;
  askers.ours.close();
  askers.bare.close();
  const where = options.qdrantUrl === null ? 'in SQLite' : 'on Qdrant';
  const { size } = options;
  return {
    title: `search: ${memoriesIn(size).toLocaleString('en')} memories of ${size.users} users, index ${where}`,
    figures: [
      ...timesOf('POST /v1/search', times.ours),
      ...timesOf('the bare question behind a bare handler', times.bare),
      ...timesOf('the bare question, without HTTP', times.index),
      ...(mem0 === null ? [] : timesOf("mem0's search(), without embedding and without HTTP", times.mem0)),
      ...(mem0 === null ? [] : timesOf("mem0's search() as a whole", times.mem0Whole)),
      ...timesOf('POST /v1/search of a new question, embedded by the builtin embedder', times.first),
      { what: 'questions embedded while it was measured', value: embeddings, unit: '' },
    ],
    verdicts: [],
    comparisons: comparisonsOf(times, mem0 !== null),
    remarks: [
      'All are asked the same questions over one connection each, one after the other in turns; mem0 apart from the others.',
      `POST /v1/search has its questions embedded already; of mem0's time that of its embedder is taken off. mem0 is called as a library, and its store is filled without the phrases that add() links.`,
      `Without HTTP, the bare question takes ${share(times)} of the time of POST /v1/search (medians): the rest is HTTP, checks and ranking.`,
    ],
  };
}

const share = ({ index, ours }: Times): string => `${Math.round((100 * median(index)) / median(ours))}%`;

interface Askers {
  readonly ours: Asker;
  readonly bare: Asker;
}

/** Every question is embedded once, every user was asked about, and all have found out how they run fast. */
async function warm({ filled, options, questions, mem0 }: Stage, { ours, bare }: Askers, times: Times): Promise<void> {
  const { users } = options.size;
  for (const [i, question] of questions.entries()) {
    const user = i % users;
    const body = { user_id: userAt(user), query: question.text };
    times.first.push(await ours.ask(body));
    await bare.ask({ ...body, lane: filled.laneAt(user).lane });
    await filled.index.search([indexQueryOf(question, filled.laneAt(user))]);
  }
  for (const { text } of questions.slice(0, MEM0_WARM)) await mem0?.search(userAt(0), text, TOP_K);
}

async function askAll(stage: Stage, { ours, bare }: Askers, { times, progress }: Asking): Promise<void> {
  const { filled, options, mem0 } = stage;
  for (const [asked, { question, user }] of asks(stage).entries()) {
    const body = { user_id: userAt(user), query: question.text };
    times.ours.push(await ours.ask(body));
    times.bare.push(await bare.ask({ ...body, lane: filled.laneAt(user).lane }));
    const began = performance.now();
    await filled.index.search([indexQueryOf(question, filled.laneAt(user))]);
    times.index.push(performance.now() - began);
    if (asked % 20 === 0) progress(`asked ${asked} of ${options.questions} questions`);
  }
  if (mem0 === null) return;
  // Apart from the others: what it throws away is cleared away by other threads, for a while.
  for (const [asked, { question, user }] of asks(stage).slice(0, MEM0_QUESTIONS).entries()) {
    const took = await mem0.search(userAt(user), question.text, TOP_K);
    times.mem0.push(took.ms - took.embeddingMs);
    times.mem0Whole.push(took.ms);
    if (asked % 20 === 0) progress(`asked mem0 ${asked} of ${MEM0_QUESTIONS} questions`);
  }
}

interface Asking {
  readonly times: Times;
  readonly progress: Progress;
}

/** The same at every call. */
function asks({ options, questions }: Stage) {
  const random = seededRandom('who is asked about');
  return Array.from({ length: options.questions }, () => drawn(random, questions, options.size.users));
}

const embedded = async ({ searchUrl }: Filled): Promise<number> =>
  total(await scrape([searchUrl]), 'slowwave_model_calls_total', { kind: 'embed' });

const timesOf = (what: string, times: readonly number[]) => [
  { what: `${what}: median`, value: median(times), unit: 'ms' },
  { what: '  95 of 100', value: quantile(times, P95), unit: 'ms' },
];

function comparisonsOf(times: Times, withMem0: boolean): Comparison[] {
  const parts = [
    ['search, median', 0.5],
    ['search, 95 of 100', P95],
  ] as const;
  return parts.flatMap(([what, part]) => {
    const ours = { name: 'POST /v1/search', value: quantile(times.ours, part) };
    const bare = { name: 'the index behind a bare handler', value: quantile(times.bare, part) };
    const mem0 = { name: "mem0's search()", value: quantile(times.mem0, part) };
    return [
      atMost(STORE_TARGET, { what, unit: 'ms', ours, yardstick: bare }),
      ...(withMem0 ? [atMost(MEM0_TARGET, { what, unit: 'ms', ours, yardstick: mem0 })] : []),
    ];
  });
}

